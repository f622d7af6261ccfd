"""What is said of a sample's texts, and what filters would take of it."""

import pytest

from psp.core.errors import ConfigError, DataError
from psp.pairs.filters import build
from psp.pairs.filters.language import LanguageFilter
from psp.pairs.inspect import content
from psp.pairs.inspect.reading import Sampled
from tests.conftest import PAIRS, write_lid


def pair(source, target, row=1, score=None):
    return Sampled(row, source, target, "", "", score)


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    """A language identification model that knows English and French."""
    return write_lid(tmp_path_factory.mktemp("lid") / "lid.ftz")


def described(texts, language, classifier):
    return content.side(texts, texts, language, LanguageFilter({}, (language, "en"), {"lid": classifier}))


def test_a_side_is_described(classifier):
    texts = [b for _, b in PAIRS[:60]] + ["12 34"] * 20
    found = described(texts, "fr", classifier)
    assert found["labels"]["label"] == "fr" and found["labels"]["own"] == 1.0
    assert found["labels"]["texts"] < 80  # the short ones are left out
    assert [one["name"] for one in found["scripts"]] == ["LATIN"] and found["vowelled"] is None
    visible = sum(len(text.replace(" ", "")) for text in texts)
    assert found["digits"] == pytest.approx(80 / visible)
    assert found["words"][0] == 2  # a quarter of the texts are two numbers


def test_a_wrong_language_is_told_by_what_the_texts_are(classifier):
    labels = described([a for a, _ in PAIRS], "fr", classifier)["labels"]
    assert labels["own"] == 0.0 and labels["found"] == [{"name": "en", "share": 1.0}]


def test_a_language_without_a_label_has_none(classifier):
    labels = described([b for _, b in PAIRS], "csb", classifier)["labels"]
    assert labels["label"] is None and labels["own"] is None and labels["found"][0]["name"] == "fr"


@pytest.mark.parametrize(
    ("texts", "share"),
    [
        (["ٱلۡحَمۡدُ لِلَّهِ رَبِّ"], 1.0),
        (["الحمد لله رب العالمين"], 0.0),
        (["ٱلۡحَمۡدُ لِلَّهِ رَبِّ", "الحمد لله", "Latin", "1"], 0.5),
        (["Latin é́"], None),
        ([], None),
    ],
)
def test_vowel_marks_count_in_arabic_texts(texts, share, classifier):
    assert described(texts, "ar", classifier)["vowelled"] == share


def test_copies_and_numbers():
    pairs = [pair("OK.", "ok"), pair("Page 1", "Seite 1"), pair("5 to 6", "5 bis 7"), pair("two", "2"), pair("a", "b")]
    assert content.copies(pairs) == 0.2
    assert content.agreement(pairs) == {"pairs": 2, "same": 0.5}
    assert content.agreement(pairs[3:]) == {"pairs": 0, "same": None}


def filtered(pairs, settings, classifier, text=False, **resources):
    languages = ("en", "fr")
    batch = content.batch_of(pairs, languages, {})
    settings = {"language": {"enabled": False}, "decontaminate": {"enabled": False}, **settings}
    found, kept = content.filtered(
        pairs, batch, settings, languages, {"lid": classifier, "tests": [], **resources}, corpus="Own", text=text
    )
    return {one["name"]: one for one in found}, kept


def test_each_filter_is_tried_by_itself_and_all_together(classifier):
    pairs = [pair(*sides, row) for row, sides in enumerate(PAIRS[:80], start=1)]
    pairs += [pair("one", "un", 81 + number) for number in range(10)] + [pair("copy", "copy", 91 + number)
              for number in range(10)]  # fmt: skip
    settings = {"length": {"enabled": True, "min": 2}, "identical": {"enabled": True}, "numbers": {"enabled": False}}
    found, kept = filtered(pairs, settings, classifier)
    assert found["length"]["taken"] == 0.2 and found["length"]["reasons"] == [
        {"name": "length: source too short", "share": 0.2}
    ]
    assert found["identical"]["taken"] == 0.1  # although `length` would take all of them before
    assert found["length"]["samples"][0] == {
        "reason": "length: source too short", "row": 81, "source": "one", "target": "un"
    }  # fmt: skip
    assert kept == 0.8
    assert not found["numbers"]["on"] and found["numbers"]["taken"] == 0.0
    # The same as the filter itself says.
    (judge,) = build({"length": settings["length"]}, ("en", "fr"))
    assert sum(reason is not None for reason in judge(content.batch_of(pairs, ("en", "fr"), {}))) == 20


def test_text_is_not_compared_with_itself(classifier):
    found, _ = filtered([pair(a, a) for a, _ in PAIRS[:10]], {"identical": {"enabled": False}}, classifier, text=True)
    assert "identical" not in found


def test_a_filter_that_is_off_and_cannot_run_says_why(classifier):
    top = {"enabled": False, "method": "top"}
    batch = content.batch_of(few := [pair(*PAIRS[0])], ("en", "csb"), {})
    settings = {"language": top}
    resources = {"lid": classifier, "tests": []}
    ((one,), _) = content.filtered(few, batch, settings, ("en", "csb"), resources, corpus="Own", text=False)
    assert one["taken"] is None and "does not know the language 'csb'" in one["why"]
    settings = {"language": {**top, "enabled": True}}
    with pytest.raises(ConfigError, match="does not know the language 'csb'"):
        content.filtered(few, batch, settings, ("en", "csb"), resources, corpus="Own", text=False)


def test_a_filter_whose_encoder_comes_later_is_not_run(classifier):
    found, kept = filtered(
        [pair(*PAIRS[0])], {"similarity": {"enabled": True, "encoder": "results/fr/model"}}, classifier
    )
    assert found["similarity"]["taken"] is None and "results/fr/model" in found["similarity"]["why"]
    assert kept == 1.0


def test_a_failing_filter_of_ones_own_names_the_corpus_and_the_line(classifier, tmp_path, monkeypatch):
    (tmp_path / "failing_rules.py").write_text("def keep(source, target):\n    return source != 'bad' or 1 / 0\n")
    monkeypatch.chdir(tmp_path)
    pairs = [pair("good", "bon", 3), pair("bad", "mauvais", 17)]
    with pytest.raises(DataError, match=r"Own, line 17: .*ZeroDivisionError"):
        filtered(pairs, {"custom": ["failing_rules:keep"]}, classifier)


def test_similarity_stands_beside_that_of_exchanged_pairs(tmp_path):
    words = [f"w{number}" for number in range(30)]
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("".join(f"{word} {' '.join('1' if n == i else '0' for n in range(30))}\n"
                               for i, word in enumerate(words)))  # fmt: skip
    alike = [pair(word, word) for word in words]
    batch = content.batch_of(alike, ("en", "en"), {})
    found = content.similarity(alike, batch, str(vectors), 25)
    assert found["pairs"] == 25 and found["own"] == [1.0] * 5 and found["exchanged"] == [0.0] * 5
    assert found["alike"] == 0.0
    moved = [pair(word, words[number - 1]) for number, word in enumerate(words)]
    assert content.similarity(moved, content.batch_of(moved, ("en", "en"), {}), str(vectors), 30)["alike"] == 1.0
