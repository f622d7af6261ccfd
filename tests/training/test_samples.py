"""Trainings on samples: what they are trained on, and what the studies say of them."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from psp.core.errors import DataError
from psp.core.files import read_json, write_json
from psp.evaluation.development import DevelopmentFiles
from psp.pairs.vocabulary import build_vocabulary
from psp.training import by_corpus, deciles
from psp.training.loop import Training
from psp.training.samples import train_sample
from psp.training.settings import TrainSettings
from tests.conftest import PAIRS

ENCODERS, SEEDS = ["word", "trigram"], [1, 2]
BLOCK = {"encoders": ENCODERS, "seeds": SEEDS, "epochs": 2, "pairs": None}


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> tuple[Path, dict]:
    """A training on the first 60 of 80 pairs, and its report."""
    folder = tmp_path_factory.mktemp("sample")
    rows = [f"{a.lower()}\t{b.lower()}\n" for a, b in PAIRS[:80]]
    (folder / "sample.tsv").write_text("".join(rows))
    (folder / "sts.tsv").write_text(
        "".join(f"{n % 5}\t{a}\t{PAIRS[n + 1][0]}\n" for n, (a, _) in enumerate(PAIRS[:40]))
    )
    build_vocabulary(
        folder / "sample.tsv", folder / "word.txt", kind="word", min_count=1, report=folder / "word.json", own=True
    )
    settings = dict(TrainSettings(epochs=2, dim=8, device="cpu", seed=1).as_dict())
    job = Training(
        folder / "sample.tsv", folder / "word.txt", None, folder / "train", settings,
        DevelopmentFiles(str(folder / "sts.tsv")), threads=1, warn_pairs=0,
        model_config={"languages": ["en", "fr"], "lower_case": True, "segment": {}, "recipe": "psp"},
    )  # fmt: skip
    report = train_sample(job, 60)
    return folder, report


def test_the_first_pairs_are_trained_on_and_no_model_is_kept(trained):
    folder, report = trained
    assert (report["store_pairs"], report["best"]["pairs_sts"], report["best"]["pairs_heldout"]) == (60, 40, 0)
    assert report["best"]["score"] == report["best"]["pearson"]
    assert {path.name for path in (folder / "train").iterdir()} >= {"metrics.csv", "train.json"}
    assert not list((folder / "train").rglob("*.tsv")) and not list(folder.rglob("*.safetensors"))


def points(folder: Path, report: dict, samples: list[str]) -> dict:
    """Made reports: the score of sample number n is 5 n, plus 1 for trigrams, plus the seed."""
    found: dict = {}
    for number, sample in enumerate(samples):
        for place, encoder in enumerate(ENCODERS):
            for seed in SEEDS:
                one = copy.deepcopy(report)
                one["settings"]["seed"] = seed
                one["final"]["score"] = 5.0 * number + place + seed
                path = folder / f"points/{sample}/{encoder}/{seed}/train.json"
                path.parent.mkdir(parents=True, exist_ok=True)
                write_json(path, one)
                found.setdefault(sample, {}).setdefault(encoder, {})[seed] = path
    return found


def samples_of(folder: Path) -> dict[str, Path]:
    bounds = [{"tenth": n, "pairs": 60, "low": n / 10, "high": n / 10 + 0.1} for n in range(1, 11)]
    rows = [{"name": f"score-{n}", "pairs": 60 + n} for n in range(1, 10)] + [{"name": "score-10", "pairs": 60}]
    ranking = {
        "format": 1,
        "by": "score",
        "corpora": [{"label": "A.en-en", "bounds": bounds}],
        "samples": rows,
    }
    write_json(folder / "score.json", ranking)
    write_json(folder / "all.json", {"format": 1, "samples": [{"name": "all", "pairs": 600}]})
    return {"all": folder / "all.json", "score": folder / "score.json"}


def test_deciles_are_gathered_with_their_bounds_and_means(trained, tmp_path):
    report = trained[1]
    names = ["all", *(f"score-{decile}" for decile in range(1, 11))]
    arguments = {"model": "en", "settings": {**BLOCK, "by": ["score"]}, "development": "semeval2017-en"}
    found = points(tmp_path, report, names)
    result = deciles.gather(found, samples_of(tmp_path), tmp_path / "tenths.json", **arguments)
    assert read_json(tmp_path / "tenths.json") == result
    assert result["pairs"] == 60 and result["all"]["pairs"] == 600
    (ranking,) = result["by"]
    assert ranking["tenths"][4]["figures"]["trigram"] == {"values": [27.0, 28.0], "mean": 27.5, "deviation": 0.7071}
    assert ranking["tenths"][4]["mean"] == {"values": [26.5, 27.5], "mean": 27.0, "deviation": 0.7071}
    assert ranking["corpora"][0]["bounds"][9]["high"] == 1.1

    # A training of other pairs, epochs or seed is not taken for it.
    path = found["score-3"]["word"][2]
    for key, value in (("store_pairs", 61), ("seed", 3), ("epochs", 1)):
        wrong = read_json(path)
        (wrong if key in wrong and key == "store_pairs" else wrong["settings"])[key] = value
        right = path.read_bytes()
        write_json(path, wrong)
        with pytest.raises(DataError, match="delete it and make it again"):
            deciles.gather(found, samples_of(tmp_path), tmp_path / "tenths.json", **arguments)
        path.write_bytes(right)
    more = {**arguments, "settings": {**arguments["settings"], "pairs": 61}}
    with pytest.raises(DataError, match=r"models\.en\.deciles\.pairs: is 61, but score-10 has 60"):
        deciles.gather(found, samples_of(tmp_path), tmp_path / "tenths.json", **more)


def test_corpora_are_gathered_in_the_configs_order(trained, tmp_path):
    reports = {}
    for number, label in enumerate(["B.en-fr", "A.en-fr"]):
        reports[label] = tmp_path / f"{label}.json"
        write_json(reports[label], {"format": 1, "corpus": label[0], "seen": 90, "kept": 60 + number})
    result = by_corpus.gather(
        points(tmp_path, trained[1], list(reports)), reports, tmp_path / "by_corpus.json",
        model="fr", settings={**BLOCK, "corpora": None}, development="semeval2017-en",
    )  # fmt: skip
    assert [(one["label"], one["pairs"], one["mean"]["mean"]) for one in result["corpora"]] == [
        ("B.en-fr", 60, 2.0), ("A.en-fr", 61, 7.0)
    ]  # fmt: skip
