"""The store: all pairs as subword ids in one HDF5 file, written in one pass and read by slices.

Ids lie flat, one after another, with an offset a sentence: about 75 bytes a pair, and reading is one slice, where
rows of variable length take 2.5 times the space and a hundred times the time. Format version 2:

| dataset | type | length | what |
|---|---|---|---|
| source/ids, target/ids | uint16, or int32 above 65,536 pieces | all pieces | sentencepiece ids |
| source/offsets, target/offsets | int64 | pairs + 1 | side i is ``ids[offsets[i]:offsets[i + 1]]`` |
| corpus | uint8, or uint16 above 256 corpora | pairs | index into the attribute ``corpora`` |

Attributes of the file: format ("psp-store"), version, languages and corpora (JSON lists), corpus_languages (a JSON list
of each corpus's [source, target]: where they are equal, its pairs are paraphrases), vocab_size, sentencepiece_sha256
(of the model file), unknown_id, pairs, max_pieces (0: sides are whole), and for each side ``source_``/``target_`` +
unknown_dropped (pieces), only_unknown (sides that are the unknown id alone), truncated.

No side is empty. Unknown pieces are left out; a side with nothing else is one unknown id (as in the published system).
The held-out slice is no part of the store: it stays text, so that any model can be scored on it.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import h5py
import numpy as np
import sentencepiece

from psp.errors import DataError
from psp.files import atomic, sha256
from psp.progress import Progress
from psp.subword import encode, load_sentencepiece, read_mixed

log = logging.getLogger(__name__)

FORMAT, VERSION = "psp-store", 2
CHUNK = 65_536  # elements of a chunk
SIDES = ("source", "target")
#: Sentences of each language in which unknown pieces are counted, and the share of them that is worth a warning:
#: it is 2 to 3% at a character coverage of 0.995.
LOOKED_AT, MOST_UNKNOWN = 2_000, 0.05


class Side(NamedTuple):
    """One side of some pairs: pair i has ``ids[offsets[i]:offsets[i + 1]]``; ``offsets`` is int64 and starts at 0."""

    ids: np.ndarray
    offsets: np.ndarray


class Block(NamedTuple):
    """Consecutive pairs of a store.

    ``corpus`` holds each pair's index into :attr:`Store.corpora`, ``paraphrase`` (bool) whether both sides are in one
    language.
    """

    source: Side
    target: Side
    corpus: np.ndarray
    paraphrase: np.ndarray


def write_store(
    mixed: Path,
    sentencepiece_model: Path,
    out: Path,
    *,
    languages: Sequence[str],
    corpora: Sequence[str],
    corpus_languages: Sequence[Sequence[str]] | None = None,
    max_pieces: int | None = None,
    batch: int = 16_384,
    threads: int = 1,
) -> dict[str, Any]:
    """Encode a mixed pair file, in its order, into a store. Memory does not grow with the number of pairs.

    Args:
        mixed: the mixed pair file; its third column is an index into ``corpora``.
        sentencepiece_model: what to encode with.
        out: where the store goes, whole or not at all. The same input gives the same bytes, for any ``threads``.
        languages: the model's, for the record.
        corpora: names of the corpora.
        corpus_languages: the languages of each corpus's source and target; None where all have the model's two, or
            its only one.
        max_pieces: cut a side at this many pieces (the published code: 100 for bitext); None leaves it whole.
        batch: pairs encoded at a time; another number gives the same contents, laid out differently in the file.
        threads: of sentencepiece.

    Returns:
        The store's attributes.

    Raises:
        DataError: bad input (file and line are named), or the store cannot be written.
    """
    if corpus_languages is None:
        if len(languages) > 2:
            raise ValueError("a model of more than two languages: say which each corpus has")
        corpus_languages = [(languages[0], languages[-1])] * len(corpora)
    processor = load_sentencepiece(sentencepiece_model)
    size, unknown = processor.get_piece_size(), processor.unk_id()
    totals: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "languages": json.dumps(list(languages)),
        "corpora": json.dumps(list(corpora), ensure_ascii=False),
        "corpus_languages": json.dumps([list(pair) for pair in corpus_languages]),
        "vocab_size": size,
        "sentencepiece_sha256": sha256(sentencepiece_model),
        "unknown_id": unknown,
        "pairs": 0,
        "max_pieces": max_pieces or 0,
    } | {f"{side}_{count}": 0 for side in SIDES for count in ("unknown_dropped", "only_unknown", "truncated")}
    # Ids go up to size - 1, so 65,536 pieces still fit.
    id_type = np.uint16 if size <= 65_536 else np.int32
    with atomic(out) as temporary, contextlib.closing(_Disk(temporary)) as disk:
        with h5py.File(disk, "w") as file:
            columns = {
                side: (_Column(file, f"{side}/ids", id_type), _Column(file, f"{side}/offsets", np.int64))
                for side in SIDES
            }
            corpus = _Column(file, "corpus", np.uint8 if len(corpora) <= 256 else np.uint16)
            for _, offsets in columns.values():
                offsets.append(np.zeros(1, np.int64))
            looked_at: dict[str, list[str]] = {}
            with Progress("encoding", "pairs") as progress:
                for texts, indices in _batches(mixed, len(corpora), batch):
                    _look_at(texts, indices, corpus_languages, looked_at)
                    for side, lines in zip(SIDES, texts, strict=True):
                        encoded, counts = encode_side(processor, lines, max_pieces, threads)
                        flat, offsets = columns[side]
                        offsets.append(flat.length + encoded.offsets[1:])
                        flat.append(encoded.ids)
                        for count, value in counts.items():
                            totals[f"{side}_{count}"] += value
                    corpus.append(np.asarray(indices))
                    disk.check()
                    totals["pairs"] += len(indices)
                    progress.add(len(indices))
            if not totals["pairs"]:
                raise DataError("holds no pair; are the filters too strict?", mixed)
            for column in (*itertools.chain.from_iterable(columns.values()), corpus):
                column.flush()
            for name, value in totals.items():
                file.attrs[name] = value
        disk.check()
    for side in SIDES:
        log.info(
            "%s: %d pieces, %d unknown pieces left out, %d sides of unknown pieces only, %d cut at %s pieces",
            side,
            columns[side][0].length,
            *(totals[f"{side}_{count}"] for count in ("unknown_dropped", "only_unknown", "truncated")),
            max_pieces,
        )
    _warn_of_unknown(processor, looked_at)
    return totals


def _look_at(
    texts: tuple[list[str], list[str]],
    indices: list[int],
    corpus_languages: Sequence[Sequence[str]],
    looked_at: dict[str, list[str]],
) -> None:
    """Keep the first sentences of each language; the pairs are shuffled, so any will do."""
    wanted = {language for pair in corpus_languages for language in pair}
    if all(len(looked_at.get(language, ())) == LOOKED_AT for language in wanted):
        return
    for number, lines in enumerate(texts):
        for index, line in zip(indices, lines, strict=True):
            kept = looked_at.setdefault(corpus_languages[index][number], [])
            if len(kept) < LOOKED_AT:
                kept.append(line)


def _warn_of_unknown(processor: sentencepiece.SentencePieceProcessor, looked_at: dict[str, list[str]]) -> None:
    """Say which languages the vocabulary does not cover: in one shared with larger ones, that is soon done."""
    unknown = processor.unk_id()
    for language, lines in looked_at.items():
        pieces = [piece for ids in processor.encode(lines, out_type=int) for piece in ids]
        share = pieces.count(unknown) / max(len(pieces), 1)
        if share > MOST_UNKNOWN:
            log.warning(
                "%s: %.0f%% of the pieces are unknown (of %d sentences): its characters are too rare to have pieces; "
                "raise subword.character_coverage, or vocab_size",
                language,
                100 * share,
                len(lines),
            )


class _Disk(io.RawIOBase):
    """The file that HDF5 writes to, from which it never learns that the disk is full.

    After a failed write HDF5 can neither close the file nor forget it, and the process ends in a segmentation fault
    (seen with h5py 3.16). So the first error is kept here, for :meth:`check` to raise, and what is written from then
    on, little more than HDF5's caches, stays in memory.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("w+b", buffering=0)
        self._error: OSError | None = None
        self._kept: list[tuple[int, bytes]] = []

    def check(self) -> None:
        """Raise the error that a write has met."""
        if self._error is not None:
            raise self._error

    def write(self, data: Any) -> int:
        rest = memoryview(data).cast("B")
        size = len(rest)
        try:
            while self._error is None and len(rest):
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            self._error = error
        if len(rest):
            self._kept.append((self._file.tell(), bytes(rest)))
            self._file.seek(len(rest), io.SEEK_CUR)
        return size

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        start = self._file.tell()
        view[:] = self._file.read(len(view)).ljust(len(view), b"\0")
        for place, data in self._kept:
            low, high = max(start, place), min(start + len(view), place + len(data))
            if low < high:
                view[low - start : high - start] = data[low - place : high - place]
        self._file.seek(start + len(view))
        return len(view)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def truncate(self, size: int | None = None) -> int:
        try:
            return self._file.truncate(size)
        except OSError as error:
            self._error = self._error or error
            return size or 0

    def close(self) -> None:
        self._file.close()
        super().close()


class _Column:
    """A dataset that grows, written by whole chunks: a part of one would be read back, checked and written again."""

    def __init__(self, file: h5py.File, name: str, dtype: Any) -> None:
        # fletcher32 costs nothing that we could measure, and a bit that flips on the disk is an error when it is read.
        self._dataset = file.create_dataset(
            name, (0,), maxshape=(None,), chunks=(CHUNK,), dtype=dtype, fletcher32=True, track_times=False
        )
        self._waiting: list[np.ndarray] = []
        self._written = self.length = 0

    def append(self, values: np.ndarray) -> None:
        self._waiting.append(values.astype(self._dataset.dtype, copy=False))
        self.length += len(values)
        if self.length - self._written >= 8 * CHUNK:
            self._write((self.length - self._written) // CHUNK * CHUNK)

    def flush(self) -> None:
        self._write(self.length - self._written)

    def _write(self, count: int) -> None:
        values = np.concatenate(self._waiting) if self._waiting else np.zeros(0, self._dataset.dtype)
        self._dataset.resize((self._written + count,))
        self._dataset[self._written :] = values[:count]
        self._written += count
        self._waiting = [values[count:]]


def _batches(mixed: Path, corpora: int, size: int) -> Iterator[tuple[tuple[list[str], list[str]], list[int]]]:
    known = {str(index): index for index in range(corpora)}
    rows = read_mixed(mixed)
    first = 1
    while batch := list(itertools.islice(rows, size)):
        sources, targets, names = map(list, zip(*batch, strict=True))
        try:
            indices = [known[name] for name in names]
        except KeyError as error:
            line = first + names.index(error.args[0])
            message = f"the third column is {error.args[0]!r}, no index of the {corpora} corpora; make the file again"
            raise DataError(message, mixed, line) from None
        yield (sources, targets), indices
        first += len(batch)


def encode_side(
    processor: sentencepiece.SentencePieceProcessor, lines: list[str], max_pieces: int | None, threads: int = 1
) -> tuple[Side, dict[str, int]]:
    """One side of some pairs as training sees it, ids int32, and counts of what was changed.

    A sentence for which sentencepiece has no ids has one unknown id. The counts are ``unknown_dropped`` (pieces),
    ``only_unknown`` and ``truncated`` (sentences).
    """
    unknown = processor.unk_id()
    ids, offsets, dropped = encode(processor, lines, threads)
    lengths = np.diff(offsets)
    if not lengths.all():  # a side that the normalisation empties, such as a lone zero-width space
        ids = np.insert(ids, offsets[:-1][lengths == 0], unknown)
        lengths = np.maximum(lengths, 1)
    counts = {"unknown_dropped": dropped, "only_unknown": int(np.count_nonzero(ids == unknown)), "truncated": 0}
    if max_pieces is not None and len(lengths) and lengths.max() > max_pieces:
        counts["truncated"] = int(np.count_nonzero(lengths > max_pieces))
        position = np.arange(len(ids)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        ids, lengths = ids[position < max_pieces], np.minimum(lengths, max_pieces)
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return Side(ids, offsets), counts


class Store:
    """Reads a store; a context manager. ``len`` is the number of pairs.

    Attributes: ``path``, ``languages``, ``corpora``, ``corpus_languages``, ``vocab_size``, ``sentencepiece_sha256``,
    ``unknown_id``, ``max_pieces`` (None: sides are whole), and ``attributes``, all of the file's.

    Raises:
        DataError: no store, one of another version, or one that is cut short or damaged.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise DataError("no such file; make it by the store step", self.path)
        try:
            # A store is never changed in place, so a lock protects nothing, and some network file systems have none.
            self._file = h5py.File(self.path, "r", locking=False)
        except OSError as error:
            raise DataError(f"cut short, or not an HDF5 file ({error}); make it again", self.path) from None
        try:
            self._check_format()
            with self._damage():
                self._columns = {name: self._file[name] for name in ("source", "target")}
                self._corpus = self._file["corpus"]
                self._check_lengths()
        except BaseException:
            self._file.close()
            raise

    def _check_format(self) -> None:
        self.attributes: dict[str, Any] = {
            name: value.item() if isinstance(value, np.generic) else value for name, value in self._file.attrs.items()
        }
        if self.attributes.get("format") != FORMAT:
            raise DataError("an HDF5 file, but not a store of psp; make it by the store step", self.path)
        if self.attributes.get("version") != VERSION:
            raise DataError(
                f"a store of version {self.attributes.get('version')}, this psp reads version {VERSION}; make it again",
                self.path,
            )
        with self._damage():
            self.languages: list[str] = json.loads(self.attributes["languages"])
            self.corpora: list[str] = json.loads(self.attributes["corpora"])
            self.corpus_languages: list[list[str]] = json.loads(self.attributes["corpus_languages"])
            self._paraphrase = np.array([source == target for source, target in self.corpus_languages], dtype=bool)
            self.vocab_size: int = self.attributes["vocab_size"]
            self.sentencepiece_sha256: str = self.attributes["sentencepiece_sha256"]
            self.unknown_id: int = self.attributes["unknown_id"]
            self.max_pieces: int | None = self.attributes["max_pieces"] or None
            self._pairs: int = self.attributes["pairs"]

    def _check_lengths(self) -> None:
        lengths = {"corpus": len(self._corpus)}
        for side, group in self._columns.items():
            lengths[side] = len(group["offsets"]) - 1
            if group["offsets"][0] != 0 or group["offsets"][-1] != len(group["ids"]):
                raise ValueError(f"the offsets of {side} do not fit its ids")
        if set(lengths.values()) != {self._pairs}:
            raise ValueError(f"{self._pairs} pairs, but {lengths}")

    @contextlib.contextmanager
    def _damage(self) -> Iterator[None]:
        try:
            yield
        except (OSError, KeyError, ValueError, TypeError, IndexError, RuntimeError) as error:
            raise DataError(f"damaged ({error}); make it again", self.path) from error

    def __len__(self) -> int:
        return self._pairs

    def read(self, start: int, stop: int) -> Block:
        """Pairs ``start`` to ``stop``, the second not included; ids have the type that they are stored in.

        Raises:
            IndexError: there are no such pairs.
            DataError: what is stored there is damaged.
        """
        if not 0 <= start <= stop <= self._pairs:
            raise IndexError(f"pairs {start} to {stop} of a store of {self._pairs}")
        with self._damage():
            source, target = (self._side(self._columns[side], start, stop) for side in SIDES)
            corpus = self._corpus[start:stop]
            return Block(source, target, corpus, self._paraphrase[corpus])

    def _side(self, column: h5py.Group, start: int, stop: int) -> Side:
        offsets = column["offsets"][start : stop + 1]
        ids = column["ids"][offsets[0] : offsets[-1]]
        offsets -= offsets[0]
        if len(ids) and (np.diff(offsets).min() < 1 or ids.max() >= self.vocab_size):
            raise ValueError(f"pairs {start} to {stop} hold an empty side or ids beyond the vocabulary")
        return Side(ids, offsets)

    def check_vocabulary(self, sentencepiece_model: Path) -> None:
        """Make sure that the store was encoded with this sentencepiece model.

        Raises:
            DataError: it is a store from another vocabulary.
        """
        if sha256(sentencepiece_model) != self.sentencepiece_sha256:
            raise DataError(
                f"a store from another vocabulary than {sentencepiece_model}: its ids mean other pieces; make it again",
                self.path,
            )

    def close(self) -> None:
        """Close the file; reading is over."""
        self._file.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
