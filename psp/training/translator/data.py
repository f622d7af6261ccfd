"""Pairs as subword ids in memory-mapped files, and batches of sentences of equal length."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import pad
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset, Sampler

from psp.core.errors import ConfigError, DataError
from psp.core.logs import Progress
from psp.pairs.pair_file import read_sides
from psp.text.tokenizer import Encoded, offsets_of
from psp.training.translator.errors import with_errors

#: Pairs that are encoded at a time.
_BLOCK = 4096
#: A larger share of unknown subwords shows that the sentencepiece model was made for other text.
MOST_UNKNOWN = 0.05
#: The label of padding, which torch's cross-entropy and the library's count of subwords leave out.
IGNORED = -100


class TranslationPairs(Dataset[tuple[Tensor, Tensor]]):
    """Encoded pairs.

    Attributes:
        source, target: their sides; each ends in the end id, but for a target that was cut.
        counts: ``pairs``, ``cut`` (sentences of both sides that were), ``unknown`` and ``tokens`` of each side.
    """

    def __init__(self, source: Encoded, target: Encoded, counts: dict[str, Any]) -> None:
        self.source, self.target, self.counts = source, target, counts

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, row: int) -> tuple[Tensor, Tensor]:
        source, target = (
            torch.from_numpy(side.ids[side.offsets[row] : side.offsets[row + 1]].astype(np.int64))
            for side in (self.source, self.target)
        )
        return source, target


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
    end, unknown = processor.eos_id(), processor.unk_id()
    if min(processor.bos_id(), end) < 0:
        raise ConfigError("sentencepiece: has no piece that begins or ends a sentence (<s>, </s>); name another model")
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
                for ids in encoded:
                    whole = len(ids) <= max_tokens
                    counts["cut"] += not whole
                    del ids[max_tokens:]
                    counts[f"{side}_tokens"] += len(ids)
                    counts["unknown"] += ids.count(unknown)
                    if whole or side == "source":
                        ids.append(end)
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


class Batches(Sampler[list[int]]):
    """The batches of a pass: sentences of one length together, in a random order that the seed and pass determine.

    Pairs are sorted by the target's length, and within it by the source's, upwards and downwards in turn, so that
    neighbours are alike in both. Which pairs of one length stand together is drawn for each pass, and so is the order
    of the batches; their number and sizes are the same in every pass.

    Args:
        pairs: the pairs.
        tokens: the maximum number of subwords of a batch's side, including padding.
        seed: of the order.
    """

    def __init__(self, pairs: TranslationPairs, tokens: int, seed: int) -> None:
        self._seed, self._pass = seed, 0
        source, target = np.diff(pairs.source.offsets), np.diff(pairs.target.offsets)
        self._keys = np.where(target % 2 == 0, source, -source), target
        longest = np.maximum(source, target)[self._sorted(np.zeros(len(pairs)))].tolist()
        begins, widest, first = [0], 0, 0
        for place, length in enumerate(longest):
            widest = max(widest, length)
            if place > first and widest * (place + 1 - first) > tokens:
                begins.append(place)
                first, widest = place, length
        self._bounds = [*begins, len(longest)]

    def _sorted(self, ties: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        return np.lexsort((ties, *self._keys)).astype(np.int64)

    def set_epoch(self, number: int) -> None:
        """Give the batches of this pass, from 0, from now on."""
        self._pass = number

    def __len__(self) -> int:
        return len(self._bounds) - 1

    def __iter__(self) -> Iterator[list[int]]:
        generator = np.random.Generator(np.random.PCG64([self._seed, self._pass]))
        order = self._sorted(generator.random(len(self._keys[0])))
        for batch in generator.permutation(len(self)):
            yield order[self._bounds[batch] : self._bounds[batch + 1]].tolist()


def collate(pairs: Sequence[tuple[Tensor, Tensor]], start: int) -> dict[str, Tensor]:
    """The arguments of the network for some pairs; a target begins with ``start``."""
    sources, targets = [source for source, _ in pairs], [target for _, target in pairs]
    batch = {
        "input_ids": pad_sequence(sources, batch_first=True),
        "decoder_input_ids": pad_sequence([pad(target[:-1], (1, 0), value=start) for target in targets], True),
        "labels": pad_sequence(targets, batch_first=True, padding_value=IGNORED),
    }
    lengths = torch.tensor([len(source) for source in sources])
    real = torch.arange(batch["input_ids"].shape[1]) < lengths[:, None]
    # Most batches are of one length; attention is faster without a mask.
    return batch if real.all() else {**batch, "attention_mask": real.long()}
