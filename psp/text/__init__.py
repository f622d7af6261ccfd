"""Text: lines, words, keys, characters, languages, and how text becomes subword ids."""

from __future__ import annotations

#: The parts of a normalisation's name (:mod:`psp.text.normalisation`).
NFKC, VISIBLE, ARABIC = "nmt_nfkc", "visible", "arabic"


def normalisation_name(*, visible: bool, arabic: bool) -> str:
    """The name of a normalisation, as in config.json."""
    return "+".join([NFKC, *([VISIBLE] if visible else []), *([ARABIC] if arabic else [])])
