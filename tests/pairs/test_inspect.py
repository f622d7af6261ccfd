"""The look at corpora: the counts are the filters' own, and what makes a corpus useless is said."""

import random

import pytest

from phrasebook.meaning import Sampler
from phrasebook.speak import English, French
from psp.config.blocks.filters import FiltersBlock, for_text
from psp.core.errors import DataError
from psp.corpora.rows import BadRow
from psp.pairs import inspect
from psp.pairs.filters import build, filter_corpus
from psp.pairs.inspect import findings, inspect_corpus, runnable, sample
from tests.conftest import write_lid

LANGUAGES = ("en", "fr")
#: The block `filters` with all keys.
FILTERS = FiltersBlock.defaults()


def made(count, seed=1):
    """Translations of the phrasebook."""
    chance = random.Random(seed)
    sampler, english, french = Sampler(chance, held=False), English(chance), French(chance)
    meanings = [sampler.draw() for _ in range(count)]
    return [(english.say(meaning), french.say(meaning)) for meaning in meanings]


@pytest.fixture(scope="module")
def pairs():
    return made(600)


@pytest.fixture(scope="module")
def lid(tmp_path_factory):
    return write_lid(tmp_path_factory.mktemp("lid") / "lid.ftz")


def look(rows, lid, filters=(), languages=LANGUAGES, tests=(), **more):
    settings = {**FILTERS, **dict(filters)}
    resources = {"lid": lid, "tests": list(tests)}
    return inspect_corpus(iter(rows), label="A", languages=languages, filters=settings, resources=resources,
                          segmenters={}, **more)  # fmt: skip


def said(*corpora, least=0):
    return [one["text"] for one in findings(corpora, "fr", least)]


def test_the_counts_are_those_of_the_filter_stage(pairs, lid, tmp_path):
    rows = [*pairs, *((a, a) for a, _ in pairs[:40]), ("Hi", "Oui"), ("", "vide"), BadRow("row: columns", "a")]
    found = look(rows, lid)
    resources = {"lid": lid, "tests": []}
    stage = filter_corpus(
        rows,
        *(tmp_path / name for name in ("out", "json", "dropped")),
        corpus="A",
        languages=LANGUAGES,
        filters=build(FILTERS, LANGUAGES, resources),
        clean=True,
        prepared=False,
    )
    assert (found["seen"], found["kept"], found["dropped"]) == (stage["seen"], stage["kept"], stage["dropped"])
    assert found["dropped"]["row: columns"] == found["dropped"]["empty"] == 1
    assert all(rows and len(rows) <= 3 for rows in found["examples"].values())
    assert found["examples"].keys() == found["dropped"].keys()
    assert list(found["examples"]["empty"][0]) == ["", "vide"]


def test_of_a_sound_corpus_nothing_is_said(pairs, lid):
    found = look(pairs, lid)
    assert said(found) == []
    assert min(side["own"] for side in found["sides"]) > 0.8 and found["agreement"] > 0.75
    assert found["ratios"][0] < 1 < found["ratios"][2]
    assert said(found, least=5000)[0].startswith(f"{found['pairs']} pairs are few to train on")
    assert look(pairs, lid, cap=100)["pairs"] == 100


@pytest.mark.parametrize(
    ("spoilt", "words"),
    [
        (lambda rows: [(b, a) for a, b in rows], "A: source and target look swapped; write `languages: [fr, en]`"),
        (
            lambda rows: [(a, rows[place - 1][1]) for place, (a, _) in enumerate(rows)],
            "do not go together (correlation 0.",
        ),
        (lambda rows: [(a, b if place < 300 else rows[place - 1][1]) for place, (a, b) in enumerate(rows)], "shifted"),
        (lambda rows: [(a, " ".join([b] * (1 + 4 * (place % 9 == 0)))) for place, (a, b) in enumerate(rows)], "joined"),
        (lambda rows: [(a, b.encode().decode("cp1252", "replace")) for a, b in rows], "were decoded wrongly once"),
        (lambda rows: [(b, b) for _, b in rows], "only 0% of its longer texts in English look like it (most: French"),
        (lambda rows: [(a, "!" * len(a)) for a, _ in rows], "filter dropped 100% of A"),
    ],
)
def test_what_makes_a_corpus_useless_is_said_with_examples(pairs, lid, spoilt, words):
    (found,) = [one for one in findings([look(spoilt(pairs), lid)], "fr", 0) if words in one["text"]]
    assert found["samples"]


def test_sentences_of_test_sets_are_found_even_if_no_filter_drops_them(pairs, lid):
    tests = [("Tatoeba fra-eng", *pairs[3])]
    taken = look(pairs, lid, tests=tests)
    assert (
        taken["tests"]
        == {"Tatoeba fra-eng": 1}
        == {"Tatoeba fra-eng": taken["dropped"]["decontaminate: Tatoeba fra-eng"]}
    )
    assert said(taken) == []
    left = look(pairs, lid, {"decontaminate": {**FILTERS["decontaminate"], "enabled": False}}, tests=tests)
    assert "Tatoeba fra-eng (1) of 600" in said(left)[0]


@pytest.mark.parametrize("rows", [[], [("a", "b")], [("", "")] * 3, [("a" * 20_000, "b")] * 2, [("x" * 30,) * 2] * 99])
def test_the_smallest_and_oddest_corpora_are_looked_at(rows, lid):
    found = look(rows, lid)
    assert found["rows"] == found["seen"] == len(rows)
    said(found)


def test_text_has_one_side(pairs, lid):
    rows = [(a, a) for a, _ in pairs]
    found = look(rows, lid, for_text(FILTERS), ("en", "en"), is_text=True)
    assert len(found["sides"]) == 1 and found["agreement"] is None and said(found) == []


def test_a_sample_is_random_and_duplicates_are_counted_in_all_rows(monkeypatch):
    rows = [(f"s{number % 3000}", "T") for number in range(6000)]
    drawn, count, duplicates = sample(iter(rows), 500, 1, "a")
    numbers = [number for number, _ in drawn]
    assert numbers == sorted(set(numbers)) and (len(drawn), count) == (500, 6000)
    assert all(rows[number - 1] == row for number, row in drawn)
    assert 2700 < sum(numbers) / len(numbers) < 3300 and duplicates == 0.5
    assert sample(iter(rows), 500, 1, "a") == (drawn, count, duplicates)
    assert sample(iter(rows), 500, 2, "a")[0] != drawn
    assert [number for number, _ in sample(iter(rows), 7000, 1, "a")[0]] == list(range(1, 6001))
    monkeypatch.setattr(inspect, "MOST_KEYS", 200)  # then an estimate
    assert sample(iter(rows), 500, 1, "a")[2] == pytest.approx(0.5, abs=0.01)


def test_a_filter_that_fails_names_the_row_of_the_corpus(lid, monkeypatch, tmp_path):
    monkeypatch.setattr(inspect, "PAIRS", 2)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "own_rule_of_inspect.py").write_text("def keep(source, target):\n    return 1 / (source != 's7')\n")
    rows = [(f"s{number}", "t") for number in (7, 7, 7, 7)]
    with pytest.raises(DataError) as error:
        look(rows, lid, {"custom": ["own_rule_of_inspect:keep"], "length": {**FILTERS["length"], "enabled": False}})
    first = sample(iter(rows), 2, 0, "a")[0][0][0]
    assert (error.value.path, error.value.line) == ("A", first)


def test_filters_run_without_what_is_not_here(pairs):
    settings, notes = runnable(FILTERS, LANGUAGES, lid=False)
    assert settings["language"]["identifier"] == "py3langid" and "py3langid alone" in notes[0]
    assert look(pairs, None, settings)["kept"] > 500
    assert runnable(FILTERS, LANGUAGES, lid=True) == (FILTERS, [])
    settings, notes = runnable(FILTERS, ("xx", "fr"), lid=False)
    assert not settings["language"]["enabled"] and "not at all" in notes[0]
    similarity = {**FILTERS["similarity"], "enabled": True, "encoder": "results/none/model"}
    settings, notes = runnable({**FILTERS, "similarity": similarity}, LANGUAGES, lid=True)
    assert not settings["similarity"]["enabled"] and "results/none/model is not trained yet" in notes[0]
