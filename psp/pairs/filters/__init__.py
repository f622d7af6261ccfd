"""Filters: which pairs are good enough to train on, and why the others are not.

One file a filter, one class a file, one contract (:mod:`psp.pairs.filters.contract`); :mod:`psp.pairs.filters.stage`
runs them over a corpus and counts what they drop.

To add a filter, add a file here and run ``make settings``. Nothing else needs an edit (unless the filter reads a file
of its own, as ``language`` reads the LID model: then the rule ``filter`` and its script pass it): every module of this
folder is found, and the rule reruns when one changes. :mod:`psp.pairs.filters.symbols` is a short example to start
from::

    class ShoutingFilter(Filter):
        \"""Drops pairs whose source has more than ``min`` characters, all in capitals.\"""

        name = "shouting"  # config: `filters: {shouting: {enabled: true}}`
        order = 14  # filters run in this order, cheap ones first
        help = "text in capitals"
        declared: ClassVar[Mapping[str, Setting]] = {
            "enabled": flag(False, help="drop a pair whose source is all in capitals"),
            "min": whole(10, at_least=1, recipes={"code": 5}, help="characters that may be in capitals"),
        }

        def __call__(self, batch: Batch) -> list[str | None]:
            least = self.settings["min"]
            return ["shouting" if len(text) > least and text.isupper() else None for text in batch.source]

The declarations (:mod:`psp.core.settings`) are the config's schema, its check and its help. ``make settings`` writes
the pages that quote them: docs/settings.md and the schema of the filter report.
"""

import importlib
import pkgutil

from psp.pairs.filters.contract import Batch, Filter, RowError, build, names, problems, section
from psp.pairs.filters.stage import filter_corpus

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = ["Batch", "Filter", "RowError", "build", "filter_corpus", "names", "problems", "section"]
