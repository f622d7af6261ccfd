"""Learning curves as a picture: loss, size of the mega-batch and development score, of one model or several.

The same tables give the same bytes (with the same matplotlib), unless they are drawn against seconds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from psp import schemas
from psp.errors import DataError
from psp.files import atomic, read_json
from psp.text import read_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Column = npt.NDArray[np.float64]

#: Okabe and Ito's colours, which people with any kind of colour vision can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
#: More rows than this are drawn as means of neighbours, with the rows themselves pale behind them.
POINTS = 150
#: Settings that the title tells, as it tells them.
SETTINGS = {
    "dim": "{:g} dimensions",
    "megabatch": "M {:g}",
    "batch_size": "batch {:g}",
    "dropout": "dropout {:g}",
    "margin": "margin {:g}",
    "learning_rate": "learning rate {:g}",
    "epochs": "epochs {:g}",
    "seed": "seed {:g}",
}


@dataclass(frozen=True)
class Curve:
    """The curves of one training.

    Attributes:
        label: how the picture names it.
        x: of each row of metrics.csv, pairs seen or seconds.
        loss: mean loss since the row before.
        megabatch: mini-batches of a mega-batch.
        dev_x: of each evaluation, pairs seen or seconds.
        scores: development scores; empty without development data.
        kept: index of the evaluation whose table was kept, or None.
        report: train.json.
    """

    label: str
    x: Column
    loss: Column
    megabatch: Column
    dev_x: Column
    scores: Column
    kept: int | None
    report: dict[str, Any]

    @classmethod
    def load(cls, label: str, folder: Path, against: str = "pairs") -> Curve:
        """Read ``folder``, a model's train/: metrics.csv and train.json, and timing.csv where seconds are wanted.

        Raises:
            DataError: a file is missing, or is not as training writes it (file and line are named).
        """
        metrics = _table(folder / "metrics.csv", ("pairs", "megabatch", "loss"))
        report = read_json(folder / "train.json")
        schemas.check(report, "train", folder / "train.json")
        evaluations, best = report["development"], report["best"]
        kept = None if best is None else [row["step"] == best["step"] for row in evaluations]
        if kept is not None and not any(kept):
            raise DataError("best is none of the evaluations in development; train again", folder / "train.json")
        x, dev_x = metrics["pairs"], np.array([row["pairs"] for row in evaluations], dtype=np.float64)
        if against == "seconds":
            timing = _table(folder / "timing.csv", ("pairs", "seconds"))
            pairs, seconds = (np.concatenate([[0.0], timing[name]]) for name in ("pairs", "seconds"))
            x, dev_x = np.interp(x, pairs, seconds), np.interp(dev_x, pairs, seconds)
        elif against != "pairs":
            raise ValueError(f"against: {against!r}, neither pairs nor seconds")
        return cls(
            label,
            x,
            metrics["loss"],
            metrics["megabatch"],
            dev_x,
            np.array([row["score"] for row in evaluations], dtype=np.float64),
            None if kept is None else kept.index(True),
            report,
        )


def draw(models: Sequence[tuple[str, Path]], out: Path, *, against: str = "pairs") -> None:
    """Draw the learning curves of one model or several into a PNG file.

    Args:
        models: a label for each, and the folder of its training (``results/<model>/train``).
        out: the picture.
        against: what runs to the right: ``pairs`` seen, or ``seconds`` of training. The latter are of the clock, so
            that such a picture differs from run to run.

    Raises:
        DataError: a file is missing or is not as training writes it, or ``out`` cannot be written.
    """
    import matplotlib.style  # heavy

    curves = [Curve.load(label, folder, against) for label, folder in models]
    with matplotlib.style.context("default"), atomic(out) as temporary:  # whatever the user's matplotlibrc says
        picture(curves, against).savefig(temporary, format="png", metadata={"Software": None})


def picture(curves: Sequence[Curve], against: str = "pairs") -> Figure:
    """The picture of curves that were loaded ``against`` the same; with development scores if any curve has them."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # not pyplot: it keeps figures, and wants a display
    from matplotlib.figure import Figure

    developed = any(len(curve.scores) for curve in curves)
    figure = Figure(figsize=(9, 7.2 if developed else 4.4), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1 + developed, sharex=True, squeeze=False)[:, 0]
    unit, axis = _right(max(curve.x[-1] for curve in curves), against)
    shared, own = _settings(curves)
    title = curves[0].label if len(curves) == 1 else f"Learning curves of {len(curves)} models"
    figure.suptitle(title, fontsize=14, fontweight="bold")
    panels[0].set_title(shared, fontsize=9, color="0.35")
    _draw_loss(panels[0], curves, own, unit)
    if developed:
        _draw_scores(panels[1], curves, unit)
    for panel in panels:
        panel.grid(color="0.9")
        panel.set_axisbelow(True)
        panel.set_xlim(left=0)
    if len(curves) > 1:
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", fontsize=9, frameon=False)
    panels[-1].set_xlabel(axis)
    if against == "pairs":
        panels[-1].xaxis.set_major_formatter(_thousands())
    return figure


def _draw_loss(panel: Axes, curves: Sequence[Curve], own: Sequence[str], unit: float) -> None:
    from matplotlib.ticker import MaxNLocator

    sizes = panel.twinx()
    panel.set_zorder(sizes.get_zorder() + 1)  # the loss above the steps of the mega-batch
    panel.patch.set_visible(False)
    for number, (curve, settings) in enumerate(zip(curves, own, strict=True)):
        colour = COLOURS[number % len(COLOURS)]
        sizes.step(curve.x / unit, curve.megabatch, where="pre", color=colour, linewidth=1.2, linestyle=":")
        if len(curve.x) > POINTS:
            panel.plot(curve.x / unit, curve.loss, color=colour, linewidth=0.6, alpha=0.3)
        panel.plot(
            _means(curve.x) / unit, _means(curve.loss), color=colour, linewidth=1.8, label=curve.label + settings
        )
    panel.set_ylabel("loss (solid)")
    panel.set_ylim(bottom=0)
    sizes.set_ylabel("mini-batches of a mega-batch (dotted)")
    sizes.set_ylim(bottom=0)
    sizes.yaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))


def _draw_scores(panel: Axes, curves: Sequence[Curve], unit: float) -> None:
    for number, curve in enumerate(curves):
        colour = COLOURS[number % len(COLOURS)]
        panel.plot(curve.dev_x / unit, curve.scores, color=colour, linewidth=1.5, marker="o", markersize=3.5)
        if curve.kept is not None:
            x, score = curve.dev_x[curve.kept] / unit, curve.scores[curve.kept]
            panel.plot(x, score, color=colour, marker="*", markersize=15, markeredgecolor="white", clip_on=False)
            word = "best" if curve.report["settings"]["select"] == "best" else "kept"
            early = curve.dev_x[curve.kept] < curve.dev_x[-1] / 2
            panel.annotate(
                f"{word} {score:.2f}", (x, score), xytext=(-8 if early else 8, 9), textcoords="offset points",
                ha="left" if early else "right", color=colour, fontweight="bold",
            )  # fmt: skip
    panel.set_ylabel("development score")
    panel.margins(y=0.2)  # room above the best


def _settings(curves: Sequence[Curve]) -> tuple[str, list[str]]:
    """What all curves have in common, in a line, and for each what is its own, to follow its label."""
    told: list[dict[str, str]] = []
    for curve in curves:
        settings = curve.report["settings"]
        told.append({name: text.format(settings[name]) for name, text in SETTINGS.items() if name in settings})
        told[-1]["pairs"] = f"{curve.report['store_pairs']:,} pairs"
    names = list(dict.fromkeys(name for texts in told for name in texts))
    common = [name for name in names if len({texts.get(name) for texts in told}) == 1]
    own = [", ".join(text for name, text in texts.items() if name not in common) for texts in told]
    return ", ".join(told[0][name] for name in common), [f": {text}" if text else "" for text in own]


def _right(last: float, against: str) -> tuple[float, str]:
    """The unit of the axis to the right, as a divisor, and the axis's name."""
    if against == "pairs":
        return 1, "pairs seen"
    for seconds, name in ((3600, "hours"), (60, "minutes")):
        if last >= 2 * seconds:
            return seconds, f"{name} of training"
    return 1, "seconds of training"


def _thousands() -> Any:
    from matplotlib.ticker import FuncFormatter

    def text(value: float, _: Any) -> str:
        for factor, letter in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
            if value >= factor:
                return f"{value / factor:g}{letter}"
        return f"{value:g}"

    return FuncFormatter(text)


def _means(values: Column) -> Column:
    """At most ``POINTS`` values: means of neighbours, the last group perhaps smaller."""
    size = math.ceil(len(values) / POINTS)
    starts = np.arange(0, len(values), size)
    return np.add.reduceat(values, starts) / np.diff(np.append(starts, len(values)))


def _table(path: Path, columns: Sequence[str]) -> dict[str, Column]:
    """Columns of a table that training wrote.

    Raises:
        DataError: there is no such file, a column or every row is missing, or a cell is not a finite number.
    """
    values: dict[str, list[float]] = {name: [] for name in columns}
    try:
        with path.open("rb") as stream:
            lines = (line.split(",") for line in read_lines(stream, path))
            header = next(lines, [])
            if missing := [name for name in columns if name not in header]:
                raise DataError(f"no column {', '.join(missing)}; train again", path, 1)
            for number, cells in enumerate(lines, start=2):
                if len(cells) != len(header):
                    raise DataError(f"{len(cells)} cells, but {len(header)} columns; train again", path, number)
                for name in columns:
                    values[name].append(_number(cells[header.index(name)], name, path, number))
    except FileNotFoundError:
        raise DataError("no such file; train first", path) from None
    if not values[columns[0]]:
        raise DataError("a header without rows; train again", path, 1)
    return {name: np.array(column) for name, column in values.items()}


def _number(cell: str, name: str, path: Path, line: int) -> float:
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise DataError(f"{name} is {cell!r}, not a number; train again", path, line)
    return number
