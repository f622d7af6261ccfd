"""Record which config files made a model: other files do not remake a finished model unless told to.

Without this, ``snakemake`` alone, which makes all models of config/config.yaml, would retrain a ``results/fr`` that
another ``--configfile`` made.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path

from psp.core.errors import ConfigError
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


def refusal(models: Collection[str], files: Sequence[str]) -> ConfigError | None:
    """The message about finished models that a run would remake although other config files made them.

    Args:
        models: the models that it would remake, whose folders are ``results/<model>``.
        files: the run's config files.

    Returns:
        One error for all of them; None if these files made them, or there is no record.
    """
    others = {}
    for name in models:
        path = Path("results", name, NAME)
        if path.exists() and (made := path.read_text("utf-8", "replace").splitlines()) != _relative(files):
            others[name] = made
    if not others:
        return None
    name, made = next(iter(others.items()))
    more = f" (so would {', '.join([*others][1:])})" if len(others) > 1 else ""
    return ConfigError(
        f"results/{name} was made with {' '.join(made)}, but this run, with {' '.join(_relative(files))}, would remake "
        f"it{more}; use the same --configfile, give the model another name, or allow it: --config "
        f"remake={','.join(others)}"
    )


def _relative(files: Sequence[str]) -> list[str]:
    return [os.path.relpath(file) for file in files]
