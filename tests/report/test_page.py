"""Pages that load nothing and show any text as text."""

import unicodedata
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from psp.report import page
from tests.report.conftest import HOSTILE


class Texts(HTMLParser):
    """The text and the tags of a piece of HTML."""

    def __init__(self, source):
        super().__init__(convert_charrefs=True)
        self.text, self.tags = "", []
        self.feed(str(source))
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_any_text_is_text_and_nothing_else(text):
    shown = Texts(page.foreign(text, characters=10**6))
    assert {tag for tag, _ in shown.tags} <= {"bdi", "span"}
    assert len(shown.text) >= len(text)
    for character in text:
        if character.isprintable():
            assert character in shown.text
        elif unicodedata.category(character) in ("Cc", "Cs", "Co", "Cn"):
            assert f"U+{ord(character):04X}" in shown.text and character not in shown.text


def test_what_cannot_be_seen_is_shown():
    shown = Texts(page.foreign(HOSTILE)).text
    assert shown == "<script>alert(1)</script> & \"'</td>U+202Egnp.exeU+D800U+0000 {{ 7 * 7 }}"
    assert Texts(page.foreign("\u0646\u200c\u0647")).text == "\u0646\u200c\u0647"  # Persian needs its joiners


def test_a_long_text_is_cut():
    assert Texts(page.foreign("a" * 600)).text == "a" * 499 + "…"
