"""inspect.json for people: as text, and as a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from psp.pairs.data_warnings import shortened
from psp.report.layout import layout

#: What the columns of the table say.
COLUMNS = ("corpus", "pairs", "filters keep", "duplicates", "copies", "words fit", "ratio", "own language")


def as_text(report: Mapping[str, Any]) -> str:
    """The findings, and a table of the corpora; the page has the rest."""
    total = sum(corpus["rows"] - corpus["bad_rows"] for corpus in report["corpora"])
    lines = [
        f"{report['model']}: {total:,} pairs of {len(report['corpora'])} corpora, up to "
        f"{report['settings']['pairs']:,} random ones of each looked at",
        "",
    ]
    if report["findings"]:
        lines += ["Look at these:"]
        for number, finding in enumerate(report["findings"], start=1):
            lines += ["", f"{number}. {headline(finding)}"]
            lines += [f"     {sample_line(sample)}" for sample in finding["samples"]]
    else:
        lines += ["Nothing stands out."]
    return "\n".join([*lines, "", layout(table(report), right=range(1, len(COLUMNS)))])


def headline(finding: Mapping[str, Any]) -> str:
    """A finding as a sentence, with its corpus and its threshold."""
    where = f"{finding['corpus']}: " if finding["corpus"] else ""
    limit = finding["limit"]
    if limit is None:
        return f"{where}{finding['text']}"
    bound = f"{limit:,}" if limit > 1 else percent(limit)
    return f"{where}{finding['text']} (threshold: {bound})"


def sample_line(sample: Mapping[str, Any]) -> str:
    """A pair on one line, safe to show."""
    reason = f"[{sample['reason']}] " if "reason" in sample else ""
    return f"{sample['row']:,}: {reason}{shortened(sample['source'])} | {shortened(sample['target'])}"


def table(report: Mapping[str, Any]) -> list[list[str]]:
    """One row a corpus, the header first."""
    return [list(COLUMNS), *(_row(corpus) for corpus in report["corpora"])]


def _row(corpus: Mapping[str, Any]) -> list[str]:
    pairs: Mapping[str, Any] = corpus["pairs"] or {}
    words = pairs.get("words")
    return [
        corpus["label"],
        f"{corpus['rows'] - corpus['bad_rows']:,}",
        percent(corpus["kept"]),
        percent(corpus["duplicates"]),
        percent(pairs["copies"]) if pairs else "-",
        percent(words["own"]) if words else "-",
        percent(pairs["ratios"]["beyond"]) if pairs else "-",
        " ".join(_own(side) for side in corpus["sides"]),
    ]


def _own(side: Mapping[str, Any]) -> str:
    own = side["labels"]["own"]
    return f"{side['language']} {percent(own) if own is not None else '?'}"


def percent(share: float) -> str:
    """A share as people read it."""
    return f"{100 * share:.1f}%"


def names(values: Sequence[Mapping[str, Any]]) -> str:
    """Names with their shares."""
    return ", ".join(f"{one['name']} {percent(one['share'])}" for one in values) or "-"


def write(report: Mapping[str, Any], json: Path, html: Path) -> None:
    """Write a report as JSON and as a page.

    Raises:
        DataError: the disk is full, or a folder is not writable.
    """
    write_json(json, report)
    with atomic_text(html) as file:
        file.write(page(report))
