"""Plot learning curves of one model or several: loss, size of the mega-batch if any, and validation score.

For a model's variants, plot only the validation score and its two parts, since losses of different objectives cannot be
compared. Pictures are reproducible (with the same matplotlib and fonts), unless drawn against seconds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from psp.core.errors import DataError
from psp.core.files import read_report
from psp.report.charts import COLOURS, logarithmic_x, mark_cut, save, short_numbers
from psp.text.csv_table import Column, read_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Line styles, if there are more lines than colours.
STYLES = ("-", "--", ":")
MARKERS = ("o", "s", "^")  # by style: a variant of one epoch is a point
#: More rows than this are averaged over neighbours, with the raw rows pale behind.
POINTS = 150
#: Ratios of training lengths between variants, from which the legend gives lengths, and the axis is logarithmic.
ALIKE, FAR = 1.05, 3
#: Settings shown in the title, and their format.
SETTINGS = {
    "dim": "{:g} dimensions",
    "megabatch": "M {:g}",
    "batch_size": "batch {:g}",
    "dropout": "dropout {:g}",
    "learning_rate": "learning rate {:g}",
    "epochs": "epochs {:g}",
    "seed": "seed {:g}",
}
#: The parts of a validation score, with their units.
_PARTS = {"pearson": "Pearson x 100", "error": "retrieval error, %"}
#: All that is shown, in order; the objective provides its own settings (``title`` of train.json).
SHOWN = ("dim", "megabatch", "batch_size", "dropout", "title", "learning_rate", "epochs", "seed")


@dataclass(frozen=True)
class Curve:
    """The curves of one training run.

    Attributes:
        label: name in the picture.
        x: pairs seen or seconds, for each row of metrics.csv.
        loss: mean loss since the previous row.
        megabatch: mini-batches per mega-batch.
        dev_x: pairs seen or seconds, for each validation.
        scores: validation scores; empty without validation data.
        pearson, error: the two parts of each score; NaN where missing.
        kept: index of the validation whose weights were kept, or None.
        report: train.json.
    """

    label: str
    x: Column
    loss: Column
    megabatch: Column
    dev_x: Column
    scores: Column
    pearson: Column
    error: Column
    kept: int | None
    report: dict[str, Any]

    @classmethod
    def load(cls, label: str, folder: Path, against: str = "pairs") -> Curve:
        """Read metrics.csv and train.json, and for seconds timing.csv, from ``folder``, a model's train/.

        Raises:
            DataError: a file is missing or malformed (file and line are named).
        """
        metrics = read_table(folder / "metrics.csv", ("pairs", "megabatch", "loss"))
        report = read_report(folder / "train.json", 1)
        curve = cls.of(label, metrics, report)
        if report["best"] is not None and curve.kept is None:
            raise DataError("best is not among the evaluations in development; train again", folder / "train.json")
        if against == "seconds":
            timing = read_table(folder / "timing.csv", ("pairs", "seconds"))
            pairs, seconds = (np.concatenate([[0.0], timing[name]]) for name in ("pairs", "seconds"))
            return replace(curve, x=np.interp(curve.x, pairs, seconds), dev_x=np.interp(curve.dev_x, pairs, seconds))
        if against != "pairs":
            raise ValueError(f"against: {against!r}, neither pairs nor seconds")
        return curve

    @classmethod
    def of(cls, label: str, metrics: Mapping[str, Column], report: Mapping[str, Any]) -> Curve:
        """The curves of metrics.csv and train.json against pairs; a transformer's two validations are none."""
        found, best = report.get("development"), report.get("best")
        rows = found if isinstance(found, list) else []
        kept = [at for at, row in enumerate(rows) if best is not None and row["step"] == best["step"]]
        dev_x, score, pearson, error = (
            np.array([row[key] for row in rows], dtype=np.float64) for key in ("pairs", "score", "pearson", "error")
        )
        x, loss, megabatch = (np.asarray(metrics[key], dtype=np.float64) for key in ("pairs", "loss", "megabatch"))
        best_row = kept[0] if kept else None
        return cls(label, x, loss, megabatch, dev_x, score, pearson, error, best_row, dict(report))


def draw(models: Sequence[tuple[str, Path]], out: Path, *, against: str = "pairs") -> None:
    """Plot the learning curves of one model or several to a PNG file.

    Args:
        models: label and training folder (``results/<model>/train``) of each.
        out: the PNG file.
        against: the x-axis: ``pairs`` seen, or ``seconds`` of training. Seconds are wall-clock time, so such a picture
            differs from run to run.

    Raises:
        DataError: a file is missing or malformed, or ``out`` cannot be written.
    """
    curves = [Curve.load(label, folder, against) for label, folder in models]
    save(lambda: picture(curves, against), out)


def draw_variants(model: str, runs: Mapping[str, Mapping[int, Path]], out: Path, *, against: str = "pairs") -> None:
    """Plot the validation scores of a model's variants to a PNG file.

    Args:
        model: the model's name.
        runs: for each variant, by seed: its training folder.
        out: the PNG file.
        against: as for :func:`draw`.

    Raises:
        DataError: as :func:`draw`, or a training run has no validation score.
    """
    variants: dict[str, list[Curve]] = {}
    for name, seeds in runs.items():
        variants[name] = [Curve.load(f"{name}, seed {seed}", folder, against) for seed, folder in seeds.items()]
        for curve, folder in zip(variants[name], seeds.values(), strict=True):
            if not len(curve.scores):
                raise DataError("has no validation score; give the model development data", folder / "train.json")
    save(lambda: variants_picture(model, variants, against), out)


def variants_picture(model: str, variants: Mapping[str, Sequence[Curve]], against: str = "pairs") -> Figure:
    """Plot each variant's seeds as thin lines and their mean as a bold one, with panels for the score and each part.

    The axis is logarithmic if variants differ much in training length. If lengths differ at all, larger markers show
    where variants end, and the legend gives their length and final score.
    """
    everything = [curve for curves in variants.values() for curve in curves]
    parts = {"scores": _score_label(everything), **_PARTS}
    shown = {
        name: label for name, label in parts.items() if any(np.isfinite(getattr(c, name)).any() for c in everything)
    }
    figure, panels = _panels(len(shown), height=2.8 * len(shown) + 1 + 0.2 * math.ceil(len(variants) / 2))
    unit, axis = _right(max(curve.dev_x[-1] for curve in everything), against)
    lengths = {variant: float(np.mean([curve.dev_x[-1] for curve in curves])) for variant, curves in variants.items()}
    differ, far = (min(lengths.values()) * times < max(lengths.values()) for times in (ALIKE, FAR))
    figure.suptitle(f"Variants of {model}", fontsize=14, fontweight="bold")
    for panel, (name, label) in zip(panels, shown.items(), strict=True):
        for number, (variant, curves) in enumerate(variants.items()):
            colour = COLOURS[number % len(COLOURS)]
            style = STYLES[number // len(COLOURS) % len(STYLES)]
            marker = MARKERS[number // len(COLOURS) % len(MARKERS)]
            for curve in curves if len(curves) > 1 else ():
                line: dict[str, Any] = {"color": colour, "linewidth": 0.6, "marker": ".", "markersize": 3, "alpha": 0.5}
                panel.plot(curve.dev_x / unit, getattr(curve, name), style, **line)
            x, y = _mean(curves, name)
            text = variant + (f" (mean of {len(curves)})" if len(curves) > 1 else "")
            if differ:
                score = np.mean([curve.scores[-1] for curve in curves])
                text += f": {score:.2f} after {_length(curves, lengths[variant], against)}"
                panel.scatter(x[-1:] / unit, y[-1:], 90, colour, marker=marker, edgecolors="white", zorder=3)
            panel.plot(x / unit, y, style, color=colour, linewidth=2, marker=marker, markersize=4.5, label=text)
        panel.set_ylabel(label)
    if far:
        logarithmic_x(panels[0], subs=(1, 2, 5))  # for all panels: they share the axis
        axis += ", logarithmic"
    _finish(figure, panels, axis, against, legend=True, far=far)
    return figure


def _mean(curves: Sequence[Curve], name: str) -> tuple[Column, Column]:
    """Return x and y of the mean over seeds at each validation.

    If seeds were validated after different numbers of pairs, interpolate over their common range; without one, the mean
    is empty.
    """
    if len({tuple(row["pairs"] for row in curve.report["development"]) for curve in curves}) == 1:
        x = np.mean([curve.dev_x for curve in curves], axis=0)
        return x, np.mean([getattr(curve, name) for curve in curves], axis=0)
    x = np.unique(np.concatenate([curve.dev_x for curve in curves]))
    x = x[(x >= max(curve.dev_x[0] for curve in curves)) & (x <= min(curve.dev_x[-1] for curve in curves))]
    return x, np.mean([np.interp(x, curve.dev_x, getattr(curve, name)) for curve in curves], axis=0)


def _length(curves: Sequence[Curve], length: float, against: str) -> str:
    """Format how long a variant was trained, such as ``6 epochs`` or ``12 minutes``."""
    if against == "seconds":
        unit, axis = _right(length, against)
        return f"{length / unit:.3g} {axis.partition(' ')[0]}"
    if len(epochs := {curve.report["epochs"] for curve in curves}) > 1:
        return f"{length:,.0f} pairs"
    (number,) = epochs
    return f"{number} epoch{'s' if number > 1 else ''}"


def picture(curves: Sequence[Curve], against: str = "pairs") -> Figure:
    """Plot curves loaded with the same ``against``; with validation scores if any curve has them."""
    developed = any(len(curve.scores) for curve in curves)
    figure, panels = _panels(1 + developed, height=7.2 if developed else 4.4)
    unit, axis = _right(max(curve.x[-1] for curve in curves), against)
    shared, own = _settings(curves)
    title = curves[0].label if len(curves) == 1 else f"Learning curves of {len(curves)} models"
    figure.suptitle(title, fontsize=14, fontweight="bold")
    panels[0].set_title(shared, fontsize=9, color="0.35")
    draw_loss(panels[0], curves, own, unit)
    panels[0].set_ylabel("loss per pair")
    if any(map(grows, curves)):
        panels[0].set_ylabel("loss per pair (solid)")
        _draw_megabatches(panels[0], curves, unit)
    if developed:
        draw_scores(panels[1], curves, unit)
        panels[1].set_ylabel(_score_label(curves))
    _finish(figure, panels, axis, against, legend=len(curves) > 1)
    return figure


def _panels(count: int, height: float) -> tuple[Figure, list[Axes]]:
    """Create a figure of stacked panels, ``height`` inches in all."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # not pyplot, which keeps figures and needs a display
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, height), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, list(figure.subplots(count, sharex=True, squeeze=False)[:, 0])


def _finish(
    figure: Figure, panels: Sequence[Axes], axis: str, against: str, *, legend: bool, far: bool = False
) -> None:
    """Add grids, the x-axis, and if wanted the first panel's legend below."""
    for panel in panels:
        mark_cut(panel)
        panel.grid(color="0.9")
        panel.set_axisbelow(True)
        if not far:
            panel.set_xlim(left=0)
    if legend:
        handles, labels = panels[0].get_legend_handles_labels()
        columns = math.ceil(len(labels) / 8)
        figure.legend(handles, labels, loc="outside lower center", ncols=columns, fontsize=9, frameon=False)
    panels[-1].set_xlabel(axis)
    if not far and against == "pairs":
        short_numbers(panels[-1])


def draw_loss(panel: Axes, curves: Sequence[Curve], own: Sequence[str] = ("",), unit: float = 1) -> None:
    """Plot means of the loss, with the raw rows pale behind them; ``own`` follows the label of each curve."""
    for number, (curve, settings) in enumerate(zip(curves, own, strict=True)):
        colour = COLOURS[number % len(COLOURS)]
        if len(curve.x) > POINTS:
            panel.plot(curve.x / unit, curve.loss, color=colour, linewidth=0.6, alpha=0.3)
        panel.plot(
            _means(curve.x) / unit, _means(curve.loss), color=colour, linewidth=1.8, label=curve.label + settings
        )
    panel.set_ylim(bottom=0)


def grows(curve: Curve) -> bool:
    """Return whether training used mega-batches; without mining each is one mini-batch, and the setting is unused."""
    return bool(np.max(curve.megabatch, initial=1) > 1)


def _draw_megabatches(panel: Axes, curves: Sequence[Curve], unit: float) -> None:
    """Plot the mega-batch size of models that mine negatives, on a second axis."""
    from matplotlib.ticker import MaxNLocator

    sizes = panel.twinx()
    panel.set_zorder(sizes.get_zorder() + 1)  # draw the loss above the mega-batch steps
    panel.patch.set_visible(False)
    for number, curve in enumerate(curves):
        if grows(curve):
            colour = COLOURS[number % len(COLOURS)]
            sizes.step(curve.x / unit, curve.megabatch, where="pre", color=colour, linewidth=1.2, linestyle=":")
    sizes.set_ylabel("mini-batches per mega-batch (dotted)")
    sizes.set_ylim(bottom=0)
    sizes.yaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))


def draw_scores(panel: Axes, curves: Sequence[Curve], unit: float = 1) -> None:
    """Plot validation scores, with a star at the one whose weights were kept."""
    for number, curve in enumerate(curves):
        colour = COLOURS[number % len(COLOURS)]
        panel.plot(curve.dev_x / unit, curve.scores, color=colour, linewidth=1.5, marker="o", markersize=3.5)
        if curve.kept is not None:
            x, score = curve.dev_x[curve.kept] / unit, curve.scores[curve.kept]
            panel.plot(x, score, color=colour, marker="*", markersize=15, markeredgecolor="white", clip_on=False)
            word = "best" if curve.report["settings"].get("select") == "best" else "kept"
            early = curve.dev_x[curve.kept] < curve.dev_x[-1] / 2
            panel.annotate(
                f"{word} {score:.2f}", (x, score), xytext=(-8 if early else 8, 9), textcoords="offset points",
                ha="left" if early else "right", color=colour, fontweight="bold",
            )  # fmt: skip
    panel.margins(y=0.2)  # room above the best


def _score_label(curves: Sequence[Curve]) -> str:
    """The validation score with its unit: which of its two parts there are."""
    known = [part for part in _PARTS if any(np.isfinite(getattr(curve, part)).any() for curve in curves)]
    parts = " ".join(f"{'minus ' * (part == 'error')}{_PARTS[part]}" for part in known)
    return f"validation score\n({parts})" if parts else "validation score"


def _settings(curves: Sequence[Curve]) -> tuple[str, list[str]]:
    """Return the settings common to all curves, in a line, and each curve's own, to follow its label."""
    told: list[dict[str, str]] = []
    for curve in curves:
        settings = curve.report["settings"]
        names = SETTINGS.keys() & settings.keys() - (set() if grows(curve) else {"megabatch"})
        shown = {name: text.format(settings[name]) for name, text in SETTINGS.items() if name in names}
        # A train.json written before objectives had titles has an objective with a margin.
        shown["title"] = curve.report.get("title", f"margin {settings['margin']:g}")
        told.append({name: shown[name] for name in SHOWN if shown.get(name)})
        told[-1]["pairs"] = f"{curve.report['store_pairs']:,} pairs"
    every = dict.fromkeys(name for texts in told for name in texts)
    common = [name for name in every if len({texts.get(name) for texts in told}) == 1]
    own = [", ".join(text for name, text in texts.items() if name not in common) for texts in told]
    return ", ".join(told[0][name] for name in common), [f": {text}" if text else "" for text in own]


def _right(last: float, against: str) -> tuple[float, str]:
    """Return the unit of the x-axis, as a divisor, and its label."""
    if against == "pairs":
        return 1, "pairs seen"
    for seconds, name in ((3600, "hours"), (60, "minutes")):
        if last >= 2 * seconds:
            return seconds, f"{name} of training"
    return 1, "seconds of training"


def _means(values: Column) -> Column:
    """Average neighbours to at most ``POINTS`` values; the last group may be smaller."""
    size = math.ceil(len(values) / POINTS)
    starts = np.arange(0, len(values), size)
    return np.add.reduceat(values, starts) / np.diff(np.append(starts, len(values)))
