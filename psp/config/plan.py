"""Estimate what a model will take before any download: what it fetches, its pairs, disk, memory and hours."""

from __future__ import annotations

import collections
import itertools
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from psp.config.config import Config
from psp.config.corpus_entries import CorpusSpec
from psp.config.counts import left, listed
from psp.config.made_entries import KEPT
from psp.config.model import ModelEntry
from psp.config.rates import PACKED_BYTES, TEXT_BYTES
from psp.config.training import largest, train_mb
from psp.config.translated_entries import sentences
from psp.core.errors import PspError
from psp.corpora import count_pairs, open_corpus
from psp.training.losses import mines

GB = 1e9
#: Rows of a user's file that are read: more than may be bad.
LOOKED_AT = 1000

#: Pairs a second on two cores: filtered and deduplicated, or mixed and stored (both by the rates of psp/config/rates.py
#: come to this); and trained, by whether negatives are mined (the paper's losses) and for a transformer (MiniLM on one
#: core). Translated sentences a second by the sample's translator.
READ_RATE, TRAIN_RATE, MINED_RATE = 70_000, 30_000, 9_000
TRANSFORMER_RATE, TRANSLATE_RATE = 20, 280
#: Where the rates are from, by whether the model has a store.
_BASIS = {True: "610,616 English-French pairs (another machine differs)", False: "MiniLM (another base differs)"}


@dataclass(frozen=True)
class PlannedDownload:
    """One file: its size in bytes, its number of pairs (None: unknown), and the source of these figures."""

    name: str
    here: bool
    bytes: int | None
    pairs: int | None
    basis: str


def downloads(config: Config, model: ModelEntry, folder: Path | str) -> Iterator[PlannedDownload]:
    """Yield the files that a model needs, with what is known of them offline; the user's own files come last.

    Unlisted pairs are counted in files on this machine, in large ones from a sample.
    """
    parts = {part.download: part for part in model.files}
    for name in config.downloads(model):
        part = parts.get(name)
        path = Path(folder) / name
        pairs = listed(config.corpora, part, "pairs") if part else None
        if path.exists():
            yield _counted(PlannedDownload(name, True, path.stat().st_size, pairs, "here already"), path, part)
            continue
        if pin := config.pins.get(name):
            yield PlannedDownload(name, False, pin["bytes"], pairs, "pinned")
            continue
        local = Path(config.remote(name).mirrors[0].removeprefix("file://"))
        if local.exists() and "://" not in str(local):
            yield _counted(PlannedDownload(name, False, _bytes(local), pairs, "size of the local mirror"), local, part)
        elif part and (told := listed(config.corpora, part, "bytes")) is not None:
            yield PlannedDownload(name, False, told, pairs, "OPUS's listing")
        elif pairs is not None:
            yield PlannedDownload(name, False, pairs * PACKED_BYTES, pairs, f"its pairs x {PACKED_BYTES} bytes")
        else:
            yield PlannedDownload(name, False, None, pairs, "not known")
    for part in model.files:
        if part.path:
            if all(map(os.path.exists, part.paths)):
                file = PlannedDownload(part.path, True, _bytes(*map(Path, part.paths)), None, "your file")
                yield _counted(file, Path(part.path), part)
            else:
                yield PlannedDownload(part.path, False, None, None, "not here")


def _bytes(*paths: Path) -> int:
    files = [file for path in paths for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file()]
    return sum(file.stat().st_size for file in files)


def _counted(file: PlannedDownload, path: Path, part: CorpusSpec | None) -> PlannedDownload:
    """Fill in the number of pairs, if it is unknown and can be counted in the file at ``path``.

    Its first rows are read as the filters will read them: a file of another kind has lines, but no pairs.
    """
    if part is None or file.pairs is not None or not path.exists():
        return file
    try:
        if not path.is_dir() or part.path:
            rows = open_corpus(part.kind, path, part.opus, part.names, max_bad_rows=part.filters["max_bad_rows"])
            collections.deque(itertools.islice(rows, LOOKED_AT), maxlen=0)
        pairs, exact = count_pairs(part.kind, path, part.opus, part.names)
    except PspError as error:
        return replace(file, basis=f"{file.basis}; its pairs cannot be counted: {error}")
    return replace(file, pairs=pairs, basis=f"{file.basis}, pairs {'counted' if exact else 'estimated from a sample'}")


def plan(config: Config, name: str, folder: Path | str) -> str:
    """Format the plan of one model for people.

    Raises:
        ConfigError: no such model, a corpus's licence is not allowed, or a mirror needs an environment variable that is
            not set.
    """
    model = config.cleared(name)
    if model.of.joins:
        names = [part for part, _ in model.combined]
        return f"model {name}: joins {' and '.join(names)}; run `psp plan` for each of them"
    files = list(downloads(config, model, folder))
    lines = [f"model {name}: {' and '.join(model.languages)}, recipe {model.recipe}, {len(model.parts)} corpora", ""]
    width = max(len(file.name) for file in files)
    lines.append(f"{'download':{width}}  {'MB':>9}  {'pairs':>11}  basis")
    for file in files:
        size = "?" if file.bytes is None else f"{file.bytes / 1e6:,.1f}"
        pairs = "" if file.pairs is None else f"{file.pairs:,}"
        lines.append(f"{file.name:{width}}  {size:>9}  {pairs:>11}  {file.basis}")
    own = {part.path for part in model.files}
    fetched = [file for file in files if file.name not in own]
    to_fetch = sum(file.bytes or 0 for file in fetched if not file.here)
    unknown = sum(file.bytes is None for file in fetched)
    archives = sum(file.bytes or 0 for file in fetched)
    lines.append(f"to fetch: {to_fetch / GB:.2f} GB" + (f", and {unknown} file(s) of unknown size" if unknown else ""))

    read, kept, unlisted = _pairs(model, files)
    if len(unlisted) == len(model.files):
        lines += [
            "",
            "pairs, disk and time: unknown, since no corpus lists its pairs; they can be planned once the archives are "
            "here",
        ]
        return "\n".join(lines)
    text = KEPT * read * TEXT_BYTES
    missing = f"; unknown for {', '.join(unlisted)}, so the rest is too low" if unlisted else ""
    seconds = (read + kept) / READ_RATE + sum(_translations(model, files)) / TRANSLATE_RATE
    if model.of.stores:
        # A small corpus has fewer pieces than requested: 6,000 pairs gave 10,424.
        rows = min(model.most_rows, max(1000, 2 * int(kept)))
        epochs, weights = largest(model, "epochs"), 4 * rows * largest(model, "dim")
        trainings = [model["train"], *(model.points.values() if model.tuned else [])]
        seconds += sum(
            kept * one["epochs"] / (MINED_RATE if mines(one["objective"]) else TRAIN_RATE) for one in trainings
        )
        # Weights, two moments and the best weights, in the checkpoints that are kept and in a new one.
        checkpoints = 4 * weights * (model["train"]["checkpoint"]["keep"] + 1)
        disk = archives + max(2.2 * text + 3 * weights, kept * model.pieces.store_bytes + checkpoints)
        subword = model.pieces.making_mb(model.settings, 2 * kept)
        memory = f", memory {max(subword, train_mb(rows, largest(model, 'dim'))) / 1000:.1f} GB"
    else:
        epochs, disk, memory = model["transformer"]["epochs"], archives + 2.2 * text, ""
        seconds += kept * epochs / TRANSFORMER_RATE
    lines += [
        "",
        f"pairs: {read:,.0f} read, about {kept:,.0f} trained on{_capped(model)}, {epochs} epochs{missing}",
        f"about {disk / GB:.1f} GB of disk at most{memory}",
        f"about {seconds / 3600:.1f} hours on 2 cores after the downloads, by the rates of {_BASIS[model.of.stores]}",
    ]
    return "\n".join(lines)


def _translations(model: ModelEntry, files: Iterable[PlannedDownload]) -> Iterator[float]:
    """The sentences to translate for each translated corpus."""
    known = {file.name: file.pairs or 0 for file in files}
    for part in model.parts:
        if part.translation:
            yield sentences(part, known)


def _pairs(model: ModelEntry, files: Iterable[PlannedDownload]) -> tuple[float, float, list[str]]:
    """Pairs read, pairs trained on, and the corpora of unknown size."""
    known = {file.name: file.pairs for file in files}
    pairs = [(part.corpus, known[part.path or part.download or ""]) for part in model.files]
    unlisted = [corpus for corpus, count in pairs if count is None]
    return float(sum(count or 0 for _, count in pairs)), left(model.parts, known), unlisted


def _capped(model: ModelEntry) -> str:
    """The largest number of pairs that corpora may give, if the config caps them."""
    caps = {part.corpus: part.cap for part in model.parts if part.cap}
    if not caps:
        return ""
    least, most = min(caps.values()), max(caps.values())
    each = f"{most:,}" if least == most else f"{least:,} to {most:,}"
    what = "each corpus" if len(caps) == len(model.parts) else ", ".join(caps)
    return f" (the config caps {what} at {each} pairs)"
