"""Classes by their names, which must be unique."""

from __future__ import annotations

from typing import Any


def add(classes: dict[str, Any], name: str, added: type) -> None:
    """Add a class; a class from a reloaded module replaces its former self.

    Raises:
        ValueError: another class has this name.
    """
    known = classes.get(name, added)
    if (known.__module__, known.__qualname__) != (added.__module__, added.__qualname__):
        raise ValueError(f"{name!r} is already the name of {known.__module__}.{known.__qualname__}")
    classes[name] = added
