"""Decide whether the licences that a user allows cover a corpus's SPDX expression.

An expression combines ids of the SPDX list: ``A OR B`` leaves the choice, ``A AND B`` requires both, ``A WITH E`` is a
licence of its own, and parentheses group. license-expression reads it; ids and operators are case-insensitive.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from psp.core.errors import from_extra

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+:-]*")


def permitted(expression: str, allowed: Iterable[str]) -> bool:
    """Whether the licences of ``allowed`` suffice for ``expression``.

    Args:
        expression: an SPDX expression, such as ``GPL-2.0-or-later AND CC-BY-SA-3.0``.
        allowed: SPDX ids, or whole expressions word for word.

    Raises:
        ValueError: ``expression`` is not an SPDX expression.
        PspError: license-expression is missing.
    """
    with from_extra("release", "licences are compared by license-expression"):
        from license_expression import ExpressionError, Licensing
    licensing = Licensing()
    try:
        parsed = licensing.parse(expression)
    except (ExpressionError, IndexError) as error:  # IndexError: of "()"
        raise ValueError(f"{expression!r} is not an SPDX expression: {error}") from None
    strange = [key for key in licensing.license_keys(parsed) if not _ID.fullmatch(key)]
    if parsed is None or strange:
        raise ValueError(f"{expression!r} is not an SPDX expression: {strange[0] if strange else 'it'} is no id")
    wanted = {" ".join(item.casefold().split()) for item in allowed}

    def holds(node: Any) -> bool:
        if node.isliteral:
            return node.render().casefold() in wanted
        return (any if isinstance(node, licensing.OR) else all)(map(holds, node.args))

    return holds(parsed) or " ".join(expression.casefold().split()) in wanted


def union(licences: Iterable[str | None]) -> str | None:
    """The joint licence of several corpora, an SPDX expression; None if one of them declares none."""
    distinct = list(dict.fromkeys(licences))
    if not distinct or None in distinct:
        return None
    # A union is split into its members.
    parts = (str(one).split(" AND ") if not re.search(r"[()]| OR ", str(one)) else [str(one)] for one in distinct)
    known = sorted({part for several in parts for part in several})
    bracketed = [f"({one})" if " " in one and len(known) > 1 else one for one in known]
    return " AND ".join(bracketed)
