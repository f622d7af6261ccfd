"""What ``psp inspect`` found, for people: as text, and as a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from psp.pairs.data_warnings import shortened
from psp.report import page
from psp.report.tables import Cell, Foreign, Number, Table

#: Reasons of a filter with examples, and corpora of which each has some: those with the most.
MOST = 3
#: The columns of the table of corpora, and their meanings.
COLUMNS = {
    "corpus": "and its languages",
    "pairs": "its lines",
    "filters keep": "share of the sample",
    "duplicates": "pairs equal to an earlier line, ignoring case",
    "languages": "the texts of each side, of 20 characters or more, that py3langid finds to be in its language",
    "length ratio": "the target's characters over the source's: the median, and where 90% of the pairs are",
    "lengths agree": "how well the lengths of the sides go together, as a correlation: of translations above 0.75",
    "test sentences": "pairs of the sample with a sentence of a test set",
}


def as_text(report: Mapping[str, Any]) -> str:
    """The findings and a table of the corpora; the page has examples of what each filter drops."""
    lines = [summary(report), ""]
    for number, finding in enumerate(report["findings"], start=1):
        lines += [f"{number}. {finding['text']}", *(f"     {shortened(row)}" for row in finding["samples"]), ""]
    lines += [*report["notes"], ""] if report["notes"] else []
    return "\n".join([*lines, table(report).write()])


def summary(report: Mapping[str, Any]) -> str:
    """What was looked at, and how much is worth a look, in a line."""
    corpora, found = report["corpora"], len(report["findings"])
    many = f"{found} thing{'s' if found > 1 else ''} to look at" if found else "Nothing stands out"
    return (
        f"{report['model']}: {many}. Of {sum(one['rows'] for one in corpora):,} pairs in {len(corpora)} "
        f"{'corpora' if len(corpora) > 1 else 'corpus'}, up to {max(one['seen'] for one in corpora):,} of each were "
        "drawn at random."
    )


def table(report: Mapping[str, Any]) -> Table:
    """One row a corpus."""
    return Table(list(COLUMNS), [_row(corpus) for corpus in report["corpora"]], numbers=(1, 2, 3, 5, 6, 7))


def _row(corpus: Mapping[str, Any]) -> list[Cell]:
    sides, ratios = corpus["sides"], corpus["ratios"]
    low, usual, high = ratios or (0.0, 0.0, 0.0)
    return [
        corpus["label"],
        corpus["rows"],
        f"{corpus['kept'] / max(corpus['seen'], 1):.1%}",
        f"{corpus['duplicates']:.1%}",
        ", ".join(
            f"{side['language']}\u00a0{'?' if side['own'] is None else format(side['own'], '.0%')}" for side in sides
        ),
        Number(usual, (low, high), written="{:.2f}") if ratios else None,
        None if corpus["agreement"] is None else f"{corpus['agreement']:.2f}",
        sum(corpus["tests"].values()),
    ]


def write(report: Mapping[str, Any], out: Path) -> None:
    """Write the page.

    Raises:
        DataError: the disk is full, or a folder is not writable.
    """
    page.write(
        "inspect.html",
        out,
        name=report["model"],
        summary=summary(report),
        findings=[(one["text"], one["samples"]) for one in report["findings"]],
        notes=report["notes"],
        table=table(report),
        columns=COLUMNS,
        filters=_dropped(report["corpora"]),
    )


def _dropped(corpora: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str, Table]]:
    """What each filter drops, the most first: its name, how much, for which reasons, and a table of examples."""
    total = sum(corpus["seen"] for corpus in corpora)
    counts: dict[str, Counter[str]] = {}
    for corpus in corpora:
        for reason, count in corpus["dropped"].items():
            name, _, why = reason.partition(": ")
            counts.setdefault(name, Counter())[why] += count
    found = []
    for name, reasons in sorted(counts.items(), key=lambda item: -item[1].total()):
        rows: list[list[Cell]] = []
        for why, _ in reasons.most_common(MOST):
            reason = f"{name}: {why}" if why else name
            most = sorted(corpora, key=lambda corpus: -corpus["dropped"].get(reason, 0) / max(corpus["seen"], 1))
            for corpus in most[:MOST]:
                rows += [[why or name, corpus["label"], *map(Foreign, [*columns, ""][:2])]
                         for columns in corpus["examples"].get(reason, [])]  # fmt: skip
        named = ", ".join(f"{why} {count:,}" for why, count in reasons.most_common(MOST) if why)
        share = f"{reasons.total():,} ({reasons.total() / total:.2%})"
        found.append((name, share, named, Table(["reason", "corpus", "source", "target"], rows)))
    return found
