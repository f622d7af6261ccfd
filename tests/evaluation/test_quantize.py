"""quantized.json: the scores are eval.json's, and the differences are those of a plain paired bootstrap."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from psp.core.files import read_json
from psp.evaluation import bootstrap, testsets
from psp.evaluation.evaluate import evaluate, evaluate_model
from psp.evaluation.quantize import measure
from psp.evaluation.scorers import EmbeddingScorer
from psp.models.folder import load_model, save_model
from psp.models.scores import main_metrics
from psp.report import comparison
from psp.text.sentencepiece_tokenizer import load_sentencepiece
from tests.conftest import SENTENCES, train_sentencepiece

DIM, RESAMPLES = 24, 60


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A model in whose first 8 dimensions each piece is the same: they alone tell no sentences apart."""
    folder = tmp_path_factory.mktemp("quantized")
    path = train_sentencepiece(folder / "sp.model")
    table = np.random.default_rng(1).standard_normal((load_sentencepiece(path).get_piece_size(), DIM), np.float32)
    table[:, :8] = np.arange(1, 9)
    save_model(folder / "model", table, path, {"languages": ["en", "fr"]})
    english = SENTENCES[0::2]
    graded = [(number % 6, a, english[(number * 7 + number % 6) % 90]) for number, a in enumerate(english[:60])]
    (folder / "graded.tsv").write_text("".join(f"{score}\t{a}\t{b}\n" for score, a, b in graded))
    sides = folder / "fr", folder / "en"
    mixed = [f"{english[number]} {english[number]} {english[(number * 7 + 13) % 90]}" for number in range(60)]
    for side, lines in zip(sides, (mixed, english[:60]), strict=True):
        side.write_text("".join(f"{line}\n" for line in lines))
    tests = {
        "languages": ["en", "fr"],
        "files": {"graded": folder / "graded.tsv"},
        "tatoeba": {"fr": sides},
        "resamples": RESAMPLES,
        "seed": 3,
    }
    return SimpleNamespace(model=folder / "model", tests=tests, graded=folder / "graded.tsv", folder=folder)


@pytest.fixture(scope="module")
def written(made):
    out = made.folder / "quantized.json"
    dims = [16, 64, 8, 16]
    result = measure(made.model, out, name="fr", dtypes=["float32", "int8", "float16"], dims=dims, **made.tests)
    assert read_json(out) == json.loads(json.dumps(result))
    assert not re.search(r"-0\.0\b", out.read_text())
    return result


def table_of(written, dtype, dim):
    return next(table for table in written["smaller"] if (table["dtype"], table["dim"]) == (dtype, dim))


def test_each_format_with_each_length(made, written):
    assert (written["whole"]["dtype"], written["whole"]["dim"]) == ("float32", DIM)
    sizes = [(dtype, dim) for dim in (24, 16, 8) for dtype in ("float32", "int8", "float16")]
    assert [(table["dtype"], table["dim"]) for table in written["smaller"]] == sizes[1:]
    rows = load_model(made.model).vocab_size
    assert written["whole"]["bytes"] == rows * DIM * 4
    assert table_of(written, "float16", 16)["bytes"] == rows * 16 * 2
    for table in written["smaller"]:
        if table["dtype"] == "int8":
            scales = {"row": rows, "dimension": table["dim"]}[table["scale"]]
            assert table["bytes"] == rows * table["dim"] + 4 * scales
        else:
            assert table["scale"] is None
    # The rows are the same in the first 8 dimensions: a scale for each of those has no error at all.
    assert table_of(written, "int8", 8)["scale"] == "dimension"


def test_the_scores_are_those_of_eval_json(made, written):
    whole = evaluate_model(made.model, made.folder / "eval.json", name="fr", **made.tests)
    assert written["conditions"] == whole["conditions"]
    assert written["skipped"] == whole["skipped"]
    assert written["whole"]["scores"]["tasks"] == whole["tasks"]  # which have no parts of parts here
    for table in written["smaller"]:
        model = load_model(made.model, dtype=table["dtype"], dim=table["dim"])
        body = evaluate(EmbeddingScorer(model), **made.tests)
        assert table["scores"] == {key: body[key] for key in table["scores"]}


def test_differences_are_taken_resample_by_resample(made, written):
    whole, other = load_model(made.model), load_model(made.model, dim=16)
    data = testsets.read_file(made.graded, "graded")
    counts = bootstrap.resample_counts(len(data), RESAMPLES, 3, "files/graded")
    x, y = (EmbeddingScorer(model).pairwise(data.a, data.b) for model in (whole, other))
    drawn = [np.repeat(np.arange(len(data)), count) for count in counts]
    differences = [
        100 * (stats.pearsonr(y[rows], data.gold[rows])[0] - stats.pearsonr(x[rows], data.gold[rows])[0])
        for rows in drawn
    ]
    found = table_of(written, "float32", 16)["differences"]["files/graded"]
    assert found["difference"] == pytest.approx(
        100 * (stats.pearsonr(y, data.gold)[0] - stats.pearsonr(x, data.gold)[0]), abs=2e-4
    )
    assert found["interval"] == pytest.approx(np.quantile(differences, [0.025, 0.975]), abs=1e-3)


def test_differences_of_errors_are_those_of_the_queries(made, written):
    found = table_of(written, "float32", 16)["differences"]["tatoeba/fra-eng"]
    foreign, english = testsets.read_tatoeba(*made.tests["tatoeba"]["fr"])
    wrong = []
    for dim in (DIM, 16):
        similarity = EmbeddingScorer(load_model(made.model, dim=dim)).cross(foreign, english)
        wrong.append(similarity.argmax(axis=1) != np.arange(len(english)))
    assert wrong[1].sum() != wrong[0].sum()
    counts = bootstrap.resample_counts(len(english), RESAMPLES, 3, "tatoeba/fra-eng")
    each = [100 * (np.repeat(wrong[1], row).mean() - np.repeat(wrong[0], row).mean()) for row in counts]
    assert found["difference"] == pytest.approx(100 * (wrong[1].mean() - wrong[0].mean()), abs=2e-4)
    assert found["interval"] == pytest.approx(np.quantile(each, [0.025, 0.975]), abs=1e-3)


def test_what_loses_nothing_and_what_loses_all(written):
    same = table_of(written, "float16", DIM)["differences"]
    assert abs(same["files/graded"]["difference"]) < 0.1
    lost = table_of(written, "float32", 8)["differences"]  # every sentence has one and the same vector
    assert lost["files/graded"] == {"difference": None, "interval": None}
    assert lost["tatoeba/fra-eng"]["difference"] > 50 and lost["tatoeba/fra-eng"]["interval"][0] > 0


def test_the_table_has_a_line_for_each_smaller_table(written):
    lines = comparison.quantized(written).write().split("\n")
    names = ["files/graded", "tatoeba/fra-eng", "tatoeba/eng-fra"]
    assert lines[0].split() == [
        "numbers",
        "dimensions",
        "MB",
        *(word for name in names for word in (name, "difference")),
    ]
    assert len(lines[2 : lines.index("")]) == 1 + len(written["smaller"])
    assert lines[2].split()[:2] == ["float32", str(DIM)]
    for line, one in zip(lines[3:], written["smaller"], strict=False):
        assert line.split()[:2] == [one["dtype"], str(one["dim"])]
        figures = main_metrics(one["scores"])
        pearson = figures["files/graded"]  # none with the 8 dimensions that tell nothing apart
        assert line.split()[3] == ("-" if pearson is None else f"{pearson:.2f}")
        lost = one["differences"]["tatoeba/fra-eng"]
        low, high = lost["interval"]
        assert f" {figures['tatoeba/fra-eng']:.2f} " in line
        assert f" {lost['difference']:+.2f} [{low:+.2f}, {high:+.2f}] " in line
