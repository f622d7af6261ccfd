"""stats.json for people: tables as those of ParaNMT-50M (its tables 1 and 3), as text or Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from psp.core.files import atomic_text, write_json
from psp.pairs.data_warnings import shortened, verbatim
from psp.report.tables import Cell, Number, Table, share

#: The table of corpora; a row is a side, the references first.
COLUMNS = (
    "corpus",
    "side",
    "pairs",
    "sample",
    "words",
    "characters",
    "IDF",
    "score",
    "overlap",
    "entropy",
    "types",
    "parses",
)


def write(report: Mapping[str, Any], json: Path, text: Path) -> None:
    """Write a report as JSON and as Markdown.

    Raises:
        DataError: the disk is full, or a folder is not writable.
    """
    write_json(json, report)
    with atomic_text(text) as file:
        file.write(as_markdown(report))


def as_text(report: Mapping[str, Any]) -> str:
    """The tables for a terminal, without samples."""
    return "\n".join(_tables(report, "text"))


def as_markdown(report: Mapping[str, Any]) -> str:
    """The tables and the samples as a page."""
    title = report["model"] or ", ".join(corpus["label"] for corpus in report["corpora"])
    blocks = [f"# Statistics of {title}\n", *_tables(report, "markdown")]
    for corpus in report["corpora"]:
        blocks += list(_samples(corpus))
    return "\n".join(blocks)


def _tables(report: Mapping[str, Any], form: str) -> Iterator[str]:
    rows = [row for corpus in report["corpora"] for row in _rows(corpus)]
    yield Table(COLUMNS, rows, range(2, len(COLUMNS))).write(form)
    for corpus in report["corpora"]:
        if histogram := corpus["histogram"]:
            yield _heading(corpus["label"], form) + _ranges(histogram).write(form)
        if labels := corpus["labels"]:
            yield _heading(f"{corpus['label']}: labels", form) + _labelled(labels, corpus["histogram"]).write(form)
            if labels["agreement"]:
                yield _agreement(labels["agreement"]).write(form)
    mark = "- " if form == "markdown" else ""
    yield "".join(f"{mark}{line}\n" for line in _notes(report))


def _heading(text: str, form: str) -> str:
    return f"## {text}\n\n" if form == "markdown" else f"{text}\n"


def _rows(corpus: Mapping[str, Any]) -> Iterator[list[Cell]]:
    for place, side in enumerate(corpus["sides"]):
        first = place == 0
        entropy = Number((corpus["parses"] or {"entropy": None})["entropy"], written="{:.2f}")
        yield [
            corpus["label"] if first else "",
            side["language"] or ("references", "translations")[place],
            corpus["rows"] - corpus["bad_rows"] - corpus["empty"] if first else "",
            corpus["sampled"] if first else "",
            moments(side["words"], 1),
            moments(side["characters"], 1),
            moments(side["idf"], 2),
            moments(corpus["score"], 2) if first else "",
            moments(corpus["overlap"], 2) if first else "",
            Number(side["entropy"], written="{:.2f}"),
            side["types"],
            entropy if first else "",
        ]


def moments(values: Mapping[str, float] | None, digits: int) -> str:
    """Mean and standard deviation as a cell."""
    return "-" if values is None else f"{values['mean']:.{digits}f} ± {values['std']:.{digits}f}"


def range_name(one: Mapping[str, Any]) -> str:
    """A range of scores as a cell."""
    return f"({one['above']:g}, {one['to']:g}]"


def _ranges(histogram: Mapping[str, Any]) -> Table:
    ranges = histogram["ranges"]
    total = sum(one["pairs"] for one in ranges) + histogram["below"] + histogram["above"]
    ends = [(f"up to {ranges[0]['above']:g}", histogram["below"]), (f"above {ranges[-1]['to']:g}", histogram["above"])]
    rows: list[list[Cell]] = [
        [range_name(one), one["pairs"], Number(100 * one["share"], written="{:.1f}%"), moments(one["overlap"], 2)]
        for one in ranges
    ]
    rows += [[name, count, share(count, total, "{:.1f}%"), None] for name, count in ends if count]
    return Table(("range", "pairs", "share", "overlap"), rows, range(1, 4))


def _labelled(labels: Mapping[str, Any], histogram: Mapping[str, Any] | None) -> Table:
    """Labels by range: for each annotator, and for all of them if there are several."""
    names = labels["annotators"]
    rows: list[list[Cell]] = []
    for place, one in enumerate(labels["ranges"]):
        name = range_name(histogram["ranges"][place]) if histogram else "all pairs"
        columns = (one["paraphrase"], one["fluency"])
        given = [[names[row], *(_shown(column[row]) for column in columns)] for row in range(len(names))]
        if len(names) > 1:
            given.append(["all", *(_shown([sum(label) for label in zip(*column, strict=True)]) for column in columns)])
        rows += [[name if not row else "", *cells] for row, cells in enumerate(given)]
    return Table(["range", "annotator", "paraphrase 1/2/3", "fluency 1/2/3"], rows, (3,))


def _shown(counts: Sequence[int]) -> str:
    return "/".join(map(str, counts))


def _agreement(labels: Sequence[Mapping[str, Any]]) -> Table:
    rows: list[list[Cell]] = []
    for one in labels:
        for place, judged in enumerate(("paraphrase", "fluency")):
            figures = one[judged]
            agree = None if figures["agree"] is None else 100 * figures["agree"]
            names = " and ".join(one["annotators"]) if not place else ""
            agreed = [Number(agree, written="{:.1f}%"), Number(figures["kappa"], written="{:.3f}")]
            rows.append([names, judged, figures["pairs"], *agreed])
    return Table(["annotators", "judged", "pairs", "agree", "kappa"], rows, range(2, 5))


def _notes(report: Mapping[str, Any]) -> Iterator[str]:
    settings, corpora = report["settings"], report["corpora"]
    yield (
        f"Mean ± standard deviation over the sample: up to {settings['pairs']:,} distinct pairs of a corpus (seed "
        f"{settings['seed']}). The number of pairs, and of those of each range, count all of them. Words are in lower "
        "case, and punctuation marks are words. Entropies in nats."
    )
    yield (
        "A sentence's IDF is the mean of its words' ln(sentences / sentences with the word), counted in "
        + "; ".join(_idf_sources(corpora))
    )
    for corpus in corpora:
        spoilt = [
            f"{count:,} {what}"
            for count, what in ((corpus["bad_rows"], "lines are not pairs"), (corpus["empty"], "have an empty side"))
            if count
        ]
        if spoilt:
            yield f"{corpus['label']}: {', '.join(spoilt)}"
    missing: dict[tuple[str, str], list[str]] = {}
    for corpus in corpora:
        reasons: dict[str, list[str]] = {}
        for figure, why in corpus["missing"].items():
            reasons.setdefault(why, []).append(figure)
        for why, figures in reasons.items():
            missing.setdefault((" or ".join(figures), why), []).append(corpus["label"])
    for (measure, why), labels in missing.items():
        yield f"{', '.join(labels)}: no {measure}: {why}"


def _idf_sources(corpora: Sequence[Mapping[str, Any]]) -> list[str]:
    sources = [side["idf_from"] for corpus in corpora for side in corpus["sides"]]
    files = dict.fromkeys((one["file"], one["sentences"]) for one in sources if one["file"])
    own = ["each side's own sample"] if any(one["file"] is None for one in sources) else []
    return [*own, *(f"{count:,} sentences of {file}" for file, count in files)]


def _samples(corpus: Mapping[str, Any]) -> Iterator[str]:
    parts = (
        [(f"with a score in {range_name(one)}", one["samples"]) for one in corpus["histogram"]["ranges"]]
        if corpus["histogram"]
        else [("at random", corpus["samples"])]
    )
    if any(pairs for _, pairs in parts):
        yield f"## {corpus['label']}: samples\n"
    for where, pairs in parts:
        if pairs:
            lines = [
                " | ".join(
                    [
                        *([f"{pair['score']:.2f}"] if "score" in pair else []),
                        shortened(pair["source"]),
                        shortened(pair["target"]),
                    ]
                )
                for pair in pairs
            ]
            yield f"Pairs {where}:\n"
            yield "".join(f"{line}\n" for line in verbatim(lines))
