"""Filters: decide which pairs to train on, and give a reason for each dropped pair.

Each filter is one class in one file and implements the interface in :mod:`psp.pairs.filters.base`;
:mod:`psp.pairs.filters.stage` runs them over a corpus and counts what they drop.

To add a filter, add a file here. Every module of this folder is loaded. Nothing else needs an
edit, unless the filter reads a file, as ``language`` reads the LID model: then the rule ``filter`` and its script must
pass it. Whoever changes what a filter drops raises the rule's number in ``psp/core/versions.py``.
:mod:`psp.pairs.filters.symbols` is a short example to start from::

    class ShoutingFilter(Filter):
        \"""Drops pairs whose source has more than ``min`` characters, all in capitals.\"""

        name = "shouting"  # config: `filters: {shouting: {enabled: true}}`
        order = 14  # filters run in this order, cheap ones first
        help = "text in capitals"
        declared: ClassVar[Mapping[str, Setting]] = {
            "enabled": boolean(False, help="drop a pair whose source is all in capitals"),
            "min": integer(10, at_least=1, recipes={"code": 5}, help="longest text that may be all in capitals"),
        }

        def __call__(self, batch: Batch) -> list[str | None]:
            least = self.settings["min"]
            return ["shouting" if len(text) > least and text.isupper() else None for text in batch.source]

``boolean`` and ``integer`` come from :mod:`psp.core.settings`, :class:`Filter` and :class:`Batch` of
:mod:`psp.pairs.filters.base`. The declarations give the config's schema, its checks and its help. ``psp settings``
prints them.
"""

import importlib
import pkgutil

from psp.pairs.filters.base import Batch, Filter, RowError, build, for_text, names, problems, section
from psp.pairs.filters.stage import filter_corpus

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = [
    "Batch",
    "Filter",
    "RowError",
    "build",
    "filter_corpus",
    "for_text",
    "names",
    "problems",
    "section",
]
