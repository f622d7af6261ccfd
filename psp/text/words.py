"""Clean sentences for storage, and split them into words."""

from __future__ import annotations

import functools
import itertools
import math
import re
import sys
import unicodedata
from collections.abc import Sequence


def clean(text: str) -> str:
    r"""Strip a sentence and replace tabs and line feeds with spaces, as the pipeline stores it.

    Tabs separate the columns of pair files. Nothing is lost: sentencepiece's normalisation collapses white space.
    """
    return text.replace("\t", " ").replace("\n", " ").strip()


def clean_all(texts: list[str]) -> list[str]:
    """Apply :func:`clean` to each text, in a third of the time if no text contains a tab or a line feed."""
    joined = "\n".join(texts)
    if "\t" in joined or joined.count("\n") >= max(len(texts), 1):
        return list(map(clean, texts))
    return list(map(str.strip, texts))


def word_count(text: str) -> int:
    """Count white-space-separated tokens, the unit of the length filter (paper, section 3.1)."""
    return len(text.split())


#: Languages that put no spaces between words.
UNSPACED = frozenset(["bo", "dz", "ja", "km", "lo", "my", "shn", "th", "wuu", "yue", "zh"])
#: Characters of their scripts, as the inside of a class, and how many stand for one English word: Han in Tatoeba's
#: Chinese, Wu and Cantonese (1.38 to 1.43), kana in its Japanese beside Han, Thai (4.09), Khmer (4.15). No text of the
#: others was there to count.
_PER_WORD = {
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af": 1.4,
    "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f": 2.7,
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\uaa60-\uaa7f\u1780-\u17ff\u19e0-\u19ff": 4.1,
}
_RUN = re.compile("|".join(f"([{letters}]+)" for letters in _PER_WORD))


def unspaced_word_count(text: str) -> int:
    """Estimate the words of a text without spaces between words, from its characters by script.

    What stands between white space in other scripts counts as a word: names, numbers, and marks that stand alone.
    """
    sizes = [0.0] * len(_PER_WORD)
    for found in _RUN.finditer(text):
        sizes[(found.lastindex or 1) - 1] += len(found[0])
    estimate = sum(size / letters for size, letters in zip(sizes, _PER_WORD.values(), strict=True))
    rest = sum(any(map(str.isalnum, token)) for token in _RUN.sub(" ", text).split())
    return math.ceil(estimate) + rest


def unspaced_words(text: str) -> list[str]:
    """:func:`words` of a text without spaces between words: each character of its script is one."""
    return words(_RUN.sub(lambda found: f" {' '.join(found[0])} ", text))


def words(text: str, marks: bool = True) -> list[str]:
    r"""Split a text into words, keeping case; with ``marks``, each punctuation mark or symbol is a word too.

    NLTK's tokenizer also treats marks as words. ``\\w`` would split words at the combining vowels of many scripts.
    """
    return word_pattern(marks, BEYOND_BMP.search(text) is not None).findall(text)


BEYOND_BMP = re.compile("[\U00010000-\U0010ffff]")


@functools.cache
def word_pattern(marks: bool, whole: bool) -> re.Pattern[str]:
    """Compile the pattern for texts within the basic multilingual plane (2 us per sentence), or for all (7 us)."""
    last = sys.maxunicode if whole else 0xFFFF
    codes = [code for code in range(last + 1) if unicodedata.category(chr(code))[0] in "PS"]
    # Consecutive code points have the same difference from their index in the list.
    runs = [list(run) for _, run in itertools.groupby(enumerate(codes), key=lambda item: item[1] - item[0])]
    inside = "".join(f"\\U{run[0][1]:08x}-\\U{run[-1][1]:08x}" for run in runs)
    return re.compile(rf"[^\s{inside}]+|[{inside}]" if marks else rf"[^\s{inside}]+")


def trigram_overlap(source: Sequence[str], target: Sequence[str], repeated: str = "once") -> float:
    """Shared word trigrams divided by those of the sentence with fewer, 0 to 1; 0 if a side has under 3 tokens.

    Args:
        source, target: tokens.
        repeated: how a repeated trigram counts. ``once``: once, on both sides. ``each``: as often as it occurs in the
            side with fewer tokens (the source if both have as many), as in the published code.
    """
    if len(source) < 3 or len(target) < 3:
        return 0.0
    one = list(zip(source, source[1:], source[2:], strict=False))
    other = list(zip(target, target[1:], target[2:], strict=False))
    if repeated == "once":
        distinct, others = set(one), set(other)
        return len(distinct & others) / min(len(distinct), len(others))
    if len(other) < len(one):
        one, other = other, one
    others = set(other)
    return sum(trigram in others for trigram in one) / len(one)
