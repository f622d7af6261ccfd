"""Filters: decide which pairs to train on, and give a reason for each dropped pair.

Each filter is one class in one file and implements the interface in :mod:`psp.pairs.filters.base`;
:mod:`psp.pairs.filters.stage` runs them over a corpus and counts what they drop.

To add a filter, declare its settings in :mod:`psp.config.blocks.filters`, as a class and a key of ``FiltersBlock``, and
add a file with the filter here; every module of this folder is loaded. Nothing else needs an edit, unless the filter
reads a file, as ``language`` reads the LID model: then the rule ``filter`` and its script must pass it. Whoever changes
what a filter drops raises the rule's number in ``psp/core/versions.py``. :mod:`psp.pairs.filters.symbols` is a short
example to start from::

    class ShoutingBlock(FilterBlock):
        \"""Text in capitals.\"""

        KEY: ClassVar[str] = "shouting"

        enabled: bool = setting(False, "drop a pair whose source is all in capitals")
        min: int = setting(10, "longest text that may be all in capitals", ge=1, recipes={"code": 5})

    class ShoutingFilter(Filter):
        \"""Drops pairs whose source has more than ``min`` characters, all in capitals.\"""

        name = "shouting"  # config: `filters: {shouting: {enabled: true}}`
        order = 14  # filters run in this order, cheap ones first

        def __call__(self, batch: Batch) -> list[str | None]:
            least = self.settings["min"]
            return ["shouting" if len(text) > least and text.isupper() else None for text in batch.source]
"""

import importlib
import pkgutil

from psp.pairs.filters.base import Batch, Filter, RowError, build, names
from psp.pairs.filters.stage import filter_corpus

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = [
    "Batch",
    "Filter",
    "RowError",
    "build",
    "filter_corpus",
    "names",
]
