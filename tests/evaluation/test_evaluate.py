"""The body of eval.json: what is run, what is skipped and why."""

from __future__ import annotations

import json
import zipfile
from collections import Counter

import numpy as np
import pytest

from psp.config.blocks.evaluation import has_sts
from psp.core.errors import DataError
from psp.core.files import read_json
from psp.evaluation import bootstrap, testsets
from psp.evaluation.baselines import WordOverlap
from psp.evaluation.evaluate import EmbeddingScorer, evaluate, evaluate_model
from psp.models.scores import compared_metrics, main_metrics
from psp.report.eval_table import table
from tests.conftest import as_published, parts
from tests.evaluation.tasks.conftest import HASHED, Hashed, sentences

RNG = np.random.default_rng(7)


def sentence() -> str:
    return sentences(1, int(RNG.integers(1 << 30)))[0]


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """A small archive with all sets in the released layout."""
    path = tmp_path_factory.mktemp("sts") / "STS.zip"
    with zipfile.ZipFile(path, "w") as file:

        def add(folder, name, pairs=12):
            lines = "".join(f"{sentence()}\t{sentence()}\n" for _ in range(pairs))
            file.writestr(f"STS/{folder}/STS.input.{name}.txt", lines)
            scores = "".join(f"{score}\n" for score in RNG.integers(0, 6, pairs - 2))
            file.writestr(f"STS/{folder}/STS.gs.{name}.txt", scores + ("\n\n" if folder != "STS17-test" else ""))

        for year, names in testsets.YEARS.items():
            for name in names:
                add(f"STS{year[2:]}-en-test", name)
        for track in testsets.TRACKS:
            add("STS17-test", track)
        for part in testsets.BENCHMARK.values():
            rows = "".join(f"g\tf\ty\t{i}\t{i % 5}\t{sentence()}\t{sentence()}\n" for i in range(9))
            file.writestr(f"STS/STSBenchmark/{part}", rows)
    return path


def run(**tests):
    return evaluate(HASHED, **{"languages": ["en", "fr"], "resamples": 20, **tests})


def without(archive, tmp_path, unwanted):
    path = tmp_path / "less.zip"
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            if unwanted not in name:
                new.writestr(name, old.read(name))
    return path


def test_everything_an_english_model_can_do(archive):
    body = run(sts=archive)
    years = parts(body, "sts")
    assert list(years) == [*testsets.YEARS, "average"]
    assert {year: list(years[year]["further"]["sets"]) for year in testsets.YEARS} == {
        y: list(n) for y, n in testsets.YEARS.items()
    }
    assert years["average"]["items"] == 250
    assert years["average"]["figures"]["spearman"]["items"] == 240
    assert list(parts(body, "semeval2017")) == ["track5.en-en"]
    assert parts(body, "semeval2017")["track5.en-en"]["development"] is True
    assert parts(body, "semeval2017")["track5.en-en"]["items"] == 10
    assert {part: found["items"] for part, found in parts(body, "stsb").items()} == {"dev": 9, "test": 9}
    assert {one["set"] for one in body["skipped"]} == {
        f"SemEval-2017 {track}" for track in testsets.TRACKS if track != "track5.en-en"
    }
    assert body["conditions"] == {"confidence": 0.95, "resamples": 20, "seed": 0}
    json.dumps(body, allow_nan=False)


def test_figures_are_resampled_under_their_names(archive, tmp_path):
    (tmp_path / "mine").write_text("".join(f"{score}\t{sentence()}\t{sentence()}\n" for score in range(6)))
    for side in ("fr", "en"):
        (tmp_path / side).write_text("".join(f"{sentence()}\n" for _ in range(40)))
    resampled = {}
    body = run(
        sts=archive, files={"mine": tmp_path / "mine"}, tatoeba={"fr": (tmp_path / "fr", tmp_path / "en")},
        resampled=resampled, resamples=200,
    )  # fmt: skip
    figures = main_metrics(body)
    assert list(figures) == [
        "sts", "semeval2017/track5.en-en", "stsb/dev", "stsb/test", "files/mine", "tatoeba/fra-eng", "tatoeba/eng-fra"
    ]  # fmt: skip
    compared = compared_metrics(body)
    assert set(resampled) == set(compared) > set(figures)
    whole, test = parts(body, "sts")["average"]["figures"], parts(body, "stsb")["test"]["figures"]
    assert compared["sts/spearman"] == whole["spearman"]["value"]
    assert bootstrap.interval(resampled["sts/spearman"]) == whole["spearman"]["interval"]
    assert bootstrap.interval(resampled["stsb/test/spearman"]) == test["spearman"]["interval"]
    both = [resampled[f"tatoeba/{direction}"] for direction in ("fra-eng", "eng-fra")]
    np.testing.assert_allclose(resampled["tatoeba/fra"], np.mean(both, axis=0))
    np.testing.assert_array_equal(resampled["tatoeba"], resampled["tatoeba/fra"])
    assert figures["sts"] == whole["pearson"]["value"]
    assert bootstrap.interval(resampled["sts"]) == whole["pearson"]["interval"]
    for task in ("semeval2017", "stsb", "files"):
        for name, found in parts(body, task).items():
            assert figures[f"{task}/{name}"] == found["figures"]["pearson"]["value"]
            assert bootstrap.interval(resampled[f"{task}/{name}"]) == found["figures"]["pearson"]["interval"]
    for direction in ("fra-eng", "eng-fra"):
        found = parts(body, "tatoeba")[direction]["figures"]["error"]
        assert figures[f"tatoeba/{direction}"] == found["value"]
        assert resampled[f"tatoeba/{direction}"].mean() == pytest.approx(found["value"], abs=1.5)
        assert not found["higher_is_better"] and found["unit"] == "%"
    assert main_metrics(run(languages=["fr"])) == {}


def test_tracks_need_both_languages(archive):
    assert list(parts(run(sts=archive, languages=["es", "ar"]), "semeval2017")) == ["track1.ar-ar", "track3.es-es"]
    body = run(sts=archive, languages=["tr", "en"])
    assert list(parts(body, "semeval2017")) == ["track5.en-en", "track6.tr-en"]
    assert "development" not in parts(body, "semeval2017")["track6.tr-en"]


def test_english_sets_are_not_for_a_model_without_english(archive, tmp_path):
    (tmp_path / "fr").write_text("the cat\nthe dog\n")
    (tmp_path / "en").write_text("the cat\nthe dog\n")
    body = run(sts=archive, languages=["de", "fr"], tatoeba={"fr": (tmp_path / "fr", tmp_path / "en")})
    assert body["tasks"] == {}
    why = {one["set"]: one["why"] for one in body["skipped"]}
    assert why["STS 2012-2016"] == why["STS Benchmark"] == why["Tatoeba fra-eng"] == "not a language of this model: en"
    assert why["SemEval-2017 track2.ar-en"] == "not a language of this model: ar, en"
    assert "\nno scores" in table({"model": "x", **body}).write()
    # The workflow gives it no archive in which there is no set for it, and no files of Tatoeba.
    assert not has_sts(["de", "fr"]) and has_sts(["es", "fr"]) and has_sts(["en", "fr"])
    why = {one["set"]: one["why"] for one in run(languages=["de", "fr"])["skipped"]}
    assert why == {
        "STS": "no published set is in the languages of this model: de, fr",
        "Tatoeba": "its sets pair a language with English, which this model does not have",
    }


def test_the_table_shows_the_error_on_held_out_pairs():
    body = run(languages=["de", "fr"])
    best = {"score": -12.5, "pearson": None, "error": 12.5, "pairs_sts": 0, "pairs_heldout": 1500}
    text = table({"model": "de-fr", **body, "train": {"best": best}}).write()
    (row,) = [line for line in text.split("\n") if line.startswith("held-out pairs (dev)  ")]
    assert row.split()[3:] == ["error", "%", "1,500", "12.5"]
    assert "not trained on" in text
    for without in ({**best, "error": None, "pairs_heldout": 0}, None):
        assert "\nno scores" in table({"model": "de-fr", **body, "train": {"best": without}}).write()


def test_a_missing_set_year_or_part_is_skipped_with_the_reason(archive, tmp_path):
    body = run(sts=without(archive, tmp_path, "STS12-en-test/STS.gs.MSRpar"))
    assert body["skipped"][0] == {
        "set": "STS 2012 MSRpar",
        "why": "no STS12-en-test/STS.gs.MSRpar.txt in less.zip",
    }
    assert list(parts(body, "sts")["2012"]["further"]["sets"]) == list(testsets.YEARS["2012"][1:])
    body = run(sts=without(archive, tmp_path, "STS14-en-test"))
    assert body["skipped"][0] == {"set": "STS 2014", "why": "no folder STS14-en-test in less.zip"}
    assert parts(body, "sts")["average"]["further"]["years"] == ["2012", "2013", "2015", "2016"]
    body = run(sts=without(archive, tmp_path, "STSBenchmark/sts-dev"))
    assert list(parts(body, "stsb")) == ["test"]
    body = run(sts=without(archive, tmp_path, "-en-test"))
    assert parts(body, "sts") == {}
    assert list(parts(body, "semeval2017")) == ["track5.en-en"]


def test_users_files_and_tatoeba(tmp_path):
    (tmp_path / "mine.tsv").write_text("1\tthe cat\tthe dog\n5\ta man\ta man\n3\tred\tthe red\n")
    for side in ("fr", "en"):
        (tmp_path / side).write_text("the cat\nthe dog\n")
    body = run(
        files={"mine": tmp_path / "mine.tsv"},
        tatoeba={"fr": (tmp_path / "fr", tmp_path / "en"), "xx": (tmp_path / "no", tmp_path / "no")},
    )
    assert parts(body, "files")["mine"]["items"] == 3
    assert parts(body, "tatoeba")["fra-eng"]["further"]["errors"] == 0
    assert list(parts(body, "tatoeba")) == ["fra-eng", "eng-fra", "fra", "mean"]
    assert body["skipped"] == [{"set": "Tatoeba xx", "why": "Tatoeba has no set for this language"}]
    with pytest.raises(DataError, match=r"absent\.tsv: cannot be read"):
        run(files={"mine": tmp_path / "absent.tsv"})


class Recorder(Hashed):
    """Remembers what it was asked to embed."""

    def __init__(self):
        super().__init__()
        self.seen = set()

    def embed_raw_text(self, sentences):
        self.seen.update(sentences)
        return super().embed_raw_text(sentences)


@pytest.mark.parametrize("languages", [["en", "fr"], ["en", "ar"], ["es", "ar"], ["tr", "en"], ["de", "fr"], ["en"]])
@pytest.mark.parametrize("unwanted", ["nothing", "STS14-en-test", "STS12-en-test/STS.gs.MSRpar", "sts-dev"])
def test_the_pairs_to_keep_out_of_training_are_those_that_are_scored(archive, tmp_path, languages, unwanted):
    def write(name, lines):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
        return tmp_path / name

    sides = {code: write(code, [sentence() for _ in range(5)]) for code in ("fr", "ar", "eng", "xx")}
    tests = {
        "languages": languages,
        "sts": without(archive, tmp_path, unwanted),
        "tatoeba": {code: (sides[code], sides["eng"]) for code in ("fr", "ar", "xx")},
        "files": {"mine": write("mine", [f"{score}\t{sentence()}\t{sentence()}" for score in range(4)])},
    }
    recorder = Recorder()
    body = evaluate(EmbeddingScorer(recorder), resamples=20, **tests)
    found = list(testsets.scored_pairs(**tests))
    assert {text for _, *pair in found for text in pair} == recorder.seen
    counts = Counter(name for name, *_ in found)
    assert counts["files/mine"] == 4
    assert counts.get("Tatoeba fra-eng", 0) == (5 if languages == ["en", "fr"] else 0)
    assert counts.get("STS Benchmark test", 0) == parts(body, "stsb").get("test", {}).get("items", 0)
    assert sum(counts[name] for name in counts if name.startswith("STS 20")) == (
        parts(body, "sts").get("average", {}).get("items", 0)
    )
    tracks = {f"SemEval-2017 {track}" for track in parts(body, "semeval2017")}
    assert {name for name in counts if name.startswith("SemEval")} == tracks


def test_the_development_set_is_kept_out_of_training_whatever_the_languages(archive, tmp_path):
    (tmp_path / "mine.tsv").write_text("1\tthe cat\tthe dog\n")
    found = list(testsets.scored_pairs(["de", "fr"], development=testsets.SEMEVAL, archive=archive))
    with testsets.StsSource(archive) as source:
        track = source.semeval("2017", testsets.DEVELOPMENT_TRACK)
    assert found == [("development", a, b) for a, b in zip(track.a, track.b, strict=True)]
    found = list(testsets.scored_pairs(["de", "fr"], development=tmp_path / "mine.tsv"))
    assert found == [("development", "the cat", "the dog")]
    with pytest.raises(DataError, match=r"absent\.tsv: cannot be read"):
        list(testsets.scored_pairs(["de", "fr"], development=tmp_path / "absent.tsv"))


def test_the_table_shows_every_figure_with_interval_and_pairs(archive, tmp_path):
    for side in ("fr", "en"):
        (tmp_path / side).write_text("the cat\nthe dog\n")
    body = run(sts=archive, tatoeba={"fr": (tmp_path / "fr", tmp_path / "en")})
    own = table({"model": "fr", **body}).write()
    assert "\nown set 2013 " in own and "Tatoeba" not in own and "own set fra-eng (French)" in own
    assert "own set: in the place of a published test set, but with other sentences." in own
    text = table({"model": "fr", **as_published(body)}).write()
    assert "own set" not in text
    lines = text.split("\n")
    assert lines[0].split() == ["test", "figure", "pairs", "fr"]
    year = parts(body, "sts")["2013"]["figures"]["pearson"]
    low, high = year["interval"]
    row = next(line for line in lines if line.startswith("STS 2013") and "mean Pearson" in line)
    assert row.endswith(f"{year['value']:.1f} [{low:.1f}, {high:.1f}]")
    assert " 40 " in row
    row = next(line for line in lines if line.startswith("STS 2013") and "Spearman" in line)
    assert " 30 " in row
    assert next(line for line in lines if "track5.en-en" in line).startswith("SemEval-2017 track5.en-en (dev)")
    row = next(line for line in lines if line.startswith("Tatoeba fra-eng (French)"))
    assert "0.0 [0.0, 65.8]" in row
    assert "skipped: SemEval-2017 track1.ar-ar: not a language of this model: ar" in lines


def test_pairs_that_the_benchmark_shares_with_the_development_track_are_told_and_left_out(tmp_path):
    pairs = [(f"a {n} cat", f"{n} dogs") for n in range(12)]
    gold = [n % 6 for n in range(12)]
    for folder in ("STS17-test", "STSBenchmark"):
        (tmp_path / folder).mkdir()
    track = tmp_path / "STS17-test/STS.input.track5.en-en.txt"
    track.write_text("".join(f"{b.upper()}\t{a}!\n" for a, b in pairs[:4]))  # the other way round, another spelling
    track.with_name("STS.gs.track5.en-en.txt").write_text("".join(f"{score}\n" for score in gold[:4]))
    for part, rows in (("test", range(12)), ("dev", range(6, 12))):
        lines = [f"x\tx\tx\t{n}\t{gold[n]}\t{pairs[n][0]}\t{pairs[n][1]}\n" for n in rows]
        (tmp_path / f"STSBenchmark/sts-{part}.csv").write_text("".join(lines))
    body = evaluate(WordOverlap(), languages=["en"], sts=tmp_path, resamples=100)
    found = parts(body, "stsb")
    assert [found[part]["further"]["in_semeval2017_en"] for part in ("test", "dev")] == [4, 0]
    assert parts(body, "semeval2017")["track5.en-en"]["further"]["in_stsb"] == {"dev": 0, "test": 4}
    assert list(found) == ["dev", "test", "test-without-semeval2017-en"]
    rest = tmp_path / "rest.tsv"
    rest.write_text("".join(f"{gold[n]}\t{pairs[n][0]}\t{pairs[n][1]}\n" for n in range(4, 12)))
    expected = parts(evaluate(WordOverlap(), languages=["en"], files={"rest": rest}, resamples=100), "files")["rest"]
    assert found["test-without-semeval2017-en"]["items"] == expected["items"]
    for metric, score in expected["figures"].items():
        assert found["test-without-semeval2017-en"]["figures"][metric]["value"] == score["value"]
    shown = table({"model": "m", "train": {}, **as_published(body)}).write()
    assert "STS Benchmark test, without SemEval-2017 en" in shown
    assert "STS Benchmark: 0 of dev and 4 of test are pairs of SemEval-2017's English track" in shown


def test_the_real_benchmark_holds_half_of_the_track_each(psp_data):
    body = evaluate(WordOverlap(), languages=["en"], sts=psp_data / "eval/sts", resamples=100)
    assert parts(body, "semeval2017")["track5.en-en"]["further"]["in_stsb"] == {"dev": 125, "test": 125}
    assert {part: found["items"] for part, found in parts(body, "stsb").items()} == {
        "dev": 1500, "dev-without-semeval2017-en": 1375, "test": 1379, "test-without-semeval2017-en": 1254,
    }  # fmt: skip


def test_evaluate_model_writes_what_it_gives(made, tmp_path):
    out = tmp_path / "results" / "eval.json"
    result = evaluate_model(made.model, out, name="fr", info={"recipe": "psp", "differences": {}}, **made.tests)
    assert read_json(out) == json.loads(json.dumps(result))
    assert list(result)[:4] == ["format", "model", "recipe", "differences"]
    assert result["format"] == 1
    assert parts(result, "files")["graded"]["items"] == 200
    # The same sentences on both sides, but for their case: a model that lower-cases finds all of them.
    found = parts(result, "tatoeba")["fra-eng"]["further"]
    assert found["errors"] - found["duplicates"] == 0
    again = tmp_path / "again.json"
    evaluate_model(made.model, again, name="fr", info={"recipe": "psp", "differences": {}}, **made.tests)
    assert out.read_bytes() == again.read_bytes()


def test_nothing_is_written_when_a_test_set_is_bad(made, tmp_path):
    (tmp_path / "bad.tsv").write_text("x\ta\tb\n")
    with pytest.raises(DataError, match="score 'x'"):
        evaluate_model(
            made.model, tmp_path / "eval.json", name="fr", languages=["en"], files={"bad": tmp_path / "bad.tsv"}
        )
    assert not (tmp_path / "eval.json").exists()
    with pytest.raises(DataError, match="no such folder"):
        evaluate_model(tmp_path / "absent", tmp_path / "eval.json", name="fr", languages=["en"])
