"""Whatever a name or a licence holds, YAML reads it back and Markdown shows it."""

from __future__ import annotations

import math
import re

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from psp.text import markup

#: With halves of surrogate pairs, marks of direction, tags and quotation marks among the rest.
ODD = st.text(
    st.one_of(st.characters(), st.characters(categories=["Cs", "Cf", "Cc"]), st.sampled_from("|<>&\"'`*_[]~\\#:-{}%\n"))
)
VALUES = st.recursive(
    st.one_of(ODD, st.integers(-1000, 1000), st.floats(-1e6, 1e6), st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(ODD.filter(len), inner, max_size=4)),
    max_leaves=8,
)


def readable(value):
    """The value, halves of surrogate pairs as U+FFFD."""
    if isinstance(value, str):
        return re.sub("[\ud800-\udfff]", "\ufffd", value)
    if isinstance(value, list):
        return [readable(item) for item in value]
    if isinstance(value, dict):
        return {readable(key): readable(item) for key, item in value.items()}
    return value


@example({"value": 1e-05, "large": -1e300})
@given(st.dictionaries(ODD.filter(len), VALUES, min_size=1, max_size=4))
def test_yaml_is_read_back(value):
    text = markup.yaml(value)
    assert text.encode() and yaml.safe_load(text) == readable(value)


def test_yaml_of_words_and_of_what_looks_like_something_else():
    value = {"tags": ["sentence-embeddings", "no", "NULL", "1e3", "~", "null", ""], "empty": [], "none": {}}
    text = markup.yaml(value)
    assert yaml.safe_load(text) == value
    assert text.startswith('tags:\n- sentence-embeddings\n- "no"\n- "NULL"\n')
    assert "\u202e" not in markup.yaml({"name": "abc\u202egnp.exe"})
    with pytest.raises(ValueError):
        markup.yaml({"value": math.nan})


@given(ODD)
def test_a_cell_of_markdown_is_one_line_without_tags_and_can_be_read_back(text):
    cell = markup.markdown(text)
    assert cell.encode("utf-8") == cell.encode("utf-8", "ignore")
    assert not {"\n", "<", ">"} & set(cell)
    assert not markup.UNSEEN.search(cell)
    assert not re.search(r"(?<!\\)(\\\\)*\|", cell), "it would end the cell"
    assert markup.unmarked(cell) == markup.plain(text)


def test_what_is_ordinary_stays_as_it_is():
    for text in (
        "Europarl v8",
        "wiki_matrix-2.0",
        "L'été (2ᵉ)",
        "https://example.org/en-no.zip?a=1",
        "CC-BY-4.0 AND MIT",
    ):
        assert markup.markdown(text) == text
    assert markup.markdown("<script>*x*</script> & _y_") == "&lt;script&gt;\\*x\\*&lt;/script&gt; &amp; \\_y\\_"
    assert markup.plain("a\u202eb\ud800\tc") == "aU+202EbU+D800 c"
