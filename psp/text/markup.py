r"""Quote any text as a value in YAML or as a piece of Markdown, so that it is shown unchanged.

Names, licences and addresses come from people and from archives. None of them may end a value, start a tag, or change
the direction of the text after it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

#: Invisible characters that change how the text around them looks: controls, direction marks, line and paragraph
#: separators, zero-width joiners, tags, byte order marks; and halves of surrogate pairs.
UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    "\ufffe\uffff\U000e0000-\U000e007f]"
)
#: What Markdown (CommonMark, with GitHub's tables and strikethrough) may interpret.
_MARKS = re.compile(r"([\\`*\[\]|~$])|(?<![^\W_])(_)|(_)(?![^\W_])")


def plain(text: str) -> str:
    """A line of text in which every character is visible: others as their code, such as ``U+202E``; no line ends.

    White space of any kind is one space.
    """
    return UNSEEN.sub(lambda found: f"U+{ord(found[0]):04X}", " ".join(text.split()))


def markdown(text: str) -> str:
    """Text within a line or a cell of Markdown, shown as :func:`plain` has it."""
    shown = plain(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKS.sub(lambda found: f"\\{found[0]}", shown)


def unmarked(cell: str) -> str:
    """The text of a cell that :func:`markdown` wrote."""
    text = re.sub(r"\\(.)", r"\1", cell)
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def yaml(value: Any, indent: str = "") -> str:
    r"""A mapping or a list as YAML in block style, ending in ``\n``; PyYAML's and any YAML 1.1 or 1.2 reader's.

    Texts are quoted unless they are words of ASCII letters that mean nothing else in YAML. Halves of
    surrogate pairs, which no UTF-8 file can hold, are U+FFFD.

    Raises:
        ValueError: a number is not finite.
    """
    lines = []
    items = value.items() if isinstance(value, Mapping) else ((None, item) for item in value)
    for key, item in items:
        start = f"{indent}- " if key is None else f"{indent}{_scalar(key)}:"
        if not isinstance(item, (Mapping, list, tuple)):
            lines.append(f"{start}{'' if key is None else ' '}{_scalar(item)}\n")
        elif not item:
            lines.append(f"{start}{'' if key is None else ' '}{'{}' if isinstance(item, Mapping) else '[]'}\n")
        elif key is None:
            below = yaml(item, f"{indent}  ")
            lines.append(start + below[len(indent) + 2 :])
        else:
            lines.append(f"{start}\n{yaml(item, indent + '  ' * isinstance(item, Mapping))}")
    return "".join(lines)


#: Words that YAML 1.1 reads as something other than text.
_TAKEN = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}


def _scalar(value: Any) -> str:
    if not isinstance(value, str):
        # 1e-05 is text in YAML 1.1, which knows a number by its point.
        return re.sub(r"^(-?\d+)e", r"\1.0e", json.dumps(value, allow_nan=False))
    if re.fullmatch(r"[A-Za-z][A-Za-z_]*(-[A-Za-z0-9_]+)*", value) and value.lower() not in _TAKEN:
        return value
    # JSON's quotation marks are YAML's, but YAML has no pairs of surrogates for one character, and it folds lines at
    # separators that JSON leaves as they are.
    text = json.dumps(re.sub("[\ud800-\udfff]", "\ufffd", value), ensure_ascii=False)
    return UNSEEN.sub(lambda found: f"\\U{ord(found[0]):08x}", text)


def rows(header: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """A Markdown table of cells that are already Markdown."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *body))
