"""How figures become PNG files: the same for every user's settings, and with a font for each letter that is in them."""

from __future__ import annotations

import contextlib
import functools
import logging
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psp.files import atomic
from psp.scripts import script

if TYPE_CHECKING:
    from matplotlib.figure import Figure

log = logging.getLogger(__name__)

#: matplotlib's own font. It has Latin, Greek, Cyrillic and Arabic letters, but no ideographs.
FONT = "DejaVu Sans"
#: Scripts whose letters are in the same fonts.
EAST_ASIAN = {"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"}
#: A font that has a box for each letter.
LAST_RESORT = "lastresort"
SHOWN = 20  # letters that the log names, at most


def save(make: Callable[[], Figure], out: Path) -> None:
    """Draw a figure into a PNG file, in matplotlib's own style whatever the user's matplotlibrc says.

    Letters that matplotlib's own font does not have are taken from fonts of this machine; what none of them has is
    told in the log, once, and is a box in the picture. Letters are joined, and lines run from right to left, as their
    script has it (by matplotlib, from 3.11 on).

    Args:
        make: makes the figure; it is asked again where there have to be other fonts.
        out: the picture.

    Raises:
        DataError: ``out`` cannot be written.
    """
    import matplotlib.style  # heavy

    with matplotlib.style.context("default"), _quietly():
        figure, families = make(), [FONT]
        characters = _characters(figure)
        if characters := characters - _held(_own(), characters):
            found, without = fonts(characters)
            families += found
            if without:
                _tell("".join(sorted(without)))
        with matplotlib.rc_context({"font.family": families}), atomic(out) as temporary:
            figure = make() if len(families) > 1 else figure
            figure.savefig(temporary, format="png", metadata={"Software": None})


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Without what matplotlib says of each letter that is missing, and of each weight that a font does not have."""
    finder = logging.getLogger("matplotlib.font_manager")
    level = finder.level
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font", UserWarning)
        finder.setLevel(logging.ERROR)
        try:
            yield
        finally:
            finder.setLevel(level)


def fonts(characters: set[str]) -> tuple[list[str], set[str]]:
    """The families of this machine that have ``characters`` between them, and those that none has."""
    families: list[str] = []
    without = set(characters)
    for entry in _installed():
        if not without:
            break
        if held := _held(entry, without):
            families.append(entry.name)
            without -= held
    return families, without


def _installed() -> Iterator[Any]:
    """The fonts of this machine, upright and sans serif first, in an order of their own."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    # matplotlib keeps its list from the first time that it was asked for: without fonts that were installed since.
    known = {entry.fname for entry in fontManager.ttflist}
    for path in sorted(set(findSystemFonts()) - known):
        try:
            fontManager.addfont(path)
        except (OSError, RuntimeError) as error:
            log.debug("%s: %s", path, error)
    every = [entry for entry in fontManager.ttflist if LAST_RESORT not in entry.name.replace(" ", "").lower()]
    yield from sorted(
        every,
        key=lambda entry: (
            entry.style != "normal",
            "sans" not in entry.name.lower(),
            abs(entry.weight - 400) if isinstance(entry.weight, int) else 0,
            entry.name,
            entry.fname,
        ),
    )


def _own() -> Any:
    from matplotlib.font_manager import fontManager

    return next(entry for entry in fontManager.ttflist if entry.name == FONT and entry.style == "normal")


def _held(entry: Any, characters: set[str]) -> set[str]:
    """Those of ``characters`` that are in a font."""
    from matplotlib.ft2font import FT2Font

    try:
        font = FT2Font(entry.fname, face_index=entry.index)
    except (OSError, RuntimeError) as error:  # it was removed, or FreeType cannot read it
        log.debug("%s: %s", entry.fname, error)
        return set()
    return {character for character in characters if font.get_char_index(ord(character))}


def _characters(figure: Figure) -> set[str]:
    """All that a figure's texts show."""
    from matplotlib.text import Text

    texts = [text.get_text() for text in figure.findobj(Text)]
    # Not white space and marks that steer the line.
    return {character for character in "".join(texts) if unicodedata.category(character)[0] not in "CZ"}


@functools.cache  # several pictures of a job may have the same names
def _tell(characters: str) -> None:
    advice = []
    east_asian = {character for character in characters if script(character) in EAST_ASIAN}
    if east_asian:
        advice.append("Noto Sans CJK (Debian's and Ubuntu's fonts-noto-cjk)")
    if set(characters) - east_asian:
        advice.append("Noto Sans (fonts-noto-core)")
    shown = characters if len(characters) <= SHOWN else f"{characters[:SHOWN]}..."
    log.warning(
        "no font here has %s: the picture shows boxes; install %s, then delete the picture and draw it again",
        shown, " and ".join(advice),
    )  # fmt: skip
