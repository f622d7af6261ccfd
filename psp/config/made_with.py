"""Record which config files made a model, and warn of a run with others that remakes it.

``snakemake`` alone makes all models of config/config.yaml, and so retrains a ``results/fr`` that another
``--configfile`` made.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path

from psp.core.files import atomic_text

#: In a model's folder of results: their paths, a line each.
NAME = "configfiles.txt"


def note(results: Path | str, files: Sequence[str]) -> None:
    """Record the config files of a run that makes a model.

    Args:
        results: the model's folder of results.
        files: paths, as Snakemake has them; kept relative to the folder that it runs in.

    Raises:
        DataError: it cannot be written.
    """
    Path(results).mkdir(parents=True, exist_ok=True)
    with atomic_text(Path(results) / NAME) as file:
        file.writelines(f"{name}\n" for name in _relative(files))


def warning(models: Collection[str], files: Sequence[str]) -> str | None:
    """Say which finished models a run remakes although other config files made them.

    Args:
        models: the models that it remakes, whose folders are ``results/<model>``.
        files: the run's config files.

    Returns:
        One line for all of them; None if these files made them, or there is no record.
    """
    others = {}
    for name in models:
        path = Path("results", name, NAME)
        if path.exists() and (made := path.read_text("utf-8", "replace").splitlines()) != _relative(files):
            others[name] = made
    if not others:
        return None
    name, made = next(iter(others.items()))
    more = f" (so are {', '.join([*others][1:])})" if len(others) > 1 else ""
    return (
        f"results/{name} was made with {' '.join(made)}, and is remade by this run with {' '.join(_relative(files))}"
        f"{more}; to keep it, stop the run, and use the same --configfile or give the model another name"
    )


def _relative(files: Sequence[str]) -> list[str]:
    return [os.path.relpath(file) for file in files]
