"""Charts as static SVG, for pages: drawn by matplotlib, readable on a light and on a dark page.

The same data gives the same bytes: identifiers are numbered anew in each chart, and nothing is random. Natural sizes
are those of a phone, so that text stays readable there; wider pages scale charts up.
"""

from __future__ import annotations

import io
import itertools
import math
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from psp.core.errors import from_extra
from psp.core.files import atomic

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Rows = Sequence[Mapping[str, Any]]

#: Okabe and Ito's colours, safe for colour-blind readers, only those that are clear on black and on white.
COLOURS = ("#2a86c7", "#d5721e", "#12a07a", "#c86da3", "#b28a00", "#8a8a8a")
#: Replaced by the colour of the text around the chart.
_TEXT = "#010203"
_LINE = "#888888"
#: Pixels: of the whole chart; of names at its left, at most; of the space above and below the axes.
WIDTH, _LABELS, _BELOW, _LEGEND = 340, 136, 36, 16
#: Of a picture that stands alone: its width and the lines of its notes in such pixels, each of which is several of its.
_WIDE, _NOTE, _SHARP = 620, 11, 2.5
#: Approximate pixels of a letter.
_LETTER = 5.6
FONT = "system-ui, sans-serif"
#: matplotlib's units are points, 72 an inch: at this resolution they are pixels.
_DPI = 72
_STYLE = {
    "font.size": 10, "text.color": _TEXT, "axes.labelcolor": _TEXT, "xtick.labelcolor": _TEXT,
    "ytick.labelcolor": _TEXT, "xtick.color": _LINE, "ytick.color": _LINE, "axes.edgecolor": _LINE,
    "axes.labelsize": 11, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": _LINE,
    "grid.alpha": 0.25, "axes.axisbelow": True, "legend.frameon": False, "svg.fonttype": "none", "svg.hashsalt": "psp",
    "text.parse_math": False, "axes.unicode_minus": True,
}  # fmt: skip


def point(name: str, system: str, value: float | None, interval: Sequence[float] | None = None) -> dict[str, Any]:
    """A row of :func:`dots`."""
    low, high = interval or (None, None)
    return {"name": name, "system": system, "value": value, "low": low, "high": high}


def funnel(stages: Sequence[tuple[str, int]], *, label: str, name: str) -> Markup:
    """Horizontal bars of what is left after each stage, each with what that took.

    Args:
        stages: their names, and what each leaves; the first takes nothing.
        label: what the values are.
        name: prefix of identifiers in the page, and of no other chart's.
    """
    names, left = zip(*stages, strict=True)
    before = (left[0], *left[:-1])
    taken = [had - value for had, value in zip(before, left, strict=True)]
    notes = [f"{value:,}{f' (−{gone:,})' if gone else ''}" for value, gone in zip(left, taken, strict=True)]
    with _Chart(22 * len(stages), names=names) as chart:
        axes = chart.axes
        axes.barh(range(len(stages)), left, 0.72, color=COLOURS[0])
        axes.barh(range(len(stages)), taken, 0.72, left=left, color=COLOURS[1], alpha=0.55)
        beside = _LETTER * max(map(len, notes)) / (WIDTH - _LABELS - 14)
        axes.set_xlim(0, max(before) / (1 - min(beside, 0.75)) or 1)
        axes.xaxis.set_major_locator(_ticker().MaxNLocator(3))
        for place, (had, note) in enumerate(zip(before, notes, strict=True)):
            axes.annotate(note, (had, place), (4, 0), textcoords="offset points", va="center")
        return chart.svg(name, label, x=label)


def dots(rows: Rows, *, label: str, name: str, logarithmic: bool = False) -> Markup:
    """A dot and an interval per row, one colour a system; systems of one test are below one another.

    Args:
        rows: made by :func:`point`; ``name`` is the test.
        label: what the values are.
        name: prefix of identifiers.
        logarithmic: whether the axis is, for values above 0.
    """
    with _dots(rows) as chart:
        _draw_dots(chart.axes, rows, logarithmic=logarithmic)
        return chart.svg(name, label, x=label)


def save_dots(rows: Rows, out: Path, *, label: str, title: str, notes: Sequence[str]) -> None:
    """Such a chart on a logarithmic axis as a PNG file, with the values after the dots, a title and notes below.

    Raises:
        DataError: the file cannot be written.
    """

    def make() -> Figure:
        with _dots(rows, width=_WIDE, title=title, notes=notes) as chart:
            _draw_dots(chart.axes, rows, logarithmic=True, written="{:,.0f}")
            return chart.finished(x=label)

    save(make, out)


def _dots(rows: Rows, **given: Any) -> _Chart:
    tests, systems = (list(dict.fromkeys(str(row[key]) for row in rows)) for key in ("name", "system"))
    legend = math.ceil(len(systems) / 2) if len(systems) > 1 else 0
    return _Chart(len(tests) * (8 + 10 * len(systems)), names=tests, legend=legend, **given)


def _draw_dots(axes: Axes, rows: Rows, *, logarithmic: bool, written: str = "") -> None:
    systems = list(dict.fromkeys(row["system"] for row in rows))
    tests = list(dict.fromkeys(row["name"] for row in rows))
    ends = [end for row in rows for end in (row["value"], row["low"], row["high"]) if end is not None]
    margin = 0.05 * (max(ends) - min(ends)) or 1.0
    limits = (min(ends) / 1.3, max(ends) * 1.3) if logarithmic else (min(ends) - margin, max(ends) + margin)
    if logarithmic:
        logarithmic_x(axes, subs=(1,) if limits[1] > 30 * limits[0] else (1, 2, 5))
    for at, system in enumerate(systems):
        own = [row for row in rows if row["system"] == system]
        shift = ((at + 0.5) / len(systems) - 0.5) * 0.7
        heights = [tests.index(row["name"]) + shift for row in own]
        colour = COLOURS[at % len(COLOURS)]
        held = [(height, row) for height, row in zip(heights, own, strict=True) if row["low"] is not None]
        axes.hlines(
            [height for height, _ in held], [row["low"] for _, row in held], [row["high"] for _, row in held],
            color=colour, linewidth=1.6,
        )  # fmt: skip
        axes.plot([row["value"] for row in own], heights, "o", color=colour, markersize=5, label=str(system))
        for height, row in zip(heights, own, strict=True) if written else ():
            text, place = written.format(row["value"]), (row["high"], height)
            axes.annotate(text, place, (4, 0), textcoords="offset points", va="center", fontsize=7)
    axes.set_xlim(limits[0], limits[1] * (1.6 if written else 1))


def panel(draw: Callable[[Axes], None], *, x: str, y: str, name: str) -> Markup:
    """What ``draw`` draws between axes with these names; identifiers begin with ``name``."""
    with _Chart(150) as chart:
        draw(chart.axes)
        mark_cut(chart.axes)
        return chart.svg(name, f"{y} by {x}", x=x, y=y)


def scatter(rows: Rows, *, x: str, y: str, name: str) -> Markup:
    """Labelled points, ``x`` on a logarithmic axis.

    Args:
        rows: ``name``, ``x`` and ``y`` by the names of the axes, and ``low`` and ``high``, ends of an interval of y;
            those with a ``system`` have its colour, and a legend says which.
        x, y: keys of the values, and titles of the axes.
        name: prefix of identifiers.
    """
    systems = list(dict.fromkeys(row["system"] for row in rows if "system" in row))
    with _Chart(200, legend=math.ceil(len(systems) / 2)) as chart:
        axes = chart.axes
        for system, colour in zip(systems, itertools.cycle(COLOURS)):
            axes.plot([], [], "o", color=colour, label=system)
        logarithmic_x(axes, subs=(1, 2, 5))
        for row in rows:
            if row["low"] is not None:
                axes.vlines(row[x], row["low"], row["high"], color=_LINE, linewidth=1)
            colour = COLOURS[systems.index(row["system"]) % len(COLOURS) if "system" in row else 0]
            axes.plot([row[x]], [row[y]], "o", color=colour, markersize=7)
            axes.annotate(str(row["name"]), (row[x], row[y]), (7, 0), textcoords="offset points", va="center")
        axes.set_xlim(min(float(row[x]) for row in rows) / 1.5, max(float(row[x]) for row in rows) * 3.5)
        axes.margins(y=0.1)
        return chart.svg(name, f"{y} by {x}", x=x, y=y)


class _Chart:
    """A figure of one panel, within which psp's style is in force.

    Args:
        height: of the panel, in pixels.
        names: of the rows, from the top down, at its left; none where the axis has numbers.
        legend: its lines, above the panel.
        width: of the whole chart, in pixels.
        title, notes: above and below it, in a picture that stands alone.
    """

    axes: Axes

    def __init__(
        self, height: int, names: Sequence[str] = (), legend: int = 0, *, width: int = WIDTH, title: str = "",
        notes: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self._height, self._names, self._legend, self._width, self._title = height, names, legend, width, title
        self._notes = [line for note in notes for line in textwrap.wrap(note, width // 5, break_on_hyphens=False)]

    def __enter__(self) -> _Chart:
        with from_extra("workflow", "charts need matplotlib"):
            import matplotlib.style
            from matplotlib.figure import Figure
        # A picture that stands alone may need fonts of other scripts; on a page they are the reader's.
        family = {"font.family": matplotlib.rcParams["font.family"]} if self._title else {}
        self._style = matplotlib.style.context(["default", _STYLE, family])
        self._style.__enter__()
        top = 8 + _LEGEND * (self._legend + 2 * bool(self._title))
        below = _BELOW + _NOTE * (len(self._notes) + bool(self._notes))
        width, whole = self._width, self._height + top + below
        self._figure = Figure(figsize=(width / _DPI, whole / _DPI), dpi=_SHARP * _DPI if self._title else _DPI)
        labels = _LABELS * width // WIDTH
        left = labels + 6 if self._names else 52
        right = 8 if self._names else 18  # half of the last number
        place = (left / width, below / whole, (width - left - right) / width, self._height / whole)
        self.axes = self._figure.add_axes(place)
        self.axes.xaxis.set_major_locator(_ticker().MaxNLocator(5))
        if self._names:
            self.axes.set_yticks(range(len(self._names)), [_shortened(name, labels) for name in self._names])
            self.axes.set_ylim(len(self._names) - 0.5, -0.5)
            self.axes.tick_params(axis="y", length=0)
            self.axes.grid(axis="y", visible=False)
            self.axes.spines["left"].set_visible(False)
        return self

    def __exit__(self, *error: object) -> None:
        self._style.__exit__(None, None, None)

    def finished(self, *, x: str, y: str = "") -> Figure:
        """The figure, with the names of its axes, its legend, title and notes."""
        self.axes.set_xlabel(x)
        self.axes.set_ylabel(y)
        if self.axes.get_xscale() == "linear":
            short_numbers(self.axes)
        if self._legend:
            top = 1 - bool(self._title) * 2 * _LEGEND / (self._figure.get_figheight() * _DPI)
            self._figure.legend(loc="upper left", bbox_to_anchor=(0, top), ncols=2, borderaxespad=0, handletextpad=0.2)
        if self._title:
            self._figure.suptitle(self._title, x=0.01, ha="left", fontsize=13, fontweight="bold")
            self._figure.text(0.01, 0.01, "\n".join(self._notes), fontsize=8, va="bottom")
        return self._figure

    def svg(self, name: str, about: str, *, x: str, y: str = "") -> Markup:
        """The chart, whose background is transparent and whose text has the colour of the text around it."""
        out = io.StringIO()
        self.finished(x=x, y=y).savefig(
            out, format="svg", transparent=True, metadata=dict.fromkeys(("Date", "Creator", "Format", "Type"))
        )
        return Markup(_labelled(_renumbered(_plain(out.getvalue()), name), about))  # it has escaped all texts


def save(make: Callable[[], Figure], out: Path) -> None:
    """Save a figure as a PNG file, in matplotlib's default style, whatever the user's matplotlibrc says.

    Raises:
        DataError: ``out`` cannot be written.
    """
    import matplotlib.style  # heavy

    with matplotlib.style.context("default"), atomic(out) as temporary:
        make().savefig(temporary, format="png", metadata={"Software": None})


def mark_cut(axes: Axes) -> None:
    """Put two strokes across the foot of a y axis that leaves out 0."""
    low, high = axes.get_ylim()
    if axes.get_yscale() == "linear" and not low <= 0 <= high:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        wide = 5 * axes.figure.dpi / _DPI / axes.bbox.width
        ends = [(side * wide, y + side * 0.012) for y in (0.03, 0.06) for side in (-1, 1)]
        strokes = Path(ends, [Path.MOVETO, Path.LINETO] * 2)
        style: Any = {"color": _LINE, "linewidth": 1.5, "clip_on": False, "zorder": 4}
        axes.add_patch(PathPatch(strokes, transform=axes.transAxes, **style))


def logarithmic_x(axes: Axes, subs: Sequence[float] = (1,)) -> None:
    """Make the x axis logarithmic, with plain numbers at ``subs`` of each decade."""
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(_ticker().LogLocator(subs=subs, numticks=12))
    axes.xaxis.set_minor_locator(_ticker().NullLocator())
    short_numbers(axes)


def short_numbers(axes: Axes) -> None:
    """Write the numbers of the x axis short: ``1.5 M`` for 1,500,000."""
    axes.xaxis.set_major_formatter(_ticker().FuncFormatter(lambda value, _: _number(value)))


def _number(value: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            unit = 1e3 if letter == "k" else size
            return f"{value / unit:,.10g} {letter}"
    return f"{value:,.10g}"


def _ticker() -> Any:
    import matplotlib.ticker

    return matplotlib.ticker


def _shortened(name: str, pixels: int) -> str:
    """A name that fits in this many pixels."""
    most = int(pixels / _LETTER)
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _plain(text: str) -> str:
    """With the page's own font and text colour, and without style that would affect the rest of the page."""
    text = re.sub(r"<style\b.*?</style>", "", text, flags=re.DOTALL)
    return re.sub(r"font: ([\d.]+px) [^;\"]*", rf"font: \1 {FONT}", text).replace(_TEXT, "currentColor")


def _renumbered(text: str, name: str) -> str:
    """Number identifiers anew: a page holds several charts."""
    numbers: dict[str, str] = {}

    def renamed(match: re.Match[str]) -> str:
        return match[1] + numbers.setdefault(match[2], f"{name}-{len(numbers)}")

    return re.sub(r'(\bid="|url\(#|href="#)([\w.-]+)', renamed, text)


def _labelled(text: str, about: str) -> str:
    """Make it as wide as its container, and describe it to screen readers."""
    text = text[text.index("<svg") :]
    match = re.match(r"<svg\b[^>]*?>", text)
    assert match is not None
    opening = re.sub(r'\s(class|width|height)="[^"]*"', "", match[0])
    return f'{opening[:-1]} role="img" aria-label="{escape(about)}">{text[match.end() :]}'
