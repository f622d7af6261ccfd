"""No pair that the model is scored on is trained on, and the counts say which sets they were of."""

from __future__ import annotations

import random
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.core.errors import ConfigError
from psp.core.logs import Progress
from psp.evaluation.evaluate import decontaminated
from psp.pairs import heldout
from psp.pairs.filters import Batch, build, filter_corpus
from psp.text.keys import normalised_key

TESTS = [
    ("STS 2012 MSRvid", "A man is playing a guitar.", "The man plays the guitar."),
    ("Tatoeba fra-eng", "Où est la gare ?", "Where is the station?"),
    ("Tatoeba cmn-eng", "车站在哪里？", "Where is the station?"),
    ("files/mine", "...", "A man is playing a guitar!"),
]


def judge(tests=TESTS, **settings):
    (found,) = build({"decontaminate": settings}, ("en", "fr"), {"tests": tests})
    return found


def batch(*pairs):
    source, target = [[pair[side] for pair in pairs] for side in (0, 1)]
    return Batch(source, target, source, target)


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


def test_without_test_sets_all_is_kept():
    pairs = batch(("Where is the station?", "Où est la gare ?"), ("", ""))
    assert judge(tests=[])(pairs) == [None, None]
    assert judge(tests=[])(Batch([], [], [], [])) == judge()(Batch([], [], [], [])) == []


WORDS = st.text(st.sampled_from("aA é中1.!"), max_size=3)


@given(
    tests=st.lists(st.tuples(st.sampled_from("XY"), WORDS, WORDS), max_size=5),
    pairs=st.lists(st.tuples(WORDS, WORDS), max_size=8),
)
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

    given_ = batch(*pairs) if pairs else Batch([], [], [], [])
    assert judge(tests)(given_) == [side(pair) for pair in pairs]
    assert judge(tests, mode="pair")(given_) == [both(pair) for pair in pairs]


@pytest.mark.parametrize(
    ("settings", "resources", "message"),
    [
        ({"mode": "sides"}, {"tests": []}, "filters.decontaminate.mode is sides, but must be side or pair"),
        ({"modus": "side"}, {"tests": []}, "filters.decontaminate.modus is not a key; did you mean mode"),
        ({}, {}, "needs the test sets' sentences"),
    ],
)
def test_a_wrong_setting_is_named(settings, resources, message):
    with pytest.raises(ConfigError, match=message):
        build({"decontaminate": settings}, ("en", "fr"), resources)


def test_known_truth_among_many_pairs_is_counted_by_set(tmp_path):
    choose = random.Random(3)
    words = ["the", "old", "house", "stood", "near", "a", "long", "road", "and", "nobody", "saw", "it", "today"]
    clean = [(" ".join(choose.choices(words, k=8)), f"phrase numéro {number}") for number in range(2000)]
    tests = [("A", *clean[number]) for number in range(0, 200, 10)] + [("B", f"x y {n}", f"z {n}") for n in range(50)]
    spoilt = [(f"X, Y: {number}?", f"autre phrase {number}") for number in range(30)]
    rows = clean + spoilt
    choose.shuffle(rows)
    sources = {normalised_key(source) for _, source, _ in tests}
    again = sum(normalised_key(source) in sources for source, _ in clean)  # drawn twice by chance
    counts = filter_corpus(
        rows, tmp_path / "o", tmp_path / "r", tmp_path / "d", corpus="C", languages=("en", "fr"), filters=[judge(tests)]
    )
    assert counts["dropped"] == {"decontaminate: A": again, "decontaminate: B": 30}
    assert counts["filters"] == {"decontaminate": {"mode": "side", "sets": ["sts", "tatoeba", "files", "development"]}}
    other = {"dropped": {"length: source too short": 5, "decontaminate: B": 7, "decontaminated": 1}}
    assert decontaminated({"enabled": True, "mode": "side"}, [counts, other]) == {
        "enabled": True,
        "mode": "side",
        "pairs": again + 37,
    }
