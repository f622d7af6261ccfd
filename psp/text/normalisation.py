"""How text is normalised: by sentencepiece's rules, without invisible characters, and with Arabic's letters folded.

The same sentence comes in many Unicode forms: letters composed or not, of full width, with soft hyphens inside. A
sentencepiece model holds its rules, so that whatever reads the model (psp, its exports, sentencepiece itself) applies
them; all else that compares or reads text gets the same result from a :class:`Normaliser`.

A normalisation is named in a model's config.json by its parts:

- ``nmt_nfkc``: sentencepiece's default rules
- ``visible``: without the characters that a reader does not see (:data:`INVISIBLE`), which otherwise split words;
  joiners stay where Arabic and Indic scripts need them
- ``arabic``: without vowel marks, and with one form each of letters that Arabic writes in several. Modern Arabic mixes
  these freely, and to a mean of subwords they are different words: the vectors of a sentence with and without vowel
  marks have nothing in common
"""

from __future__ import annotations

import functools
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import sentencepiece

from psp.core.errors import DataError
from psp.text import ARABIC, NFKC, VISIBLE

#: Arabic's marks above and below letters (vowels, the Quran's signs, honorifics), and the stroke that lengthens words.
_MARKS = (
    (0x610, 0x61A), (0x640, 0x640), (0x64B, 0x65F), (0x670, 0x670), (0x6D6, 0x6DC), (0x6DF, 0x6E4), (0x6E7, 0x6E8),
    (0x6EA, 0x6ED), (0x8D3, 0x8E1), (0x8E3, 0x8FF),
)  # fmt: skip
#: How letter folding replaces Arabic characters: it drops marks, keeps one form each of alef, of the final ya and of
#: the ta marbuta, and writes ASCII digits. Hamza that sentencepiece's rules join to its letter stays there.
FOLDED: Mapping[str, str] = {
    **{chr(point): "" for first, last in _MARKS for point in range(first, last + 1)},
    **dict.fromkeys("أإآٱ", "ا"),
    "ى": "ي",
    "ة": "ه",
    **{chr(zero + number): str(number) for zero in (0x660, 0x6F0) for number in range(10)},
}

#: The characters that Unicode calls default ignorable: soft hyphens, zero-width spaces, joiners of words, directions of
#: text, selectors of variants, tags. Without the joiners of letters, and without Hangul's fillers, which are letters.
INVISIBLE = (
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x200B, 0x200B),
    (0x200E, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFF0, 0xFFF8),
    (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
NON_JOINER, _JOINER = "\u200c", "\u200d"
#: Scripts in which a non-joiner after a letter matters (nmt_nfkc makes it a space): Arabic to Thaana, Indic, Khmer and
#: Mongolian. And the characters after which a joiner does not: European letters, punctuation, symbols and emoji.
_JOINED = ((0x600, 0x7BF), (0x840, 0xDFF), (0x1780, 0x18AF))
_UNJOINED = ((0x21, 0x5FF), (0x10A0, 0x10FF), (0x1E00, 0x200B), (0x200E, 0x2BFF), (0xFE0F, 0xFE0F), (0x1F000, 0x1FAFF))


def _class(spans: Iterable[tuple[int, int]]) -> str:
    return "[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in spans) + "]"


#: What ``visible`` leaves out, as a regular expression.
HIDDEN_CHARACTERS = f"{_class(INVISIBLE)}|(?<!{_class(_JOINED)}){NON_JOINER}|(?<={_class(_UNJOINED)}){_JOINER}"
_HIDDEN = re.compile(HIDDEN_CHARACTERS)


class Normaliser:
    """Normalises texts; most are returned as they are, after a look at their code points (1 to 2 ns each).

    Args:
        name: of the normalisation.

    Raises:
        DataError: there is no normalisation of that name.
    """

    def __init__(self, name: str) -> None:
        first, *more = str(name).split("+")  # somebody's config.json may hold anything
        if first != NFKC or not {VISIBLE, ARABIC}.issuperset(more):
            raise DataError(f"normalisation is {name!r}, which this psp does not know; install the psp that wrote it")
        self.name, self._visible, self._arabic = name, VISIBLE in more, ARABIC in more

    def __call__(self, texts: list[str]) -> list[str]:
        """Normalise texts; runs of white space become one space, and none is left at the ends.

        The result is what a sentencepiece model with these rules reads, but for its marks in place of spaces. (A letter
        and its mark with an invisible character between them are joined here alone.)
        """
        joined = "\n".join(texts)
        if "\t" in joined or joined.count("\n") >= max(len(texts), 1):
            texts = [text.replace("\t", " ").replace("\n", " ") for text in texts]
            joined = "\n".join(texts)
        changed, _ = self.columns(joined)
        return texts if changed is joined else changed.split("\n")

    def columns(self, block: str) -> tuple[str, bool]:
        """Normalise each tab-separated column of lines; whether that emptied one.

        A block in which nothing is to be changed is returned as it is.
        """
        return _in_columns(block, _touched(self._arabic), self._normalised, spaces=True)

    def _normalised(self, texts: list[str]) -> list[str]:
        if self._visible:
            texts = [_HIDDEN.sub("", text) for text in texts]
        texts = _sentencepiece().normalize(texts)
        return (
            [" ".join(filter(None, text.translate(_FOLDING).split(" "))) for text in texts] if self._arabic else texts
        )


_FOLDING = str.maketrans(dict(FOLDED))


def with_same_letters(block: str) -> str:
    """Give each tab-separated column of lines the letters, digits and marks that ``nmt_nfkc`` gives it."""
    if block.isascii():
        return block
    return _in_columns(block, _touched_letters(), _composed, spaces=False)[0]


def _composed(texts: list[str]) -> list[str]:
    composed: list[str] = _sentencepiece().normalize([_HIDDEN.sub("", text) for text in texts])
    return composed


def _in_columns(
    block: str, touched: npt.NDArray[np.bool_], change: Callable[[list[str]], list[str]], *, spaces: bool
) -> tuple[str, bool]:
    """Change the tab-separated columns of lines that have a touched character or, with ``spaces``, superfluous ones.

    The second value says whether a column was emptied.
    """
    points = np.frombuffer(block.encode("utf-32-le", "surrogatepass"), np.uint32)
    hits = touched.take(points)  # 2.5 times as fast as touched[points]
    if spaces and len(points):
        edge = points <= ord(" ")  # of which no two may stand side by side, but for the ends of empty columns
        twice = edge[1:] & edge[:-1]
        hits[1:] |= twice
        hits[:-1] |= twice
        hits[[0, -1]] |= points[[0, -1]] == ord(" ")
    places = np.flatnonzero(hits)
    if not len(places):
        return block, False
    ends = np.flatnonzero((points == ord("\t")) | (points == ord("\n")))
    columns = np.unique(np.searchsorted(ends, places))
    starts = np.append(0, ends + 1)[columns].tolist()
    stops = np.append(ends, len(points))[columns].tolist()
    changed = change([block[start:stop] for start, stop in zip(starts, stops, strict=True)])
    kept = [block[start:stop] for start, stop in zip([0, *stops], [*starts, len(block)], strict=True)]
    return kept[0] + "".join(map("".join, zip(changed, kept[1:], strict=True))), "" in changed


@functools.cache
def _sentencepiece() -> Any:
    return sentencepiece.SentencePieceNormalizer(
        rule_name=NFKC, add_dummy_prefix=False, escape_whitespaces=False, remove_extra_whitespaces=True
    )


#: Code points of letters that no normalisation changes, which are not looked at one by one: ideographs and syllables.
_UNCHANGED = (range(0x3400, 0xA000), range(0xAC00, 0xD7A4), range(0x20000, 0x2F800), range(0x2FA20, 0x40000))
_SPACES_AND_CONTROLS = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf", "Co"})


@functools.cache
def _changes() -> npt.NDArray[np.uint8]:
    """For each code point, uint8 (1,114,112,): 0 where normalising changes no text with it, else 1, or 2 of letters."""
    changes = np.full(sys.maxunicode + 1, 2, np.uint8)  # of what Unicode has not given to a character, nothing is known
    for span in _UNCHANGED:
        changes[span.start : span.stop] = 0
    # The second halves of composed letters, which change the text before them.
    seconds = {chr(point) for span in ((0x1161, 0x1176), (0x11A8, 0x11C3)) for point in range(*span)}
    some = [point for point in range(0x20000) if not any(point in span for span in _UNCHANGED[:2])]
    for point in some:
        if (parts := unicodedata.decomposition(chr(point))) and parts[0] != "<" and " " in parts:
            seconds.add(chr(int(parts.split()[1], 16)))
    changed = seconds | {"\N{LOWER ONE EIGHTH BLOCK}", "\N{REPLACEMENT CHARACTER}", *_characters(INVISIBLE[:-1])}
    changed |= {NON_JOINER, _JOINER}

    def change(point: int) -> int:
        character = chr(point)
        kind = unicodedata.category(character)
        if kind == "Cn":
            return 2
        if unicodedata.is_normalized("NFKC", character):
            if character in changed or kind in _SPACES_AND_CONTROLS:
                return 1 + (kind[0] in "LNM")
            return 0
        return 1 + any(unicodedata.category(one)[0] in "LNM" for one in (character, *_nfkc(character)))

    changes[some] = np.fromiter(map(change, some), np.uint8, len(some))
    changes[[ord(" "), ord("\t"), ord("\n")]] = 0
    return changes


def _nfkc(character: str) -> str:
    return unicodedata.normalize("NFKC", character)


@functools.cache
def _touched(arabic: bool = False) -> npt.NDArray[np.bool_]:
    """For each code point, whether a normalisation may change text with it, bool (1,114,112,)."""
    touched: npt.NDArray[np.bool_] = _changes() > 0
    if arabic:
        touched[[ord(letter) for letter in FOLDED]] = True
    return touched


@functools.cache
def _touched_letters() -> npt.NDArray[np.bool_]:
    """Those of the code points that are letters, digits or marks, or become such."""
    touched: npt.NDArray[np.bool_] = _changes() == 2
    return touched


@functools.cache
def changing() -> frozenset[str]:
    """The characters of the basic multilingual plane that :func:`with_same_letters` may change, or join to others."""
    return frozenset(map(chr, np.flatnonzero(_touched_letters()[:0x10000]).tolist()))


def rules(name: str) -> dict[str, str]:
    """sentencepiece's rules for a normalisation, text -> replacement, of which it applies the longest that fits.

    Raises:
        DataError: there is no normalisation of that name.
    """
    made = Normaliser(name)
    whole = dict(sentencepiece.SentencePieceNormalizer(rule_name=NFKC).decompile())
    if made._visible:
        whole |= dict.fromkeys([*_characters(INVISIBLE), NON_JOINER], "")
        # The longest rule wins: a letter with a joiner after it has one of its own.
        for spans, joiner, instead in ((_JOINED, NON_JOINER, " "), (_UNJOINED, _JOINER, "")):
            letters = set(_characters(spans))
            before = [*letters, *(key for key in whole if len(key) > 1 and key[-1] in letters)]
            whole |= {text + joiner: whole.get(text, text) + instead for text in before}
    if made._arabic:
        whole = {**{one: one for one in FOLDED}, **whole}
        whole = {key: value.translate(_FOLDING) for key, value in whole.items()}
    return whole


def _characters(spans: Iterable[tuple[int, int]]) -> list[str]:
    return [chr(point) for first, last in spans for point in range(first, last + 1)]


def as_tsv(rules: Mapping[str, str]) -> str:
    """The rules as sentencepiece's option ``normalization_rule_tsv`` reads them: code points in hexadecimal."""
    return "".join(f"{_points(key)}\t{_points(value)}\n" for key, value in sorted(rules.items()))


def _points(text: str) -> str:
    return " ".join(f"{ord(character):X}" for character in text)
