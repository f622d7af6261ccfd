"""The top two levels of parse trees, and trees that are none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.pairs.stats.parses import check_tree, top


@pytest.mark.parametrize(
    ("tree", "wanted"),
    [
        ("(ROOT (S (NP (PRP I)) (VP (VBP agree)) (. .)))", "(S (NP) (VP) (.))"),
        ("( (S (NP-SBJ=2 (-NONE- *)) (VP (VB go))) )", "(S (NP) (VP))"),
        ("(TOP (FRAG (NP (NN tea))))", "(FRAG (NP))"),
        ("(ROOT (S (VP go)) (S (VP stay)))", "(ROOT (S) (S))"),  # two sentences: no node is that of the whole
        ("(NN dog)", "(NN)"),
        ("(PRN (-LRB- -LRB-) (NP a) (-RRB- -RRB-))", "(PRN (-LRB-) (NP) (-RRB-))"),
        ("(())", "()"),  # what a parser writes that found nothing
    ],
)
def test_the_top_two_levels(tree, wanted):
    check_tree(tree, "trees", 1)
    assert top(tree) == wanted


LABELS = st.sampled_from(["S", "NP", "VP", "SBAR", "-LRB-", ",", "NN"])
NODES = st.recursive(
    st.tuples(LABELS, st.sampled_from(["dog", "é", "日本"])),
    lambda below: st.tuples(LABELS, st.lists(below, min_size=1, max_size=4)),
    max_leaves=15,
)


def written(node):
    label, below = node
    return f"({label} {below if isinstance(below, str) else ' '.join(map(written, below))})"


@given(NODES, st.sampled_from(["{}", "(ROOT {})", "( {} )", "(TOP (ROOT {}))"]))
def test_any_tree_has_the_labels_of_its_two_levels(node, around):
    tree = around.format(written(node))
    check_tree(tree, "trees", 1)
    label, below = node
    children = [] if isinstance(below, str) else [f"({child})" for child, _ in below]
    assert top(tree) == f"({' '.join([label, *children])})"


@given(NODES, st.data())
def test_a_bracket_more_or_less_is_an_error(node, data):
    tree = written(node)
    places = [place for place, mark in enumerate(tree) if mark in "()"]
    place = data.draw(st.sampled_from(places))
    broken = data.draw(
        st.sampled_from([tree[:place] + tree[place + 1 :], tree[:place] + "()"[tree[place] == "("] + tree[place:]])
    )
    with pytest.raises(DataError, match=r"^trees, line 7: (brackets are not balanced|no tree)"):
        check_tree(broken, "trees", 7)


@pytest.mark.parametrize("tree", ["", "dog", "(S a) (S b)", "()()", ")(", "a (S b)", "(S a) b", ")S a("])
def test_what_is_no_tree(tree):
    with pytest.raises(DataError, match=r"trees, line 2: .*; write one"):
        check_tree(tree, "trees", 2)
