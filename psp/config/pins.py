"""Pins: the size and SHA-256 that each download must have, recorded once it has been downloaded and inspected."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from psp.config.config import Config
from psp.config.config_file import read_yaml
from psp.core.errors import DataError
from psp.core.files import atomic_text, sha256

log = logging.getLogger(__name__)

HEADER = "# Written by `psp pin`: the size and SHA-256 that each download must have.\n"


def pin(config: Config, models: Iterable[str], downloads: Path | str, out: Path | str) -> list[str]:
    """Add the pins of what the models have downloaded to those in ``out``.

    Returns:
        The names pinned. Files not yet downloaded are left out, with a warning.

    Raises:
        DataError: there is nothing to pin, or a file differs from its pin (remove the pin to replace it).
    """
    names = sorted({name for model in models for name in config.downloads(config.model(model))})
    downloaded = [name for name in names if (Path(downloads) / name).is_file()]
    if not downloaded:
        raise DataError("none of these models' files has been downloaded yet; run the workflow first", downloads)
    check(config, downloaded, downloads)
    pins = read_yaml(out) if Path(out).exists() else dict(config.pins)
    for name in downloaded:
        path = Path(downloads) / name
        pins[name] = {"bytes": path.stat().st_size, "sha256": sha256(path)}
    with atomic_text(out) as file:
        file.write(HEADER)
        for name in sorted(pins):
            file.write(yaml.safe_dump({name: pins[name]}, default_flow_style=None, width=10**6))
    for name in names:
        if name not in downloaded:
            log.warning("%s is not downloaded yet and stays unpinned", name)
    return downloaded


def check(config: Config, names: Iterable[str], downloads: Path | str) -> list[str]:
    """Compare files with their pins.

    Returns:
        The names that have a pin and a file.

    Raises:
        DataError: a file differs from its pin.
    """
    pinned = [name for name in names if name in config.pins and (Path(downloads) / name).is_file()]
    for name, problem in problems(config, pinned, downloads).items():
        raise DataError(problem, Path(downloads) / name)
    return pinned


def problems(config: Config, names: Iterable[str], downloads: Path | str) -> dict[str, str]:
    """Say what is wrong with each file that is missing, has no pin or differs from it, by name."""
    wrong: dict[str, str] = {}
    for name in names:
        path, expected = Path(downloads) / name, config.pins.get(name)
        if not path.is_file():
            wrong[name] = "is not downloaded; run the workflow"
        elif expected is None:
            wrong[name] = "has no pin; write it with `psp pin`"
        elif difference := _difference(path, expected):
            wrong[name] = f"{difference}; delete it and fetch it again"
    return wrong


def _difference(path: Path, expected: Mapping[str, Any]) -> str | None:
    if (size := path.stat().st_size) != expected["bytes"]:
        return f"has {size:,} bytes, but its pin says {expected['bytes']:,}"
    if (digest := sha256(path)) != expected["sha256"]:
        return f"has SHA-256 {digest}, but its pin says {expected['sha256']}"
    return None
