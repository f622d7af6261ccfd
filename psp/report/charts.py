"""Charts as static SVG, for pages: drawn by Vega without a browser, readable on a light and on a dark page.

The same data gives the same bytes: identifiers are numbered anew in each chart, and nothing is random. Natural sizes
are those of a phone, so that text stays readable there; wider pages scale charts up.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from psp.core.errors import PspError

if TYPE_CHECKING:
    import altair

Rows = Sequence[Mapping[str, Any]]

#: Okabe and Ito's colours, safe for colour-blind readers, those of which are clear on black and on white.
COLOURS = ("#2a86c7", "#d5721e", "#12a07a", "#c86da3", "#b28a00", "#8a8a8a")
#: Replaced by the colour of the text around the chart.
_TEXT = "#010203"
_LINE = "#888888"
WIDTH = 340
#: Names of bars and dots, in pixels at most, and room for fonts that are wider than those that Vega measured with.
_LABELS, _WIDER = 118, 18
#: Points of a curve, at most; more are averaged over neighbours.
POINTS = 300
FONT = "system-ui, sans-serif"


def bars(rows: Rows, *, label: str, name: str, note: str = "note", logarithmic: bool = False) -> Markup:
    """Horizontal bars with a note after each.

    Args:
        rows: ``name``, ``value`` (above 0, if logarithmic) and the note's text.
        label: what the values are.
        name: prefix of identifiers in the page, and of no other chart's.
        note: key of the notes.
    """
    vega = _altair()
    most = max(row["value"] for row in rows)
    least = min(row["value"] for row in rows)
    domain = [10 ** math.floor(math.log10(least)), most * 12] if logarithmic else [0, most * 1.35 or 1]
    scale = vega.Scale(domain=domain, nice=False, **({"type": "log"} if logarithmic else {}))
    base = vega.Chart(_data(rows)).encode(y=_names(vega, rows))
    ticks = _decades(domain) if logarithmic else None
    x = vega.X("value:Q", title=label, scale=scale, axis=_axis(vega, ticks))
    # A logarithmic axis has no zero from which bars could begin.
    start = {"x2": vega.datum(domain[0])} if logarithmic else {}
    bar = base.mark_bar(color=COLOURS[0], height={"band": 0.72}).encode(x=x, **start)
    text = base.mark_text(align="left", dx=4, color=_TEXT, fontSize=10).encode(x=x, text=f"{note}:N")
    return _svg(bar + text, name, label, height=22 * len(rows))


def dots(rows: Rows, *, label: str, name: str) -> Markup:
    """A dot and an interval per row, one colour a system; systems of one test stand below one another.

    Args:
        rows: ``name`` (the test), ``system``, ``value``, and ``low`` and ``high``, or None for both.
        label: what the values are.
        name: prefix of identifiers.
    """
    vega = _altair()
    systems = list(dict.fromkeys(row["system"] for row in rows))
    tests = list(dict.fromkeys(row["name"] for row in rows))
    colour = vega.Color(
        "system:N",
        sort=systems,
        scale=vega.Scale(domain=systems, range=[COLOURS[at % len(COLOURS)] for at in range(len(systems))]),
        legend=vega.Legend(title=None, orient="top", columns=2, labelLimit=150) if len(systems) > 1 else None,
    )
    ends = [end for row in rows for end in (row["value"], row["low"], row["high"]) if end is not None]
    margin = 0.05 * (max(ends) - min(ends)) or 1.0
    scale = vega.Scale(domain=[min(ends) - margin, max(ends) + margin], nice=True, zero=False)
    chart = vega.Chart(_data(rows)).encode(
        y=_names(vega, rows), yOffset=vega.YOffset("system:N", sort=systems), color=colour
    )
    held = vega.datum.low != None  # noqa: E711  (an expression of Vega's)
    interval = (
        chart.transform_filter(held)
        .mark_rule(strokeWidth=1.6)
        .encode(x=vega.X("low:Q", title=label, scale=scale, axis=_axis(vega)), x2="high:Q")
    )
    dot = chart.mark_point(filled=True, size=38, opacity=1).encode(x=vega.X("value:Q", title=label, scale=scale))
    return _svg(interval + dot, name, label, height=len(tests) * (8 + 10 * len(systems)))


def curve(rows: Rows, *, x: str, y: str, name: str, points: bool = False) -> Markup:
    """A line through ``x`` and ``y``, which also name the axes; with ``points``, a dot at each row.

    Args:
        rows: the values, in the order of ``x``.
        x, y: keys of the values.
        name: prefix of identifiers.
        points: whether to draw a dot at each row; those whose ``kept`` is true are larger.
    """
    vega = _altair()
    rows = [{"x": float(row[x]), "y": float(row[y]), "kept": bool(row.get("kept"))} for row in rows]
    rows = [row for row in rows if math.isfinite(row["y"])]
    chart = vega.Chart(_data(rows if points else thinned(rows))).encode(
        x=vega.X("x:Q", title=x, axis=_axis(vega), scale=vega.Scale(nice=False)),
        y=vega.Y("y:Q", title=y, axis=_axis(vega), scale=vega.Scale(zero=False)),
    )
    drawn = chart.mark_line(color=COLOURS[0], strokeWidth=1.5)
    if points:
        size = vega.condition(vega.datum.kept, vega.value(90), vega.value(26))
        drawn += chart.mark_point(filled=True, color=COLOURS[0], opacity=1).encode(size=size)
    return _svg(drawn, name, f"{y} by {x}", height=150)


def scatter(rows: Rows, *, x: str, y: str, name: str) -> Markup:
    """Labelled points, ``x`` on a logarithmic axis.

    Args:
        rows: ``name``, ``x`` and ``y`` by the names of the axes, and ``low`` and ``high``, ends of an interval of y.
        x, y: keys of the values, and titles of the axes.
        name: prefix of identifiers.
    """
    vega = _altair()
    rows = [{**row, "x": float(row[x]), "y": float(row[y])} for row in rows]
    domain = [min(row["x"] for row in rows) / 1.5, max(row["x"] for row in rows) * 3.5]
    base = vega.Chart(_data(rows)).encode(
        x=vega.X(
            "x:Q", title=x, scale=vega.Scale(type="log", domain=domain, nice=False), axis=_axis(vega, _decades(domain))
        )
    )
    height = vega.Y("y:Q", title=y, scale=vega.Scale(zero=False, padding=12), axis=_axis(vega))
    rule = base.transform_filter(vega.datum.low != None).mark_rule(color=_LINE).encode(y="low:Q", y2="high:Q")  # noqa: E711
    dot = base.mark_point(filled=True, size=60, color=COLOURS[0], opacity=1).encode(y=height)
    text = base.mark_text(align="left", dx=7, fontSize=10, color=_TEXT).encode(y=height, text="name:N")
    return _svg(rule + dot + text, name, f"{y} by {x}", height=200)


def thinned(rows: Rows, points: int = POINTS) -> list[dict[str, float]]:
    """At most so many rows, each the mean of neighbours in ``x`` and ``y``."""
    if len(rows) <= points:
        return [{"x": row["x"], "y": row["y"]} for row in rows]
    ends = [round(len(rows) * at / points) for at in range(points + 1)]
    return [
        {key: sum(row[key] for row in rows[start:end]) / (end - start) for key in ("x", "y")}
        for start, end in itertools.pairwise(ends)
    ]


def _decades(domain: Sequence[float]) -> list[float]:
    low, high = (math.log10(end) for end in domain)
    return [10.0**power for power in range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)]


def _data(rows: Rows) -> Any:
    return _altair().Data(values=[dict(row) for row in rows])


def _names(vega: Any, rows: Rows) -> Any:
    names = list(dict.fromkeys(row["name"] for row in rows))
    return vega.Y("name:N", sort=names, title=None, axis=vega.Axis(labelLimit=_LABELS, ticks=False, domain=False))


def _axis(vega: Any, values: Sequence[float] | None = None) -> Any:
    return vega.Axis(tickCount=5, **({"values": list(values)} if values else {}))


@functools.cache
def _altair() -> Any:
    try:
        import altair
    except ImportError:
        raise PspError("charts need altair and vl-convert-python: pip install 'paraphrastic[report]'") from None
    return altair


def _svg(chart: altair.TopLevelMixin, name: str, about: str, *, height: int) -> Markup:
    """Draw a chart; the background is transparent, and text has the colour of the text around."""
    try:
        import vl_convert
    except ImportError:
        raise PspError("charts need altair and vl-convert-python: pip install 'paraphrastic[report]'") from None
    plain = {
        "labelColor": _TEXT,
        "titleColor": _TEXT,
        "labelFontSize": 10,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
    }
    specification = (
        chart.properties(
            width=WIDTH,
            height=height,
            background="transparent",
            padding={"left": _WIDER, "right": 5, "top": 5, "bottom": 5},
            autosize={"type": "fit-x", "contains": "padding"},
        )
        .configure(font=FONT)
        .configure_view(stroke=None)
        .configure_axis(gridColor=_LINE, gridOpacity=0.25, domainColor=_LINE, tickColor=_LINE, **plain)
        .configure_legend(labelColor=_TEXT, labelFontSize=10, symbolSize=50)
        .to_dict()
    )
    text = vl_convert.vegalite_to_svg(specification)
    text = text.replace(f'"{_TEXT}"', '"currentColor"')
    return Markup(_labelled(_renumbered(text, name), about))  # Vega escapes the texts in it


def _renumbered(text: str, name: str) -> str:
    """Number identifiers anew: Vega counts on from chart to chart, and a page holds several."""
    numbers: dict[str, str] = {}

    def renamed(match: re.Match[str]) -> str:
        return match[1] + numbers.setdefault(match[2], f"{name}-{len(numbers)}")

    return re.sub(r'(\bid="|url\(#|href="#)([\w-]+)', renamed, text)


def _labelled(text: str, about: str) -> str:
    """Make it as wide as its place, and tell screen readers what it is."""
    match = re.match(r"<svg\b[^>]*?>", text)
    assert match is not None
    opening = re.sub(r'\s(class|width|height)="[^"]*"', "", match[0])
    return f'{opening[:-1]} role="img" aria-label="{escape(about)}">{text[match.end() :]}'
