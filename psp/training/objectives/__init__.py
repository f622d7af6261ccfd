"""Training objectives: each is one self-describing class in one file.

To add one, add a file here: reading the config loads every module of this folder, so they
import torch in their methods. ``tests/training/pairwise_sigmoid.py`` is a complete example, with parameters of its own.
Gradients written by hand, as for both objectives here, are in :mod:`psp.training.losses`.
"""

import importlib
import pkgutil

from psp.training.objectives.base import OBJECTIVES, MiniBatch, Objective, PairComparison, find, mines, register

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = ["OBJECTIVES", "MiniBatch", "Objective", "PairComparison", "find", "mines", "register"]
