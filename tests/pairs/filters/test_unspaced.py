"""Languages without spaces between words: their words are counted by characters, so that filters keep correct pairs."""

from __future__ import annotations

import pytest

from psp.pairs.filters import Batch, build
from psp.text.languages import TATOEBA
from psp.text.segment import Segmenter, unspaced_sides
from psp.text.words import UNSPACED, unspaced_word_count, unspaced_words

FILTERS = {"ratio": {}, "length": {}, "overlap": {"enabled": True}}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("ฉันไม่เข้าใจภาษาไทย", 5),
        ("私は日本語がわかりません。", 6),
        ("我不明白你在說什麼", 7),
        ("ខ្ញុំមិនយល់ទេ", 4),
        ("Hello, world!", 2),
        ("iPhone 15を買った", 4),
        ("...", 0),
        ("", 0),
    ],
)
def test_words_are_estimated_by_script(text, count):
    assert unspaced_word_count(text) == count


def test_each_character_is_a_word_of_overlaps():
    assert unspaced_words("私は cat です。") == ["私", "は", "cat", "で", "す", "。"]
    (overlap,) = build({"overlap": {"enabled": True}}, ("ja", "ja"))
    copies = ["これは私の新しい本です"], ["これは私の新しい本です！"]
    batch = Batch(*copies, *copies, unspaced=(True, True))
    assert overlap(batch) == ["overlap: too high"]


def test_japanese_is_not_cut_by_chinese_s_segmenter_in_training_or_use():
    jieba = Segmenter("jieba")
    assert jieba.segment("私は日本語を勉強する") == "私は日本語を勉強する"
    assert " " in jieba.segment("我不明白你在說什麼")
    assert unspaced_sides(("en", "zh"), {"zh": jieba, "en": jieba}) == (False, False)
    assert unspaced_sides(("ja", "zh"), {"zh": jieba, "ja": jieba}) == (True, False)
    assert unspaced_sides(("th", "zh"), {}) == (True, True)


@pytest.mark.slow
def test_filters_keep_the_correct_pairs_of_all_languages_of_tatoeba(psp_data):
    dropped = {}
    for code, name in TATOEBA.items():
        stem = psp_data / f"eval/tatoeba/v1/tatoeba.{name}-eng"
        texts = [(stem.parent / f"{stem.name}.{side}").read_text("utf-8").split("\n")[:-1] for side in (name, "eng")]
        batch = Batch(*texts, *texts, unspaced=(code in UNSPACED, False))
        for one in build(FILTERS, (code, "en")):
            share = sum(reason is not None for reason in one(batch)) / len(batch)
            if share > 0.02:
                dropped[code, one.name] = share
    assert not dropped
