"""STS: reading every layout as released, and the paper's figures."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from psp import testsets
from psp.errors import DataError
from psp.evaluation import sts


class Given:
    """A scorer whose similarity of (a, b) is b read as a number."""

    def pairwise(self, a, b):
        return np.array([float(text) for text in b])

    def cross(self, a, b):
        raise NotImplementedError


def write_set(folder: Path, name: str, similarities, gold) -> None:
    """A SemEval set whose similarities under `Given` are known."""
    folder.mkdir(parents=True, exist_ok=True)
    pairs = "".join(f"a\t{float(value)!r}\n" for value in similarities)
    (folder / f"STS.input.{name}.txt").write_text(pairs)
    (folder / f"STS.gs.{name}.txt").write_text("".join(f"{value}\n" for value in gold))


def read(root: Path, year: str, name: str) -> testsets.StsSet:
    with testsets.StsSource(root) as source:
        return source.semeval(year, name)


@pytest.fixture
def one_set(tmp_path):
    folder = tmp_path / "STS15-en-test"
    write_set(folder, "images", [0.1, 0.2, 0.3], [1, 2, 3])
    return folder


def test_unlabelled_pairs_are_left_out(one_set):
    (one_set / "STS.gs.images.txt").write_text("1.5\n\n 3\n")
    data = read(one_set.parent, "2015", "images")
    assert data.b == ["0.1", "0.3"]
    assert data.gold.tolist() == [1.5, 3.0]


def test_only_line_feeds_end_a_line(one_set):
    (one_set / "STS.input.images.txt").write_bytes("a\u2028b\t1\r\nc\x85\rd\t2\r\ne\t3\r\n".encode())
    (one_set / "STS.gs.images.txt").write_bytes(b"1\r\n\r\n3\r\n")
    data = read(one_set.parent, "2015", "images")
    assert data.a == ["a\u2028b", "e"]
    assert data.b == ["1", "3"]


@pytest.mark.parametrize("top", ["", "STS/"])
@pytest.mark.parametrize("packed", [True, False])
def test_archive_and_folder_give_the_same(tmp_path, top, packed):
    folder = tmp_path / "data" / top / "STS15-en-test"
    write_set(folder, "images", [0.1, 0.2, 0.3], [1, 2, 3])
    path = tmp_path / "data"
    if packed:
        path = tmp_path / "STS.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.mkdir(f"{top or 'STS15-en-test/'}")
            for file in sorted(folder.iterdir()):
                archive.write(file, f"{top}STS15-en-test/{file.name}")
                archive.writestr(f"__MACOSX/STS15-en-test/{file.name}", b"\0")
    data = read(path, "2015", "images")
    assert data.b == ["0.1", "0.2", "0.3"]
    with pytest.raises(testsets.MissingSetError, match=r"no STS15-en-test/STS\.input\.belief\.txt in"):
        read(path, "2015", "belief")


@pytest.mark.parametrize(
    ("pairs", "gold", "message"),
    [
        (b"a\tb\nc\n", b"1\n2\n", r"STS\.input\.images\.txt, line 2: 1 columns instead of 2"),
        (b"a\tb\nc\td\te\n", b"1\n2\n", r"STS\.input\.images\.txt, line 2: 3 columns instead of 2"),
        (b"a\tb\nc\t \n", b"1\n2\n", r"STS\.input\.images\.txt, line 2: an empty sentence"),
        (b"a\tb\nc\t\xff\n", b"1\n2\n", r"STS\.input\.images\.txt, line 2: not UTF-8"),
        (b"a\tb\nc\td\n", b"1\nx\n", r"STS\.gs\.images\.txt, line 2: the score 'x' is not a number"),
        (b"a\tb\nc\td\n", b"nan\n2\n", r"STS\.gs\.images\.txt, line 1: the score 'nan' is not a number"),
        (b"a\tb\nc\td\n", b"1\n", r"STS\.gs\.images\.txt: 1 scores for the 2 pairs"),
        (b"a\tb\n", b"1\n2\n", r"STS\.gs\.images\.txt: 2 scores for the 1 pairs"),
        (b"a\tb\n", b"\n", r"STS\.gs\.images\.txt: no scored pairs"),
    ],
)
def test_malformed_files_are_named(one_set, pairs, gold, message):
    (one_set / "STS.input.images.txt").write_bytes(pairs)
    (one_set / "STS.gs.images.txt").write_bytes(gold)
    with pytest.raises(DataError, match=message):
        read(one_set.parent, "2015", "images")


def test_a_track_may_have_more_pairs_than_scores(tmp_path):
    write_set(tmp_path / "STS17-test", "track6.tr-en", [0.1, 0.2, 0.3], [1, 2])
    assert len(read(tmp_path, "2017", "track6.tr-en")) == 2
    write_set(tmp_path / "STS17-test", "track6.tr-en", [0.1], [1, 2])
    with pytest.raises(DataError, match="2 scores for the 1 pairs"):
        read(tmp_path, "2017", "track6.tr-en")


def test_the_benchmark_is_not_quoted_and_may_have_more_columns(tmp_path):
    (tmp_path / "STSBenchmark").mkdir()
    path = tmp_path / "STSBenchmark" / "sts-dev.csv"
    path.write_bytes(b'g\tf\t2012\t0001\t2.5\t"a, b\tc"\ng\tf\t2012\t0002\t4\td\te\tsource\tsource\n')
    with testsets.StsSource(tmp_path) as source:
        data = source.benchmark("dev")
    assert (data.a, data.b, data.gold.tolist()) == (['"a, b', "d"], ['c"', "e"], [2.5, 4.0])
    path.write_bytes(b"g\tf\t2012\t0001\t2.5\ta\n")
    with testsets.StsSource(tmp_path) as source, pytest.raises(DataError, match=r"sts-dev\.csv, line 1: 6 columns"):
        source.benchmark("dev")


def test_sources_that_cannot_be_used(tmp_path):
    with pytest.raises(DataError, match=r"cannot be read \(No such file"):
        testsets.StsSource(tmp_path / "absent.zip")
    with pytest.raises(DataError, match="no STS data in it"):
        testsets.StsSource(tmp_path)
    (tmp_path / "STS.zip").write_bytes(b"<html>404</html>")
    with pytest.raises(DataError, match="not a zip archive"):
        testsets.StsSource(tmp_path / "STS.zip")
    with zipfile.ZipFile(tmp_path / "twice.zip", "w") as archive:
        archive.writestr("STS/STS15-en-test/STS.gs.images.txt", "1")
        archive.writestr("old/STS15-en-test/STS.gs.images.txt", "2")
    with pytest.raises(DataError, match=r"holds STS15-en-test/STS\.gs\.images\.txt twice"):
        testsets.StsSource(tmp_path / "twice.zip")


def test_a_damaged_archive_is_named(tmp_path):
    path = tmp_path / "STS.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("STS15-en-test/STS.input.images.txt", "PLAIN TEXT\tb\n")
        archive.writestr("STS15-en-test/STS.gs.images.txt", "1\n")
    path.write_bytes(path.read_bytes().replace(b"PLAIN TEXT", b"PLAIN TEXX"))
    with pytest.raises(DataError, match=r"STS\.zip: damaged .*download it again"):
        read(path, "2015", "images")


def test_a_users_file(tmp_path):
    path = tmp_path / "mine.tsv"
    path.write_bytes("0.5\tone\u2028two\tthree\n-1e1\tfour\tfive".encode())
    data = testsets.read_file(path, "mine")
    assert (data.name, data.a, data.b) == ("mine", ["one\u2028two", "four"], ["three", "five"])
    assert data.gold.tolist() == [0.5, -10.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\ta\tb\n\n", "line 2: 1 columns instead of 3: score, sentence, sentence"),
        ("a\tb\t1\n", "line 1: the score 'a' is not a number"),
        ("1\t\tb\n", "line 1: an empty sentence"),
        ("", "no scored pairs"),
    ],
)
def test_a_users_malformed_file(tmp_path, text, message):
    path = tmp_path / "mine.tsv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        testsets.read_file(path)


def scored(name: str, similarity, gold, resamples: int = 50) -> sts.Scored:
    data = testsets.StsSet(
        name, ["a"] * len(gold), [repr(float(x)) for x in similarity], np.array(gold, dtype=np.float64)
    )
    return sts.score_set(Given(), data, name=f"test/{name}", resamples=resamples, seed=1)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.floats(-1, 1, width=16), st.integers(0, 5)), min_size=2, max_size=20))
def test_figures_equal_scipy_or_are_null_with_a_reason(pairs):
    similarity, gold = zip(*pairs, strict=True)
    figures = scored("x", similarity, gold).figures
    json.dumps(figures, allow_nan=False)
    assert figures["pairs"] == len(pairs)
    if len(set(similarity)) == 1 or len(set(gold)) == 1:
        assert figures["pearson"] is figures["spearman"] is figures["pearson_interval"] is None
        assert "equal" in figures["why"]
    else:
        assert figures["pearson"] == pytest.approx(100 * stats.pearsonr(similarity, gold).statistic, abs=1e-4)
        assert figures["spearman"] == pytest.approx(100 * stats.spearmanr(similarity, gold).statistic, abs=1e-4)


def test_similarities_equal_but_for_rounding_rank_nothing():
    figures = scored("x", [1.0, 1.0 - 1e-15, 1.0 - 2e-15], [1, 2, 3]).figures
    assert figures["pearson"] is None
    assert figures["why"] == "the system finds every pair equally similar"


def random_year(names, rng, pairs=40):
    out = []
    for name in names:
        gold = rng.integers(0, 6, pairs)
        out.append(scored(name, gold / 5 + rng.standard_normal(pairs), gold))
    return out


def test_a_year_is_the_mean_over_sets_and_the_concatenation():
    sets = random_year(["images", "belief"], np.random.default_rng(0))
    body = sts.score_year("2015", sets).body
    mean = np.mean([stats.pearsonr(one.similarity, one.data.gold).statistic for one in sets])
    together = stats.spearmanr(
        np.concatenate([one.similarity for one in sets]), np.concatenate([one.data.gold for one in sets])
    ).statistic
    assert body["pearson_mean"] == pytest.approx(100 * mean, abs=1e-4)
    assert body["spearman_concatenated"] == pytest.approx(100 * together, abs=1e-4)
    assert (body["pairs"], body["pairs_concatenated"]) == (80, 80)
    assert list(body["sets"]) == ["images", "belief"]
    assert "pearson_mean_without_smt" not in body
    for key in ("pearson_mean", "spearman_concatenated"):
        low, high = body[f"{key}_interval"]
        assert low < body[key] < high


def test_the_years_intervals_resample_within_each_set():
    sets = random_year(["images", "belief"], np.random.default_rng(2))
    year = sts.score_year("2015", sets)
    for draw in range(5):
        parts = [
            (np.repeat(one.similarity, one.counts[draw]), np.repeat(one.data.gold, one.counts[draw])) for one in sets
        ]
        mean = np.mean([stats.pearsonr(*part).statistic for part in parts])
        together = stats.spearmanr(*np.concatenate(parts, axis=1)).statistic
        assert year.resampled["pearson_mean"][draw] == pytest.approx(mean, abs=1e-9)
        assert year.resampled["spearman_concatenated"][draw] == pytest.approx(together, abs=1e-9)


def test_2013_has_smt_in_the_published_mean_and_not_in_the_concatenation():
    sets = random_year(testsets.YEARS["2013"], np.random.default_rng(1))
    year = sts.score_year("2013", sets)
    values = {one.data.name: stats.pearsonr(one.similarity, one.data.gold).statistic for one in sets}
    assert year.body["pearson_mean"] == pytest.approx(100 * np.mean(list(values.values())), abs=1e-4)
    del values["SMT"]
    assert year.body["pearson_mean_without_smt"] == pytest.approx(100 * np.mean(list(values.values())), abs=1e-4)
    assert (year.body["pairs"], year.body["pairs_concatenated"]) == (160, 120)
    rest = [one for one in sets if one.data.name != "SMT"]
    together = stats.spearmanr(
        np.concatenate([one.similarity for one in rest]), np.concatenate([one.data.gold for one in rest])
    ).statistic
    assert year.body["spearman_concatenated"] == pytest.approx(100 * together, abs=1e-4)


def test_the_average_is_over_years_not_pairs():
    rng = np.random.default_rng(3)
    years = {
        "2013": sts.score_year("2013", random_year(testsets.YEARS["2013"], rng)),
        "2015": sts.score_year("2015", random_year(["images"], rng, pairs=300)),
    }
    body = sts.average(years)
    assert body["years"] == ["2013", "2015"]
    for key in ("pearson_mean", "spearman_concatenated"):
        assert body[key] == pytest.approx(np.mean([year.body[key] for year in years.values()]), abs=1e-3)
    without = (years["2013"].body["pearson_mean_without_smt"] + years["2015"].body["pearson_mean"]) / 2
    assert body["pearson_mean_without_smt"] == pytest.approx(without, abs=1e-3)
    assert (body["pairs"], body["pairs_concatenated"]) == (460, 420)


def test_a_set_without_correlation_leaves_no_mean_and_says_so():
    sets = [*random_year(["images"], np.random.default_rng(4)), scored("belief", [0.5, 0.5, 0.5], [1, 2, 3])]
    year = sts.score_year("2015", sets)
    assert year.body["pearson_mean"] is None
    assert year.body["pearson_mean_why"] == "no correlation on belief"
    assert year.body["spearman_concatenated"] is not None
    body = sts.average({"2015": year})
    assert body["pearson_mean"] is None
    assert body["pearson_mean_why"] == "no figure for 2015"
    json.dumps([year.body, body], allow_nan=False)


def test_smt_alone_has_no_concatenation():
    body = sts.score_year("2013", random_year(["SMT"], np.random.default_rng(5))).body
    assert body["pearson_mean"] is not None
    assert body["spearman_concatenated"] is None
    assert body["pearson_mean_without_smt"] is None
    assert body["pairs_concatenated"] == 0


@pytest.mark.skipif("PSP_DATA" not in os.environ, reason="PSP_DATA, the folder of real data, is not set")
def test_the_released_sets_have_their_known_sizes():
    sizes = {}
    with testsets.StsSource(Path(os.environ["PSP_DATA"]) / "eval" / "sts") as source:
        for year, names in testsets.YEARS.items():
            sizes[year] = [len(source.semeval(year, name)) for name in names]
        tracks = [len(source.semeval("2017", track)) for track in testsets.TRACKS]
        parts = [len(source.benchmark(part)) for part in testsets.BENCHMARK]
        everything = [source.semeval(year, name) for year, names in testsets.YEARS.items() for name in names]
    assert sizes["2012"] == [750, 750, 459, 750, 399]
    assert sizes["2013"] == [189, 750, 561, 750]
    assert sizes["2014"] == [450, 300, 750, 750, 750, 750]
    assert sizes["2015"] == [375, 750, 375, 750, 750]
    assert sizes["2016"] == [254, 249, 230, 244, 209]
    assert tracks == [250] * 7
    assert parts == [1500, 1379]
    assert all(data.gold.min() >= 0 and data.gold.max() <= 5 for data in everything)
