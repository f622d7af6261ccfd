"""Save figures as PNG files, independently of the user's settings and with fonts for all characters in them."""

from __future__ import annotations

import contextlib
import functools
import logging
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psp.core.files import atomic
from psp.text.scripts import script

if TYPE_CHECKING:
    from matplotlib.figure import Figure

log = logging.getLogger(__name__)

#: matplotlib's default font. It covers Latin, Greek, Cyrillic and Arabic, but no ideographs.
FONT = "DejaVu Sans"
#: Scripts covered by the same fonts.
EAST_ASIAN = {"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"}
#: A font that has only placeholder boxes.
LAST_RESORT = "lastresort"
SHOWN = 20  # characters named in the log, at most


def save(make: Callable[[], Figure], out: Path) -> None:
    """Save a figure as a PNG file, in matplotlib's default style regardless of the user's matplotlibrc.

    Characters missing from matplotlib's default font are taken from this machine's fonts; those that no font has are
    logged once, and drawn as boxes. matplotlib shapes complex and right-to-left scripts from version 3.11 on.

    Args:
        make: creates the figure; called again if other fonts are needed.
        out: the PNG file.

    Raises:
        DataError: ``out`` cannot be written.
    """
    import matplotlib.style  # heavy

    with matplotlib.style.context("default"), _quietly():
        figure, families = make(), [FONT]
        characters = _characters(figure)
        if characters := characters - _held(_own(), characters):
            own_families, without = fonts(characters)
            families += own_families
            if without:
                _tell("".join(sorted(without)))
        with matplotlib.rc_context({"font.family": families}), atomic(out) as temporary:
            figure = make() if len(families) > 1 else figure
            figure.savefig(temporary, format="png", metadata={"Software": None})


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Suppress matplotlib's warnings about each missing character and font weight."""
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
    """Find installed font families that together cover ``characters``; also return those that none has."""
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
    """Yield the installed fonts in a fixed order, upright and sans serif first."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    # matplotlib caches its font list, so add fonts installed since.
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
    """Return those of ``characters`` that a font has."""
    from matplotlib.ft2font import FT2Font

    try:
        font = FT2Font(entry.fname, face_index=entry.index)
    except (OSError, RuntimeError) as error:  # removed, or unreadable for FreeType
        log.debug("%s: %s", entry.fname, error)
        return set()
    return {character for character in characters if font.get_char_index(ord(character))}


def _characters(figure: Figure) -> set[str]:
    """Collect the visible characters of a figure's texts."""
    from matplotlib.text import Text

    texts = [text.get_text() for text in figure.findobj(Text)]
    # Without white space and control characters.
    return {character for character in "".join(texts) if unicodedata.category(character)[0] not in "CZ"}


@functools.cache  # once for all figures of a job with the same names
def _tell(characters: str) -> None:
    advice = []
    east_asian = {character for character in characters if script(character) in EAST_ASIAN}
    if east_asian:
        advice.append("Noto Sans CJK (Debian's and Ubuntu's fonts-noto-cjk)")
    if set(characters) - east_asian:
        advice.append("Noto Sans (fonts-noto-core)")
    shown = characters if len(characters) <= SHOWN else f"{characters[:SHOWN]}..."
    log.warning(
        "no installed font has %s, so the picture shows boxes; install %s, delete the picture and draw it again",
        shown, " and ".join(advice),
    )  # fmt: skip
