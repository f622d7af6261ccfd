"""Settings of a block of the config as a dataclass, each key declared once."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, ParamSpec, Self

from psp.core import settings
from psp.core.errors import ConfigError, closest
from psp.core.settings import Setting

P = ParamSpec("P")


def _field(declared: Callable[P, Setting]) -> Callable[P, Any]:
    """What makes a field of a dataclass with its declaration, from what makes the declaration alone."""

    def field(*args: P.args, **kwargs: P.kwargs) -> Any:
        setting = declared(*args, **kwargs)
        default = tuple(setting.default) if isinstance(setting.default, list) else setting.default
        return dataclasses.field(default=default, metadata={"setting": setting})

    return field


# As in psp.core.settings, for the fields of those who inherit from the class below.
boolean, choice, integer = _field(settings.boolean), _field(settings.choice), _field(settings.integer)
list_of, number, text = _field(settings.list_of), _field(settings.number), _field(settings.text)


class CheckedSettings:
    """Settings of the config's block ``BLOCK``; wrong values are reported as for the config."""

    BLOCK: ClassVar[str]

    @classmethod
    def declared(cls) -> dict[str, Setting]:
        """The declaration of each setting, by its name."""
        fields = dataclasses.fields(cls)  # type: ignore[arg-type]  # those who inherit are dataclasses
        return {field.name: field.metadata["setting"] for field in fields}

    @classmethod
    def of(cls, settings: Self | Mapping[str, Any] | None) -> Self:
        """Settings as they are, or those of a mapping; None has the defaults."""
        if isinstance(settings, Mapping) or settings is None:
            return cls.from_mapping(settings or {})
        return settings

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> Self:
        """Settings from a block of a config; keys left out keep their defaults.

        Raises:
            ConfigError: an unknown key, or a value that is not allowed.
        """
        known = cls.declared()
        if unknown := [key for key in mapping if key not in known]:
            raise ConfigError(
                f"{cls.BLOCK}.{unknown[0]}: no such key{closest(unknown[0], known)}; allowed are {', '.join(known)}"
            )
        return cls(**mapping)

    def __post_init__(self) -> None:
        for key, setting in self.declared().items():
            value = getattr(self, key)
            if not setting.allows(value):
                raise self._wrong(key, setting.allowed)
            if "number" in setting.values().get("type", ()) and value is not None:
                object.__setattr__(self, key, float(value))  # 1 and 1.0 in a config are the same setting
            if isinstance(value, list):
                object.__setattr__(self, key, tuple(value))

    def as_dict(self) -> dict[str, Any]:
        """All settings, in the order of their definition, ready for JSON."""
        values = {key: getattr(self, key) for key in self.declared()}
        return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}

    def learned(self) -> dict[str, Any]:
        """The settings that change what is learned."""
        declared = self.declared()
        return {key: value for key, value in self.as_dict().items() if not declared[key].inert}

    def _wrong(self, key: str, allowed: str) -> ConfigError:
        return ConfigError(
            f"{self.BLOCK}.{key}: {getattr(self, key)!r} is not allowed; allowed is {allowed}. "
            f"Write `{key}: {json.dumps(self.declared()[key].default)}`"
        )
