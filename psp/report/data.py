"""Report a model's training data as data.json, and in readable form as data.md.

For each corpus it gives the source, the licence and what happened to every pair, from the reports of the data stages.
Counts are checked against each other, so that reports of different runs are not mixed. Sizes are in pieces of the
store, as training sees them; for a transformer, whose pieces are its base's, in words between white space.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict, cast

import numpy as np

from psp.config.blocks.corpora import KINDS
from psp.core.errors import DataError
from psp.core.files import atomic_text, read_json, sha256, write_json
from psp.pairs import data_warnings
from psp.pairs.data_warnings import filter_of, read_samples, shortened, verbatim
from psp.pairs.pair_file import read_mixed
from psp.pairs.store import SUFFIX, Store
from psp.report.tables import Cell, Table, share
from psp.text.word_tokenizer import WHITESPACE

if TYPE_CHECKING:
    from psp.inference.translation.backtranslate import TranslatedReport
    from psp.pairs.pivot import MinedReport
    from psp.pairs.rank import RankedBy


class DataWarningCorpus(TypedDict):
    label: str
    dropped: int  # pairs the filter dropped
    read: int  # pairs read
    samples: list[list[str]]  # a random sample of the dropped pairs, each as source, target and, if there is one, score


class DataWarning(TypedDict):
    filter: str  # the filter
    keep: str  # what to write in the config to keep most of these pairs
    corpora: list[DataWarningCorpus]  # the corpora, largest dropped share first


class DataWarnings(TypedDict):
    """What to check in the data."""

    pairs: int  # pairs trained on
    least: int  # warn of fewer training pairs (mix.warn_pairs in the config)
    # filters that dropped more than warn_share of a corpus, the one that dropped most pairs first
    filters: list[DataWarning]


class DataSource(TypedDict):
    """The file that was read."""

    address: str  # the mirror it came from, or the path of the user's own file
    bytes: int  # size in bytes
    sha256: str  # SHA-256 of the file; of several of one's own, as if they were one
    pinned: bool  # whether the config pinned the checksum


class DataLicence(TypedDict):
    """Its licence."""

    declared: str | None  # the SPDX id declared in the config; null if none
    text: str | None  # the first lines of the archive's LICENSE, or else its README; null if it has neither


class DataDropped(TypedDict):
    filter: str | None  # the filter; `row` if the row was not a pair, null if a side was empty
    reason: str  # the reason, in a few words
    pairs: int  # pairs dropped for this reason
    samples: list[list[str]]  # a random sample of the dropped pairs, each as source, target and, if there is one, score


class DataRanked(TypedDict):
    """The deciles that were kept, only if the corpus was ranked."""

    by: RankedBy
    deciles: list[int]  # the deciles kept
    other_deciles: int  # pairs left out because they are in other deciles


class DataPieces(TypedDict):
    """Pieces in the store, by side, without unknown ones."""

    source: int  # pieces of the source side
    target: int  # pieces of the target side


class DataMeanPieces(TypedDict):
    """Mean pieces per sentence, by side."""

    source: float | None  # source side; null without pairs
    target: float | None  # target side; null without pairs


class DataCounts(TypedDict):
    read: int  # pairs read
    deduplicated: dict[str, int]  # pairs dropped by deduplication after the filters, by cause, as in the dedupe report
    mixed: dict[str, int]  # pairs dropped or held out in mixing, by cause, as in mix.json
    near_duplicates: dict[str, int]  # near-duplicates dropped from the mixture, by cause; empty if that stage is off
    kept: int  # pairs trained on
    pieces: DataPieces
    mean_pieces: DataMeanPieces


class DataCorpus(DataCounts):
    label: str
    corpus: str
    languages: list[str]
    kind: str  # the kind of corpus, such as opus
    mined: NotRequired[MinedReport]  # how pairs were mined from bitext
    translated: NotRequired[TranslatedReport]  # how one side of bitext was translated
    version: str | None  # the release; null for the user's own file
    source: DataSource
    licence: DataLicence
    filters: dict[str, dict[str, Any]]  # settings of the filters that ran, by name
    warn_share: float  # warn of filters that drop a larger share of the corpus
    # pairs dropped by the filters, most frequent reason first; each counts under the first reason found
    dropped: list[DataDropped]
    ranked: NotRequired[DataRanked]


class DataTotalRanked(TypedDict):
    """Only if a corpus was ranked."""

    other_deciles: int  # pairs left out because they are in other deciles


class DataTotal(DataCounts):
    """The same counts over all corpora."""

    dropped: int  # pairs dropped by the filters
    ranked: NotRequired[DataTotalRanked]


class DataReport(TypedDict):
    """What a model was trained on; read is kept plus everything the stages removed."""

    format: int
    model: str
    languages: list[str]
    recipe: str  # the recipe, which gives the values of unset config keys
    # the kind of tokenizer whose pieces are counted, if it is not sentencepiece, such as word
    tokenizer: NotRequired[str]
    warnings: DataWarnings
    corpora: list[DataCorpus]  # the corpora, in the order of the config
    total: DataTotal


SAMPLES = 5  # rows shown of those dropped for one reason
LICENCE_LINES = 5
_BLOCK = 1 << 16  # pairs of the store read at a time


@dataclass(frozen=True)
class CorpusSource:
    """One corpus of the model, in the order of the config.

    Attributes:
        label: its name in results/<model>/pairs.
        kind, version, licence: as in the config; ``licence`` is the SPDX id declared there.
        file: the corpus's file; for mined and translated pairs, the report of making them.
        record: the JSON record of its download; None for a user's own file.
        warn_share: warn of filters that drop a larger share of it.
        ranked: whether some of its deciles were left out.
        beside: further files of the user's that it consists of.
    """

    label: str
    kind: str
    version: str | None
    licence: str | None
    file: Path
    record: Path | None
    warn_share: float = data_warnings.SHARE
    ranked: bool = False
    beside: Sequence[str] = ()


def report(
    name: str,
    sources: Sequence[CorpusSource],
    pairs: Path,
    store: Path,
    out: Path,
    text: Path,
    *,
    languages: Sequence[str],
    recipe: str,
    near: Path | None = None,
    warn_pairs: int = data_warnings.PAIRS,
) -> DataReport:
    """Write ``out`` (data.json) and ``text`` (data.md, with the same content); return what is in ``out``.

    Neither contains a date, so the same data gives the same bytes (dates are in the records of the downloads).

    Args:
        name: the model's name.
        pairs: the folder with the stages' reports, results/<model>/pairs.
        store: the encoded pairs; a transformer's are a mixed pair file, whose words are counted.
        near: the report of near-duplicate removal, if it was used.
        warn_pairs: warn of fewer training pairs.

    Raises:
        DataError: a report is missing or broken, or the counts of two stages do not match.
    """
    labels = [source.label for source in sources]
    mixed = _mixed(pairs / "mix.json", labels)
    nearly = _mixed(near, labels) if near else [None] * len(labels)
    sizes = _sizes(store, labels)
    corpora = [
        _corpus(source, pairs, counts, close, size)
        for source, counts, close, size in zip(sources, mixed, nearly, sizes, strict=True)
    ]
    total = _total(corpora)
    value: dict[str, Any] = {
        "format": 1,
        "model": name,
        "languages": list(languages),
        "recipe": recipe,
        **_tokenizer(store),
        "warnings": {
            "pairs": total["kept"],
            "least": warn_pairs,
            "filters": data_warnings.dropped_much(
                {label: read_json(pairs / f"filter/{label}.json") for label in labels},
                {source.label: source.warn_share for source in sources},
                {label: read_samples(pairs / f"filter/{label}.dropped.tsv", data_warnings.SAMPLES) for label in labels},
            ),
        },
        "corpora": corpora,
        "total": total,
    }
    with atomic_text(text) as file:
        file.write(markdown(value))
        write_json(out, value)
    return cast("DataReport", value)


def _mixed(path: Path, labels: Sequence[str]) -> list[dict[str, Any]]:
    """Read the counts of each corpus from the report of a stage that processes the mixture."""
    entries: list[dict[str, Any]] = read_json(path)["corpora"]
    if [entry["label"] for entry in entries] != list(labels):
        raise DataError("its corpora are not those of the model; make it again", path)
    return entries


def _lost(counts: Mapping[str, Any]) -> dict[str, int]:
    """Return a stage's counts of removed pairs."""
    return {
        key: value for key, value in counts.items() if key not in ("format", "corpus", "label", "seen", "in", "kept")
    }


def _corpus(
    source: CorpusSource,
    pairs: Path,
    mixed: Mapping[str, Any],
    near: Mapping[str, Any] | None,
    size: Mapping[str, int],
) -> dict[str, Any]:
    filtered, deduped = (read_json(pairs / f"{stage}/{source.label}.json") for stage in ("filter", "dedupe"))
    ranked, left_out = {"seen": filtered["kept"], "kept": filtered["kept"]}, {}
    if source.ranked:
        ranked = read_json(pairs / f"rank/{source.label}.json")
        count = ranked["seen"] - ranked["kept"]
        left_out["ranked"] = {"by": ranked["by"], "deciles": ranked["deciles"], "other_deciles": count}
    near = near or {"in": mixed["kept"], "kept": mixed["kept"]}
    lost, left, close = _lost(deduped), _lost(mixed), _lost(near)
    for stage, before, after in (
        ("filter", filtered["seen"], filtered["kept"] + sum(filtered["dropped"].values())),
        ("rank", filtered["kept"], ranked["seen"]),
        ("dedupe", ranked["kept"], deduped["seen"]),
        ("dedupe", deduped["seen"], deduped["kept"] + sum(lost.values())),
        ("mix", deduped["kept"], mixed["in"]),
        ("mix", mixed["in"], mixed["kept"] + sum(left.values())),
        ("near-duplicates", mixed["kept"], near["in"]),
        ("near-duplicates", near["in"], near["kept"] + sum(close.values())),
        ("the store", near["kept"], size["pairs"]),
    ):
        if before != after:
            raise DataError(
                f"{source.label}: {before:,} pairs enter {stage}, but it accounts for {after:,}: the reports are from "
                "different runs, or one was edited; delete the folder and make them again",
                pairs,
            )
    samples = read_samples(pairs / f"filter/{source.label}.dropped.tsv", SAMPLES)
    return {
        "label": source.label,
        "corpus": filtered["corpus"],
        "languages": filtered["languages"],
        "kind": source.kind,
        "version": source.version,
        "source": _origin(source),
        "licence": {"declared": source.licence, "text": _licence_text(source)},
        **_made(source, filtered["seen"]),
        "filters": filtered["filters"],
        "warn_share": source.warn_share,
        "read": filtered["seen"],
        "dropped": [
            {
                # The filter, and its reason or (of a filter with only one) its name; no filter for an empty side.
                **dict(zip(("filter", "reason"), filter_of(reason, filtered["filters"]), strict=True)),
                "pairs": count,
                "samples": samples.get(reason, []),
            }
            for reason, count in sorted(filtered["dropped"].items(), key=lambda item: (-item[1], item[0]))
        ],
        **left_out,
        "deduplicated": lost,
        "mixed": left,
        "near_duplicates": close,
        "kept": near["kept"],
        "pieces": {side: size[side] for side in ("source", "target")},
        "mean_pieces": {side: _mean(size[side], size["pairs"]) for side in ("source", "target")},
    }


def _made(source: CorpusSource, read: int) -> dict[str, Any]:
    """How pairs were made from others, by their kind, from the report of the stage that made them; or nothing."""
    if KINDS[source.kind].made_by is None:
        return {}
    report = read_json(source.file)
    if source.kind == "mined":
        kept = {key: value for key, value in report.items() if key not in ("format", "languages", "sample")}
        pairs, told = report["pairs"], {**kept, "sample": report["sample"][:SAMPLES]}
    else:
        pairs = sum(corpus["kept"] for corpus in report["corpora"].values())
        told = {key: report[key] for key in ("through", "translator", "encoder", "sample", "corpora")}
    if pairs != read:
        raise DataError(
            f"{pairs:,} pairs were {source.kind}, but {read:,} were filtered; ask for this file again", source.file
        )
    return {source.kind: told}


def _sizes(path: Path, labels: Sequence[str]) -> list[dict[str, int]]:
    """Count pairs, and pieces of each side (of text: words), of each corpus, in constant memory."""
    names = ("pairs", "source", "target")
    sums = np.zeros((len(names), len(labels)), np.int64)
    if path.suffix != SUFFIX:  # a transformer's pairs, as text
        for source, target, corpus in read_mixed(path):
            sums[:, int(corpus)] += (1, len(source.split()), len(target.split()))
        return [dict(zip(names, map(int, column), strict=True)) for column in sums.T]
    with Store(path) as store:
        if list(store.corpora) != list(labels):
            raise DataError("its corpora are not those of the model; make it again", path)
        for start in range(0, len(store), _BLOCK):
            block = store.read(start, min(start + _BLOCK, len(store)))
            weights = (None, np.diff(block.source.offsets), np.diff(block.target.offsets))
            for row, weight in zip(sums, weights, strict=True):
                row += np.bincount(block.corpus, weight, len(labels)).astype(np.int64)
    return [dict(zip(names, map(int, column), strict=True)) for column in sums.T]


def _origin(source: CorpusSource) -> dict[str, Any]:
    if source.record is None:
        given = [source.file, *map(Path, source.beside)]
        files = [file for one in given for file in (sorted(one.rglob("*")) if one.is_dir() else [one])]
        files = [file for file in files if file.is_file()]
        return {
            "address": " and ".join(map(str, given)),
            "bytes": sum(file.stat().st_size for file in files),
            "sha256": sha256(*files),
            "pinned": False,
        }
    record = read_json(source.record)
    return {key: record[key] for key in ("address", "bytes", "sha256", "pinned")}


def _licence_text(source: CorpusSource) -> str | None:
    """Return the first lines of the licence text in the archive; None if it has none."""
    text = None if source.record is None else read_json(source.record)["licence_text"]
    lines = [" ".join(line.split()) for line in (text or "").split("\n")]
    return "\n".join([line for line in lines if line][:LICENCE_LINES]) or None


def _mean(pieces: int, pairs: int) -> float | None:
    return round(pieces / pairs, 2) if pairs else None


def _total(corpora: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    def add(key: str) -> dict[str, int]:
        names = dict.fromkeys(name for corpus in corpora for name in corpus[key])
        return {name: sum(corpus[key].get(name, 0) for corpus in corpora) for name in names}

    kept, pieces = sum(corpus["kept"] for corpus in corpora), add("pieces")
    left_out = [corpus["ranked"]["other_deciles"] for corpus in corpora if "ranked" in corpus]
    return {
        "read": sum(corpus["read"] for corpus in corpora),
        "dropped": sum(_dropped(corpus) for corpus in corpora),
        **({"ranked": {"other_deciles": sum(left_out)}} if left_out else {}),
        "deduplicated": add("deduplicated"),
        "mixed": add("mixed"),
        "near_duplicates": add("near_duplicates"),
        "kept": kept,
        "pieces": pieces,
        "mean_pieces": {side: _mean(count, kept) for side, count in pieces.items()},
    }


def _tokenizer(store: Path) -> dict[str, str]:
    """The kind of tokenizer, as part of data.json; nothing for sentencepiece."""
    if store.suffix != SUFFIX:
        return {"tokenizer": WHITESPACE}
    with Store(store) as pairs:
        kind = pairs.attributes.get("tokenizer")
    return {} if kind is None else {"tokenizer": kind}


def _dropped(corpus: Mapping[str, Any]) -> int:
    return sum(int(entry["pairs"]) for entry in corpus["dropped"])


# ----------------------------------------------------------------------------------------------------- for people

#: The stages after the filters; data.json has the counts of what they left out.
STAGES = ("ranked", "deduplicated", "mixed", "near_duplicates")
#: Column heading of each count, in the order of the stages.
HEADINGS = {
    "other_deciles": "in other deciles",
    "duplicates": "duplicates",
    "capped": "over the cap",
    "mixed.duplicates": "in an earlier corpus",
    "heldout": "held out",
    "heldout_neighbours": "like a held-out pair",
    "same_key": "near-duplicates by key",
    "similar": "near-duplicates by MinHash",
}


def heading(stage: str, name: str) -> str:
    """What a stage's count is called."""
    return HEADINGS.get(f"{stage}.{name}", HEADINGS.get(name, name.replace("_", " ")))


def corpora_table(value: Mapping[str, Any]) -> Table:
    """The corpora of data.json: what was read of each, what each stage took, and what is left."""
    total = value["total"]
    counts = [(stage, name) for stage in STAGES for name, count in total.get(stage, {}).items() if count]
    taken = [heading(stage, name) for stage, name in counts]
    head = ["corpus", "release", "licence", "read", "dropped by filters", *taken, "kept", "% kept", "pieces", "length"]
    rows: list[list[Cell]] = [
        [
            *([row["label"], row["version"], row["licence"]["declared"] or "none declared", row["read"], _dropped(row)]
              if row is not total else ["all", "", "", row["read"], row["dropped"]]),
            *(row.get(stage, {}).get(name, 0) for stage, name in counts),
            row["kept"],
            share(row["kept"], row["read"], "{:.1f}"),
            sum(row["pieces"].values()),
            " / ".join("-" if mean is None else f"{mean:.1f}" for mean in row["mean_pieces"].values()),
        ]
        for row in (*value["corpora"], total)
    ]  # fmt: skip
    kind = value.get("tokenizer")
    unit = f"{kind}s of the model's vocabulary" if kind else "pieces of the model's sentencepiece model"
    note = f"Length is in {unit}, without unknown ones: the mean of source / target."
    if kind == WHITESPACE:
        note = "Length is in words between white space: the mean of source / target."
    return Table(head, rows, range(3, len(head)), [note])


def dropped_table(corpus: Mapping[str, Any]) -> Table:
    """What the filters dropped of a corpus, by reason."""
    what = "sentences" if KINDS[corpus["kind"]].is_text else "pairs"
    rows: list[list[Cell]] = [
        [entry["filter"] or "", entry["reason"], entry["pairs"], share(entry["pairs"], corpus["read"], "{:.2f}")]
        for entry in corpus["dropped"]
    ]
    return Table(["filter", "reason", f"{what} dropped", "% of those read"], rows, (2, 3))


def markdown(value: Mapping[str, Any]) -> str:
    """Render data.json as Markdown: a table of all corpora, then each one's source, licence and dropped pairs."""
    return "\n".join(_lines(value)) + "\n"


def _lines(value: Mapping[str, Any]) -> Iterator[str]:
    total = value["total"]
    yield f"# The data of {value['model']}"
    yield ""
    texts = [KINDS[corpus["kind"]].is_text for corpus in value["corpora"]]
    what = "sentences" if all(texts) else "pairs and sentences" if any(texts) else "pairs"
    yield (
        f"Languages: {', '.join(value['languages'])}. Recipe: {value['recipe']}. {len(texts)} "
        f"{'corpora' if len(texts) != 1 else 'corpus'}, {total['read']:,} {what} read, {total['kept']:,} trained on."
    )
    yield ""
    if warnings := data_warnings.as_text(value["warnings"], value["model"], "markdown"):
        yield warnings
    yield corpora_table(value).markdown()[:-1]
    for corpus in value["corpora"]:
        yield from _section(corpus)


def _section(corpus: Mapping[str, Any]) -> Iterator[str]:
    source, licence = corpus["source"], corpus["licence"]
    yield ""
    yield f"## {corpus['label']}"
    yield ""
    yield f"- source: {source['address']}"
    if corpus["version"] is not None:
        yield f"- release: {corpus['version']}"
    yield f"- {source['bytes']:,} bytes, SHA-256 {source['sha256']}, {'pinned' if source['pinned'] else 'not pinned'}"
    yield f"- licence: {licence['declared'] or 'none declared'}"
    if licence["text"]:
        yield ""
        yield from verbatim(licence["text"].split("\n"))
    if ranked := corpus.get("ranked"):
        deciles = f"decile{'s' * (len(ranked['deciles']) > 1)} {', '.join(map(str, ranked['deciles']))}"
        yield f"- ranked by {ranked['by']}; kept: {deciles} of 10"
    if translated := corpus.get("translated"):
        yield ""
        yield (
            f"One side of bitext, and a translation of the other from {translated['through']} by "
            f"{translated['translator']['name']} ({translated['translator']['kind']}); scored by "
            f"{translated['encoder']['name']}:"
        )
        yield ""
        keys = ("lines", "empty", "copies", "overlong", "cut")
        rows = [[name, *(counts[key] for key in keys)] for name, counts in translated["corpora"].items()]
        yield Table(["bitext", "lines translated", *keys[1:]], rows, range(1, 6)).markdown()[:-1]
    if mined := corpus.get("mined"):
        yield ""
        yield (
            f"Mined through {mined['through']}: {sum(mined['read'].values()):,} pairs of bitext ("
            f"{', '.join(f'{name} {count:,}' for name, count in mined['read'].items())}) have {mined['keys']:,} "
            f"translations, {mined['groups']:,} of them with several sentences; {mined['pairs']:,} pairs "
            f"({mined['settings']['pairs']}). For example, with the shared translation last:"
        )
        yield ""
        yield from verbatim(
            [" | ".join(map(shortened, (row["source"], row["target"], row["shared"]))) for row in mined["sample"]]
        )
    if not corpus["dropped"]:
        return
    yield ""
    yield dropped_table(corpus).markdown()[:-1]
    text = KINDS[corpus["kind"]].is_text
    for entry in corpus["dropped"]:
        if entry["samples"]:
            yield ""
            yield f"Dropped for {why(entry)}, for example:"
            yield ""
            yield from verbatim([" | ".join(map(shortened, row[:1] if text else row)) for row in entry["samples"]])


def why(dropped: Mapping[str, Any]) -> str:
    """The filter and the reason of an entry of a corpus's ``dropped``."""
    return ": ".join(dict.fromkeys(filter(None, (dropped["filter"], dropped["reason"]))))
