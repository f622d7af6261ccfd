"""Tables for a terminal, or as Markdown."""

from __future__ import annotations

from collections.abc import Collection, Sequence

#: What a table can be written as.
FORMS = ("text", "markdown")


def layout(rows: Sequence[Sequence[str]], form: str = "text", right: Collection[int] = ()) -> str:
    r"""Lay out rows of cells, the first of them the header; ends with ``\n``.

    Args:
        rows: as many cells in each.
        form: one of ``FORMS``.
        right: columns whose cells stand to the right.

    Raises:
        ValueError: there is no such form.
    """
    if form == "markdown":
        marks = ["---:" if column in right else "---" for column in range(len(rows[0]))]
        return "".join(f"| {' | '.join(cells)} |\n" for cells in (rows[0], marks, *rows[1:]))
    if form != "text":
        raise ValueError(f"form: {form!r}, not {' or '.join(FORMS)}")
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "".join(f"{line}\n" for line in lines)
