"""Learning curves, drawn from a real training."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from psp.core.errors import DataError
from psp.core.files import read_json, write_json
from psp.evaluation.development import Development
from psp.pairs.store import write_store
from psp.report import curve
from psp.report.curve import COLOURS, Curve, draw, draw_variants, picture, variants_picture
from psp.training.loop import Training
from tests.conftest import PAIRS, train_sentencepiece, write_mixed

CONFIG = {"languages": ["en", "fr"], "lower_case": True, "segment": {}, "recipe": "psp"}
SETTINGS = {
    "objective": "margin",  # negatives are mined
    "select": "best",
    "epochs": 3,
    "batch_size": 16,
    "megabatch": 4,
    "anneal": 4,
    "dim": 16,
    "learning_rate": 0.01,
    "log_every": 2,
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The train/ of a small model."""
    folder = tmp_path_factory.mktemp("model")
    mixed = write_mixed(folder / "mix.tsv", [(a, b, 0) for a, b in PAIRS])
    subword = train_sentencepiece(folder / "sentencepiece.model")
    write_store(mixed, subword, folder / "store.h5", languages=["en", "fr"], corpora=["small"])
    heldout = Development(None, tuple(map(list, zip(*PAIRS[:40], strict=True))))
    Training(
        folder / "store.h5", subword, None, folder / "train", SETTINGS, heldout, threads=1, model_config=CONFIG
    ).run()
    return folder / "train"


@pytest.fixture
def folder(trained, tmp_path):
    """A copy of it, to be changed at will."""
    return Path(shutil.copytree(trained, tmp_path / "train"))


def columns(path):
    header, *rows = [line.split(",") for line in path.read_text().splitlines()]
    return dict(zip(header, np.array(rows).T, strict=True))


def change(folder, **values):
    report = read_json(folder / "train.json")
    report["settings"] |= {name: values.pop(name) for name in list(values) if name in report["settings"]}
    write_json(folder / "train.json", report | values)


def labelled(panel, label):
    (line,) = [line for line in panel.get_lines() if line.get_label() == label]
    return line.get_xydata()


def stars(panel):
    return [tuple(line.get_xydata()[0]) for line in panel.get_lines() if line.get_marker() == "*"]


def test_loss_megabatch_and_scores_against_pairs(folder):
    loss, scores, megabatch = picture([Curve.load("fr", folder)]).axes
    metrics, report = columns(folder / "metrics.csv"), read_json(folder / "train.json")
    pairs = metrics["pairs"].astype(float)
    np.testing.assert_allclose(labelled(loss, "fr"), np.column_stack([pairs, metrics["loss"].astype(float)]))
    np.testing.assert_allclose(
        megabatch.get_lines()[0].get_xydata(), np.column_stack([pairs, metrics["megabatch"].astype(float)])
    )
    evaluations = [(row["pairs"], row["score"]) for row in report["development"]]
    assert len(evaluations) == 3
    np.testing.assert_allclose(scores.get_lines()[0].get_xydata(), evaluations)
    assert stars(scores) == [(report["best"]["pairs"], report["best"]["score"])]
    assert [text.get_text() for text in scores.texts] == [f"best {report['best']['score']:.2f}"]


def test_the_best_is_marked_wherever_it_is(folder):
    report = read_json(folder / "train.json")
    for row in report["development"]:
        change(folder, best=row)
        assert stars(picture([Curve.load("fr", folder)]).axes[1]) == [(row["pairs"], row["score"])]


@pytest.mark.parametrize(("scores", "marks"), [((88.8, 89.2), 1), ((-2.0, -1.5), 1), ((-5.0, 60.0), 0)])
def test_an_axis_that_leaves_out_0_is_marked(folder, scores, marks):
    first, *_, last = read_json(folder / "train.json")["development"]
    rows = [{**row, "score": score} for row, score in zip((first, last), scores, strict=True)]
    change(folder, development=rows, best=rows[-1])
    assert [len(panel.patches) for panel in picture([Curve.load("fr", folder)]).axes[:2]] == [0, marks]


def test_what_is_kept_is_not_called_best_where_it_was_not_chosen(folder):
    change(folder, select="last")
    assert picture([Curve.load("fr", folder)]).axes[1].texts[0].get_text().startswith("kept ")


def test_the_title_names_the_model_and_its_settings(folder):
    change(folder, store_pairs=573316, dropout=0.1)
    figure = picture([Curve.load("fr-dropout", folder)])
    assert figure.get_suptitle() == "fr-dropout"
    assert figure.axes[0].get_title() == (
        "16 dimensions, M 4, batch 16, dropout 0.1, margin 0.3, learning rate 0.01, epochs 3, seed 1, 573,316 pairs"
    )


@pytest.mark.parametrize(
    ("times", "expected"),
    [(1, ["0", "100", "200"]), (1000, ["0", "100 k", "200 k"]), (5_000_000, ["0", "500 M", "1 G", "1.5 G"])],
)
def test_pairs_are_counted_in_thousands_and_millions(folder, times, expected):
    lines = (folder / "metrics.csv").read_text().splitlines()
    cells = [line.split(",") for line in lines[1:]]
    rows = [",".join([*row[:2], str(int(row[2]) * times), *row[3:]]) for row in cells]
    (folder / "metrics.csv").write_text("\n".join([lines[0], *rows]))
    figure = picture([Curve.load("fr", folder)])
    figure.canvas.draw()
    assert set(expected) <= {label.get_text() for label in figure.axes[1].get_xticklabels()}
    assert figure.axes[1].get_xlabel() == "pairs seen"


def test_without_development_data_there_is_one_panel(folder):
    change(folder, best=None, development=[])
    (folder / "dev.csv").unlink()
    figure = picture([Curve.load("fr", folder)])
    assert [panel.get_ylabel()[:4] for panel in figure.axes] == ["loss", "mini"]
    assert figure.axes[0].get_xlabel() == "pairs seen"
    draw([("fr", folder)], folder / "curve.png")


def without_mining(folder):
    """As if nothing had been mined: each mega-batch is one mini-batch."""
    path = folder / "metrics.csv"
    head, *rows = [line.split(",") for line in path.read_text().splitlines()]
    for row in rows:
        row[head.index("megabatch")] = "1"
    path.write_text("".join(",".join(row) + "\n" for row in [head, *rows]))


def test_where_nothing_is_mined_there_is_no_megabatch(trained, folder):
    assert len(picture([Curve.load("fr", folder)]).axes) == 3
    without_mining(folder)
    loss, scores = picture([Curve.load("fr", folder)]).axes
    assert (loss.get_ylabel(), scores.get_ylabel()) == ("loss per pair", "validation score\n(minus retrieval error, %)")
    assert len(loss.get_lines()) == 1 and "M 4" not in loss.get_title()

    figure = picture([Curve.load("infonce", folder), Curve.load("margin", trained)])
    assert figure.axes[0].get_ylabel() == "loss per pair (solid)"
    assert [line.get_color() for line in figure.axes[2].get_lines()] == [COLOURS[1]]  # of the one that mines
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["infonce", "margin: M 4"]


def test_several_models_in_one_picture(trained, folder):
    change(folder, dropout=0.3, best=None, development=[])  # one of them without development data
    figure = picture([Curve.load("fr", trained), Curve.load("fr-dropout", folder)])
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["fr: dropout 0", "fr-dropout: dropout 0.3"]
    assert "dropout" not in figure.axes[0].get_title() and "M 4" in figure.axes[0].get_title()
    assert [line.get_color() for line in figure.axes[2].get_lines()] == list(COLOURS[:2])
    assert len(stars(figure.axes[1])) == 1


def test_against_seconds_of_training(folder):
    timing = columns(folder / "timing.csv")
    rows = [f"{pairs},{float(pairs) / 2}" for pairs in timing["pairs"]]  # two pairs a second
    (folder / "timing.csv").write_text("\n".join(["pairs,seconds", *rows]))
    figure = picture([Curve.load("fr", folder, "seconds")], "seconds")
    against_pairs = picture([Curve.load("fr", folder)])
    assert figure.axes[1].get_xlabel() == "minutes of training"
    for there, here in zip(against_pairs.axes[:2], figure.axes[:2], strict=True):
        expected = there.get_lines()[0].get_xydata() / (120, 1)
        np.testing.assert_allclose(here.get_lines()[0].get_xydata(), expected)


def test_variants_have_thin_lines_for_seeds_and_a_bold_one_for_their_mean(trained, folder):
    report = read_json(trained / "train.json")
    rows = [{**row, "score": row["score"] - 2, "error": row["error"] + 2} for row in report["development"]]
    change(folder, development=rows, best=rows[-1])
    curves = [Curve.load("a", trained), Curve.load("a", folder)]
    figure = variants_picture("fr", {"psp": curves, "once": curves[:1]})
    # Only held-out pairs are evaluated here: there is no Pearson to draw.
    assert [panel.get_ylabel() for panel in figure.axes] == [
        "validation score\n(minus retrieval error, %)",
        "retrieval error, %",
    ]
    pairs = [row["pairs"] for row in rows]
    for panel, key, sign in zip(figure.axes, ("score", "error"), (-1, 1), strict=True):
        one, other, mean, once = (line.get_xydata() for line in panel.get_lines())
        first = np.column_stack([pairs, [row[key] for row in report["development"]]])
        np.testing.assert_allclose(one, first)
        np.testing.assert_allclose(other, first + np.array([0, 2 * sign]))
        np.testing.assert_allclose(mean, first + np.array([0, sign]))
        np.testing.assert_allclose(once, first)
        colours = [line.get_color() for line in panel.get_lines()]
        assert colours == [COLOURS[0]] * 3 + [COLOURS[1]]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["psp (mean of 2)", "once"]


def longer(curve, times):
    """A curve of as many evaluations, after ``times`` as many pairs, seconds and epochs."""
    rows = [{**row, "pairs": row["pairs"] * times} for row in curve.report["development"]]
    report = {**curve.report, "development": rows, "epochs": curve.report["epochs"] * times}
    return replace(curve, dev_x=curve.dev_x * times, report=report)


def test_variants_of_other_lengths_have_an_axis_on_which_all_can_be_seen(trained):
    curve = Curve.load("a", trained)
    last = f"{curve.scores[-1]:.2f}"

    def drawn(times, against="pairs"):
        figure = variants_picture("fr", {"short": [curve], "long": [longer(curve, times)] * 2}, against)
        figure.canvas.draw()
        texts = [text.get_text() for text in figure.legends[0].get_texts()]
        ticks = {label.get_text() for label in figure.axes[-1].get_xticklabels()}
        return figure, texts, ticks

    figure, texts, ticks = drawn(100)
    assert texts == [f"short: {last} after 3 epochs", f"long (mean of 2): {last} after 300 epochs"]
    assert figure.axes[-1].get_xlabel() == "pairs seen, logarithmic" and {"100", "1,000", "20 k"} <= ticks
    for panel in figure.axes:
        left, right = np.log(panel.get_xlim())
        shares = [np.ptp(np.log(line.get_xdata())) / (right - left) for line in panel.get_lines()]
        assert min(shares) > 0.15  # on a linear axis the short one has 0.007 of it
        ends = [tuple(dots.get_offsets()[0]) for dots in panel.collections]
        assert ends == [tuple(panel.get_lines()[i].get_xydata()[-1]) for i in (0, -1)]
    figure, texts, _ = drawn(2)  # a linear axis shows both, from 0 on
    assert texts[1].endswith("after 6 epochs") and figure.axes[-1].get_xscale() == "linear"
    assert figure.axes[-1].get_xlim()[0] == 0
    _, texts, _ = drawn(100, "seconds")
    assert texts[0].startswith(f"short: {last} after ") and texts[0].endswith((" seconds", " minutes"))


def test_the_mean_of_seeds_that_were_evaluated_elsewhere_is_read_between_their_evaluations(trained):
    curve = Curve.load("a", trained)
    other = longer(replace(curve, scores=curve.scores + 1), 2)
    x = curve.dev_x
    line = variants_picture("fr", {"a": [curve, other]}).axes[0].get_lines()[-1].get_xydata()
    shared = [at for at in sorted({*x, *other.dev_x}) if other.dev_x[0] <= at <= x[-1]]
    means = (np.interp(shared, x, curve.scores) + np.interp(shared, other.dev_x, other.scores)) / 2
    assert len(shared) >= 2
    np.testing.assert_allclose(line, np.column_stack([shared, means]))
    apart = variants_picture("fr", {"a": [curve, longer(curve, 100)]})  # without a range that both have
    assert len(apart.axes[0].get_lines()[-1].get_xydata()) == 0


def test_variants_of_one_epoch_are_told_apart_where_there_are_more_than_colours(trained):
    curve = Curve.load("a", trained)
    figure = variants_picture("fr", {f"once-{i}": [curve] for i in range(2 * len(COLOURS))})
    looks = {(line.get_color(), line.get_marker()) for line in figure.axes[0].get_lines()}  # a point has no line
    assert len(looks) == 2 * len(COLOURS)


def test_variants_need_development_scores(trained, folder, tmp_path):
    draw_variants("fr", {"psp": {1: trained}}, tmp_path / "a.png", against="seconds")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    change(folder, best=None, development=[])
    with pytest.raises(DataError, match=r"train\.json: has no validation score; give the model development data"):
        draw_variants("fr", {"psp": {1: trained, 2: folder}}, tmp_path / "b.png")
    assert not (tmp_path / "b.png").exists()


def test_many_rows_are_drawn_as_means_before_the_rows(folder):
    rng = np.random.default_rng(1)
    losses = rng.random(2345)
    rows = [f"{128 * number},4,{loss}" for number, loss in enumerate(losses, start=1)]
    (folder / "metrics.csv").write_text("\n".join(["pairs,megabatch,loss", *rows]))
    panel = picture([Curve.load("fr", folder)]).axes[0]
    pale, means = panel.get_lines()[0].get_ydata(), labelled(panel, "fr")
    np.testing.assert_allclose(pale, losses)
    assert 100 < len(means) <= curve.POINTS
    np.testing.assert_allclose(means[0], [128 * (1 + 16) / 2, losses[:16].mean()])
    np.testing.assert_allclose(means[-1, 1], losses[16 * (len(means) - 1) :].mean())


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("metrics.csv", "", r"metrics\.csv, line 1: no column pairs, megabatch, loss; train again"),
        ("metrics.csv", "pairs,megabatch,loss\n128,1,\xff\n", r"metrics\.csv, line 2: not UTF-8"),
        ("timing.csv", "pairs,second\n", r"timing\.csv, line 1: no column seconds; train again"),
        ("train.json", None, r"train\.json: no such file"),
        ("train.json", "{", r"train\.json: not JSON"),
        ("train.json", "{}", r"train\.json: .*make it again"),
    ],
)
def test_what_is_wrong_with_the_tables_is_one_error(folder, file, content, message):
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_text(content, encoding="latin-1")
    with pytest.raises(DataError, match=message):
        draw([("fr", folder)], folder / "curve.png", against="seconds")
    assert not list(folder.glob("*curve*"))


def test_a_best_that_was_never_evaluated_is_an_error(folder):
    best = read_json(folder / "train.json")["best"]
    change(folder, best={**best, "step": 10_000})
    with pytest.raises(DataError, match=r"train\.json: best is not among the evaluations"):
        Curve.load("fr", folder)


def test_seconds_are_asked_for_only_where_they_are_wanted(folder):
    (folder / "timing.csv").unlink()
    draw([("fr", folder)], folder / "curve.png")
    with pytest.raises(DataError, match=r"timing\.csv: no such file"):
        draw([("fr", folder)], folder / "curve.png", against="seconds")
