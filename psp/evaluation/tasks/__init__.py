"""The evaluation tasks, one module each.

:mod:`psp.evaluation.tasks.sts` and :mod:`psp.evaluation.tasks.tatoeba` are the paper's; every model is scored by them.
The others are what a config adds under ``evaluate.tasks``, each one class of
:class:`psp.evaluation.tasks.contract.Task`. To add one, add a file here and run ``make settings``: every module of this
folder but those two is loaded where the config is read, so it imports scipy and the like in its methods.
"""

import importlib
import pkgutil

from psp.evaluation.tasks.contract import Draw, Figure, Part, Task, Unsupported, make, names

FIXED = ("sts", "tatoeba")

for _module in pkgutil.iter_modules(__path__):
    if _module.name not in FIXED:
        importlib.import_module(f"{__name__}.{_module.name}")

__all__ = ["Draw", "Figure", "Part", "Task", "Unsupported", "make", "names"]
