"""Bracketed constituent trees, one per line: their top two levels, whose entropy measures how varied syntax is."""

from __future__ import annotations

import re
from pathlib import Path

from psp.core.errors import DataError

_NOT_BRACKETS = re.compile(r"[^()]+")
_NODES = re.compile(r"([()])\s*([^\s()]*)")
#: Labels of a node above the sentence, as parsers and treebanks write it.
_ABOVE = frozenset({"", "ROOT", "TOP", "S1"})
_FUNCTION = re.compile(r"(?<=.)[-=].*")


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
    levels: list[list[str]] = [[]]
    depth = 0
    for bracket, label in _NODES.findall(tree):
        if bracket == ")":
            depth -= 1
            continue
        if len(levels) == depth:
            levels.append([])
        levels[depth].append(label)
        depth += 1
    level = 0
    while levels[level][0] in _ABOVE and len(levels) > level + 1 and len(levels[level + 1]) == 1:
        level += 1
    children = levels[level + 1] if len(levels) > level + 1 else []
    return f"({' '.join([_plain(levels[level][0]), *(f'({_plain(child)})' for child in children)])})"


def _plain(label: str) -> str:
    return label if label.startswith("-") else _FUNCTION.sub("", label)
