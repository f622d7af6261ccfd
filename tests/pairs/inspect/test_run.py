"""From files to findings: sound corpora do not cry wolf, and what is wrong with others is said."""

import json
import random

import pytest

from psp.core.errors import DataError
from psp.pairs.filters import for_text, section
from psp.pairs.inspect import reading
from psp.pairs.inspect.run import InspectedCorpus, inspect
from tests.conftest import write_lid, write_pair_file
from tests.pairs.inspect.conftest import made, shifted, shuffled


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    return write_lid(tmp_path_factory.mktemp("lid") / "lid.ftz")


def settings(**own):
    """The block ``filters`` with all keys."""
    found = {}
    for name, node in section().node["properties"].items():
        defaults = {key: below["default"] for key, below in node.get("properties", {}).items() if "default" in below}
        found[name] = defaults or node.get("default")
    found["language"]["enabled"] = False  # these languages are made up
    return found | {name: {**found[name], **block} for name, block in own.items()}


def look(folder, classifier, languages=("xx", "yy"), tests=None, kind="local", filters=None, **corpora):
    parts = []
    for name, rows in corpora.items():
        path = folder / f"{name}.tsv"
        if rows is not None:
            write_pair_file(path, rows)
        label = f"{name}.{'-'.join(languages)}"
        parts.append(InspectedCorpus(label, name, kind, languages, languages, filters or settings(), path))
    return inspect(
        "mine", parts, pairs=1200, samples=3, lid=classifier, tests=tests or {}, segmenters={}, seed=1, warn_pairs=100
    )


def kinds(report, corpus=None):
    return [one["kind"] for one in report["findings"] if corpus is None or (one["corpus"] or "").startswith(corpus)]


def test_of_a_sound_corpus_there_is_nothing_to_say_but_that_nobody_knows_its_languages(tmp_path, classifier):
    report = look(tmp_path, classifier, Good=made(1500))
    assert kinds(report) == ["label", "label"]
    (corpus,) = report["corpora"]
    assert (corpus["rows"], corpus["sampled"], len(corpus["samples"])) == (1500, 1200, 3)
    assert corpus["kept"] == 1.0


@pytest.mark.slow
def test_what_is_wrong_is_found_in_the_corpus_where_it_is(tmp_path, classifier):
    rows = made(1500)
    joined = made(1500, seed=2)
    for start in range(0, 900, 4):  # four sources beside all of their targets
        passage = " ".join(target for _, target in joined[start : start + 4])
        joined[start : start + 4] = [(source, passage) for source, _ in joined[start : start + 4]]
    report = look(
        tmp_path, classifier, Good=rows, Moved=shifted(made(1500, seed=1), 500), Random=shuffled(rows), Joined=joined
    )
    assert not kinds(report, "Good")
    assert {"beside", "blocks"} <= set(kinds(report, "Moved"))
    assert {"words", "ratio"} <= set(kinds(report, "Random"))
    assert "ratio" in kinds(report, "Joined")
    assert report["findings"][0]["kind"] == "words" and report["findings"][0]["corpus"] == "Random.xx-yy"
    for one in report["findings"]:
        if one["limit"] is not None:
            assert one["value"] > one["limit"]
    (moved,) = (one for one in report["findings"] if one["kind"] == "blocks" and one["corpus"].startswith("Moved"))
    assert "by 1 line;" in moved["text"] and moved["samples"][0]["row"] >= 500


def test_the_same_input_gives_the_same_report_for_any_batch(tmp_path, classifier, monkeypatch):
    one = look(tmp_path, classifier, Own=made(1100))
    monkeypatch.setattr(reading, "BATCH", 77)
    assert json.dumps(look(tmp_path, classifier, Own=made(1100))) == json.dumps(one)


def test_a_filter_that_throws_a_language_away_is_named_with_what_it_takes(tmp_path, classifier):
    filters = settings(language={"enabled": True, "method": "top", "sides": "target"})
    french = "un chien mange du pain dans le jardin"
    report = look(tmp_path, classifier, languages=("fr", "en"), filters=filters, Own=[(french, french)] * 300)
    found = next(one for one in report["findings"] if one["kind"] == "filter" and "language" in one["text"])
    assert found["value"] == 1.0 and found["limit"] == 0.2
    assert found["samples"][0]["reason"] == "language: target"
    (wrong,) = (one for one in report["findings"] if one["kind"] == "language" and "target" in one["text"])
    assert "for fr (French) (100%)" in wrong["text"] and "is `en` the right code" in wrong["text"]
    exchanged = [(source, french) for source, _ in made(300)]
    report = look(tmp_path, classifier, languages=("fr", "en"), filters=filters, Own=exchanged)
    assert kinds(report, "Own")[0] == "language" and "filter" not in kinds(report, "Own")
    assert "source and target look swapped" in report["findings"][0]["text"]


def test_copies_duplicates_empty_sides_and_few_pairs_are_told(tmp_path, classifier):
    rows = made(60)
    report = look(tmp_path, classifier, Own=[*rows * 3, *((a, a) for a, _ in rows), *[("", "x")] * 10])
    assert {"copies", "duplicates", "empty", "pairs"} <= set(kinds(report))


def test_test_sets_that_no_filter_takes_are_told(tmp_path, classifier):
    rows = made(400)
    tests = {"files": [("files/own", rows[3][0], rows[3][1]), ("files/own", rows[9][0], "")],
             "tasks": [("tasks/own", rows[5][1], "")]}  # fmt: skip
    report = look(tmp_path, classifier, tests=tests, Own=rows)
    assert kinds(report, "Own") == ["tests"]  # tasks are not among the sets of the filter, by default
    found = {one["set"]: (one["found"], one["removed"]) for one in report["corpora"][0]["tests"]}
    assert found == {"files/own": (3, True), "tasks/own": (1, False)}
    off = look(tmp_path, classifier, tests=tests, filters=settings(decontaminate={"enabled": False}), Own=rows)
    assert "100% of files/own" in next(one["text"] for one in off["findings"] if one["kind"] == "tests")


@pytest.mark.parametrize("rows", [[], [("a", "b")], [("", "")] * 3, [("x", "")], [("a" * 20_000, "b")] * 2])
def test_the_smallest_and_oddest_corpora_have_a_report(rows, tmp_path, classifier):
    report = look(tmp_path, classifier, Own=rows)
    assert report["corpora"][0]["rows"] == len(rows)


def test_a_file_that_cannot_be_read_is_an_error_with_its_line(tmp_path, classifier):
    with pytest.raises(DataError, match=r"Own\.tsv: cannot be read"):
        look(tmp_path, classifier, Own=None)
    (tmp_path / "Own.tsv").write_bytes(b"a\tb\n" + b"\xff\tc\n" * 101)
    with pytest.raises(DataError, match=r"Own\.tsv, line 2: not UTF-8"):
        look(tmp_path, classifier, Own=None)


def test_text_has_one_side(tmp_path, classifier):
    (tmp_path / "Own.tsv").write_text("".join(f"{a}\n" for a, _ in made(1200)))
    filters = for_text(settings())
    report = look(tmp_path, classifier, languages=("xx", "xx"), kind="text", filters=filters, Own=None)
    (corpus,) = report["corpora"]
    assert corpus["pairs"] is None and len(corpus["sides"]) == 1 and kinds(report) == ["label"]


def test_random_lines_beside_right_ones_are_among_the_worst(tmp_path, classifier):
    rows = made(1100)
    chance = random.Random(3)
    wrong = set(chance.sample(range(1100), 40))
    rows = [(source, rows[chance.randrange(1100)][1] if place in wrong else target)
            for place, (source, target) in enumerate(rows)]  # fmt: skip
    worst = look(tmp_path, classifier, Own=rows)["corpora"][0]["pairs"]["words"]["worst"]
    assert {pair["row"] - 1 for pair in worst} <= wrong


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "expected"), [("tr", {"ratio", "blocks"}), ("ar", {"vowels"}), ("fr", set()), ("zh", set())]
)
def test_of_the_quran_the_turkish_is_misaligned_and_the_arabic_vowelled(language, expected, psp_data):
    pair = "-".join(sorted(("en", language)))
    parts = [
        InspectedCorpus(name, name, "opus", ("en", language), ("en", language), settings(), path)
        for name in ("Quran", "XNLI", "GameTexts")
        for path in sorted(psp_data.glob(f"opus/{name}/*/moses/{pair}.txt.zip"))
    ]
    lid = psp_data / "lid/lid.176.ftz"
    report = inspect(language, parts, pairs=2000, samples=3, lid=lid, tests={}, segmenters={}, seed=1, warn_pairs=0)
    for name, wanted in (("Quran", expected), ("XNLI", set()), ("GameTexts", set())):
        # Without a segmenter, the length filter takes most Chinese.
        assert set(kinds(report, name)) - {"filter"} == wanted
