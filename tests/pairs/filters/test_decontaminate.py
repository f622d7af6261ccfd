"""No pair that the model is scored on is trained on, and the counts say which sets they were of."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from psp.core.errors import ConfigError
from psp.core.logs import Progress
from psp.evaluation.evaluate import decontaminated
from psp.pairs import heldout
from psp.pairs.filters import build, filter_corpus
from psp.text.keys import normalised_key
from tests.pairs.filters.conftest import batch

TESTS = [
    ("STS 2012 MSRvid", "A man is playing a guitar.", "The man plays the guitar."),
    ("Tatoeba fra-eng", "Où est la gare ?", "Where is the station?"),
    ("Tatoeba cmn-eng", "车站在哪里？", "Where is the station?"),
    ("files/mine", "...", "A man is playing a guitar!"),
]


def judge(tests=TESTS, **settings):
    (found,) = build({"decontaminate": settings}, ("en", "fr"), {"tests": tests})
    return found


def test_a_side_of_a_test_set_drops_the_pair_and_names_the_set():
    pairs = batch(
        ("Where is the station?", "Où est la gare ?"),  # both
        ("WHERE is the station", "Et la gare ?"),  # the source, but for case and marks
        ("And the station?", "où est la gare"),  # the target
        ("où est la gare", "And the station?"),  # whatever the language
        ("And the station?", "Et la gare ?"),
        ("a man is playing a guitar", "Et la gare ?"),  # of two sets: the first
        ("The station", "车站在哪里"),
        ("Where is the station, please?", "Où sont les gares ?"),  # near is not equal
        ("...", "!!!"),  # no letters: equal to nothing
    )
    names = ["Tatoeba fra-eng"] * 4 + [None, "STS 2012 MSRvid", "Tatoeba cmn-eng", None, None]
    expected = [name and f"decontaminate: {name}" for name in names]
    assert judge()(pairs) == judge(mode="side")(pairs) == expected


FORMS = {
    "in parts": lambda text: unicodedata.normalize("NFD", text),
    "of full width": lambda text: "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else one for one in text),
    "with soft hyphens": lambda text: "\u00ad".join(text),
    "marked for direction": lambda text: f"\ufeff\u202a{text}\u202c",
    "with vowel marks": lambda text: text.replace("\u0643", "\u0643\u064e"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_test_sentence_in_another_unicode_form_is_found_and_held_out(tmp_path, form):
    sentences = ["Où est la gare ?", "학교가 어디에 있어요?", "قرأت الكتاب أمس.", "Wo ist 1 Café?", "駅はどこですかガ"]
    others = [FORMS[form](text) for text in sentences]
    assert others != sentences
    found = judge([("set", text, "") for text in sentences])(batch(*((other, "x y") for other in others)))
    assert found == ["decontaminate: set"] * len(sentences)
    # Likewise for pairs held out of training, and duplicates of a pair.
    mixed = tmp_path / "mix.tsv"
    mixed.write_text("".join(f"{one}\tx{row}\t0\n" for row, one in enumerate([*sentences, *others])), "utf-8")
    chosen, keys = heldout.choose(mixed, len(sentences))
    assert chosen == set(range(len(sentences)))
    with (tmp_path / "out").open("wb") as out, (tmp_path / "held").open("wb") as held, Progress("", "") as bar:
        assert heldout.part(mixed, chosen, keys, out, held, bar)[1] == {0: len(others)}
    assert not (tmp_path / "out").read_bytes()


def test_a_pair_is_dropped_for_both_sides_of_one_test_pair_alone():
    pairs = batch(
        ("Where is the station?", "où est la gare"),
        ("où est la gare", "where is the station"),  # in either order
        ("Where is the station?", "La gare"),
        ("A man is playing a guitar.", "Où est la gare ?"),  # of two different test pairs
        ("...", "A man is playing a guitar!"),  # a side without letters equals nothing
    )
    assert judge(mode="pair")(pairs) == ["decontaminate: Tatoeba fra-eng"] * 2 + [None] * 3


WORDS = st.text(st.sampled_from("aA é中1.!"), max_size=3)


@given(
    tests=st.lists(st.tuples(st.sampled_from("XY"), WORDS, WORDS), max_size=5),
    pairs=st.lists(st.tuples(WORDS, WORDS), max_size=8),
)
@example(tests=[("X", "a", ""), ("Y", "1", "")], pairs=[("1", "a")])
def test_equals_the_plain_reference(tests, pairs):
    def side(pair):
        for text in pair:
            for name, *sentences in tests:
                if normalised_key(text) and normalised_key(text) in map(normalised_key, sentences):
                    return f"decontaminate: {name}"
        return None

    def both(pair):
        keys = sorted(map(normalised_key, pair))
        return next(
            (
                f"decontaminate: {name}"
                for name, *other in tests
                if all(keys) and keys == sorted(map(normalised_key, other))
            ),
            None,
        )

    given_ = batch(*pairs)
    assert judge(tests)(given_) == [side(pair) for pair in pairs]
    assert judge(tests, mode="pair")(given_) == [both(pair) for pair in pairs]


def test_it_asks_for_the_sentences():
    with pytest.raises(ConfigError, match="needs the test sets' sentences"):
        build({"decontaminate": {}}, ("en", "fr"), {})


def test_dropped_pairs_are_counted_by_set_and_in_all(tmp_path):
    rows = [("X, Y?", "phrase"), ("x y", "autre"), ("z", "Où est la gare ?"), ("good", "bon")]
    found = judge([("A", "x y", ""), ("B", "", "où est la gare")])
    out = [tmp_path / name for name in ("out", "report", "dropped")]
    counts = filter_corpus(rows, *out, corpus="C", languages=("en", "fr"), filters=[found])
    assert counts["dropped"] == {"decontaminate: A": 2, "decontaminate: B": 1}
    assert counts["filters"] == {"decontaminate": {"mode": "side", "sets": ["sts", "tatoeba", "files", "development"]}}
    other = {"dropped": {"length: source too short": 5, "decontaminate: B": 7, "decontaminated": 1}}
    assert decontaminated({"enabled": True, "mode": "side"}, [counts, other]) == {
        "enabled": True,
        "mode": "side",
        "pairs": 10,
    }
