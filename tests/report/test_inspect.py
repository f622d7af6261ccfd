"""The report of `psp inspect`: text of a corpus is shown as text, whatever it holds."""

import copy
import re
from html.parser import HTMLParser

import pytest

from psp.report.inspect import as_text, write

EVIL = [
    "<script>alert(1)</script>", "</td></table><img src=x onerror=alert(1)>", "{{ 7 * 7 }} {% raw %}", "&amp; &lt;",
    "left \u202eright-to-left\u202c", "half \ud83d of a pair", "line\u2028separator \x1b[31m bell\x07", "\u200f\u2066x",
]  # fmt: skip


def pair(number=0, **more):
    text = EVIL[number % len(EVIL)]
    return {"row": number + 1, "source": text, "target": text[::-1], **more}


def side(language):
    shares = [{"name": "LATIN", "share": 1.0}]
    return {
        "language": language, "words": [1, 2, 3, 4, 5], "digits": 0.01, "scripts": shares, "vowelled": None,
        "characters": {"quantiles": [1, 2, 30, 40, 1500], "histogram": [1, 2, 3, 4, 5, 6, 7, 8]},
        "labels": {"label": language, "texts": 10, "own": 0.9, "found": shares}, "duplicates": 0.1, "repeated": 0.0,
    }  # fmt: skip


REPORT = {
    "format": 1, "model": "fr",
    "settings": {"pairs": 5000, "encoder": "use-multilingual", "encoded": 100, "seed": 1}, "warn_pairs": 5000,
    "findings": [
        {"kind": "ratio", "corpus": "A <b>.en-fr", "value": 0.1, "limit": 0.02, "text": "a side is <long>",
         "samples": [pair(number) for number in range(len(EVIL))]},
        {"kind": "label", "corpus": None, "value": None, "limit": None, "text": "no label", "samples": []},
        {"kind": "pairs", "corpus": None, "value": 10, "limit": 5000, "text": "few", "samples": []},
    ],
    "corpora": [
        {
            "label": "A.en-fr", "kind": "local", "languages": ["en", "fr"], "rows": 1010, "bad_rows": 10, "empty": 3,
            "sampled": 900, "kept": 0.876, "duplicates": 0.1, "sides": [side("en"), side("fr")],
            "pairs": {
                "copies": 0.1, "numbers": {"pairs": 5, "same": 0.8},
                "ratios": {"pairs": 100, "usual": 1.1, "beyond": 0.1, "samples": [pair()]},
                "blocks": {"count": 10, "off": 2, "moves": {"-1": 2}, "run": {"line": 4, "lines": 100}, "samples": []},
                "words": {"pairs": 900, "own": 0.9, "doubtful": 0.2, "before": 0.1, "after": 0.1,
                          "worst": [pair(1, before="<i>", after="</i>")]},
                "similarity": {"encoder": "use-multilingual", "pairs": 100, "own": [0.1, 0.2, 0.5, 0.6, 0.7],
                               "exchanged": [0.0, 0.0, 0.1, 0.1, 0.2], "alike": 0.05},
            },
            "tests": [{"set": "STS <2012>", "sentences": 10, "found": 1, "pairs": 2, "removed": False}],
            "warn_share": 0.2,
            "filters": [
                {"name": "length", "on": True, "taken": 0.1, "why": None,
                 "reasons": [{"name": "length: source too short", "share": 0.1}], "samples": [pair(2, reason="<r>")]},
                {"name": "language", "on": False, "taken": None, "why": "no <label>", "reasons": [], "samples": []},
            ],
            "samples": [pair(number, before="", after="<u>") for number in range(len(EVIL))],
        },
        {
            "label": "Text.en", "kind": "text", "languages": ["en", "en"], "rows": 0, "bad_rows": 0, "empty": 0,
            "sampled": 0, "kept": 0.0, "duplicates": 0.0, "pairs": None, "tests": [], "warn_share": 0.2, "filters": [],
            "sides": [{**side("en"), "words": [], "labels": {"label": None, "texts": 0, "own": None, "found": []},
                       "characters": {"quantiles": [], "histogram": [0] * 8}}],
            "samples": [],
        },
    ],
}  # fmt: skip


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text.append(data)


def without_halves(value):
    """A text that has only half of a pair cannot be written as UTF-8, so no file can bring one here."""
    if isinstance(value, str):
        return value.replace("\ud83d", "?")
    if isinstance(value, list):
        return list(map(without_halves, value))
    return {key: without_halves(below) for key, below in value.items()} if isinstance(value, dict) else value


@pytest.fixture
def written(tmp_path):
    write(without_halves(REPORT), tmp_path / "inspect.json", tmp_path / "inspect.html")
    return tmp_path


def test_the_page_shows_foreign_text_as_text_and_loads_nothing(written):
    text = (written / "inspect.html").read_text(encoding="utf-8")
    page = Tags()
    page.feed(text)
    names = [name for name, _ in page.tags]
    assert not {"img", "b", "i", "u", "iframe", "object"} & set(names)
    assert names.count("script") == 1  # the one that sorts tables
    for name, given in page.tags:
        assert not [key for key in given if key.startswith("on")]
        if name in ("a", "link"):
            assert given["href"].startswith(("#", "data:"))
    shown = "".join(page.text)
    for words in ("<script>alert(1)</script>", "{{ 7 * 7 }} {% raw %}", "&amp; &lt;", "A <b>.en-fr", "STS <2012>"):
        assert words in shown
    assert "\u202e" not in text and "U+202E" in shown and "U+2028" in shown and "U+001B" in shown


def test_corpora_are_folded_and_linked_and_there_is_no_empty_heading(written, tmp_path):
    text = (written / "inspect.html").read_text(encoding="utf-8")
    assert text.count('<details class="fold">') == len(REPORT["corpora"]) and "Look at these" in text
    for number in (1, 2):
        assert f'href="#corpus-{number}"' in text and f'id="corpus-{number}"' in text
    heads = set(re.findall(r'<th scope="col"[^>]*>([^<]+)</th>', text[text.index('id="corpora"') :].split("<ul>")[0]))
    assert heads and heads <= set(re.findall("<dt>([^<]+)</dt>", text))  # each column is explained
    write({**without_halves(REPORT), "findings": []}, tmp_path / "sound.json", tmp_path / "sound.html")
    sound = (tmp_path / "sound.html").read_text(encoding="utf-8")
    assert "Nothing stands out." in sound and "Look at these" not in sound


def test_bytes_stay_the_same(written, tmp_path):
    again = tmp_path / "again"
    write(without_halves(REPORT), again / "inspect.json", again / "inspect.html")
    for name in ("inspect.json", "inspect.html"):
        assert (again / name).read_bytes() == (written / name).read_bytes()


def test_the_text_leads_with_what_to_look_at():
    text = as_text(REPORT)
    assert text.startswith("fr: 1,000 pairs of 2 corpora")
    assert text.index("Look at these:") < text.index("1. A <b>.en-fr: a side is <long> (threshold: 2.0%)")
    assert "2. no label\n" in text and "3. few (threshold: 5,000)" in text
    assert re.search(r"^A\.en-fr +1,000 +87\.6% +10\.0% +10\.0% +90\.0% +10\.0% +en 90\.0% fr 90\.0%$", text, re.M)
    assert not re.search("[\u202e\u2028\x1b\x07\ud83d]", text)  # what a terminal would obey
    sound = copy.deepcopy(REPORT)
    sound["findings"] = []
    assert "Nothing stands out." in as_text(sound)
