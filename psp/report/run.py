"""The files of a finished or unfinished run of one model in its folder of results."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from psp.core.errors import DataError
from psp.core.files import read_report
from psp.models.folder import load as load_model
from psp.models.scores import is_of_every_model
from psp.text.csv_table import Column, read_table

#: JSON files by name, and a description of each, for a page without it.
FILES = {
    "eval": ("eval.json", "its scores"),
    "data": ("data.json", "its training data"),
    "train": ("train/train.json", "its training"),
    "compare": ("compare.json", "other systems for comparison"),
    "examples": ("examples.json", "what it gets right and wrong"),
    "variants": ("variants.json", "its variants"),
    "quantized": ("quantized.json", "smaller versions of it"),
    "speed": ("speed.json", "its speed"),
}
#: The formats that are read, of files with others than 1.
FORMATS = {"config": (1, 2)}
METRICS, STORE, CONFIG = "train/metrics.csv", "store.h5", "model/config.json"
TASKS = ("tasks/*.json", "systems/*/tasks/*.json")
#: Optional files, which are not reported as missing.
EXTRA = ("variants", "quantized", "speed")
_BLOCK = 1 << 14  # pairs of the store read at a time, for a few of each corpus


@dataclass(frozen=True)
class Run:
    """A model's results, as far as they exist.

    Attributes:
        name: the model's name.
        folder: results/<model>.
        found: the JSON files by name, those of :data:`FILES` that are there.
        tasks: the files of tasks, of the model before those of other systems on the same task.
        metrics: ``pairs``, ``megabatch`` and ``loss``, a value each at every line of metrics.csv; None without it.
        config: config.json of the model's folder; None without one.
        size: bytes of the model's files, without its card; None without a model.
    """

    name: str
    folder: Path
    found: Mapping[str, dict[str, Any]]
    tasks: Sequence[dict[str, Any]]
    metrics: Mapping[str, Column] | None
    config: Mapping[str, Any] | None
    size: int | None

    @classmethod
    def load(cls, folder: Path | str, files: Collection[Path | str] | None = None) -> Run:
        """Read the results of a model.

        Args:
            folder: results/<model>.
            files: the files that may be read, of those in the folder; None for all.

        Raises:
            DataError: there is no result in the folder; a file is broken, or of another model than the others.
        """
        folder = Path(folder)
        allowed = None if files is None else {Path(file) for file in files}

        def there(path: Path) -> bool:
            return path.is_file() and (allowed is None or path in allowed)

        paths = {name: path for name, (file, _) in FILES.items() if there(path := folder / file)}
        tasks = [path for pattern in TASKS for path in folder.glob(pattern) if there(path)]
        if "eval" not in paths and "data" not in paths and not tasks:
            raise DataError(
                "has neither eval.json nor data.json: it is not a folder of a model's results, or nothing is done yet; "
                f"make them with snakemake -- {folder}/report.html",
                folder,
            )
        reports = {name: _read(path, name) for name, path in paths.items()}
        names: dict[str, str] = {}
        for name, (file, _) in FILES.items():
            if "model" in reports.get(name, {}):
                names.setdefault(reports[name]["model"], file)
        if len(names) > 1:
            owners = ", ".join(f"{file} of {name}" for name, file in names.items())
            raise DataError(f"holds results of several models: {owners}; make them again", folder)
        config = _read(folder / CONFIG, "config") if there(folder / CONFIG) else None
        model = [path for path in sorted((folder / "model").rglob("*")) if path.is_file() and path.name != "README.md"]
        return cls(
            name=next(iter(names), folder.resolve().name),
            folder=folder,
            found=reports,
            # One task after another, the model before other systems; the standard tasks are in eval.json.
            tasks=[
                task
                for path in sorted(tasks, key=lambda path: (path.name, len(path.parts), path))
                if not is_of_every_model(task := _read(path, "task"))
            ],
            metrics=read_table(folder / METRICS, ("pairs", "megabatch", "loss")) if there(folder / METRICS) else None,
            config=config,
            size=sum(path.stat().st_size for path in model) if config is not None else None,
        )

    def __contains__(self, name: str) -> bool:
        return name in self.found

    def __getitem__(self, name: str) -> dict[str, Any]:
        return self.found[name]

    @property
    def joined(self) -> bool:
        """Whether it joins models that were trained apart, and so has no data and training of its own."""
        return "parts" in self.found.get("eval", {}) and "train" not in self.found.get("eval", {})

    @property
    def missing(self) -> list[tuple[str, str]]:
        """The files that a finished run would have, and their contents."""
        needless = {*EXTRA, *(("data", "train") if self.joined else ())}
        return [(file, about) for name, (file, about) in FILES.items() if name not in self and name not in needless]


def kept_pairs(store: Path | str, model_dir: Path | str, count: int) -> dict[str, list[tuple[str, str]]]:
    """Some pairs that were trained on, of each corpus; the store is shuffled, so the first ones are a random sample.

    Args:
        store: the model's store.
        model_dir: the model's folder, whose tokenizer decodes the store: what it changes, such as case, is changed.
        count: pairs of each corpus.

    Returns:
        The pairs by corpus; empty for a model without a single tokenizer, such as one of parts.

    Raises:
        DataError: a file cannot be read, or the store was encoded with another tokenizer.
    """
    tokenizer = getattr(load_model(model_dir), "tokenizer", None)
    if tokenizer is None:
        return {}
    from psp.pairs.store import Store

    with Store(store) as stored:
        stored.check_vocabulary(tokenizer)
        labels = list(stored.corpora)
        pairs_of: dict[str, list[tuple[str, str]]] = {label: [] for label in labels}
        for start in range(0, len(stored), _BLOCK):
            block = stored.read(start, min(start + _BLOCK, len(stored)))
            rows = [
                np.flatnonzero(block.corpus == at)[: count - len(pairs_of[label])] for at, label in enumerate(labels)
            ]
            for label, chosen in zip(labels, rows, strict=True):
                sides = (tokenizer.decode(side.take(chosen)) for side in (block.source, block.target))
                pairs_of[label] += zip(*sides, strict=True)
            if all(len(pairs) >= count for pairs in pairs_of.values()):
                break
    return pairs_of


def _read(path: Path, name: str) -> dict[str, Any]:
    return dict(read_report(path, *FORMATS.get(name, (1,))))
