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


def repair(texts: list[str]) -> tuple[list[str], list[frozenset[str]]]:
    """Write entities as the characters that they stand for, and remove tags.

    Returns:
        The texts, and which kinds of repairs each needed: :data:`ENTITIES`, :data:`TAGS`.
    """
    joined = "\n".join(texts)
    # Nearly all batches of most corpora end here.
    if not ("&" in joined or "<" in joined or "{\\" in joined):
        return texts, [frozenset()] * len(texts)
    repaired = [_repair(text) if "&" in text or "<" in text or "{\\" in text else (text, frozenset()) for text in texts]
    return [text for text, _ in repaired], [kinds for _, kinds in repaired]


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


def counted(*sides: list[frozenset[str]]) -> Counter[str]:
    """The number of pairs that needed a repair of each kind on either side."""
    return Counter(kind for kinds in zip(*sides, strict=True) for kind in frozenset().union(*kinds))
