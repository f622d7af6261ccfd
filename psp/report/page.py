"""HTML pages that are one file: they load nothing, and show any text as text.

Jinja's templates are in ``templates/``; ``page.html`` is their frame, with style and the one script, which sorts
tables. The page's content security policy forbids all other scripts, and all that is not in the file. The same values
give the same bytes.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from psp.core.files import atomic_text
from psp.core.version import __version__
from psp.report.layout import Number, Table

#: Characters of a text shown in a table of texts.
SHOWN_CHARACTERS = 500
#: Categories of characters that are invisible, or that change how others look: control, format, surrogate and so on.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
#: Those of them that belong to words: joiners, in Persian and in the scripts of India, and the soft hyphen.
_HARMLESS = frozenset("\u200c\u200d\u00ad")


def write(template: str, out: Path | str, **values: Any) -> None:
    """Render a template and write the page, whole or not at all.

    Args:
        template: a file of ``templates/``.
        out: the page.
        values: what the template reads; texts are escaped.

    Raises:
        DataError: ``out`` cannot be written.
    """
    text = render(template, **values)
    with atomic_text(out) as file:
        file.write(text)


def render(template: str, **values: Any) -> str:
    """Render a template as :func:`write` does."""
    script = _asset("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    frame = {"style": Markup(_asset("page.css")), "script": Markup(script), "script_sha256": digest}
    text = _environment().get_template(template).render(**values, **frame, version=__version__)
    # Remaining unpaired surrogates would make the page impossible to write.
    return text.encode("utf-8", "replace").decode("utf-8")


def foreign(text: str, characters: int = SHOWN_CHARACTERS) -> Markup:
    """Text of a corpus or a test set as HTML: in its own direction, shortened, with invisible characters made visible.

    Control characters, direction marks, unpaired surrogates and characters of private use are shown by their code
    point, such as U+202E: they could mislead readers about the text.
    """
    cut = text if len(text) <= characters else text[: characters - 1] + "…"
    shown = "".join(_visible(character) for character in cut)
    return Markup('<bdi dir="auto">{}</bdi>').format(Markup(shown))


def _visible(character: str) -> str:
    if unicodedata.category(character) not in _UNSEEN or character in _HARMLESS:
        return html.escape(character)
    return f'<span class="unseen">U+{ord(character):04X}</span>'


def _safe(value: Any) -> Any:
    """A text as HTML with all its characters visible; anything else unchanged."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return Markup("\n".join("".join(map(_visible, line)) for line in value.split("\n")))


def prose(text: str) -> Markup:
    """A text with its `code` shown as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(_safe(text))))


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], *, numbers: Collection[int] = ()) -> Markup:
    """Lay out a table that can be sorted by a click on a column's head; it scrolls on its own if it is too wide.

    On a phone its first column stays while others scroll; with three columns of text, or sentences, a row is a card.

    Args:
        head: names of the columns.
        rows: their cells; integers get separators, None is a dash, texts are escaped.
        numbers: columns of numbers, aligned to the right.
    """
    # One template renders it, not pandas' Styler: that gives every cell a class for its place, and random identifiers.
    return Markup(
        _environment()
        .get_template("table.html")
        .render(
            head=head,
            rows=[[_cell(value, column in numbers) for column, value in enumerate(row)] for row in rows],
            numbers=frozenset(numbers),
        )
    )


def _cell(value: Any, is_number: bool) -> Any:
    if value is None:
        return "–"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    cell = _safe(value)
    # A line may end between a figure and its interval, but not within the interval, nor before a unit.
    return cell.replace(", ", ",\u00a0").replace(" %", "\u00a0%") if is_number and isinstance(cell, str) else cell


def stacked(first: Any, second: Any) -> Markup:
    """A cell of two lines, the second small; nothing there is None."""
    return Markup("{} <small>{}</small>").format(_cell(first, False), "" if second is None else _safe(second))


def scored(value: float | None, interval: Sequence[float] | None = None, *, sign: bool = False) -> str:
    """A figure with its interval, such as ``69.8 [69.0, 70.5]``; a dash for None.

    Args:
        value: the figure.
        interval: its ends.
        sign: write a plus before positive figures, for differences.
    """
    return "–" if value is None else str(Number(value, interval, sign=sign)).replace("-", "−")


def of(what: Table) -> Markup:
    """A table as HTML, without its notes."""
    rows = [[number(cell) if isinstance(cell, Number) else cell for cell in row] for row in what.rows]
    head = [name.replace(" - ", " − ") for name in what.head]
    while "difference" in head:  # below the figure that it belongs to
        del head[at := head.index("difference")]
        for row in rows:
            row[at - 1 : at + 1] = [stacked(*row[at - 1 : at + 1])]
    return table(head, rows, numbers=[column for column in what.numbers if column < len(head)])


def number(figure: Number) -> str | Markup | None:
    """A figure of a table as HTML; a difference in colour where it is known to be better or worse."""
    if figure.value is None:
        return None
    text = str(figure).replace("-", "−")
    if not figure.better:
        return text
    return Markup('<span class="{}">{}</span>').format("good" if figure.better > 0 else "bad", text)


def share(part: int, whole: int) -> str:
    """A share in percent; a dash for None."""
    return f"{100 * part / whole:.1f} %" if whole else "–"


@functools.cache
def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("psp.report"),
        autoescape=True,
        finalize=_safe,  # what a template writes, wherever it comes from
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    filters: Mapping[str, Any] = {"prose": prose, "thousands": "{:,}".format}
    made.filters.update(filters)
    return made


def _asset(name: str) -> str:
    return resources.files("psp.report").joinpath("templates", name).read_text("utf-8")
