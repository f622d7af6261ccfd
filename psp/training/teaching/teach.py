"""Embed the sentences of a model's pairs with a teacher, once.

The teacher's vectors are kept in blocks of :data:`BLOCK` sentences: files that never change, named by the hash of the
teacher and of their sentences. A stopped or killed run resumes after its last block, and all models with that teacher
and text share the blocks. The text alone decides which sentences share a block, since an encoder's last digits may
depend on what it embeds together: so a killed run, a second model and a run without blocks give the same bytes.

Sentences are in the order of their hashes, a random one, so the first ones are a fair sample of the text.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import json
import logging
import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any, TypedDict, cast

import numpy as np
import numpy.typing as npt
import xxhash

from psp.config.blocks.teacher import NARROW, TeacherSettings
from psp.core.errors import ConfigError, DataError
from psp.core.files import atomic, sha256, write_json
from psp.core.logs import Progress
from psp.core.machine import in_bfloat16
from psp.inference.search.neighbours import library, nearest
from psp.models.cosines import unit
from psp.models.registry import TextEncoder, encoder_files, load_encoder
from psp.pairs.pair_file import MIXED, blocks, columns_of, corpus_indices
from psp.training.teaching.targets import FORMAT, KIND, NONE, TEXT
from psp.training.torch_state import torch_state


class TeacherReport(TypedDict):
    """Which of a model's sentences a teacher has embedded."""

    format: int
    encoder: str | None  # the teacher, as in the config
    identity: str  # a hash of the teacher's weights
    languages: list[str]
    precision: str  # what it computed in
    mean_cosine: float  # mean cosine of two of its sentences, before centring
    centred: bool  # whether the mean was subtracted from its vectors
    dim: int  # dimensions of the teacher's vectors
    pairs: int  # training pairs; a sentence of a text counts as one
    distinct: int  # distinct sentences in a language that the teacher knows
    sentences: int  # how many of them it has embedded
    among: int  # nearest sentences found for each; 0 if the loss is not one over neighbourhoods
    nearest_cosine: float | None  # mean cosine of a sentence to these, of a sample of 1,000; null if there are none


log = logging.getLogger(__name__)

#: Sentences embedded together and written as one file: a killed run loses no more. A multiple of the 32 that
#: sentence-transformers sends through a transformer at a time.
BLOCK = 2048
#: Pairs whose text is kept, so that training recognises another run's file.
SAMPLE = 64
#: From this many sentences on, neighbours are searched for only in the nearest clusters (faiss's inverted file), since
#: a neighbourhood is sampled anyway.
MANY = 50_000
#: Clusters searched, training sentences per cluster, and queries at a time.
PROBES, TRAINING, QUERIES = 16, 64, 4096

Vectors = npt.NDArray[np.float16]
Flags = npt.NDArray[np.bool_]


def teach(
    pairs: Path,
    out: Path,
    report: Path,
    *,
    cache: Path,
    settings: TeacherSettings | Mapping[str, Any],
    corpora: Sequence[tuple[Sequence[str], bool]],
    threads: int = 1,
) -> TeacherReport:
    """Embed the distinct sentences of a mixed pair file that are in one of the teacher's languages.

    A teacher reads text as training does: in lower case, and segmented, unless the model's filters say otherwise.

    Args:
        pairs: the mixed pair file, whose lines the store has in the same order.
        out: what training reads (:mod:`psp.training.teaching.targets`), whole or not at all.
        report: JSON about it. The same is returned.
        cache: the folder of the blocks of all teachers, each in a folder by its hash.
        settings: the block ``teacher``, with the languages that the teacher knows.
        corpora: for each corpus, by its index, the languages of its source and target, and whether it is text.
        threads: of torch; another number may change last digits.

    Raises:
        ConfigError: the settings name no teacher.
        DataError: the pair file is invalid or holds fewer than two sentences of these languages, the encoder's vectors
            are not finite, or the disk is full.
        PspError: the encoder's package is missing.
    """
    settings = TeacherSettings.of(settings)
    if settings.encoder is None:
        raise ConfigError("teacher.encoder: none is named; write e.g. `teacher: {encoder: use-multilingual}`")
    known = set(settings.languages or ())
    wanted = np.array([[language in known for language in pair] for pair, _ in corpora], dtype=bool).reshape(-1, 2)
    of_text = np.array([text for _, text in corpora], dtype=bool)
    with torch_state(threads):
        seen, sentences = _distinct(pairs, wanted, of_text)
        order = sorted(sentences, key=lambda sentence: xxhash.xxh3_128_digest(sentence.encode()))
        distinct = len(order)
        del sentences
        order = order[: settings.sentences]
        if len(order) < 2:
            raise DataError(
                f"{len(order)} sentence(s) in a language that the teacher knows ({' '.join(sorted(known))}); it takes "
                "two to compare: name a teacher of these languages, or loosen what drops their pairs",
                pairs,
            )
        encoder = load_encoder(settings.encoder)
        identity = identity_of(encoder, settings.encoder)
        embedded = _Blocks(encoder, identity, settings, cache / identity[:32])
        parts = [order[start : start + BLOCK] for start in range(0, len(order), BLOCK)]
        mean, mean_cosine = _mean(embedded, parts, f"embedding by {settings.encoder}")
        centred = mean_cosine > NARROW if settings.centred is None else settings.centred
        with atomic(out) as temporary, temporary.open("w+b") as file:
            dim = len(mean)
            shapes = {"vectors": ("F16", (len(order), dim)), "rows": ("I32", (seen, 2))}
            among = min(settings.among, len(order) - 1) if settings.in_neighbourhoods else 0
            if among:
                shapes["nearest"] = ("I32", (len(order), among))
            value: dict[str, Any] = {
                "format": FORMAT,
                "encoder": settings.encoder,
                "identity": identity,
                "languages": list(settings.languages or ()),
                "precision": settings.precision,
                "mean_cosine": round(mean_cosine, 4),
                "centred": centred,
                "dim": dim,
                "pairs": seen,
                "distinct": distinct,
                "sentences": len(order),
                "among": among,
            }
            kept = {sentence: row for row, sentence in enumerate(order)}
            rows, sample = _rows(pairs, seen, kept, wanted, of_text)
            starts = _head(file, shapes, {**value, "kind": KIND, "sample": sample})
            for part in parts:
                vectors = embedded(part)
                if centred:
                    vectors = unit(vectors - mean.astype(np.float32)).astype(np.float16)
                file.write(vectors.tobytes())
            del kept, parts
            file.write(rows.tobytes())
            value["nearest_cosine"] = None
            if among:
                file.flush()
                written = np.memmap(file, np.float16, "r", starts["vectors"], (len(order), dim))
                file.seek(starts["nearest"])
                closest = neighbours(written, among, threads)
                file.write(closest.tobytes())
                value["nearest_cosine"] = _mean_cosine(written, closest)
        write_json(report, value)
    log.info("%s has embedded %d of %d distinct sentences", settings.encoder, len(order), distinct)
    return cast("TeacherReport", value)


def identity_of(encoder: TextEncoder, name: str) -> str:
    """A hash that changes with an encoder's weights: its own, or its files'."""
    own = getattr(encoder, "identity", None)
    if own is not None:
        return str(own)
    digest = hashlib.sha256()
    for path in sorted(encoder_files(name)):
        digest.update(bytes.fromhex(sha256(path)))
    return digest.hexdigest()


class _Blocks:
    """The teacher's vectors of blocks of sentences, unit float16, kept in a folder."""

    def __init__(self, encoder: TextEncoder, identity: str, settings: TeacherSettings, folder: Path) -> None:
        self._encoder, self._settings, self._folder = encoder, settings, folder
        self._device, self._low = "cpu", False
        if settings.precision != "float32":
            import torch

            self._device = "cuda" if torch.cuda.is_available() else "cpu"
            self._low = in_bfloat16(settings.precision, self._device, "teacher.precision")
        self._key = f"{identity} {'bfloat16' if self._low else 'float32'}".encode()

    def __call__(self, sentences: Sequence[str]) -> Vectors:
        path = self._folder / f"{self._digest(sentences)}.npy"
        if path.exists():
            return self._read(path, len(sentences))
        with self._precision():
            vectors = np.asarray(self._encoder.embed(sentences), dtype=np.float32)
        if vectors.shape[:1] != (len(sentences),) or vectors.ndim != 2 or not np.isfinite(vectors).all():
            raise DataError(
                f"{self._settings.encoder} gives vectors of the shape {vectors.shape} for {len(sentences)} sentences, "
                "or some that are not finite; name another teacher"
            )
        units = unit(vectors).astype(np.float16)
        with atomic(path) as temporary, temporary.open("wb") as file:
            np.save(file, units)
        return units

    def _read(self, path: Path, sentences: int) -> Vectors:
        try:
            vectors = np.load(path)
            if vectors.dtype != np.float16 or vectors.ndim != 2 or len(vectors) != sentences:
                raise ValueError(f"{vectors.dtype} {vectors.shape} for {sentences} sentences")
        except (OSError, ValueError, EOFError) as error:
            raise DataError(f"damaged ({error}); delete it, and its sentences are embedded again", path) from None
        return np.asarray(vectors)

    def _digest(self, sentences: Sequence[str]) -> str:
        digest = hashlib.sha256(self._key)
        for sentence in sentences:
            data = sentence.encode()
            digest.update(struct.pack("<Q", len(data)))
            digest.update(data)
        return digest.hexdigest()[:40]

    def _precision(self) -> contextlib.AbstractContextManager[Any]:
        if not self._low:
            return contextlib.nullcontext()
        import torch

        return torch.autocast(self._device, torch.bfloat16)


def _sides(pairs: Path, wanted: Flags, of_text: Flags) -> Iterator[tuple[list[list[str]], Flags, Flags]]:
    """Blocks of a mixed pair file: both sides, which of them to teach, bool (n, 2), and which are plain text.

    ``wanted``, (corpora, 2), and ``of_text`` say the same of each corpus.
    """
    for number, block in blocks(pairs):
        source, target, names = columns_of(block, pairs, number, MIXED)
        index = corpus_indices(names, len(of_text), pairs, number)
        yield [source, target], wanted[index], of_text[index]


def _distinct(pairs: Path, wanted_of: Flags, of_text: Flags) -> tuple[int, set[str]]:
    """The number of pairs, and their distinct sentences to teach."""
    seen, distinct = 0, set[str]()
    for sides, wanted, text in _sides(pairs, wanted_of, of_text):
        seen += len(text)
        for sentences, chosen in zip(sides, wanted.T, strict=True):
            distinct.update(itertools.compress(sentences, chosen))
    return seen, distinct


def _rows(
    pairs: Path, count: int, places: Mapping[str, int], wanted_of: Flags, of_text: Flags
) -> tuple[npt.NDArray[np.int32], list[list[Any]]]:
    """Each pair's rows among the vectors, int32 (pairs, 2), and the sample: [number, source, target] each."""
    rows = np.full((count, 2), NONE, dtype="<i4")
    wanted_rows = np.unique(np.linspace(0, count - 1, SAMPLE).astype(np.int64))
    sample: list[list[Any]] = []
    start = 0
    for sides, wanted, text in _sides(pairs, wanted_of, of_text):
        stop = start + len(text)
        for side, sentences in enumerate(sides):
            places_of_side = np.fromiter(
                (places.get(sentence, NONE) for sentence in sentences), np.int32, len(sentences)
            )
            rows[start:stop, side] = np.where(wanted[:, side], places_of_side, NONE)
        rows[start:stop, 1][text] = TEXT
        for number in wanted_rows[(wanted_rows >= start) & (wanted_rows < stop)].tolist():
            sample.append([number, sides[0][number - start], sides[1][number - start]])
        start = stop
    return rows, sample


def _head(
    file: IO[bytes], shapes: Mapping[str, tuple[str, tuple[int, ...]]], value: Mapping[str, Any]
) -> dict[str, int]:
    """Write the head of a safetensors file, so that vectors can follow block by block; return where tensors begin."""
    sizes = {"F16": 2, "I32": 4}
    entries: dict[str, Any] = {"__metadata__": {KIND: json.dumps(value, ensure_ascii=False)}}
    place, starts = 0, dict[str, int]()
    for name, (kind, shape) in shapes.items():
        starts[name] = place
        size = sizes[kind] * math.prod(shape)
        entries[name] = {"dtype": kind, "shape": list(shape), "data_offsets": [place, place + size]}
        place += size
    head = json.dumps(entries, ensure_ascii=False, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    file.write(struct.pack("<Q", len(head)) + head)
    return {name: 8 + len(head) + start for name, start in starts.items()}


def neighbours(vectors: Vectors, count: int, threads: int = 1) -> npt.NDArray[np.int32]:
    """The ``count`` rows nearest to each row, except itself, by cosine; approximate from :data:`MANY` rows on.

    Args:
        vectors: float16 (n, dim), unit vectors; may be on disk.
        count: at most n - 1.
        threads: that search at a time; their number changes no result.

    Returns:
        int32 (n, count), the nearest first. With few found, which only happens to vectors far from all, the last one
        found is repeated.
    """
    with Progress("finding neighbours", "sentences", len(vectors)) as bar:
        if len(vectors) < MANY:
            nearest_rows = nearest(vectors, vectors, count + 1, bar).numbers
        else:
            nearest_rows = _by_clusters(vectors, count + 1, threads, bar)
    own = nearest_rows == np.arange(len(nearest_rows))[:, None]
    # A sentence whose own vector is not among its nearest (equal ones may come first) loses the last.
    own[~own.any(axis=1), -1] = True
    others = nearest_rows[~own].reshape(len(nearest_rows), count)
    for place in range(1, count):
        others[:, place] = np.where(others[:, place] < 0, others[:, place - 1], others[:, place])
    return np.ascontiguousarray(np.maximum(others, 0), dtype="<i4")


def _by_clusters(vectors: Vectors, count: int, threads: int, bar: Progress) -> npt.NDArray[np.int64]:
    """As :func:`neighbours`, int64 (n, count), including the rows themselves, with -1 where none was found."""
    faiss = library()
    one_thread = functools.partial(faiss.omp_set_num_threads, 1)  # the same bytes whatever the machine
    one_thread()
    clusters = max(1, round(2 * math.sqrt(len(vectors))))
    index = faiss.index_factory(vectors.shape[1], f"IVF{clusters},Flat", faiss.METRIC_INNER_PRODUCT)
    index.nprobe = PROBES
    index.train(np.ascontiguousarray(vectors[: TRAINING * clusters], np.float32))  # rows are in a random order
    parts = range(0, len(vectors), QUERIES)
    for start in parts:
        index.add(np.ascontiguousarray(vectors[start : start + QUERIES], np.float32))
    numbers = np.empty((len(vectors), count), np.int64)

    def search(start: int) -> int:
        queries = np.ascontiguousarray(vectors[start : start + QUERIES], np.float32)
        numbers[start : start + QUERIES] = index.search(queries, count)[1]
        return len(queries)

    with ThreadPoolExecutor(threads, initializer=one_thread) as pool:
        for searched in pool.map(search, parts):
            bar.add(searched)
    return numbers


def _mean(embedded: _Blocks, parts: Sequence[Sequence[str]], title: str) -> tuple[npt.NDArray[np.float64], float]:
    """The mean of all sentences' vectors, float64 (dim,), and the mean cosine of two different sentences."""
    count = sum(map(len, parts))
    total, norms = np.zeros(1), 0.0
    with Progress(title, "sentences", count) as bar:
        for part in parts:
            vectors = embedded(part).astype(np.float64)
            total = total + vectors.sum(axis=0)
            norms += float(np.square(vectors).sum())
            bar.add(len(part))
    return total / count, float((total @ total - norms) / (count * (count - 1)))


def _mean_cosine(vectors: Vectors, closest: npt.NDArray[np.int32]) -> float:
    """The mean cosine of a sample of sentences to their neighbours."""
    rows = np.arange(min(1000, len(vectors)))
    near = vectors[closest[rows].ravel()].astype(np.float32).reshape(len(rows), -1, vectors.shape[1])
    return round(float(np.einsum("nd,nkd->nk", vectors[rows].astype(np.float32), near).mean()), 4)
