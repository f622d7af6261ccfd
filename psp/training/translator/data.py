"""Pairs as subword ids in memory-mapped files, and batches of sentences of equal length."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from psp.core.errors import ConfigError, DataError
from psp.core.logs import Progress
from psp.pairs.pair_file import read_sides
from psp.text.tokenizer import Encoded, offsets_of
from psp.training.translator.errors import with_errors

#: Pairs that are encoded at a time.
_BLOCK = 4096
#: A larger share of unknown subwords shows that the sentencepiece model was made for other text.
MOST_UNKNOWN = 0.05


@dataclass(frozen=True)
class TranslationPairs:
    """Encoded pairs.

    Attributes:
        source, target: their sides; a source ends in the end id, a target begins with the start id and ends in the end
            id unless it was cut.
        counts: ``pairs``, ``cut`` (sentences of both sides that were), ``unknown`` and ``tokens`` of each side.
    """

    source: Encoded
    target: Encoded
    counts: dict[str, Any]

    def __len__(self) -> int:
        return len(self.source)


def encode_pairs(
    path: Path,
    processor: Any,
    folder: Path,
    *,
    max_tokens: int,
    errors: float = 0.0,
    denoise: bool = False,
    seed: int = 1,
    threads: int = 1,
) -> TranslationPairs:
    """Encode a pair file, mixed or plain, into files in ``folder``.

    A side is cut after ``max_tokens`` subwords; a target that was cut has no end id, so nothing is learnt about
    stopping there. A share ``errors`` of the sources, which ``seed`` draws, get errors
    (:func:`psp.training.translator.errors.with_errors`); with ``denoise``, for sides of one language, the targets with
    errors take their place.

    Raises:
        DataError: the file is missing or invalid, or its text is not that which the sentencepiece model was made for.
        ConfigError: the sentencepiece model has more than 65,536 pieces.
    """
    if processor.get_piece_size() > 2**16:
        raise ConfigError(f"sentencepiece: has {processor.get_piece_size():,} pieces; a translator has at most 65,536")
    folder.mkdir(parents=True, exist_ok=True)
    start, end, unknown = (getattr(processor, name)() for name in ("bos_id", "eos_id", "unk_id"))
    if min(start, end) < 0:
        raise ConfigError("sentencepiece: has no pieces that begin and end a sentence (<s>, </s>); name another model")
    lengths: dict[str, list[npt.NDArray[np.int64]]] = {"source": [], "target": []}
    counts = {"pairs": 0, "cut": 0, "source_tokens": 0, "target_tokens": 0, "unknown": 0}
    with contextlib.ExitStack() as stack:
        files = {side: stack.enter_context((folder / f"{side}.ids").open("wb")) for side in lengths}
        bar = stack.enter_context(Progress("encoding", "pairs"))
        rows = read_sides(path)
        while block := list(itertools.islice(rows, _BLOCK)):
            sources, targets = zip(*block, strict=True)
            if errors:
                drawn = np.random.default_rng([seed, counts["pairs"]]).random(len(block)) < errors
                sources = tuple(
                    with_errors(target if denoise else source, seed) if wrong else source
                    for source, target, wrong in zip(sources, targets, drawn, strict=True)
                )
            for side, texts in (("source", sources), ("target", targets)):
                encoded = processor.encode(list(texts), out_type=int, num_threads=threads)
                for number, ids in enumerate(encoded):
                    whole = len(ids) <= max_tokens
                    if not whole:
                        counts["cut"] += 1
                        del ids[max_tokens:]
                    counts[f"{side}_tokens"] += len(ids)
                    counts["unknown"] += ids.count(unknown)
                    if side == "source":
                        ids.append(end)
                    else:
                        encoded[number] = [start, *ids, end] if whole else [start, *ids]
                lengths[side].append(np.fromiter(map(len, encoded), np.int64, len(encoded)))
                flat = np.fromiter(itertools.chain.from_iterable(encoded), np.uint16)
                files[side].write(flat.tobytes())
            counts["pairs"] += len(block)
            bar.add(len(block))
    if not counts["pairs"]:
        raise DataError("holds no pairs", path)
    share = counts["unknown"] / max(1, counts["source_tokens"] + counts["target_tokens"])
    if share > MOST_UNKNOWN:
        raise DataError(
            f"{share:.0%} of its subwords are unknown to the sentencepiece model, which was made for other text "
            "(of another language, or lower-case); leave `sentencepiece` out to train one",
            path,
        )
    sides = {}
    for side, parts in lengths.items():
        sides[side] = Encoded(np.memmap(folder / f"{side}.ids", np.uint16, "r"), offsets_of(np.concatenate(parts)))
    return TranslationPairs(sides["source"], sides["target"], counts)


class Batches:
    """The batches of each pass: sentences of one length together, in a random order that the seed and pass determine.

    Pairs are sorted by the target's length, and within it by the source's, upwards and downwards in turn, so that
    neighbours are alike in both. Which pairs of one length stand together is drawn for each pass, and so is the order
    of the batches; their number and sizes are the same in every pass.

    Args:
        pairs: the pairs.
        tokens: the maximum number of subwords of a batch's side, including padding.
        seed: of the order.
    """

    def __init__(self, pairs: TranslationPairs, tokens: int, seed: int) -> None:
        self._pairs, self._seed = pairs, seed
        # The decoder reads all of a target but its last id.
        source, target = np.diff(pairs.source.offsets), np.diff(pairs.target.offsets) - 1
        self._lengths = source, target
        self._keys = np.where(target % 2 == 0, source, -source), target
        order = self._sorted(np.zeros(len(pairs)))
        longest = np.maximum(source, target)[order].tolist()
        begins, widest, first = [0], 0, 0
        for place, length in enumerate(longest):
            widest = max(widest, length)
            if place > first and widest * (place + 1 - first) > tokens:
                begins.append(place)
                first, widest = place, length
        self._bounds = np.array([*begins, len(longest)])

    def _sorted(self, ties: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        return np.lexsort((ties, *self._keys)).astype(np.int64)

    def __len__(self) -> int:
        return len(self._bounds) - 1

    def of_pass(self, number: int) -> Iterator[npt.NDArray[np.int64]]:
        """The batches of a pass, from 0: indices of pairs."""
        generator = np.random.Generator(np.random.PCG64([self._seed, number]))
        order = self._sorted(generator.random(len(self._pairs)))
        for batch in generator.permutation(len(self)):
            yield order[self._bounds[batch] : self._bounds[batch + 1]]

    def waste(self) -> float:
        """The share of padding in all batches, of both sides."""
        order = self._sorted(np.zeros(len(self._pairs)))
        real = padded = 0
        sizes = np.diff(self._bounds)
        for lengths in (side[order] for side in self._lengths):
            real += int(lengths.sum())
            padded += int((np.maximum.reduceat(lengths, self._bounds[:-1]) * sizes).sum())
        return 1 - real / padded


@dataclass(frozen=True)
class TokenBatch:
    """A batch for the network, see :class:`psp.training.translator.model.TranslatorModel`.

    Attributes:
        source, mask, target: its arguments; padding has id 0.
        wanted: the ids to predict, (tokens) int64.
        places: where they are in the decoder's output, flat; None: everywhere.
    """

    source: Tensor
    mask: Tensor | None
    target: Tensor
    wanted: Tensor
    places: Tensor | None


def padded(rows: list[npt.NDArray[Any]]) -> tuple[Tensor, Tensor | None]:
    """Ids as (n, length) int64, padded with 0, and a mask of the ids, (n, length); None without padding."""
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    longest = int(lengths.max())
    there = np.arange(longest) < lengths[:, None]
    ids = np.zeros(there.shape, np.int64)
    ids[there] = np.concatenate(rows)
    return torch.from_numpy(ids), None if there.all() else torch.from_numpy(there)


def make_batch(pairs: TranslationPairs, chosen: npt.NDArray[np.int64], device: torch.device) -> TokenBatch:
    """The batch of these pairs."""
    sides = [
        [side.ids[side.offsets[row] : side.offsets[row + 1]] for row in chosen] for side in (pairs.source, pairs.target)
    ]
    source, there = padded(sides[0])
    target, _ = padded([row[:-1] for row in sides[1]])
    wanted, real = padded([row[1:] for row in sides[1]])
    places = None if real is None else real.reshape(-1).nonzero()[:, 0]
    flat = wanted.reshape(-1) if places is None else wanted.reshape(-1)[places]
    mask = None if there is None else there[:, None, None, :].to(device)
    return TokenBatch(
        source.to(device), mask, target.to(device), flat.to(device), None if places is None else places.to(device)
    )
