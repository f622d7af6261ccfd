"""All sentences that a model is scored on, by its config, which must not be in its training data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from psp.evaluation import judged, testsets
from psp.evaluation.tasks import make


def scored(sets: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield the name of the set, the sentence and its partner (empty if it has none) for each scored pair.

    Args:
        sets: arguments of :func:`psp.evaluation.testsets.scored_pairs`; ``tasks``, entries of ``evaluate.tasks``; and
            ``judged``, entries of ``development.sets``.

    Raises:
        ConfigError, DataError: an entry is wrong, or a set cannot be read.
    """
    fixed = {key: value for key, value in sets.items() if key not in ("tasks", "judged")}
    if fixed:
        yield from testsets.scored_pairs(**fixed)
    for name, entry in sets.get("tasks", {}).items():
        for sentence in make(entry, f"evaluate.tasks.{name}").sentences():
            yield f"tasks/{name}", sentence, ""
    for name, entry in sets.get("judged", {}).items():
        data = judged.read(entry, f"development.sets.{name}")
        yield from ((f"development/{name}", a, b) for a, b in zip(data.a, data.b, strict=True))
