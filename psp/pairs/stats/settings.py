"""Checks of the block ``stats``."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from psp.core.errors import ConfigError

#: The paper's five ranges of the paraphrase score (its table 3): (-.1, .2], (.2, .4] and so on.
RANGES = (-0.1, 0.2, 0.4, 0.6, 0.8, 1.0)


def check(settings: Mapping[str, Any], languages: Sequence[str], where: str) -> None:
    """Make the checks that a range of values cannot express.

    Args:
        settings: the block.
        languages: the model's.
        where: its location, for errors, such as ``models.en.stats``.

    Raises:
        ConfigError: ``ranges`` do not ascend; ``idf_from`` names a language that the model does not have; or a filled
            sheet is in ``results/``.
    """
    check_ranges(settings["ranges"], f"{where}.ranges")
    for language in settings["idf_from"]:
        if language not in languages:
            raise ConfigError(
                f"{where}.idf_from: {language} is not a language of the model, which has {', '.join(languages)}"
            )
    for path in settings["labels"]:
        if path.removeprefix("./").startswith("results/"):
            raise ConfigError(
                f"{where}.labels: {path}: a run may write this file anew, without the labels; copy it to another "
                "folder and name the copy"
            )


def check_ranges(ends: Sequence[float], where: str) -> None:
    """Check the ends of ranges of scores.

    Raises:
        ConfigError: fewer than two, or they do not ascend.
    """
    if len(ends) < 2 or any(low >= high for low, high in itertools.pairwise(ends)):
        written = ", ".join(f"{end:g}" for end in ends)
        raise ConfigError(
            f"{where}: {written}: the ends of ranges of scores ascend, and are two or more, such as -0.1, 0.5, 1"
        )
