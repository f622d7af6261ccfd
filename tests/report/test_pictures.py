"""Figures as PNG files: their fonts, and the same bytes for every user."""

import logging
from pathlib import Path

import matplotlib
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib import font_manager
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from psp.report import pictures

OWN = Path(matplotlib.get_data_path())


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine without fonts but matplotlib's own: the folder in which one would be installed."""
    folder = tmp_path / "fonts"
    folder.mkdir()
    entries = [entry for entry in font_manager.fontManager.ttflist if OWN in Path(entry.fname).parents]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", entries)
    monkeypatch.setattr(font_manager, "X11FontDirectories", [str(folder)])
    for name in ("OSXFontDirectories", "MSUserFontDirectories"):
        monkeypatch.setattr(font_manager, name, [])
    monkeypatch.setattr(font_manager, "_get_fontconfig_fonts", list)
    pictures._tell.cache_clear()
    return folder


def install(folder, name, characters, style="Regular"):
    """A font in which each of the characters is a block."""
    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    for point in ((0, 800), (900, 800), (900, 0)):
        pen.lineTo(point)
    pen.closePath()
    names = [".notdef", *(f"u{ord(character):X}" for character in characters)]
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap(dict(zip(map(ord, characters), names[1:], strict=True)))
    builder.setupGlyf(dict.fromkeys(names, pen.glyph()))
    builder.setupHorizontalMetrics(dict.fromkeys(names, (1000, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": name, "styleName": style})
    builder.setupOS2(sTypoAscender=800, sTypoDescender=-200, usWeightClass=400)
    builder.setupPost()
    builder.save(folder / f"{name}-{style}.ttf")


class Titled:
    """Makes figures with a title, and keeps the last."""

    def __init__(self, title):
        self.title = title

    def __call__(self):
        self.figure = Figure(figsize=(3, 1))
        FigureCanvasAgg(self.figure)
        self.figure.suptitle(self.title, fontweight="bold")
        return self.figure


def test_what_no_font_has_is_told_once(machine, tmp_path, caplog, recwarn):
    for name in ("a.png", "b.png"):
        pictures.save(Titled("fr, 中文 العربية हिन्दी"), tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
    (record,) = caplog.records
    message = record.getMessage()
    assert record.levelno == logging.WARNING and "fonts-noto-cjk" in message and "fonts-noto-core" in message
    assert {"中", "文", "ह"} <= set(message) and not set(message) & set("العربية")
    assert not recwarn.list


def test_a_font_of_the_machine_has_the_letters(machine, tmp_path, caplog, recwarn):
    title = Titled("fr 中文の")
    pictures.save(title, tmp_path / "boxes.png")
    # matplotlib's list of fonts is older than these. Both are needed, the upright one with more of the letters first.
    install(machine, "Some Sans", "中文", "Italic")
    install(machine, "Some Sans", "中文")
    install(machine, "Other Kana", "の")
    install(machine, "Unneeded", "中のx")
    (machine / "Broken.ttf").write_bytes(b"no font")
    caplog.clear()
    pictures.save(title, tmp_path / "letters.png")
    assert not caplog.records and not recwarn.list
    (text,) = title.figure.texts
    assert text.get_fontfamily() == [pictures.FONT, "Some Sans", "Other Kana"]
    assert (tmp_path / "letters.png").read_bytes() != (tmp_path / "boxes.png").read_bytes()
    install(machine, "Later", "界")
    assert pictures.fonts(set("世界")) == (["Later"], {"世"})


def test_letters_that_matplotlib_has_are_its_own(machine, tmp_path, caplog):
    title = Titled("Modèle Ελληνικά кириллица العربية\n\tx")
    pictures.save(title, tmp_path / "a.png")
    assert title.figure.texts[0].get_fontfamily() == ["sans-serif"] and not caplog.records


def test_arabic_letters_are_joined():
    widths = []
    for text in ("ننن", "ن\u200cن\u200cن"):  # zero width non-joiners
        figure = Titled(text)()
        widths.append(figure.texts[0].get_window_extent().width)
    assert widths[0] < 0.8 * widths[1]


def test_the_same_bytes_whatever_the_users_taste(tmp_path):
    pictures.save(Titled("fr"), tmp_path / "a.png")
    with matplotlib.rc_context({"figure.facecolor": "black", "savefig.dpi": 30, "font.family": "serif"}):
        pictures.save(Titled("fr"), tmp_path / "b.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
