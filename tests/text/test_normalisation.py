"""Sentencepiece's own rules, and what is added to them."""

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from psp.text.normalisation import ARABIC, as_tsv, rules_of, with_rules


@pytest.fixture(scope="module")
def rules():
    return rules_of()


@pytest.fixture(scope="module")
def normalisers(rules, tmp_path_factory):
    """Sentencepiece's by name, by the rules read from it, and with Arabic's."""
    folder = tmp_path_factory.mktemp("rules")
    found = [sentencepiece.SentencePieceNormalizer(rule_name="nmt_nfkc")]
    for name, written in (("same", rules), ("arabic", with_rules(rules, ARABIC))):
        (folder / name).write_text(as_tsv(written), "ascii")
        found.append(sentencepiece.SentencePieceNormalizer(rule_tsv=str(folder / name)))
    return found


def test_the_rules_are_read_whole(rules):
    assert (rules["\ufb01"], rules["e\u0301"], rules["\uff21"], rules["\u200b"]) == ("fi", "é", "A", " ")
    assert len(rules) > 200_000
    assert rules_of("identity") == {}


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(TEXT)
def test_the_rules_that_were_read_do_what_they_did(normalisers, text):
    named, same, _ = normalisers
    assert same.normalize(text) == named.normalize(text)


ARABIC_TEXT = st.text(st.sampled_from([*ARABIC, *"ابتثكلم هو\u0621\u0654\u0655\ufefb\ufef7\ufe8e"]), max_size=20)


@given(ARABIC_TEXT)
def test_arabic_is_folded_after_all_other_rules(normalisers, text):
    named, _, arabic = normalisers
    folded = "".join(ARABIC.get(character, character) for character in named.normalize(text))
    # What is left of a word of marks alone is no word: no space stands for it.
    assert "".join(arabic.normalize(text).split("▁")) == "".join(folded.split("▁"))


@given(st.text(st.characters(exclude_categories=["Cs"], max_codepoint=0x5FF), max_size=30))
def test_other_scripts_are_as_they_were(normalisers, text):
    named, _, arabic = normalisers
    assert arabic.normalize(text) == named.normalize(text)


def test_with_and_without_vowel_marks_are_one(normalisers):
    arabic = normalisers[2]
    assert arabic.normalize("أُحِبُّ القِطَّةَ إلى ١٢ ۳") == arabic.normalize("احب القطة الى 12 3") == "▁احب▁القطه▁الي▁12▁3"


def test_tatoeba_is_as_it_was_but_for_arabics_letters(normalisers, psp_data):
    named, same, arabic = normalisers
    for path in sorted((psp_data / "eval/tatoeba/v1").glob("tatoeba.*-eng.*"))[::6]:
        for line in path.read_text("utf-8").splitlines():
            whole = named.normalize(line)
            assert same.normalize(line) == whole
            if not ARABIC.keys() & set(whole):
                assert arabic.normalize(line) == whole
