"""Decide whether the licences that a user allows cover a corpus's SPDX expression.

An expression combines ids of the SPDX list: ``A OR B`` leaves the choice, ``A AND B`` requires both, ``A WITH E`` is a
licence of its own, and parentheses group (SPDX specification, annex on licence expressions). AND binds tighter than OR.
Ids and operators are case-insensitive.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

#: The operators, that which binds least first.
JOINS = (("OR", any), ("AND", all))
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+:-]*")


def permitted(expression: str, allowed: Iterable[str]) -> bool:
    """Whether the licences of ``allowed`` suffice for ``expression``.

    Args:
        expression: an SPDX expression, such as ``GPL-2.0-or-later AND CC-BY-SA-3.0``.
        allowed: SPDX ids, or whole expressions word for word.

    Raises:
        ValueError: ``expression`` is not an SPDX expression.
    """
    wanted = {" ".join(item.casefold().split()) for item in allowed}
    return _holds(expression, wanted.__contains__) or " ".join(expression.casefold().split()) in wanted


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


def _holds(expression: str, allowed: Callable[[str], bool]) -> bool:
    """Whether an expression holds, given whether each of its licences, in lower case, does."""
    tokens = re.findall(r"[()]|[^\s()]+", expression)
    value = _joined(tokens, allowed)
    if tokens:
        raise ValueError(f"{expression!r} is not an SPDX expression: unexpected {tokens[0]!r}")
    return value


def _joined(
    tokens: list[str], allowed: Callable[[str], bool], joins: Sequence[tuple[str, Callable[..., bool]]] = JOINS
) -> bool:
    if not joins:
        return _one(tokens, allowed)
    (word, of), *below = joins
    values = [_joined(tokens, allowed, below)]
    while tokens and tokens[0].upper() == word:
        tokens.pop(0)
        values.append(_joined(tokens, allowed, below))
    return of(values)


def _one(tokens: list[str], allowed: Callable[[str], bool]) -> bool:
    if tokens and tokens[0] == "(":
        tokens.pop(0)
        value = _joined(tokens, allowed)
        if not tokens or tokens.pop(0) != ")":
            raise ValueError("an SPDX expression lacks a closing parenthesis")
        return value
    name = _id(tokens)
    if tokens and tokens[0].upper() == "WITH":
        tokens.pop(0)
        name = f"{name} WITH {_id(tokens)}"
    return allowed(name.casefold())


def _id(tokens: list[str]) -> str:
    if not tokens or not _ID.fullmatch(tokens[0]) or tokens[0].upper() in ("AND", "OR", "WITH"):
        raise ValueError(f"not an SPDX expression: expected an id {f'at {tokens[0]!r}' if tokens else 'at its end'}")
    return tokens.pop(0)
