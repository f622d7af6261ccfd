"""The grid of a search, what makes two of its points one training, and the choice of a winner."""

from __future__ import annotations

import csv
import itertools
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from psp.core.errors import ConfigError, DataError
from psp.evaluation.development import Development
from psp.pairs.store import write_store
from psp.pairs.subword import train_subword
from psp.training.loop import Training
from psp.training.settings import PAPER, TrainSettings
from psp.training.tune import Tuning, course, differences, tunable, winner
from tests.conftest import PAIRS

ROOT = Path(__file__).parents[2]
TRAIN: dict[str, Any] = {
    key: value
    for key, value in TrainSettings(**{**PAPER, "directions": "both", "batch_size": 8, "dim": 8}).as_dict().items()
    if key != "seed"
}
#: Our own recipe, which mines nothing.
OWN = {key: value for key, value in TrainSettings(batch_size=8, dim=8).as_dict().items() if key != "seed"}


def settings(**values: Any) -> dict[str, Any]:
    return {**TRAIN, **values}


def test_points_are_each_value_with_each_and_their_names_fit_files() -> None:
    tuning = Tuning({"dropout": [0, 0.1, 0.3], "megabatch": [60, 100]})
    assert list(tuning.points) == [
        "dropout=0+megabatch=60", "dropout=0+megabatch=100", "dropout=0.1+megabatch=60", "dropout=0.1+megabatch=100",
        "dropout=0.3+megabatch=60", "dropout=0.3+megabatch=100",
    ]  # fmt: skip
    assert tuning.points["dropout=0.3+megabatch=60"] == {"dropout": 0.3, "megabatch": 60}
    every = Tuning({"clip": [None, 5.0], "mask_equal": [True], "directions": ["source"], "learning_rate": [1e-05]})
    assert list(every.points) == [
        "clip=null+mask_equal=true+directions=source+learning_rate=1e-05",
        "clip=5+mask_equal=true+directions=source+learning_rate=1e-05",
    ]
    # A name with a comma is none that tune.json may have, nor one that Snakemake hands to a cluster's job.
    assert list(Tuning({"matryoshka": [[], [4], [2, 4]]}).points) == [
        "matryoshka=none", "matryoshka=4", "matryoshka=2-4",
    ]  # fmt: skip


def test_a_points_settings_are_the_models_with_the_searchs_and_its_own_over_them() -> None:
    tuning = Tuning({"dropout": [0, 0.3], "epochs": [1, 3]}, epochs=2, anneal=7)
    found = tuning.settings(settings(epochs=25, margin=0.5), "dropout=0.3+epochs=3")
    assert found == settings(epochs=3, anneal=7, margin=0.5, dropout=0.3)
    with pytest.raises(ConfigError, match=r"dropout=0\.2\+epochs=3 is not a point.*there are dropout=0\+epochs=1, "):
        tuning.settings(TRAIN, "dropout=0.2+epochs=3")


# ------------------------------------------------------------------------------- the mega-batches that a training has

shapes = st.fixed_dictionaries(
    {
        "epochs": st.integers(1, 4),
        "batch_size": st.integers(2, 12),
        "megabatch": st.integers(1, 9),
        "anneal": st.integers(0, 9),
    }
)


@given(st.integers(2, 300), shapes)
def test_a_course_has_each_pair_once_an_epoch_and_its_mega_batches_grow_by_steps(
    pairs: int, shape: dict[str, int]
) -> None:
    found = course(pairs, settings(**shape))
    sizes = [size for size, count in found.runs for _ in range(count)]
    assert sum(sizes) == pairs * shape["epochs"]
    # A second way to the same: count the mini-batches one by one, and grow after every `anneal` of them.
    steps, allowed, since, seen = 0, 1 if shape["anneal"] else shape["megabatch"], 0, 0
    most = 0
    for size in sizes:
        left = pairs - seen % pairs
        assert size == min(left, min(allowed, shape["megabatch"]) * shape["batch_size"])
        seen += size
        batches = 0 if size == 1 else len(range(0, size, shape["batch_size"]))
        most = max(most, batches)
        for _ in range(batches):
            steps, since = steps + 1, since + 1
            if since == shape["anneal"]:
                allowed, since = allowed + 1, 0
    assert (found.steps, found.largest) == (steps, most)


class Made(NamedTuple):
    folder: Path
    store: Path
    sentencepiece: Path
    development: Development

    def train(self, name: str, **values: Any) -> Path:
        """Train with a row for every mini-batch; the folder with train.json."""
        out = self.folder / name
        if not (out / "train.json").exists():
            Training(
                self.store,
                self.sentencepiece,
                None,
                out,
                settings(log_every=1, seed=1, device="cpu", **values),
                self.development,
                threads=1,
                model_config={"languages": ["en", "fr"], "lower_case": True, "segment": {}},
            ).run()
        return out

    def rows(self, name: str, **values: Any) -> list[dict[str, str]]:
        with (self.train(name, **values) / "metrics.csv").open(newline="") as file:
            return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("made")
    mixed, model, store = folder / "mix.tsv", folder / "sentencepiece.model", folder / "store.h5"
    mixed.write_text("".join(f"{a}\t{b}\t0\n" for a, b in PAIRS), encoding="utf-8", newline="\n")
    train_subword(mixed, model, vocab_size=150, report=folder / "sentencepiece.json")
    write_store(mixed, model, store, languages=["en", "fr"], corpora=["Small"])
    heldout = folder / "heldout.tsv"
    heldout.write_text("".join(f"{a}\t{b}\t0\n" for a, b in PAIRS[:50]), encoding="utf-8", newline="\n")
    return Made(folder, store, model, Development.load(None, heldout))


@pytest.mark.parametrize(
    "shape",
    [
        {"epochs": 2, "batch_size": 8, "megabatch": 4, "anneal": 3},
        {"epochs": 3, "batch_size": 7, "megabatch": 9, "anneal": 2},  # mega-batches that the epoch's end cuts
        {"epochs": 1, "batch_size": 239, "megabatch": 1, "anneal": 1},  # one of a single pair, which is passed over
    ],
)
def test_training_has_the_mega_batches_of_its_course(made: Made, shape: dict[str, int]) -> None:
    rows = made.rows(f"course-{shape['batch_size']}", **shape)
    found = course(len(PAIRS), settings(**shape))
    assert len(rows) == found.steps
    seen = [0, *(int(row["pairs"]) for row in rows)]
    minibatches = [after - before for before, after in itertools.pairwise(seen)]
    expected = [
        min(shape["batch_size"], size - start)
        for size, count in found.runs
        for _ in range(count)
        for start in range(0, size, shape["batch_size"])
        if size > 1
    ]
    assert minibatches == expected
    assert found.largest <= max(int(row["megabatch"]) for row in rows)


def test_points_are_refused_if_and_only_if_their_trainings_are_the_same(made: Made) -> None:
    """Of 30 mini-batches an epoch, the last mega-batch of M up to 7 is cut to the same pairs; that of 2 is not."""
    refused = accepted = 0
    sizes = (2, 4, 7, 8, 30)
    for anneal in (2, 4):
        shape = {"epochs": 1, "anneal": anneal}
        losses = {
            size: [row["loss"] for row in made.rows(f"{anneal}-{size}", megabatch=size, **shape)] for size in sizes
        }
        for one, other in itertools.combinations(sizes, 2):
            tuning = Tuning({"megabatch": [one, other]}, **shape)
            if losses[one] == losses[other]:
                refused += 1
                with pytest.raises(ConfigError, match=f"megabatch={one} and megabatch={other}"):
                    tuning.check(TRAIN, pairs=len(PAIRS))
            else:
                accepted += 1
                tuning.check(TRAIN, pairs=len(PAIRS))
    assert refused and accepted


# --------------------------------------------------------------------------------------- points that cannot differ


def refusal(tuning: Tuning, **values: Any) -> str:
    known = {key: values.pop(key) for key in ("pairs", "paraphrase", "where") if key in values}
    with pytest.raises(ConfigError) as caught:
        tuning.check(settings(**values), **known)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_papers_grid_on_a_real_corpus() -> None:
    tuning = Tuning({"dropout": [0, 0.1, 0.3], "megabatch": [60, 100, 140]})
    tuning.check(settings(batch_size=128), pairs=573_316)
    assert course(573_316, tuning.settings(settings(batch_size=128), "dropout=0.3+megabatch=140")).largest == 140
    text = refusal(Tuning(tuning.grid, anneal=150), batch_size=128, pairs=573_316, where="models.fr.tune")
    assert text.startswith("models.fr.tune.grid: dropout=0+megabatch=60 and dropout=0+megabatch=100 would be the same")
    assert "8,960 mini-batches" in text and "`grid: {megabatch: [60]}`" in text
    assert "the largest M reached is 60" in text and "`anneal: 75`" in text


def test_keys_that_a_training_does_not_look_at_make_no_other_point() -> None:
    unread = {"megabatch": [60, 100], "negatives": ["opposite", "any"], "directions": ["both", "source"]}
    for key, values in unread.items():
        tuning = Tuning({key: values})
        for known in ({}, {"pairs": 573_316}):
            with pytest.raises(ConfigError, match=f"same training, which does not use {key}; leave one out"):
                tuning.check(OWN, **known)
    Tuning({"megabatch": [60, 100]}).check({**OWN, "candidates": "mined"}, pairs=573_316)
    with pytest.raises(ConfigError, match="does not use scale"):
        Tuning({"scale": [10, 20]}).check(TRAIN)
    with pytest.raises(ConfigError, match="does not use init_smoothing"):
        Tuning({"init_smoothing": [1e-3, 1e-4]}).check(TRAIN)
    with pytest.raises(ConfigError, match="does not use average_part"):
        Tuning({"average_part": [0.1, 0.2]}).check(OWN)
    Tuning({"average_part": [0.1, 0.2]}).check({**OWN, "average": 2})
    Tuning({"init": ["normal", "zipf"], "init_smoothing": [1e-3]}).check(TRAIN)
    Tuning({"token_dropout": [0, 0.15, 0.3], "scale": [10, 20, 40]}).check(OWN, pairs=573_316)
    assert course(573_316, OWN).largest == 1


def test_what_the_refusal_says_to_write_is_right() -> None:
    tuning = Tuning({"dropout": [0, 0.1], "megabatch": [2, 4, 6, 99]}, epochs=1, anneal=12)
    text = refusal(tuning, pairs=240)
    assert "megabatch=4 and dropout=0+megabatch=6" in text and "the largest M reached is 3" in text
    without = re.search(r"`grid: (.*?)`", text)
    faster = re.search(r"`anneal: (\d+)`", text)
    assert without and faster
    Tuning({**tuning.grid, **yaml.safe_load(without[1])}, epochs=1, anneal=12).check(TRAIN, pairs=240)
    Tuning(tuning.grid, epochs=1, anneal=int(faster[1])).check(TRAIN, pairs=240)


def test_no_anneal_is_proposed_where_none_helps_or_the_grid_has_it() -> None:
    assert "anneal:" not in refusal(Tuning({"megabatch": [60, 100]}, epochs=1), pairs=240)
    assert "`anneal" not in refusal(Tuning({"anneal": [100, 200], "megabatch": [3]}, epochs=1), pairs=240)


@pytest.mark.parametrize(
    ("grid", "known"),
    [
        ({"anneal": [10, 20]}, {"megabatch": 1}),  # nothing grows, on any store
        ({"negatives": ["auto", "opposite"]}, {"paraphrase": {False}}),
        ({"negatives": ["opposite", "any", "auto"]}, {"paraphrase": {True}}),
        ({"batch_size": [300, 400]}, {"pairs": 240}),
        ({"epochs": [1], "anneal": [30, 99], "megabatch": [1, 2], "dropout": [0]}, {"pairs": 240}),
    ],
)
def test_other_keys_that_cannot_differ(grid: dict[str, list[Any]], known: dict[str, Any]) -> None:
    text = refusal(Tuning(grid), **known)
    assert "would be the same training" in text and "leave one out, `grid: {" in text


@pytest.mark.parametrize(
    ("grid", "known"),
    [
        ({"anneal": [10, 20]}, {}),  # the store decides, and is not known yet
        ({"negatives": ["auto", "opposite"]}, {"paraphrase": {False, True}}),
        ({"negatives": ["opposite", "any"]}, {"paraphrase": {False}}),
        ({"epochs": [1, 2], "dim": [8, 16], "clip": [None, 1.0], "mask_equal": [True, False]}, {"pairs": 240}),
        ({"batch_size": [8, 16]}, {"pairs": 240}),
    ],
)
def test_keys_that_may_differ(grid: dict[str, list[Any]], known: dict[str, Any]) -> None:
    Tuning(grid).check(TRAIN, **known)


# -------------------------------------------------------------------------------------------------------- the winner

GRID = {"dropout": [0, 0.1], "megabatch": [2, 4]}


def reports(made: Made, tuning: Tuning) -> dict[str, Path]:
    return {name: made.train(name, **tuning.points[name], epochs=1, anneal=3) / "train.json" for name in tuning.points}


def with_scores(folder: Path, found: dict[str, Path], scores: list[float | None]) -> dict[str, Path]:
    """The same reports with other scores."""
    changed = {}
    for (name, path), score in zip(found.items(), scores, strict=True):
        report = json.loads(path.read_text())
        if score is None:
            report["best"] = None
            del report["final"]
        else:
            report["final"]["score"] = score
        changed[name] = folder / f"{name}.json"
        changed[name].write_text(json.dumps(report))
    return changed


def test_tune_json_holds_the_points_and_the_best_of_them(made: Made, tmp_path: Path) -> None:
    tuning = Tuning(GRID, epochs=1, anneal=3)
    found = reports(made, tuning)
    result = tuning.gather(found, tmp_path / "tune.json", model="fr")
    assert json.loads((tmp_path / "tune.json").read_text()) == result
    scores = {name: json.loads(path.read_text())["final"]["score"] for name, path in found.items()}
    assert {point["name"]: point["score"] for point in result["points"]} == scores
    assert result["winner"]["score"] == max(scores.values())
    assert winner(tmp_path / "tune.json") == tuning.points[result["winner"]["name"]]
    assert [point["largest_megabatch"] for point in result["points"]] == [2, 4, 2, 4]
    assert [point["steps"] for point in result["points"]] == [30] * 4
    assert (result["grid"], result["epochs"], result["anneal"]) == (GRID, 1, 3)
    tuning.gather(found, tmp_path / "again.json", model="fr")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "tune.json").read_bytes()


def test_the_first_of_equal_points_wins(made: Made, tmp_path: Path) -> None:
    tuning = Tuning(GRID, epochs=1, anneal=3)
    found = with_scores(tmp_path, reports(made, tuning), [-5.0, 7.5, 7.5, -90.0])
    assert tuning.gather(found, tmp_path / "tune.json", model="fr")["winner"]["name"] == "dropout=0+megabatch=4"


def test_reports_that_do_not_belong_are_refused(made: Made, tmp_path: Path) -> None:
    tuning = Tuning(GRID, epochs=1, anneal=3)
    found = reports(made, tuning)
    first, second, *_ = found
    out = tmp_path / "tune.json"
    with pytest.raises(DataError, match=r"train\.json: is of a training with megabatch 4, not 2; delete it"):
        tuning.gather({**found, first: found[second]}, out, model="fr")
    with pytest.raises(DataError, match="is of a training with epochs 1, not 2"):
        Tuning(GRID, epochs=2, anneal=3).gather(found, out, model="fr")
    with pytest.raises(DataError, match="has no validation score; give the model development data"):
        tuning.gather(with_scores(tmp_path, found, [1.0, None, 1.0, 1.0]), out, model="fr")
    (tmp_path / "cut.json").write_text("{}")
    with pytest.raises(DataError, match=r"cut\.json: has format None"):
        tuning.gather({**found, second: tmp_path / "cut.json"}, out, model="fr")
    assert not out.exists()
    with pytest.raises(DataError, match=r"cut\.json: has format None"):
        winner(tmp_path / "cut.json")


def test_differences_are_of_the_values_that_were_used() -> None:
    known = {"train.epochs": 3}
    used = settings(dropout=0.1, megabatch=60, epochs=3)
    assert differences(known, {"dropout": 0, "megabatch": 60}, used) == {"train.epochs": 3, "train.dropout": 0.1}
    assert differences(known, {}, used) == known


def test_a_search_is_over_what_changes_learning() -> None:
    found = tunable().keys()
    # The others change when a model is scored, what is kept of it, or where and how it is trained, not what it learns.
    assert "dropout" in found and not found & {"threads", "device", "log_every", "dev_every", "select", "tune"}
