from __future__ import annotations

import itertools
import pickle
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

from psp.text import word_cache
from psp.text.word_cache import LONGEST, WordCache
from tests.conftest import rows_of, sentencepiece_of

TEXTS = [
    "the red car is slow, and the blue one is not",
    "la voiture rouge est lente ; où est la gare ?",
    "ΟΔΥΣΣΕΥΣ ΚΑΙ ΑΛΛΟΣ",
    "хороший день, Москва",
    "مرحبا بالعالم كيف حالك",
    "你好世界。今天天气很好",
    "नमस्ते दुनिया",
    "I ﬁnd ½ of ａｂｃ ™ ©",
]


@pytest.fixture(scope="module")
def processor() -> sentencepiece.SentencePieceProcessor:
    """A model of some scripts; not of their capitals, so that there are unknown pieces."""
    lines = [f"{text} {word}".lower() for text in TEXTS for word in " ".join(TEXTS).split()]
    return sentencepiece_of(lines, vocab_size=250)


def plain(processor: sentencepiece.SentencePieceProcessor, texts: list[str], lower: bool) -> list[list[int]]:
    """By sentencepiece."""
    return processor.encode([text.lower() if lower else text for text in texts], out_type=int)


def cached(cache: WordCache, texts: list[str]) -> list[list[int]]:
    encoded = cache.encode(texts)
    ids, offsets = encoded.ids, encoded.offsets
    assert ids.dtype == np.int32 and offsets.dtype == np.int64 and len(offsets) == len(texts) + 1
    assert offsets[0] == 0 and offsets[-1] == len(ids)
    return rows_of(encoded)


ODD = [
    "", " ", "  ", "a", " a", "a ", " a  b ", "\t", "a\tb", "\u3000a\u3000", "a\u3000 b", "\u2581", "a\u2581b",
    "\u2581 \u2581a", "\u00a0x\u00a0", "\u200b", "a \u200b b", "\u200bx", "e\u0301 \u0301e", "a \u0308b",
    "x \u00a8y", "\U0001f600 \U0001f468\u200d\U0001f469", "\x00", "a\x00b", "q q q", "ﷺ ﷺ", "ﬁ ﬁx", "ΑΣ ΑΣΑ Σ",
    "İstanbul", "\ufeffa", "\x85", "a\x85b", "a\u2028b", "\r", "a\r b", "½ ½",
]  # fmt: skip


@pytest.mark.parametrize("space", [" ", ""])
def test_one_text_of_a_megabyte(processor, space):
    """What a reader of files gives who forgot to split them; without spaces it is one word."""
    text = space.join(itertools.islice(itertools.cycle(TEXTS), 40_000))
    assert len(text.encode()) > 1e6
    texts = [text, TEXTS[0], "ab" * 600_000, "你好" * 700, "é" * 3000, "ﷺ" * 1300]
    assert cached(WordCache(processor, lower_case=True), texts) == plain(processor, texts, True)


@pytest.mark.parametrize("lower", [True, False])
def test_odd_texts_have_sentencepieces_ids(processor: sentencepiece.SentencePieceProcessor, lower: bool) -> None:
    cache = WordCache(processor, lower)
    for _ in range(2):  # unknown words, and then known ones
        assert cached(cache, ODD) == plain(processor, ODD, lower)
        for text in ODD:
            assert cached(cache, [text]) == plain(processor, [text], lower)
    assert cached(cache, ["a\nb", "c"]) == plain(processor, ["a\nb", "c"], lower)
    assert cached(cache, []) == []


LETTERS = st.sampled_from(list(" \t abcdefghé̂́ʼ.,;!?0\u2581\u3000\u00a0\u200b½™ﬁΣσςاعب你好🙂\u0300\u0327¨İ\u0130"))


@pytest.mark.slow
@settings(max_examples=12)
@given(texts=st.lists(st.one_of(st.text(max_size=30), st.text(LETTERS, max_size=40)), min_size=1, max_size=8))
def test_any_texts_have_sentencepieces_ids(processor: sentencepiece.SentencePieceProcessor, texts: list[str]) -> None:
    for lower in (True, False):
        if any("\ud800" <= letter <= "\udfff" for text in texts for letter in text):
            with pytest.raises(UnicodeEncodeError):
                WordCache(processor, lower).encode(texts)
            continue
        cache, expected = WordCache(processor, lower), plain(processor, texts, lower)
        assert cached(cache, texts) == expected
        assert cached(cache, texts) == expected


def test_every_character_beside_a_space_is_encoded_as_in_its_sentence(
    processor: sentencepiece.SentencePieceProcessor,
) -> None:
    """All characters of the first planes: no rule of the normalisation reaches across a space."""
    cache = WordCache(processor, lower_case=False)
    letters = [chr(code) for code in (*range(1, 0xD800), *range(0xE000, 0x20000, 7)) if chr(code) != "\n"]
    for start in range(0, len(letters), 5000):
        texts = [f"a {letter} {letter}b {letter}" for letter in letters[start : start + 5000]]
        assert cached(cache, texts) == plain(processor, texts, False)


def test_long_words_are_not_kept(processor: sentencepiece.SentencePieceProcessor) -> None:
    cache = WordCache(processor, lower_case=True)
    texts = ["a " + "b" * LONGEST + " c", "b" * (LONGEST + 1) + " a", "red " * 1000, "x" * 100_000]
    for _ in range(2):
        assert cached(cache, texts) == plain(processor, texts, True)
    assert len(cache) == 4  # a, b..., c, red


def test_the_cache_starts_anew_when_it_is_full(
    processor: sentencepiece.SentencePieceProcessor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_cache, "MOST_WORDS", 50)
    cache, rng = WordCache(processor, lower_case=True), np.random.default_rng(1)
    sizes = []
    for _ in range(60):
        texts = [" ".join(map(str, rng.integers(0, 5000, 5))) for _ in range(4)]
        assert cached(cache, texts) == plain(processor, texts, True)
        sizes.append(len(cache))
    assert max(sizes) <= 50 + 20 and min(sizes[5:]) < 50


def test_many_words_grow_the_lists(processor: sentencepiece.SentencePieceProcessor) -> None:
    cache = WordCache(processor, lower_case=True)
    texts = [f"{number} {number:x} wörd{number}" for number in range(20_000)]
    expected = plain(processor, texts, True)
    for start in range(0, len(texts), 3000):
        assert cached(cache, texts[start : start + 3000]) == expected[start : start + 3000]
    assert len(cache) > 40_000
    assert cached(cache, texts) == expected


def test_words_that_collide_are_not_compared_with_each_other(processor: sentencepiece.SentencePieceProcessor) -> None:
    """Words that a stranger chose for their hashes, which all fall into 64 places of the table."""
    letters = np.random.default_rng(1).integers(ord("a"), ord("z") + 1, (1 << 20, 8)).astype(np.uint64)
    hashes = np.full(len(letters), word_cache._BASIS)
    for letter in letters.T:
        hashes = (hashes ^ letter) * word_cache._PRIME
    slots = (hashes ^ (hashes >> np.uint64(29))) & np.uint64((1 << 15) - 1)
    chosen = letters[slots < 64][:2000].astype(np.uint8)
    texts = [chosen[number].tobytes().decode() for number in range(len(chosen))]
    cache = WordCache(processor, lower_case=True)
    expected = plain(processor, texts, True)
    for start in range(0, len(texts), 500):  # the table grows, and its words are placed again
        assert cached(cache, texts[start : start + 500]) == expected[start : start + 500]
    for _ in range(3):
        assert cached(cache, texts) == expected
    assert np.diff(np.flatnonzero(np.append(cache._table, -1) < 0), prepend=-1).max() <= 64 + word_cache.PROBES + 1


def test_threads_take_turns(processor: sentencepiece.SentencePieceProcessor) -> None:
    cache, failed = WordCache(processor, lower_case=True), []
    expected = {seed: [f"{seed} {number} car" for number in range(seed, seed + 300)] for seed in range(4)}

    def run(seed: int) -> None:
        for _ in range(5):
            if cached(cache, expected[seed]) != plain(processor, expected[seed], True):
                failed.append(seed)

    threads = [threading.Thread(target=run, args=(seed,)) for seed in expected]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_it_can_be_sent_to_another_process(processor: sentencepiece.SentencePieceProcessor) -> None:
    copy = pickle.loads(pickle.dumps(WordCache(processor, lower_case=True)))
    assert cached(copy, TEXTS) == plain(processor, TEXTS, True)


@pytest.fixture(scope="module")
def ties() -> sentencepiece.SentencePieceProcessor:
    """A model of two letters, in which most words can be cut in several ways of nearly the same score."""
    rng = np.random.default_rng(1)
    lines = [" ".join("".join(rng.choice(["a", "b"], rng.integers(1, 9))) for _ in range(8)) for _ in range(400)]
    return sentencepiece_of(lines, vocab_size=60)


@pytest.mark.slow
def test_where_rounding_chooses_sentencepiece_does(
    ties: sentencepiece.SentencePieceProcessor, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_away, whole = [], WordCache._whole
    monkeypatch.setattr(
        WordCache, "_whole", lambda self, texts, threads: given_away.extend(texts) or whole(self, texts, threads)
    )
    rng = np.random.default_rng(2)

    def word() -> str:
        return "".join(rng.choice(["a", "b"], rng.integers(1, 30)))

    # Long texts have large sums, which are rounded coarsely.
    texts = [" ".join(word() for _ in range(size)) for size in (1, 2, 5, 10, 100, 1000, 5000) for _ in range(20)]
    cache = WordCache(ties, False)
    assert cached(cache, texts) == plain(ties, texts, False)
    assert 0 < len(given_away) < len(texts)
    # Each word for itself is certain more often than its text.
    ours = cached(WordCache(ties, False), " ".join(texts).split(" "))
    together = [list(itertools.chain(*ours[:count])) for count in (1000, 10_000)]
    theirs = plain(ties, [" ".join(" ".join(texts).split(" ")[:count]) for count in (1000, 10_000)], False)
    assert together != theirs  # so the texts above are a test of the doubt


def test_an_interrupted_lookup_leaves_no_word_without_its_pieces(
    processor: sentencepiece.SentencePieceProcessor, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = WordCache(processor, False)
    cached(cache, ["a car"])

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(WordCache, "_segmented", interrupted)
        with pytest.raises(KeyboardInterrupt):
            cached(cache, ["the red car"])
    assert cached(cache, ["the red car", "a"]) == plain(processor, ["the red car", "a"], False)


@pytest.mark.slow
def test_real_sentences_have_sentencepieces_ids(psp_data: Path) -> None:
    """English and five other languages, in four scripts: each with the vocabulary of its pairs with English."""
    done = 0
    for language in ("fr", "de", "ar", "tr", "zh"):
        sides: dict[str, set[str]] = {"en": set(), language: set()}
        for path in sorted((psp_data / "opus").glob("*/*/moses/*.zip")):
            with zipfile.ZipFile(path) as archive:
                for name in archive.namelist():
                    side = name.rpartition(".")[2]
                    if f".{'-'.join(sorted(('en', language)))}." in name and len(sides.get(side, ())) < 8_000:
                        sides[side].update(archive.read(name).decode().split("\n"))
        texts = [text for side in sides.values() for text in sorted(side)[:8_000]]
        lines = (text.lower() for text in texts[::5])
        processor = sentencepiece_of(lines, vocab_size=16_000, character_coverage=0.998, num_threads=2)
        for lower in (True, False):
            cache = WordCache(processor, lower)
            for start in range(0, len(texts), 8192):
                batch = texts[start : start + 8192]
                assert cached(cache, batch) == plain(processor, batch, lower)
            done += len(texts)
    assert done > 130_000
