"""Scripts: the scripts that a language is written in, and the scripts of a text's letters.

N-gram language identification ignores scripts and makes obvious mistakes: lid.176.ftz labels Chinese software texts as
Japanese (without any kana), Polish or Malayalam.
"""

from __future__ import annotations

import functools
import unicodedata
from collections import Counter
from collections.abc import Mapping

# Languages of lid.176 (by label) not written in Latin script alone, by script, named by the first word of its
# characters' Unicode names. A language may have several scripts.
_OTHERS = """
ARABIC ar arz az azb ckb fa kk ku ky lrc ms mzn pa pnb ps sd tg tk tt ug ur uz
ARMENIAN hy
BENGALI as bn bpy
CJK ja ko wuu yue zh
CYRILLIC av az ba be bg bs bxr ce cv kk krc ku kv ky lez mhr mk mn mrj myv os ro ru rue
CYRILLIC sah sh sr tg tk tt tyv ug uk uz xal
DEVANAGARI bh dty gom hi mai mr ne new sa sd
ETHIOPIC am
GEORGIAN ka xmf
GREEK el
GUJARATI gu
GURMUKHI pa
HANGUL ko
HEBREW he yi
HIRAGANA ja
KANNADA gom kn
KATAKANA ja
KHMER km
LAO lo
MALAYALAM ml
MONGOLIAN mn
MYANMAR my
ORIYA or
SINHALA si
TAMIL ta
TELUGU te
THAANA dv
THAI th
TIBETAN bo
"""
_LATIN_TOO = frozenset(
    ["az", "be", "bs", "gom", "kk", "ku", "ky", "mn", "ms", "ro", "sh", "sr", "tg", "tk", "tt", "ug", "uz"]
)
"""Those of them also written in Latin script."""

_NEEDED = {"ja": frozenset({"HIRAGANA", "KATAKANA"}), "ko": frozenset({"HANGUL"})}
"""Scripts that a text in the language must contain: ideographs alone are more likely Chinese."""

_WIDTHS = frozenset({"FULLWIDTH", "HALFWIDTH"})
_KNOWN = frozenset(line.split()[0] for line in _OTHERS.strip().split("\n")) | {"LATIN"}


@functools.cache
def scripts_of(label: str) -> frozenset[str]:
    """Return the scripts of one of lid.176's languages, such as ``{"CYRILLIC", "LATIN"}`` for ``sr``."""
    scripts = {line.split()[0] for line in _OTHERS.strip().split("\n") if label in line.split()[1:]}
    return frozenset(scripts | {"LATIN"} if not scripts or label in _LATIN_TOO else scripts)


@functools.lru_cache(maxsize=1 << 16)
def script(character: str) -> str | None:
    """Return the script of a letter; None for anything else, including signs such as micro, and rare scripts."""
    if not character.isalpha():
        return None
    words = [word for word in unicodedata.name(character, "").split()[:2] if word not in _WIDTHS]
    return words[0] if words and words[0] in _KNOWN else None


def letters_by_script(text: str) -> dict[str, int]:
    """Count the letters of each script in a text."""
    return Counter(name for name in map(script, text) if name is not None)


def may_be(label: str, letters: Mapping[str, int]) -> bool:
    """Tell whether a text with these letters can be in a language.

    At least half of the letters must belong to its scripts, and a script that it requires must occur.
    """
    if (needed := _NEEDED.get(label)) and not needed & letters.keys():
        return False
    own = scripts_of(label)
    return 2 * sum(count for name, count in letters.items() if name in own) >= sum(letters.values())


def foreign(label: str, letters: Mapping[str, int]) -> bool:
    """Tell whether most letters of a text belong to scripts in which a language is never written.

    Latin letters are accepted in every language: names, commands and units use them.
    """
    own = scripts_of(label) | {"LATIN"}
    return 2 * sum(count for name, count in letters.items() if name not in own) > sum(letters.values())
