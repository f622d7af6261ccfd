"""inspect.json for people: as text, and as a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from psp.core.files import write_json
from psp.pairs.data_warnings import shortened
from psp.report import page
from psp.report.layout import layout

#: The columns of the table, and their meanings.
COLUMNS = {
    "corpus": "and its languages",
    "pairs": "lines with two sides",
    "filters keep": "the share of the sample that passes all filters that are on",
    "duplicates": "pairs equal to an earlier line, among all pairs",
    "copies": "pairs of the sample whose two sides are the same",
    "words fit": "how often a source's words fit their own target better than another of its length (chance: 50%)",
    "odd lengths": "pairs whose length ratio is beyond three times the usual one, or a third of it",
    "own language": "the longer texts of each side that lid.176 identifies as their language",
}
#: Those of the table of a corpus's two sides.
SIDES = {
    "side": "the language of the text",
    "lengths": "a bar each for texts of up to 9, 19, 39, 79, 159, 319, 639 and more characters",
    "characters": "of a text: the median, and in brackets the 5th and 95th percentiles",
    "words": "the same in words",
    "scripts": "the writing systems of the letters",
    "lid.176 says": "the languages that this classifier finds in the longer texts",
    "digits": "their share of the characters",
    "vowel marks": "Arabic texts that have them",
    "duplicates": "texts equal to an earlier one",
}
#: Those of tables of pairs, by the keys of a sample.
_SAMPLE = {"reason": "reason", "source": "source", "target": "target", "after": "target of the line after"}


def as_text(report: Mapping[str, Any]) -> str:
    """The findings, and a table of the corpora; the page has the rest."""
    total = sum(corpus["rows"] - corpus["bad_rows"] for corpus in report["corpora"])
    lines = [
        f"{report['model']}: {_many(total, 'pair')} of {_many(len(report['corpora']), 'corpus', 'corpora')}, up to "
        f"{report['settings']['pairs']:,} random ones of each examined",
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
    limit = bound(finding)
    return f"{where}{finding['text']}" + (f" (threshold: {limit})" if limit else "")


def bound(finding: Mapping[str, Any]) -> str:
    """The threshold that a finding passed; empty without one."""
    limit = finding["limit"]
    if limit is None:
        return ""
    return f"{limit:,}" if limit > 1 else percent(limit)


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
    findings, settings = report["findings"], report["settings"]
    page.write(
        "inspect.html",
        html,
        name=report["model"],
        summary=_summary(report),
        findings=[{**one, "bound": bound(one), "samples": _pairs(one["samples"])} for one in findings],
        table=page.table(
            list(COLUMNS),
            [
                [Markup('<a href="#corpus-{}">{}</a>').format(number, name), *cells, own.replace(" ", "\u00a0")]
                for number, (name, *cells, own) in enumerate(table(report)[1:], start=1)
            ],
            numbers=range(1, len(COLUMNS)),
        ),
        terms={"The table above": COLUMNS, "The two sides of a corpus": SIDES},
        corpora=[
            _section(corpus, sum(one["corpus"] == corpus["label"] for one in findings)) for corpus in report["corpora"]
        ],
        again=f"psp inspect {report['model']}",
        conditions=f"Samples of up to {settings['pairs']:,} pairs of each corpus, chosen by a hash of the line's "
        f"number and the seed {settings['seed']}; numbers of pairs, lengths in characters, duplicates, ratios and "
        "test sentences are counted in all pairs. The config's block `inspect` has the settings.",
    )


def _pairs(rows: Sequence[Mapping[str, Any]]) -> Markup | None:
    """Samples as a table, with the columns that any of them has; None without samples."""
    keys = [key for key in _SAMPLE if any(row.get(key) for row in rows)]
    cells = [[row["row"], *(page.foreign(row[key]) for key in keys)] for row in rows]
    return page.table(["line", *(_SAMPLE[key] for key in keys)], cells, numbers=[0]) if rows else None


def _summary(report: Mapping[str, Any]) -> str:
    corpora, findings = report["corpora"], report["findings"]
    total = sum(corpus["rows"] - corpus["bad_rows"] for corpus in corpora)
    named = len({finding["corpus"] for finding in findings if finding["corpus"]})
    findings_text = (
        f"{_many(len(findings), 'thing')} to look at, in {_many(named, 'corpus', 'corpora')}"
        if named
        else (f"{_many(len(findings), 'thing')} to look at" if findings else "Nothing stands out")
    )
    return f"{findings_text}. {_many(total, 'pair')} of {_many(len(corpora), 'corpus', 'corpora')}."


def _many(count: int, one: str, more: str = "") -> str:
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def _section(corpus: Mapping[str, Any], findings: int) -> dict[str, Any]:
    """The page's section about one corpus with this many findings."""
    taken = corpus["filters"]
    rows = [
        [
            one["name"] if one["on"] else f"{one['name']} (off)",
            percent(one["taken"]) if one["taken"] is not None else f"not run: {one['why']}",
            names(one["reasons"]),
        ]
        for one in taken
    ]
    sets = [
        [one["set"], one["sentences"], one["found"], one["pairs"], "yes" if one["removed"] else "no"]
        for one in corpus["tests"]
        if one["found"]
    ]
    words = (corpus["pairs"] or {}).get("words")
    return {
        "label": corpus["label"],
        "findings": f"{_many(findings, 'thing')} to look at" if findings else "",
        "about": _about(corpus),
        "sides": _sides(corpus["sides"]),
        "together": _together(corpus["pairs"]),
        "samples": _pairs(corpus["samples"]),
        "worst": _pairs(words["worst"]) if words else None,
        "filters": page.table(["filter", "would take", "as"], rows, numbers=[1]),
        "taken": [(one["name"], _pairs(one["samples"])) for one in taken if one["samples"]],
        "tests": page.table(["set", "sentences", "in the corpus", "pairs with one", "a filter takes them"], sets,
                            numbers=[1, 2, 3])
        if sets
        else None,
    }  # fmt: skip


def _about(corpus: Mapping[str, Any]) -> str:
    facts = [
        f"{corpus['rows']:,} lines",
        f"{corpus['bad_rows']:,} of them not pairs" if corpus["bad_rows"] else "",
        f"{corpus['empty']:,} with an empty side" if corpus["empty"] else "",
        f"{percent(corpus['duplicates'])} duplicates",
        f"{corpus['sampled']:,} pairs in the sample, of which the filters keep {percent(corpus['kept'])}",
    ]
    return ", ".join(filter(None, facts)) + "."


def _sides(sides: Sequence[Mapping[str, Any]]) -> Markup:
    def row(side: Mapping[str, Any]) -> list[Any]:
        labels = side["labels"]
        known = labels["label"] or "no label"
        return [
            side["language"],
            _histogram(side["characters"]["histogram"]),
            _quantiles(side["characters"]["quantiles"]),
            _quantiles(side["words"]),
            names(side["scripts"]),
            f"{names(labels['found'])} (own: {known}; of {labels['texts']:,} texts)",
            percent(side["digits"]),
            None if side["vowelled"] is None else percent(side["vowelled"]),
            percent(side["duplicates"]),
        ]

    return page.table(list(SIDES), map(row, sides), numbers=[6, 7, 8])


def _quantiles(values: Sequence[int]) -> str:
    return f"{values[2]:,} ({values[0]:,} to {values[4]:,})" if values else "–"


def _histogram(counts: Sequence[int]) -> Markup:
    """Bars for texts of up to 9, 19, 39 ... characters."""
    most = max(*counts, 1)
    bars = Markup("").join(
        Markup('<rect x="{}" y="{}" width="9" height="{}"/>').format(10 * place, 24 - height, height)
        for place, count in enumerate(counts)
        if (height := round(24 * count / most, 1))
    )
    bars_text = ", ".join(
        f"from {start}: {count:,}" for start, count in zip((0, 10, 20, 40, 80, 160, 320, 640), counts, strict=True)
    )
    return Markup(
        '<svg viewBox="0 0 80 24" width="80" height="24" fill="currentColor" role="img" aria-label="{0}">'
        "<title>{0}</title>{1}</svg>"
    ).format(f"texts by characters: {bars_text}", bars)


def _together(pairs: Mapping[str, Any] | None) -> list[str]:
    """How well the sides of a corpus match, one sentence per measure."""
    if pairs is None:
        return []
    words, ratios, blocks, numbers = pairs["words"], pairs["ratios"], pairs["blocks"], pairs["numbers"]
    sentences = [f"{percent(pairs['copies'])} are copies."]
    if words:
        sentences.append(
            f"Words: {percent(words['own'])} of {words['pairs']:,} pairs match their own target better than another of "
            f"its length (chance: 50%); {percent(words['before'])} and {percent(words['after'])} match the target of "
            "the line before or after far better."
        )
    else:
        sentences.append("Words: too few pairs to tell which belong together.")
    sentences.append(
        f"Lengths: the target usually has {ratios['usual']:.2f} times the source's characters; "
        f"{percent(ratios['beyond'])} of {ratios['pairs']:,} pairs are beyond three times that, or a third."
    )
    if blocks["count"]:
        sentences.append(
            f"Order: in {blocks['off']:,} of {blocks['count']:,} blocks of 50 lines the lengths fit better with the "
            "target moved by up to 3 lines."
        )
    else:
        sentences.append("Order: in no block of 50 lines do lengths vary, as in a file sorted by length.")
    if numbers["same"] is not None:
        sentences.append(
            f"Numbers: the same in {percent(numbers['same'])} of {numbers['pairs']:,} pairs that have some."
        )
    if similar := pairs["similarity"]:
        sentences.append(
            f"{similar['encoder']}: median cosine {similar['own'][2]:.2f}, of random pairs "
            f"{similar['exchanged'][2]:.2f}; {percent(similar['alike'])} of {similar['pairs']:,} pairs are no more "
            "similar than those."
        )
    return sentences
