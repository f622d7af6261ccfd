"""Tables as text, Markdown and HTML."""

import pytest

from psp.report.tables import Foreign, Number, Stacked, Table, share
from tests.report.conftest import HOSTILE
from tests.report.test_page import Texts

LOST = Number(-5.31, [-6.2, -4.4], better=-1, sign=True)
ROWS = [["x | y", 12345, Number(69.84), LOST], ["z", None, Number(None), None]]
TABLE = Table(["a|b", "pairs", "fr", "difference"], ROWS, numbers=(1, 2, 3), notes=["One note."])


def test_text_has_columns_and_notes():
    assert TABLE.write() == (
        "a|b     pairs    fr         difference\n"
        "-----  ------  ----  -----------------\n"
        "x | y  12,345  69.8  -5.3 [-6.2, -4.4]\n"
        "z           -     -                  -\n"
        "\n"
        "One note.\n"
    )


def test_markdown_is_a_table_whatever_a_cell_holds():
    assert TABLE.write("markdown").splitlines() == [
        "| a\\|b | pairs | fr | difference |",
        "| --- | ---: | ---: | ---: |",
        "| x \\| y | 12,345 | 69.8 | -5.3 [-6.2, -4.4] |",
        "| z | - | - | - |",
        "",
        "- One note.",
    ]


def test_on_a_page_a_difference_stands_below_its_figure():
    shown = TABLE.__html__()
    assert shown.count("<th ") == 3
    assert '69.8 <small><span class="bad">−5.3 [−6.2,\u00a0−4.4]</span></small>' in shown
    assert "– <small></small>" in shown and "One note." not in shown


def test_some_columns_stand_small_below_the_first_of_a_page():
    shown = Table(
        ["test", "figure", "pairs", "fr"], [["a", "Pearson", 1234, 5]], numbers=(2, 3), small=(1, 2)
    ).__html__()
    assert "a <small>Pearson, 1,234 pairs</small>" in shown and shown.count("<th ") == 2
    assert shown.count('<td class="number">') == 1


def test_cells_of_a_page_are_texts():
    shown = Table([HOSTILE, "n"], [[HOSTILE, 12345], [Stacked(Foreign(HOSTILE), HOSTILE), 1]], numbers=(1,)).__html__()
    assert "<script>" not in shown and "12,345" in shown
    assert Texts(shown).text.count("alert(1)") == 4
    assert shown.count('<td class="number">') == 2


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (Number(69.84, [69.01, 70.49]), "69.8 [69.0, 70.5]"),
        (Number(None), "–"),
        (Number(-5.31, [-6.2, -4.4], sign=True), "−5.3 [−6.2, −4.4]"),
        (Number(5.31, sign=True), "+5.3"),
        (share(1, 3), "33.3 %"),
        (share(0, 0), "–"),
    ],
)
def test_figures(number, said):
    assert number.typeset == said
