"""The licence of a model, from those that its training corpora declare. Extra ``release``.

A corpus's licence is the SPDX expression that the config declares. A model trained on several corpora is under all of
their licences (``AND``), normalised by license-expression. Nothing is guessed: text that is not an SPDX expression gets
SPDX's name for unlisted licences (``LicenseRef-``), and a corpus without a licence is listed as one.

Its publisher must judge whether the licences of training data bind a model at all; psp only states them.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from psp.core.errors import from_extra

#: Shown for a corpus that declares no licence.
NONE = "not declared"
#: The Hugging Face Hub's ids of licences (its page "Licenses") that are SPDX's in lower case.
_ON_THE_HUB = """
afl-3.0 apache-2.0 artistic-2.0 bsd-2-clause bsd-3-clause bsd-3-clause-clear bsl-1.0 cc-by-2.0 cc-by-2.5
cc-by-3.0 cc-by-4.0 cc-by-nc-2.0 cc-by-nc-3.0 cc-by-nc-4.0 cc-by-nc-nd-3.0 cc-by-nc-nd-4.0 cc-by-nc-sa-2.0
cc-by-nc-sa-3.0 cc-by-nc-sa-4.0 cc-by-nd-4.0 cc-by-sa-3.0 cc-by-sa-4.0 cc0-1.0 cdla-permissive-1.0 cdla-permissive-2.0
cdla-sharing-1.0 ecl-2.0 epl-1.0 epl-2.0 etalab-2.0 eupl-1.1 isc lppl-1.3c mit mpl-2.0 ms-pl ncsa ofl-1.1 osl-3.0
postgresql unlicense wtfpl zlib
"""
#: The Hub's id of a licence, by SPDX's in lower case. Of a "family" the Hub has one id for all versions.
HUB = {name: name for name in _ON_THE_HUB.split()} | {
    "agpl-3.0-only": "agpl-3.0",
    "c-uda-1.0": "c-uda",
    "gpl-2.0-only": "gpl-2.0",
    "gpl-3.0-only": "gpl-3.0",
    "lgpl-2.1-only": "lgpl-2.1",
    "lgpl-3.0-only": "lgpl-3.0",
    "odbl-1.0": "odbl",
    "odc-by-1.0": "odc-by",
    "pddl-1.0": "pddl",
}


def on_the_hub(licence: str) -> dict[str, str]:
    """The Hub's keys of a card for a licence: ``license``, and ``license_name`` if the Hub has no id for it.

    Args:
        licence: an SPDX expression, or an id of the Hub's.
    """
    known = HUB.get(licence.lower(), licence.lower() if licence.lower() in HUB.values() else None)
    return {"license": known} if known else {"license": "other", "license_name": licence}


class Licence(NamedTuple):
    """The licences of several corpora together."""

    expression: str | None
    """Those declared, as one SPDX expression; None if none is."""
    undeclared: tuple[str, ...]
    """The corpora that declare none."""

    @property
    def ids(self) -> list[str]:
        """The licences in the expression, sorted; one with an exception as a whole."""
        return sorted({one.render() for one in _licensing().parse(self.expression).symbols}) if self.expression else []

    def __str__(self) -> str:
        if not self.undeclared:
            return self.expression or NONE
        without = f"{NONE} ({', '.join(self.undeclared)})"
        return without if self.expression is None else f"{self.expression}, and {without}"

    @property
    def metadata(self) -> dict[str, str]:
        """The Hub's keys of a card: ``license``, and ``license_name`` if the Hub has no id for it."""
        return on_the_hub(str(self))


def together(corpora: Iterable[tuple[str, str | None]]) -> Licence:
    """The licence of a model trained on all of these corpora.

    Args:
        corpora: names, each with the declared SPDX expression, or None.

    Raises:
        PspError: license-expression is missing.
    """
    corpora = list(corpora)
    declared = list(dict.fromkeys(text for _, text in corpora if text and text.strip()))
    expression = None
    if declared:
        combine = _library().combine_expressions
        licensing = _licensing()
        expression_of_all = combine([normalised(text) for text in declared], relation="AND", licensing=licensing)
        expression = expression_of_all.simplify().render()
    return Licence(expression, tuple(dict.fromkeys(name for name, text in corpora if not (text and text.strip()))))


def normalised(declared: str) -> str:
    """A declared licence as an SPDX expression in SPDX's spelling; ``LicenseRef-...`` for other text.

    Raises:
        PspError: license-expression is missing.
    """
    licensing, errors = _licensing(), _library()
    try:
        parsed = licensing.parse(declared, validate=False, strict=False)
        if parsed is None:
            raise errors.ExpressionError("it is empty")
        unknown = {key for key in map(str, licensing.unknown_license_keys(parsed)) if not _REFERENCE.fullmatch(key)}
        if not unknown:
            return str(parsed.render())
    except (errors.ExpressionError, errors.ParseError):  # not even brackets and operators
        pass
    return "LicenseRef-" + (re.sub(r"[^A-Za-z0-9.]+", "-", declared).strip("-") or "unnamed")


_REFERENCE = re.compile(r"(DocumentRef-[A-Za-z0-9.-]+:)?LicenseRef-[A-Za-z0-9.-]+")


@functools.cache  # 0.04 s
def _licensing() -> Any:
    return _library().get_spdx_licensing()


def _library() -> Any:
    with from_extra("release", "licences are joined by license-expression"):
        import license_expression
    return license_expression
