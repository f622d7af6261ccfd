"""Training objectives: each is one class in one file, and says all that psp asks of it.

To add one, add a file here and run ``make settings``: every module of this folder is loaded where the config is read,
so it imports torch in its methods. ``tests/training/pairwise_sigmoid.py`` is a complete example, with parameters of its
own. An objective whose gradient is written by hand has it in :mod:`psp.training.losses`, as both that are here have.
"""

import importlib
import pkgutil

from psp.training.objectives.base import MiniBatch, Objective, PairComparison, find, mines, names, register, registered

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = ["MiniBatch", "Objective", "PairComparison", "find", "mines", "names", "register", "registered"]
