"""Constituent trees in brackets, one a line: the top two levels of each, whose entropy tells how varied syntax is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from psp.core.errors import DataError
from psp.corpora.local import lines_of

_NOT_BRACKETS = re.compile(r"[^()]+")
_TOKENS = re.compile(r"[()]|[^\s()]+")
#: Labels of a node above the sentence, as parsers and treebanks write it.
_ABOVE = frozenset({"", "ROOT", "TOP", "S1"})
_FUNCTION = re.compile(r"(?<=.)[-=].*")


def read_trees(path: Path | str) -> Iterator[str]:
    """Yield the lines of a file of trees, plain or packed (.gz, .zst, .zip), without checking them.

    Raises:
        DataError: the file cannot be read, or is not UTF-8.
    """
    return (line.strip() for line in lines_of(path))


def check_tree(tree: str, path: Path | str, line: int) -> None:
    """Check that a line is one tree with balanced brackets.

    Raises:
        DataError: it is not; the line is named.
    """
    brackets = _NOT_BRACKETS.sub("", tree)
    if not brackets:
        raise DataError("no tree; write one in brackets, such as (S (NP (PRP I)) (VP (VBP agree)))", path, line)
    inside = brackets[1:-1]
    while "()" in inside:
        inside = inside.replace("()", "")
    if not inside and tree[0] == brackets[0] == "(" and tree[-1] == brackets[-1] == ")" and len(brackets) > 1:
        return
    opened, closed = brackets.count("("), brackets.count(")")
    problem = (
        f"brackets are not balanced: {opened} opened, {closed} closed"
        if opened != closed
        else "not one tree in brackets"
    )
    raise DataError(f"{problem}; write one tree a line, a bracket within a word as -LRB- or -RRB-", path, line)


def top(tree: str) -> str:
    """The top two levels of a checked tree, in brackets: ``(ROOT (S (NP I) (VP agree)))`` gives ``(S (NP) (VP))``.

    As the templates of SCPN (Iyyer et al. 2018): the node of the whole sentence and its children, punctuation included.
    A node ``ROOT``, ``TOP``, ``S1`` or without a label above it is no level. Labels lose functions and indices
    (``NP-SBJ=2`` is ``NP``), which parsers do not write.
    """
    tokens = _TOKENS.findall(tree)
    label, children = _node(tokens, 0)
    while label in _ABOVE and len(children) == 1:
        label, children = _node(tokens, children[0])
    below = " ".join(f"({_plain(_node(tokens, place)[0])})" for place in children)
    return f"({_plain(label)} {below})" if below else f"({_plain(label)})"


def _plain(label: str) -> str:
    return label if label.startswith("-") else _FUNCTION.sub("", label)


def _node(tokens: list[str], start: int) -> tuple[str, list[int]]:
    """The label of the node whose bracket opens at ``start``, and where those of its children do."""
    label = tokens[start + 1] if tokens[start + 1] not in "()" else ""
    children, depth = [], 0
    for place in range(start + 1, len(tokens)):
        if tokens[place] == "(":
            if not depth:
                children.append(place)
            depth += 1
        elif tokens[place] == ")":
            if not depth:
                break
            depth -= 1
    return label, children
