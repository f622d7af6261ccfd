"""The store: all pairs as subword ids in one HDF5 file, written in one pass and read in slices.

Ids are stored flat, with one offset per sentence: about 75 bytes a pair, read with a single slice. Variable-length rows
would take 2.5 times the space and a hundred times the time. Format:

| dataset | type | length | what |
|---|---|---|---|
| source/ids, target/ids | uint16, or int32 above 65,536 pieces | all pieces | sentencepiece ids |
| source/offsets, target/offsets | int64 | pairs + 1 | side i is ``ids[offsets[i]:offsets[i + 1]]`` |
| corpus | uint8, or uint16 above 256 corpora | pairs | index into the attribute ``corpora`` |

Attributes of the file: format ("psp-store"), version, languages and corpora (JSON lists), corpus_languages (a JSON list
of each corpus's [source, target]: if they are equal, its pairs are paraphrases), vocab_size, tokenizer (its kind),
tokenizer_sha256 (of the sentencepiece model or vocabulary), unknown_id, pairs, max_pieces (0: none), and for each side
``source_``/``target_`` + unknown_dropped (pieces), only_unknown (sides that consist of the unknown id), truncated.

No side is empty. Unknown pieces are left out; a side without any other becomes one unknown id (as in the published
system). The held-out pairs are not part of the store: they stay text, so that any model can be scored on them.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np
import numpy.typing as npt

from psp.core.errors import DataError
from psp.core.files import atomic, open_regular, sha256
from psp.core.logs import Progress
from psp.pairs.pair_file import corpus_indices, read_mixed
from psp.pairs.store_file import Column, Disk
from psp.text.tokenizer import Encoded, Tokenizer
from psp.text.tokenizer_kinds import as_tokenizer

log = logging.getLogger(__name__)

FORMAT, VERSION = "psp-store", 1
SUFFIX = ".h5"  # how the name of a store ends
SIDES = ("source", "target")
_COUNTS = [f"{side}_{count}" for side in SIDES for count in ("unknown_dropped", "only_unknown", "truncated")]
Sides = tuple[Encoded, Encoded, npt.NDArray[Any]]  # consecutive pairs: both sides, and the index of each one's corpus
#: Sentences of each language in which unknown pieces are counted, and the share of unknown pieces that gives a
#: warning: it is 2 to 3% at a character coverage of 0.995.
LOOKED_AT, MOST_UNKNOWN = 2_000, 0.05


class PairBlock(NamedTuple):
    """Consecutive pairs of a store.

    ``corpus`` is each pair's index into :attr:`Store.corpora`; ``paraphrase`` (bool) says whether both sides are in
    one language; ``teacher_rows`` is as in :class:`psp.pairs.encoded_pairs.Pairs`, and no store has any.
    """

    source: Encoded
    target: Encoded
    corpus: np.ndarray
    paraphrase: np.ndarray
    teacher_rows: np.ndarray | None = None


def write_store(
    mixed: Path,
    tokenizer: Tokenizer | Path | Sequence[Path],
    out: Path,
    *,
    languages: Sequence[str],
    corpora: Sequence[str],
    corpus_languages: Sequence[Sequence[str]] | None = None,
    max_pieces: int | None = None,
    batch: int = 16_384,
    threads: int = 1,
) -> dict[str, Any]:
    """Encode a mixed pair file, in order, into a store. Memory does not grow with the number of pairs.

    Args:
        mixed: the mixed pair file; its third column is an index into ``corpora``.
        tokenizer: the tokenizer, or the path of a sentencepiece model or of a vocabulary; or several such paths
            (:mod:`psp.text.parts_tokenizer`).
        out: the store, written completely or not at all. The same input gives the same bytes, for any ``threads``.
        languages: the model's, recorded in the store.
        corpora: names of the corpora.
        corpus_languages: the languages of each corpus's source and target; None if all have the model's two, or
            its only one.
        max_pieces: truncate sides to this many pieces (the published code: 100 for bitext); None for no limit.
        batch: pairs encoded at a time; it changes the layout of the file, not its contents.
        threads: threads of the tokenizer.

    Returns:
        The store's attributes.

    Raises:
        DataError: the input is invalid (file and line are named), or the store cannot be written.
    """
    if corpus_languages is None:
        if len(languages) > 2:
            raise ValueError("a model of more than two languages: name those of each corpus")
        corpus_languages = [(languages[0], languages[-1])] * len(corpora)
    tokenizer = as_tokenizer(tokenizer)
    totals: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "languages": json.dumps(list(languages)),
        "corpora": json.dumps(list(corpora), ensure_ascii=False),
        "corpus_languages": json.dumps([list(pair) for pair in corpus_languages]),
        "vocab_size": len(tokenizer),
        "tokenizer": tokenizer.name_on_disk(),
        "tokenizer_sha256": tokenizer.sha256(),
        "unknown_id": tokenizer.unknown_id,
        "pairs": 0,
        "max_pieces": max_pieces or 0,
    } | dict.fromkeys(_COUNTS, 0)

    def encoded() -> Iterator[Sides]:
        looked_at: dict[str, list[str]] = {}
        for texts, indices in _batches(mixed, len(corpora), batch):
            sides = []
            _look_at(texts, indices, corpus_languages, looked_at)
            for side, lines in zip(SIDES, texts, strict=True):
                ids, counts = encode_side(tokenizer, lines, max_pieces, threads)
                sides.append(ids)
                for count, value in counts.items():
                    totals[f"{side}_{count}"] += value
            yield sides[0], sides[1], np.asarray(indices)
        if not totals["pairs"]:
            raise DataError("holds no pairs; are the filters too strict?", mixed)
        _warn_of_unknown(tokenizer, looked_at)

    _write(out, totals, encoded())
    return totals


def _write(out: Path, totals: dict[str, Any], batches: Iterator[Sides]) -> None:
    """Write a store; ``totals`` gets the number of pairs, and whatever ``batches`` counts in it."""
    # Ids go up to the number of pieces - 1, so 65,536 still fit.
    id_type = np.uint16 if totals["vocab_size"] <= 65_536 else np.int32
    corpora = json.loads(totals["corpora"])
    with atomic(out) as temporary, contextlib.closing(Disk(temporary)) as disk:
        with h5py.File(disk, "w") as file:
            columns = {
                side: (Column(file, f"{side}/ids", id_type), Column(file, f"{side}/offsets", np.int64))
                for side in SIDES
            }
            corpus = Column(file, "corpus", np.uint8 if len(corpora) <= 256 else np.uint16)
            for _, offsets in columns.values():
                offsets.append(np.zeros(1, np.int64))
            with Progress("encoding", "pairs") as progress:
                for *sides, indices in batches:
                    for (flat, offsets), encoded in zip(columns.values(), sides, strict=True):
                        offsets.append(flat.length + encoded.offsets[1:])
                        flat.append(encoded.ids)
                    corpus.append(indices)
                    disk.check()
                    totals["pairs"] += len(indices)
                    progress.add(len(indices))
            for column in (*itertools.chain.from_iterable(columns.values()), corpus):
                column.flush()
            for name, value in sorted(totals.items()):
                file.attrs[name] = value
        disk.check()
    for side in SIDES:
        log.info(
            "%s: %d pieces, %d unknown pieces left out, %d sides of unknown pieces only, %d cut at %s pieces",
            side,
            columns[side][0].length,
            *(totals[f"{side}_{count}"] for count in ("unknown_dropped", "only_unknown", "truncated")),
            totals["max_pieces"] or None,
        )


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


def _warn_of_unknown(tokenizer: Tokenizer, looked_at: dict[str, list[str]]) -> None:
    """Warn of languages that the vocabulary covers poorly, as easily happens to small ones in a large mixture."""
    for part, (language, lines) in itertools.product(tokenizer.parts, looked_at.items()):
        ids = part.encode_whole(lines).ids
        share = np.count_nonzero(ids == part.unknown_id) / max(len(ids), 1)
        if share > MOST_UNKNOWN:
            log.warning(
                "%s: %.0f%% of the pieces are unknown (of %d sentences): %s",
                language,
                100 * share,
                len(lines),
                part.against_unknown,
            )


def _batches(mixed: Path, corpora: int, size: int) -> Iterator[tuple[tuple[list[str], list[str]], list[int]]]:
    rows = read_mixed(mixed)
    first = 1
    while batch := list(itertools.islice(rows, size)):
        sources, targets, names = map(list, zip(*batch, strict=True))
        yield (sources, targets), corpus_indices(names, corpora, mixed, first).tolist()
        first += len(batch)


def encode_side(
    tokenizer: Tokenizer, lines: list[str], max_pieces: int | None, threads: int = 1
) -> tuple[Encoded, dict[str, int]]:
    """Encode one side of some pairs as training sees it, ids int32, and count the changes.

    A sentence without ids gets one unknown id. The counts are ``unknown_dropped`` (pieces), ``only_unknown`` and
    ``truncated`` (sentences). A tokenizer of parts truncates the ids of each part, and counts them all.
    """
    parts = [_encode_part(part, lines, max_pieces, threads) for part in tokenizer.parts]
    totals = {count: sum(counts[count] for _, counts in parts) for count in parts[0][1]}
    return tokenizer.join([side for side, _ in parts]), totals


def _encode_part(
    tokenizer: Tokenizer, lines: list[str], max_pieces: int | None, threads: int
) -> tuple[Encoded, dict[str, int]]:
    """:func:`encode_side` of one part of a tokenizer."""
    unknown = tokenizer.unknown_id
    whole = tokenizer.encode_whole(lines, threads)
    kept = tokenizer.kept(whole)
    ids, offsets, dropped = kept.ids, kept.offsets, len(whole.ids) - len(kept.ids)
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
    return Encoded(ids, offsets), counts


class Store:
    """Reads a store; a context manager. ``len`` is the number of pairs.

    Attributes: ``path``, ``languages``, ``corpora``, ``corpus_languages``, ``vocab_size``, ``vocabulary_sha256``,
    ``unknown_id``, ``max_pieces`` (None: sides are whole), and ``attributes``, all of the file's.

    Raises:
        DataError: the file is not a store, of another version, truncated or damaged.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        if not self.path.exists():
            raise DataError("no such file; run the store step first", self.path)
        try:
            # A store is never changed in place, so a lock protects nothing, and some network file systems have none.
            with open_regular(self.path):
                self._file = h5py.File(self.path, "r", locking=False)
        except OSError as error:
            raise DataError(f"truncated, or not an HDF5 file ({error}); make it again", self.path) from None
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
        with self._damage():
            self.attributes: dict[str, Any] = {
                name: value.item() if isinstance(value, np.generic) else value
                for name, value in self._file.attrs.items()
            }
        if str(self.attributes.get("format")) != FORMAT:
            raise DataError("an HDF5 file, but not a psp store; run the store step to make one", self.path)
        version = self.attributes.get("version")
        if not isinstance(version, int) or version != VERSION:
            raise DataError(f"a store of version {version}, but this psp reads {VERSION}; make it again", self.path)
        with self._damage():
            self.languages: list[str] = _strings(self.attributes["languages"])
            self.corpora: list[str] = _strings(self.attributes["corpora"])
            self.corpus_languages: list[list[str]] = json.loads(self.attributes["corpus_languages"])
            self._paraphrase = np.array([source == target for source, target in self.corpus_languages], dtype=bool)
            self.vocab_size: int = _count(self.attributes["vocab_size"])
            self.vocabulary_sha256: str = self.attributes["tokenizer_sha256"]
            self.unknown_id: int = _count(self.attributes["unknown_id"])
            self.max_pieces: int | None = _count(self.attributes["max_pieces"]) or None
            self._pairs: int = _count(self.attributes["pairs"])

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
        except (
            OSError, LookupError, ValueError, TypeError, AttributeError, ArithmeticError, MemoryError, RuntimeError
        ) as error:  # fmt: skip
            raise DataError(f"damaged ({error}); make it again", self.path) from error

    def __len__(self) -> int:
        return self._pairs

    def read(self, start: int, stop: int) -> PairBlock:
        """Read pairs ``start`` to ``stop``, exclusive; ids have the stored type.

        Raises:
            IndexError: there are no such pairs.
            DataError: the stored data is damaged.
        """
        if not 0 <= start <= stop <= self._pairs:
            raise IndexError(f"pairs {start} to {stop} of a store of {self._pairs}")
        with self._damage():
            source, target = (self._side(self._columns[side], start, stop) for side in SIDES)
            corpus = self._corpus[start:stop]
            return PairBlock(source, target, corpus, self._paraphrase[corpus])

    def corpus_of(self, start: int, stop: int) -> np.ndarray:
        """Read the corpus alone of pairs ``start`` to ``stop``, exclusive: their indices into :attr:`corpora`."""
        with self._damage():
            return self._corpus[start:stop]

    def _side(self, column: h5py.Group, start: int, stop: int) -> Encoded:
        offsets = column["offsets"][start : stop + 1]
        ids = column["ids"][offsets[0] : offsets[-1]]
        offsets -= offsets[0]
        if len(ids) and (np.diff(offsets).min() < 1 or ids.max() >= self.vocab_size):
            raise ValueError(f"pairs {start} to {stop} hold an empty side or ids beyond the vocabulary")
        return Encoded(ids, offsets)

    def check_vocabulary(self, tokenizer: Tokenizer | Path) -> None:
        """Check that the store was encoded with this tokenizer, or with the sentencepiece model at this path.

        Raises:
            DataError: the store was encoded with another vocabulary.
        """
        known = tokenizer.sha256() if isinstance(tokenizer, Tokenizer) else sha256(tokenizer)
        if known != self.vocabulary_sha256:
            raise DataError(
                f"a store from another vocabulary than {tokenizer}, so its ids mean other pieces; make it again",
                self.path,
            )

    def close(self) -> None:
        """Close the file; reading is over."""
        self._file.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _strings(attribute: str) -> list[str]:
    names = json.loads(attribute)
    if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
        raise ValueError(f"{str(names)[:40]} where a list of names should be")
    return names


def _count(attribute: Any) -> int:
    if not isinstance(attribute, int) or attribute < 0:
        raise ValueError(f"{str(attribute)[:40]} where a count should be")
    return attribute
