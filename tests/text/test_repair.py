"""Entities and tags that other formats leave in text are repaired and counted; all other text stays."""

from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.text.repair import counted, repair


@pytest.mark.parametrize(
    ("text", "plain", "kinds"),
    [
        ("Don&apos;t &amp; won&#39;t", "Don't & won't", {"entities"}),
        ("caf&eacute;&#x20;noir", "café noir", {"entities"}),
        ("&amp;quot;twice&amp;quot;", '"twice"', {"entities"}),
        ("<i>Come in.</i>", "Come in.", {"tags"}),
        (r"{\an8}Above{\i0}", "Above", {"tags"}),
        ('<FONT color="#fff">white</FONT><br />next', "white next", {"tags"}),
        ("&lt;i&gt;so&lt;/i&gt;&#10;&#9;", "so", {"entities", "tags"}),
        ("<i></i>", "", {"tags"}),
        ("AT&T, R&D; a<b and c>d, {x}, &c. <stdio.h> &nosuch; a < i > b", None, set()),
        ("&copy 2000", None, set()),
    ],
)
def test_what_other_formats_leave_is_repaired(text, plain, kinds):
    (found, plainly), repairs = repair([text, "plain"])
    assert (found, plainly) == (text if plain is None else plain, "plain")
    assert repairs == ({0: kinds} if kinds else {})


@given(st.lists(st.text(st.sampled_from("abc &;<>/i{}\\#19é\u2028"), max_size=20)))
def test_repaired_text_has_no_repairs_left_and_the_same_places(texts):
    found, kinds = repair(texts)
    assert len(found) == len(texts)
    assert all(one == text for row, (one, text) in enumerate(zip(found, texts, strict=True)) if row not in kinds)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20).map(str.strip))
def test_escaped_text_is_what_it_was(text):
    escaped = html.escape(text)
    plain = repair([escaped])[0][0]
    assert plain == repair([text])[0][0]


def test_pairs_are_counted_once_for_each_kind():
    sides = [repair(texts)[1] for texts in (["&amp;", "a", "<b>&amp;</b>"], ["&amp;", "b", "<i>x</i>"])]
    assert counted(*sides) == {"entities": 2, "tags": 1}
