"""The report of `psp inspect`: text of a corpus is shown as text, whatever it holds."""

import re

import pytest

from psp.report.inspect import COLUMNS, as_text, write
from tests.report.test_page import Texts

EVIL = [
    "<script>alert(1)</script>", "</td></table><img src=x onerror=alert(1)>", "{{ 7 * 7 }} {% raw %}", "&amp; &lt;",
    "left \u202eright-to-left\u202c", "line\u2028separator \x1b[31m bell\x07", "\u200f\u2066x",
]  # fmt: skip


def side(language, **more):
    return {"language": language, "texts": 10, "own": 0.9, "found": {language: 0.9}, "misread": 0, "misread_texts": [],
            **more}  # fmt: skip


def corpus(label, **more):
    return {
        "label": label, "rows": 1010, "duplicates": 0.1, "seen": 900, "kept": 788, "dropped": {}, "examples": {},
        "filters": {}, "warn_share": 0.2, "sides": [side("en"), side("fr")], "ratios": [0.5, 1.1, 2.0],
        "agreement": 0.91, "tests": {"STS <2012>": 2}, "pairs": 800, "samples": EVIL, **more,
    }  # fmt: skip


TOO_SHORT, LANGUAGE = "length: <source> too short", "language: target"
REPORT = {
    "format": 1, "model": "fr", "notes": ["sts: not <here>"],
    "corpora": [
        corpus("A <b>.en-fr", dropped={TOO_SHORT: 90, LANGUAGE: 22},
               examples={TOO_SHORT: [[text, text[::-1]] for text in EVIL], LANGUAGE: [["a", "b", "0.5"]]}),
        corpus("B.en-fr", dropped={TOO_SHORT: 112}, examples={TOO_SHORT: [["row", ""]]}),
        corpus("Text.xx", rows=0, seen=0, kept=0, sides=[side("xx", own=None, texts=0, found={})], ratios=[],
               agreement=None, tests={}),
    ],
    "findings": [{"text": "A <b>.en-fr: a side is <long>, write `a: b`", "samples": EVIL},
                 {"text": "few", "samples": []}],
}  # fmt: skip


@pytest.fixture
def written(tmp_path):
    write(REPORT, tmp_path / "inspect.html")
    return (tmp_path / "inspect.html").read_text(encoding="utf-8")


def test_the_page_shows_foreign_text_as_text_and_loads_nothing(written):
    page = Texts(written)
    names = [name for name, _ in page.tags]
    assert not {"img", "b", "i", "u", "iframe", "object"} & set(names)
    assert names.count("script") == 1  # the one that sorts tables
    for name, given in page.tags:
        assert not [key for key in given if key.startswith("on")]
        if name in ("a", "link"):
            assert given["href"].startswith(("#", "data:"))
    shown = page.text
    for words in (*EVIL[:2], "{{ 7 * 7 }} {% raw %}", "&amp; &lt;", "A <b>.en-fr", "<source> too short"):
        assert words in shown
    assert "\u202e" not in written and "U+202E" in shown and "U+2028" in shown and "U+001B" in shown


def test_each_filter_is_a_fold_with_its_reasons_and_examples_from_where_most_is_dropped(written, tmp_path):
    folds = re.findall(r'<details class="fold"><summary>(.*?)</summary>', written)
    assert folds == [
        'length: 202 (11.22%) <span class="quiet">&lt;source&gt; too short 202</span>',
        'language: 22 (1.22%) <span class="quiet">target 22</span>',
    ]
    of_length = written[written.index('class="fold"') :]
    assert of_length.index("B.en-fr") < of_length.index("A &lt;b&gt;.en-fr")
    heads = set(re.findall(r'<th scope="col"[^>]*>([^<]+)</th>', written[written.index('id="corpora"') :]))
    assert heads - {"reason", "source", "target"} == COLUMNS.keys() == set(re.findall("<dt>([^<]+)</dt>", written))
    write({**REPORT, "findings": [], "notes": []}, tmp_path / "sound.html")
    assert "Look at these" not in (tmp_path / "sound.html").read_text(encoding="utf-8")


def test_the_text_leads_with_what_to_look_at():
    text = as_text(REPORT)
    assert text.startswith("fr: 2 things to look at. Of 2,020 pairs in 3 corpora, up to 900 of each")
    assert text.index("1. A <b>.en-fr: a side is <long>") < text.index("2. few\n") < text.index("sts: not <here>\n")
    row = r"^A <b>\.en-fr +1,010 +87\.6% +10\.0% +en\u00a090%, fr\u00a090% +1\.10 \[0\.50, 2\.00\] +0\.91 +2$"
    assert re.search(row, text, re.MULTILINE)
    assert re.search(r"^Text\.xx +0 +0\.0% +10\.0% +xx\u00a0\? +- +- +0$", text, re.MULTILINE)
    assert not re.search("[\u202e\u2028\x1b\x07]", text)  # what a terminal would obey
    assert as_text({**REPORT, "findings": []}).startswith("fr: Nothing stands out. ")
