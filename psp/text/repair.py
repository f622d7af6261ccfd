"""Repair what other formats leave in text: character entities, and tags of subtitles and web pages."""

from __future__ import annotations

import html
import re
from collections import Counter

#: An entity of HTML with its semicolon: without one, `AT&T` and `&c` are text.
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
#: Tags of subtitles (SubRip's, and SubStation's in braces) and of running text on web pages. Of other tags nothing is
#: known: text about programs and mathematics has angle brackets, too.
_INLINE = re.compile(
    r"</?(?:i|b|u|s|em|strong|sub|sup|font|span|a)>|<(?:font|span|a)\s[^<>]{0,200}=[^<>]{0,200}>|\{\\[^{}]{1,60}\}",
    re.I,
)
_BREAK = re.compile(r"\s*</?(?:br|p)(?:\s[^<>]{0,200}=[^<>]{0,200})?\s?/?>\s*", re.I)

ENTITIES, TAGS = "entities", "tags"


def repair(texts: list[str]) -> tuple[list[str], dict[int, frozenset[str]]]:
    """Write entities as the characters that they stand for, and remove tags.

    Returns:
        The texts, and by the place of each that was repaired the kinds of its repairs: :data:`ENTITIES`, :data:`TAGS`.
    """
    joined = "\n".join(texts)
    marks = [mark for mark in "&<{" if mark in joined]  # nearly all batches of most corpora have none
    repaired, kinds = (list(texts) if marks else texts), {}
    for place in sorted({place for mark in marks for place, text in enumerate(texts) if mark in text}):
        repaired[place], needed = _repair(texts[place])
        if needed:
            kinds[place] = needed
    return repaired, kinds


def _repair(text: str) -> tuple[str, frozenset[str]]:
    # Twice, since text is often escaped twice: `&amp;apos;`.
    whole = _ENTITY.sub(_character, _ENTITY.sub(_character, text))
    plain = _INLINE.sub("", _BREAK.sub(" ", whole))
    kinds = {ENTITIES: whole != text, TAGS: plain != whole}
    if any(kinds.values()):
        plain = plain.replace("\t", " ").replace("\n", " ").strip()
    return plain, frozenset(kind for kind, needed in kinds.items() if needed)


def _character(match: re.Match[str]) -> str:
    return html.unescape(match[0])


def counted(source: dict[int, frozenset[str]], target: dict[int, frozenset[str]]) -> Counter[str]:
    """The number of pairs that needed a repair of each kind on either side."""
    nothing = frozenset[str]()
    return Counter(
        kind for row in source.keys() | target.keys() for kind in source.get(row, nothing) | target.get(row, nothing)
    )
