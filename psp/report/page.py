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

from psp.core import __version__
from psp.core.files import atomic_text

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
    """A text as HTML with all its characters visible; anything else, such as HTML, unchanged."""
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    return Markup("\n".join("".join(map(_visible, line)) for line in value.split("\n")))


def prose(text: str) -> Markup:
    """A text with its `code` shown as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(_safe(text))))


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], *, numbers: Collection[int] = ()) -> Markup:
    """A table that can be sorted by a click on a column's head; it scrolls on its own if it is too wide.

    On a phone its first column stays while others scroll; with three columns of text, or sentences, a row is a card.

    Args:
        head: names of the columns.
        rows: their cells.
        numbers: columns of numbers, aligned to the right.
    """
    # One template renders it, not pandas' Styler: that gives every cell a class for its place, and random identifiers.
    names = [name.replace(" - ", " − ") for name in head]
    rendered = _environment().get_template("table.html").render(
        head=names, rows=[map(cell, row) for row in rows], numbers=frozenset(numbers)
    )  # fmt: skip
    return Markup(rendered)


def cell(value: Any) -> Any:
    """A cell as HTML: integers get separators, None is a dash, texts are escaped."""
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else Markup.escape(_safe(value))


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
    filters: Mapping[str, Any] = {"prose": prose, "foreign": foreign, "thousands": "{:,}".format}
    made.filters.update(filters)
    return made


def _asset(name: str) -> str:
    return resources.files("psp.report").joinpath("templates", name).read_text("utf-8")
