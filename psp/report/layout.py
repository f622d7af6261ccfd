"""Lay out tables as plain text or Markdown."""

from __future__ import annotations

from collections.abc import Collection, Sequence

#: Output formats of a table.
FORMS = ("text", "markdown")


def layout(rows: Sequence[Sequence[str]], form: str = "text", right: Collection[int] = ()) -> str:
    r"""Lay out rows of cells, of which the first is the header; the result ends with ``\n``.

    Args:
        rows: rows of equal length.
        form: one of ``FORMS``.
        right: right-aligned columns.

    Raises:
        ValueError: unknown format.
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
