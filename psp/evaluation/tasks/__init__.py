"""The evaluation tasks, one module each, with one class of :class:`psp.evaluation.tasks.base.Task`.

Every model is scored on the paper's tasks (STS 2012 to 2017, the STS Benchmark, Tatoeba) and on the user's own files,
which have a ``by_default``; a config adds the others under ``evaluate.tasks``. To add one, add a file here.
Reading the config loads every module of this folder, so they import scipy and the like in their
methods.
"""

import importlib
import pkgutil

from psp.evaluation.tasks.base import (
    BootstrapSpec,
    Metric,
    Part,
    Sources,
    Task,
    Unsupported,
    by_default,
    choosing,
    make,
    names,
    not_scored,
    of_every_model,
)

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = [
    "BootstrapSpec", "Metric", "Part", "Sources", "Task", "Unsupported", "by_default", "choosing", "make", "names",
    "not_scored", "of_every_model",
]  # fmt: skip
