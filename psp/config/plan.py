"""Estimate what a model will take before any download: downloads, disk, memory and time, each with its basis."""

from __future__ import annotations

import collections
import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from psp.config.config import Config
from psp.config.corpus_entries import CorpusSpec
from psp.config.counts import left, listed
from psp.config.made_entries import KEPT
from psp.config.model import ModelEntry
from psp.config.rates import DEDUPE_RATE, FILTER_RATE, MIX_RATE, PACKED_BYTES, STORE_RATE, TEXT_BYTES
from psp.config.training import largest, train_mb
from psp.config.translated_entries import sentences
from psp.core.errors import PspError
from psp.corpora import open_corpus
from psp.training.objectives import find

GB = 1e9
#: Rows of a user's file that are read: more than may be bad.
LOOKED_AT = 1000

#: MiniLM in bfloat16 on one of two cores with other jobs running, short English sentences: 21 pairs/s.
TRANSFORMER_RATE = 20
#: Sentences a second that the sample's translator translated, with a beam of 5 in int8, two cores: 256 to 500.
TRANSLATE_RATE = 280
#: Pieces a second that multilingual-e5-small embeds on two cores in use: 42,057 in 4 minutes; other encoders differ.
PIECES_RATE = 170
#: Sentences a second that a teacher embeds on two cores: MiniLM in bfloat16, neighbours included; multilingual-e5-small
#: with AVX2 alone (35 to 50); USE on one core (docs/quality_speed.json). Others are taken for MiniLM.
TEACHER_RATES = {"minilm": 400, "multilingual-e5-small": 50, "use-multilingual": 950}
#: How many times as long training takes with a teacher's neighbourhoods beside the pairs (14,000 instead of
#: 24,500 pairs/s of `fr`).
TAUGHT = 1.75
#: Seconds for work that does not depend on the number of pairs: a dozen jobs start, training loads and saves, and
#: published sets are evaluated (fr-small: 49 s of CPU time, of which 8 depend on its pairs).
REST = 40
BASIS = "rates and sizes per pair as measured on 2 cores over 610,616 real en-fr pairs (psp/config/rates.py)"


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
        pairs, exact = part.of.count(path, part.opus, part.names)
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
            "pairs, disk, memory and time: unknown, since no corpus lists its pairs; they can be planned once the "
            "archives are here",
        ]
        return "\n".join(lines)
    settings = model.settings
    if not model.of.stores:
        of_training = _of_transformer(model, read, kept, archives, unlisted)
        return "\n".join([*lines, "", *_of_translations(config, model, files), *of_training])
    # A small corpus has fewer pieces than requested: 6,000 pairs gave 10,424.
    rows = min(model.most_rows, max(1000, 2 * int(kept)))
    dim, epochs = largest(model, "dim"), largest(model, "epochs")
    table = 4 * rows * dim
    points = model.points.values() if model.tuned else []
    tuned = sum(_train_seconds(kept, point, point["epochs"], point["dim"]) for point in points)
    vocabulary = model.tokenizer.making(settings, 2 * kept)
    stored = kept * model.tokenizer.store_bytes
    teacher = settings["teacher"]  # one side of a pair is in its language, mostly
    taught = min(kept, teacher["sentences"] or kept) if teacher["encoder"] else 0
    teacher_rate = TEACHER_RATES.get(teacher["encoder"], TEACHER_RATES["minilm"])
    seconds = {
        "filter": read / FILTER_RATE / 2,
        "dedupe and mix": KEPT * read / DEDUPE_RATE / 2 + kept / MIX_RATE,
        vocabulary.step: vocabulary.seconds,
        "store": kept / STORE_RATE,
        **({"vectors of the pieces": rows / PIECES_RATE} if settings["train"]["init_encoder"] else {}),
        **({"vectors of the teacher": taught / teacher_rate} if taught else {}),
        **({f"grid of {len(points)} points": tuned} if points else {}),
        "train": _train_seconds(kept, settings["train"], epochs, dim) * (TAUGHT if taught else 1),
        "starting jobs and evaluation": REST,
    }
    text = KEPT * read * TEXT_BYTES
    # Weights, two moments and the best weights, in the checkpoints that are kept and in a new one.
    checkpoints = 4 * table * (settings["train"]["checkpoint"]["keep"] + 1)
    most = max(2.2 * text + 3 * table, stored + checkpoints)
    training = train_mb(rows, dim)
    lines += [
        "",
        *_of_translations(config, model, files),
        f"pairs: {read:,.0f} read, about {kept:,.0f} trained on{_capped(model)}, {epochs} epochs"
        + (
            f"; unknown for {len(unlisted)} corpora that list no pairs ({', '.join(unlisted)}), so the estimates below "
            "are too low"
            if unlisted
            else ""
        ),
        f"disk: about {(archives + most) / GB:.1f} GB at most, "
        f"{(archives + stored + 2 * table) / GB:.1f} GB in the end",
        f"memory: {max(vocabulary.megabytes or 0, training) / 1000:.1f} GB for the largest job ("
        + (f"{vocabulary.step} {vocabulary.megabytes / 1000:.1f}, " if vocabulary.megabytes else "")
        + f"training {training / 1000:.1f}, others 1)"
        + ("" if vocabulary.megabytes else f", if there are {model.most_rows - 1:,} {model.tokenizer.pieces_called}"),
        f"time on 2 cores, after the downloads: about {_time(sum(seconds.values()))} ("
        + ", ".join(f"{step} {_time(value)}" for step, value in seconds.items())
        + ")",
        f"basis: {BASIS}",
    ]
    return "\n".join(lines)


def _of_transformer(
    model: ModelEntry, read: float, kept: float, archives: int, unlisted: Sequence[str]
) -> Iterator[str]:
    """The plan of a transformer, whose training time depends on its base."""
    epochs = model["transformer"]["epochs"]
    seconds = read / FILTER_RATE / 2 + KEPT * read / DEDUPE_RATE / 2 + kept / MIX_RATE
    text = KEPT * read * TEXT_BYTES
    missing = f"; unknown for {', '.join(unlisted)}, so this is too low" if unlisted else ""
    yield f"pairs: {read:,.0f} read, about {kept:,.0f} trained on{_capped(model)}, {epochs} epochs{missing}"
    yield f"disk: about {(archives + 2.2 * text) / GB:.1f} GB at most, without the model and its checkpoints"
    yield f"time on 2 cores, after the downloads and before training: about {_time(seconds)}"
    yield (
        f"training: {kept * epochs:,.0f} pairs at what {model.base} takes; MiniLM (23M parameters) took "
        f"{TRANSFORMER_RATE} a second on one core, {_time(kept * epochs / TRANSFORMER_RATE)} for these"
    )
    yield f"basis: {BASIS}"


def _of_translations(config: Config, model: ModelEntry, files: Iterable[PlannedDownload]) -> Iterator[str]:
    """The time to make its translated corpora."""
    known = {file.name: file.pairs or 0 for file in files}
    for part in model.parts:
        if not part.translation:
            continue
        translator = config.translator(part.translation["translator"])
        if translator.data is not None:
            train = translator.train
            ends = [f"{train[key]} {key}" for key in ("minutes", "steps", "epochs") if train[key] is not None]
            first = ", what comes first" if len(ends) > 1 else ""
            yield f"translator {translator.name}: trained for {' or '.join(ends)}{first}"
        translated = sentences(part, known)
        yield (
            f"translating {part.corpus}: about {translated:,.0f} sentences at what {translator.name} takes; the sample"
            f"'s translator (5.7M weights, a beam of 5) took {TRANSLATE_RATE} a second on 2 cores, "
            f"{_time(translated / TRANSLATE_RATE)} for these"
        )


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


def _train_seconds(pairs: float, train: Mapping[str, Any], epochs: int, dim: int) -> float:
    return pairs * epochs / find(train["objective"]).rate(train) * max(dim / 1024, 0.1)


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.1f} days"
