"""Which settings a training run reads: some matter only if another setting has a certain value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psp.training.objectives import find, mines, registered

#: The settings that mining reads, for every objective.
MINING = frozenset({"megabatch", "anneal", "negatives", "mask_equal"})
#: By the value of ``train.init``.
INIT = {"normal": frozenset[str](), "zipf": frozenset({"init_smoothing"})}
#: By the value of ``train.schedule``.
SCHEDULE = {"constant": frozenset[str](), "linear": frozenset({"warmup"})}
#: Where weights are averaged.
AVERAGE = frozenset({"average_part"})


def unused(train: Mapping[str, Any]) -> frozenset[str]:
    """The keys of ``train`` that a training run with these settings never reads.

    Raises:
        ConfigError: there is no such objective.
    """
    read = set(find(train["objective"]).reads) | INIT[train["init"]] | SCHEDULE[train["schedule"]]
    if mines(train):
        read |= MINING
    if train["average"] >= 2:
        read |= AVERAGE
    some_read = [objective.reads for objective in registered()]
    return MINING.union(AVERAGE, *some_read, *INIT.values(), *SCHEDULE.values()) - read
