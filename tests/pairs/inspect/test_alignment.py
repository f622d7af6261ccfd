"""Words that go together tell translations from pairs put together at random, in any languages."""

import pytest

from psp.pairs.inspect.alignment import LEAST_PAIRS, AlignedWords, pieces
from tests.pairs.inspect.conftest import looked_at, made, shifted, shuffled


def fit(rows):
    sample = looked_at(rows)[1]
    return AlignedWords(sample).fit(sample), sample


def test_translations_fit_and_pairs_at_random_do_not():
    sound, _ = fit(made(2000))
    assert sound.own > 0.97 and sound.doubtful < 0.06
    random, _ = fit(shuffled(made(2000)))
    assert random.doubtful > 0.85
    # Half of them: the other half still teaches which words go together.
    half, sample = fit(made(2000)[:1000] + shuffled(made(2000, seed=5)[:1000]))
    assert 0.35 < half.doubtful < 0.65
    assert sum(sample[index].row > 1000 for index in half.worst[:100]) > 95


def test_a_shift_by_one_line_is_told_by_the_line_beside():
    after, _ = fit(shifted(made(2000), 1000))  # the target of a source is now the one before
    assert after.before > 0.4 and after.after < 0.2
    sound, _ = fit(made(2000))
    assert max(sound.before, sound.after) < 0.05


def test_a_corpus_is_judged_by_what_others_teach():
    rows = made(3000)
    good, bad = looked_at(rows[:2500])[1], looked_at(shuffled(rows[2500:]))[1]
    words = AlignedWords([*good, *bad])
    assert words.fit(good).doubtful < 0.1 and words.fit(bad).doubtful > 0.85


def test_few_pairs_say_nothing():
    sample = looked_at(made(LEAST_PAIRS - 1))[1]
    assert AlignedWords(sample).fit(sample) is None
    sample = looked_at([("", "")] * LEAST_PAIRS)[1]
    assert AlignedWords(sample).fit(sample) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Translators, the translation!", ["the", "trans"]),
        ("我们去 Paris", ["paris", "们去", "我们"]),
        ("ٱلۡحَمۡدُ لِلَّهِ", ["الحمد", "لله"]),
        ("中", ["中"]),
        ("...", []),
    ],
)
def test_words_are_compared_by_their_beginnings_without_vowel_marks(text, expected):
    assert pieces(text) == expected
