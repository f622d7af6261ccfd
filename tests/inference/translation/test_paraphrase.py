"""Paraphrases by a translator from a language into itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.core.errors import ConfigError
from psp.inference.translation import Hypothesis, Translator
from psp.inference.translation.paraphrase import measured, paraphrase
from psp.models.cosines import cosines
from psp.text.keys import normalised_key
from psp.text.words import trigram_overlap, words
from tests.inference.translation.test_backtranslate import LETTERS

SENTENCE = "the small cat sleeps on the chair"
KNOWN = {
    SENTENCE: [
        "The small cat sleeps on the chair!",  # a copy but for its marks
        "the small cat sleeps on a chair",
        "on the chair sleeps the small cat",
        "On the chair, sleeps the small cat.",  # again
        "dogs bark",
    ]
}


class Known(Translator):
    """Has translations of some sentences."""

    def __init__(self, known: Mapping[str, Sequence[str]]) -> None:
        self.known = known

    @property
    def identity(self) -> dict[str, Any]:
        return {"kind": "known", "settings": {}, "files": {}}

    def translate(self, texts: Sequence[str], *, n: int = 1) -> list[list[Hypothesis]]:
        rows = [self.known.get(text, [text] if text else [""])[:n] for text in texts]
        return [[Hypothesis(text, -float(place)) for place, text in enumerate(row)] for row in rows]


def found(texts: Sequence[str], **options: Any) -> list[list[Any]]:
    return paraphrase(texts, Known(KNOWN), LETTERS, **{"candidates": 5, "k": 5, **options})


def test_copies_are_left_out_and_meaning_counts_against_overlap() -> None:
    (row,) = found([SENTENCE])
    assert [one.text for one in row] == [KNOWN[SENTENCE][2], KNOWN[SENTENCE][1], "dogs bark"]
    assert [one.score for one in row] == [-2, -1, -4]
    vectors = LETTERS.embed([SENTENCE, row[1].text])
    assert row[1].cosine == pytest.approx(cosines(vectors[:1], vectors[1:])[0])
    assert row[1].overlap == pytest.approx(3 / 5) and row[0].overlap == 2 / 5
    # Without a weight the order is that of the cosines; a large one puts what shares nothing first.
    assert [one.cosine for one in found([SENTENCE], overlap_weight=0)[0]] == sorted(
        (one.cosine for one in row), reverse=True
    )
    assert found([SENTENCE], overlap_weight=50)[0][0].text == "dogs bark"
    (kept,) = found([SENTENCE], canonical=True)
    assert [one.text for one in kept] == [KNOWN[SENTENCE][place] for place in (0, 1, 2, 4)]


TEXTS = st.lists(st.text(st.sampled_from("abc .,"), max_size=12), max_size=6)


@given(TEXTS, st.dictionaries(st.text("abc ", max_size=8), TEXTS.filter(bool)), st.integers(1, 4), st.booleans())
def test_each_is_rated_as_by_hand(texts: list[str], known: dict[str, list[str]], k: int, canonical: bool) -> None:
    rows = paraphrase(texts, Known(known), LETTERS, k=k, candidates=6, canonical=canonical)
    assert len(rows) == len(texts)
    for text, row in zip(texts, rows, strict=True):
        keys = [normalised_key(one.text) for one in row]
        assert len(set(keys)) == len(keys) <= k
        assert canonical or normalised_key(text) not in keys
        for one in row:
            assert one.text in known.get(text, [text])
            assert one.overlap == trigram_overlap(words(text.lower()), words(one.text.lower()))
        rates = [one.cosine - 0.2 * one.overlap for one in row]
        assert canonical or rates == sorted(rates, reverse=True)


def test_figures() -> None:
    texts = [SENTENCE, "", "nothing else"]
    rows = found(texts)
    figures = measured(texts, rows)
    assert (figures["sentences"], figures["none"]) == (2, 1)
    assert figures["best"] == {
        "paraphrases": 1, "cosine": round(rows[0][0].cosine, 4), "overlap": 0.4, "unchanged": 0
    }  # fmt: skip
    assert figures["all"]["paraphrases"] == 3
    assert figures["all"]["overlap"] == pytest.approx((0.4 + 0.6 + 0) / 3, abs=5e-5)
    copied = measured(texts, found(texts, canonical=True))
    assert copied["none"] == 0 and copied["best"]["unchanged"] == 1 and 0 < copied["all"]["unchanged"] < 1
    assert measured([""], [[]])["best"] == {"paraphrases": 0, "cosine": None, "overlap": None, "unchanged": None}


def test_chrf_is_sacrebleus() -> None:
    sacrebleu = pytest.importorskip("sacrebleu")
    texts, references = [SENTENCE, "nothing else"], ["the little cat sleeps on a chair", "nothing"]
    figures = measured(texts, found(texts, canonical=True), references)
    wanted = sacrebleu.corpus_chrf([KNOWN[SENTENCE][0], "nothing else"], [references]).score
    assert figures["best"]["chrf"] == pytest.approx(wanted, abs=0.005)
    assert measured([SENTENCE], [[]], ["x"])["best"]["chrf"] is None


def test_wrong_numbers_are_refused() -> None:
    with pytest.raises(ConfigError, match="0 paraphrases of each sentence; ask for at least one"):
        found([SENTENCE], k=0)
    with pytest.raises(ConfigError, match="6 paraphrases of each sentence out of 5 candidates"):
        found([SENTENCE], k=6)
