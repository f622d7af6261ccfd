"""Quality against speed, psp beside other systems: the picture in the README, and its numbers as JSON.

    python benchmarks/quality_speed.py results/fr --measure results/downloads/sts/STS.zip

Nothing is typed in: quality is the mean Pearson x 100 on STS 2012-2016, the main figure of eval.json, and speed is
sentences a second on one core, text in, by a model that was just loaded (*cold* in speed.json). psp's own figures are
read from the eval.json and speed.json that the workflow writes; give several models to see them side by side. The first
one's speed.json has the speed of the other systems as well. Their quality is measured with `--measure` by the same code
as psp's own, and kept in `--peers`, from which the picture is drawn without `--measure`. Systems that are not installed
(`pip install 'paraphrastic[peers]'`) are named below the picture.
"""

from __future__ import annotations

import argparse
import logging
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from psp.core.errors import DataError
from psp.core.files import read_json, write_json
from psp.core.logs import job
from psp.core.machine import usable_cores, versions
from psp.evaluation.evaluate import EmbeddingScorer, evaluate
from psp.evaluation.speed.measure import exported
from psp.evaluation.speed.systems import KINDS, SYSTEMS, Embed, Spec, missing, named
from psp.models.scores import by_place
from psp.models.static import StaticModel
from psp.report.charts import save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

log = logging.getLogger(__name__)

FORMAT = 1
#: psp's own systems in the picture -> what is added to the model's name. Other dtypes have nearly the same place.
OURS = {"psp float32, numba": "", "psp float32, NumPy": ", NumPy alone"}
OTHERS = tuple(spec for spec in SYSTEMS if spec.kind != "psp" and not spec.gpu)
#: What a point is -> how the legend says it, marker, colour.
KINDS_OF_POINTS = {
    "psp": ("psp", "o", "#0072B2"),
    "table": ("psp's model exported to another library", "D", "#56B4E9"),
    "other": ("other models", "s", "#D55E00"),
}


class _Vectors:
    """A system as what the evaluation asks for vectors."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed

    def embed_raw_text(self, sentences: list[str], /) -> np.ndarray:
        return self._embed(sentences)


def measure(model: Path, sts: Path, out: Path, specs: Sequence[Spec] = OTHERS) -> dict[str, Any]:
    """Score the other systems by psp's own evaluation, and write their figures.

    Args:
        model: a model's folder under results/, whose table is exported to the libraries that take one.
        sts: the archive or folder of STS sets.
        out: where the JSON goes: ``format``, ``model``, ``systems`` (name -> the body of eval.json), ``missing`` (name
            and why) and ``versions``.
        specs: the systems.

    Raises:
        DataError: the model or the sets cannot be read.
    """
    table = StaticModel.load(model / "model")
    systems, absent = {}, []
    for spec in specs:
        if (why := missing(spec)) is not None:
            absent.append({"name": spec.name, "why": why})
            continue
        log.info("scoring %s", spec.name)
        with tempfile.TemporaryDirectory(prefix="psp-quality-") as scratch:
            folder = Path(scratch) / "export"
            if spec.form is not None:
                exported(spec.form, table, folder)
            embed, _ = KINDS[spec.kind](spec, folder, len(usable_cores()))()
            systems[spec.name] = evaluate(EmbeddingScorer(_Vectors(embed)), languages=["en"], sts=sts)
    result = {"format": FORMAT, "model": model.name, "systems": systems, "missing": absent, "versions": versions()}
    write_json(out, result)
    return result


def gather(models: Sequence[Path], peers: Mapping[str, Any] | None) -> dict[str, Any]:
    """The numbers of the picture, from files that were measured.

    Args:
        models: folders under results/ with eval.json and speed.json.
        peers: what :func:`measure` wrote; None: psp alone.

    Returns:
        ``format``; ``points``, each with name, kind, dim, quality and speed; ``missing``, name and why; ``conditions``
        of each model's measurement of speed; ``versions`` of the peers when they were scored.

    Raises:
        DataError: a file is missing, has no score on STS 2012-2016 or no speed on one core;
            or the files are not of the same model or processor.
    """
    points: list[dict[str, Any]] = []
    conditions: list[dict[str, Any]] = []
    for folder in models:
        body, speed = (read_json(folder / f"{name}.json") for name in ("eval", "speed"))
        rows = {row["name"]: row for row in speed["systems"] if row["cores"] == 1}
        points += [
            {"name": f"psp, {folder.name}{words}", "kind": "psp"}
            | _quality(body, folder / "eval.json")
            | _speed(rows[name])
            for name, words in OURS.items()
            if name in rows
        ]
        measured = {key: speed["conditions"][key] for key in MEASURED}
        conditions.append({"model": folder.name, "sentences": speed["sentences"]} | measured)
        if speed["conditions"]["cpu"] != conditions[0]["cpu"]:
            raise DataError(f"measured on another processor than {models[0]}; measure both on one", folder)
        if folder == models[0]:
            others = rows
    absent = list(peers["missing"]) if peers is not None else []
    scores = peers["systems"] if peers is not None else {}
    if peers is not None and peers["model"] != models[0].name:
        raise DataError(f"the peers were scored with the model {peers['model']}; use --measure again", models[0])
    for name, body in scores.items():
        if name not in others:
            absent.append({"name": name, "why": f"{models[0] / 'speed.json'} has no speed of it on one core"})
            continue
        point = {"name": name, "kind": "other"}
        if named(name).table:  # psp's own model in another library, not a model of that library's
            point = {"name": f"psp, {models[0].name} ({name})", "kind": "table"}
        points.append(point | _quality(body, name) | _speed(others[name]))
    if not points:
        raise DataError(f"no speed on one core of {' or '.join(OURS)}", models[0] / "speed.json")
    return {
        "format": FORMAT,
        "quality": "mean Pearson x 100 on STS 2012-2016, with its 95% interval",
        "speed": "sentences a second on one core, text in, by a model just loaded: median, least and most",
        "points": points,
        "missing": absent,
        "conditions": conditions,
        "versions": {} if peers is None else peers["versions"],
    }


#: What the picture's JSON keeps of speed.json's conditions.
MEASURED = ("cpu", "repeats", "dim", "vocab_size", "mean_pieces", "load_before", "load_after", "versions")


def _quality(body: Mapping[str, Any], where: object) -> dict[str, Any]:
    average = by_place(body).get(("sts", "average", "pearson"))
    if average is None or average.value is None:
        raise DataError("no mean Pearson on STS 2012-2016: evaluate it on these sets", Path(str(where)))
    return {"quality": average.value, "quality_interval": average.interval}


def _speed(row: Mapping[str, Any]) -> dict[str, Any]:
    found = row["cold"]
    return {
        "speed": found["median"],
        "speed_range": [found["min"], found["max"]],
        "sentences": row["sentences"],
        "dim": row["dim"],
    }


def caption(result: Mapping[str, Any]) -> str:
    """What was measured and how, in a few sentences, from the numbers' own file."""
    first = result["conditions"][0]
    said = [
        "Mean Pearson × 100 on STS 2012-2016 (95% intervals) against sentences embedded per second on one core, from "
        f"raw text with a freshly loaded model (median of {first['repeats']} runs, with their range). psp's own "
        f"evaluation scored every system. {first['cpu']}; {first['sentences']:,} sentences of "
        f"{first['mean_pieces']:.1f} subwords on average.",
        f"psp: `{first['model']}` of `config/sample.yaml`, {first['dim']:,} dimensions, {first['vocab_size']:,} "
        "subwords.",
    ]
    fewer = [p for p in result["points"] if p["kind"] == "other" and p["sentences"] < first["sentences"]]
    if fewer:
        counts = "; ".join(f"{p['name']}: {p['sentences']:,}" for p in fewer)
        said.append(f"Slow systems embedded a sample of these ({counts}).")
    if result["missing"]:
        said.append(f"Not measured: {', '.join(one['name'] for one in result['missing'])}.")
    return " ".join(said)


def picture(result: Mapping[str, Any]) -> Figure:
    """The points with their intervals, speed on a logarithmic axis."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5.2), dpi=120, layout="constrained")
    canvas = FigureCanvasAgg(figure)
    panel = figure.subplots()
    panel.set_xscale("log")
    for kind, (label, marker, colour) in KINDS_OF_POINTS.items():
        found = [point for point in result["points"] if point["kind"] == kind]
        if not found:
            continue
        panel.errorbar(
            [point["speed"] for point in found],
            [point["quality"] for point in found],
            xerr=_bars(found, "speed", "speed_range"),
            yerr=_bars(found, "quality", "quality_interval"),
            fmt=marker, markersize=8, color=colour, ecolor=colour, elinewidth=1, alpha=0.9, label=label,
        )  # fmt: skip
    ends = [end for point in result["points"] for end in point["speed_range"]]
    panel.set_xlim(min(ends) / 1.5, max(ends) * 4)  # room for the labels, which stand to the right
    panel.xaxis.set_major_formatter("{x:,.0f}")
    panel.xaxis.set_minor_formatter("")
    panel.margins(y=0.4)  # and above and below
    panel.set_xlabel("sentences per second, one core (logarithmic)")
    panel.set_ylabel("STS 2012-2016, mean Pearson × 100")
    panel.grid(which="major", color="#dddddd")
    panel.set_axisbelow(True)
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(loc="best", frameon=False)
    canvas.draw()  # so that the labels' sizes are known
    _labels(panel, result["points"])
    return figure


def _bars(points: Sequence[Mapping[str, Any]], key: str, interval: str) -> np.ndarray:
    """How far each interval reaches below and above its figure: shape (2, points)."""
    ends = [(max(p[key] - p[interval][0], 0), max(p[interval][1] - p[key], 0)) for p in points]
    return np.array(ends).T


def _places() -> Iterator[tuple[int, int, str]]:
    """Where a label may stand, in points from its own: above and below, further and further away."""
    for distance in range(10, 120, 13):
        yield 6, distance, "bottom"
        yield 6, -distance, "top"


def _labels(panel: Axes, points: Sequence[Mapping[str, Any]]) -> None:
    """Name each point where no other name is."""
    from matplotlib.text import Text

    taken: list[Any] = []
    for point in sorted(points, key=lambda point: (point["speed"], point["quality"])):
        for x, y, side in _places():
            label = panel.annotate(
                point["name"], (point["speed"], point["quality"]), xytext=(x, y), textcoords="offset points",
                fontsize=9, va=side, color=KINDS_OF_POINTS[point["kind"]][2],
                arrowprops={"arrowstyle": "-", "color": "0.7", "linewidth": 0.7} if abs(y) > 10 else None,
            )  # fmt: skip
            label.set_in_layout(False)
            box = Text.get_window_extent(label)  # an annotation's own would hold its line too
            if not any(box.overlaps(other) for other in taken):
                taken.append(box)
                break
            label.remove()
        else:
            panel.annotate(point["name"], (point["speed"], point["quality"]), fontsize=9)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path, nargs="+", help="a folder under results/ with eval.json and speed.json")
    parser.add_argument(
        "--measure", type=Path, metavar="STS", help="score the other systems first, on this archive or folder"
    )
    parser.add_argument(
        "--peers", type=Path, default=Path("results/peers.json"), help="their scores (default: %(default)s)"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("docs/quality_speed.png"),
        help="the picture; a .json is put beside it (default: %(default)s)",
    )  # fmt: skip
    options = parser.parse_args()
    with job():
        if options.measure is not None:
            measure(options.models[0], options.measure, options.peers)
        result = gather(options.models, read_json(options.peers) if options.peers.exists() else None)
        write_json(options.out.with_suffix(".json"), result)
        save(lambda: picture(result), options.out)
    print(caption(result))


if __name__ == "__main__":
    main()
