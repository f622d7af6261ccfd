"""What a block of the config is: a mapping whose keys are known, each declared once."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo

from psp.config.blocks.errors import explained
from psp.config.blocks.fields import RECIPES, about, block_in
from psp.config.blocks.overlay import merge
from psp.core.errors import ConfigError

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)  # it has no public name


class _Checked(ModelMetaclass):
    """Makes a block from complete settings, or raises this project's error.

    A config's blocks, which are not complete, are validated by pydantic alone, without this.
    """

    BLOCK: str

    def __call__(cls, **settings: Any) -> Any:
        try:
            made = super().__call__(**_lists(settings))
        except ValidationError as error:
            raise ConfigError(explained(error, cls, cls.BLOCK)) from None
        made.check()
        return made


def _lists(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Write tuples, which Python code may give, as the lists of a config."""
    return {key: list(value) if isinstance(value, tuple) else value for key, value in settings.items()}


class Block(BaseModel, metaclass=_Checked):
    """A mapping of the config whose keys are known.

    A subclass has a field for each key; its docstring's first sentence is its help. ``Block(key=value)`` is for
    complete settings and raises a ConfigError that begins with ``BLOCK``.
    """

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, allow_inf_nan=False, protected_namespaces=(), defer_build=True
    )

    BLOCK: ClassVar[str] = ""
    INERT: ClassVar[bool] = False
    """Whether none of its settings affects a model."""

    def check(self) -> None:
        """Check settings against one another.

        Raises:
            ConfigError: they do not fit.
        """

    @classmethod
    def of(cls, settings: Self | Mapping[str, Any] | None) -> Self:
        """Settings as they are, or those of a mapping, where keys left out have their defaults; None has them all.

        Raises:
            ConfigError: an unknown key, or a value that is not allowed.
        """
        return settings if isinstance(settings, cls) else cls(**dict(settings or {}))

    @classmethod
    def at(cls, place: str, settings: Mapping[str, Any]) -> Self:
        """Settings of a mapping, as of :meth:`of`; errors begin with its place in the config."""
        try:
            made = cls.model_validate(_lists(settings))
        except ValidationError as error:
            raise ConfigError(explained(error, cls, place)) from None
        try:
            made.check()
        except ConfigError as error:
            raise ConfigError(f"{place}: {error}") from None
        return made

    def but(self, **changes: Any) -> Self:
        """These settings with some others.

        Raises:
            ConfigError: as :meth:`of`.
        """
        return type(self)(**{**self.as_dict(), **changes})

    def as_dict(self) -> dict[str, Any]:
        """All settings in the order of their definition, ready for JSON."""
        return self.model_dump(mode="json", by_alias=True)

    @classmethod
    def declared(cls) -> dict[str, FieldInfo]:
        """The declaration of each key."""
        return {field.alias or name: field for name, field in cls.model_fields.items()}

    @classmethod
    def has(cls, key: str, recipe: str) -> bool:
        """Whether a recipe has a default of its own for a key."""
        return recipe in (about(cls.declared()[key], "recipes") or {})

    @classmethod
    def default(cls, key: str, recipe: str = RECIPES[0]) -> Any:
        """A key's default under a recipe."""
        field = cls.declared()[key]
        return copy.deepcopy(about(field, "recipes")[recipe] if cls.has(key, recipe) else field.default)

    @classmethod
    def defaults(cls, recipe: str = RECIPES[0]) -> dict[str, Any]:
        """All settings under a recipe, but for keys that have no default."""
        values: dict[str, Any] = {}
        for key, field in cls.declared().items():
            below, is_table = block_in(field.annotation)
            if field.is_required() or about(field, "absent"):
                continue
            values[key] = cls.default(key, recipe) if below is None or is_table else below.defaults(recipe)
        return values

    @classmethod
    def table(cls, given: Mapping[str, Any], recipe: str, own: Mapping[str, Any]) -> dict[str, Any]:
        """The defaults of a table of such blocks: of the entries ``given`` by default, and of those in ``own``."""
        entries = merge(given, own)
        return {key: merge(cls.defaults(recipe), given.get(key, {})) for key in entries}

    def learned(self) -> dict[str, Any]:
        """The settings that change what is learned."""
        return {key: value for key, value in self.as_dict().items() if not _apart(self.declared()[key])}

    @classmethod
    def tracked(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """Those of the values whose change remakes what depends on the block, as a rule's params have them.

        Defaults are left out, so that a new setting remakes nothing; :meth:`whole` brings them back. Whoever changes a
        default raises the number of the stages that read it (:mod:`psp.core.versions`).
        """
        kept: dict[str, Any] = {}
        for key, field in cls.declared().items():
            below, is_table = block_in(field.annotation)
            if key not in values or _apart(field):
                continue
            if below is None or is_table:
                if values[key] != field.default or about(field, "absent"):
                    kept[key] = values[key]
            elif inner := below.tracked(values[key]):
                kept[key] = inner
        return kept

    @classmethod
    def whole(cls, tracked: Mapping[str, Any]) -> dict[str, Any]:
        """All settings, from those of :meth:`tracked`; what changes nothing has its default."""
        return merge(cls.defaults(), tracked)

    @classmethod
    def inert(cls, name: str) -> Iterator[str]:
        """Prefixes of the dotted keys that are inert in a block of this name, or the block itself."""
        if cls.INERT:
            yield f"{name}."
            return
        for key, field in cls.declared().items():
            below, is_table = block_in(field.annotation)
            if about(field, "inert"):
                yield f"{name}.{key}"
            elif below is not None and not is_table:
                yield from below.inert(f"{name}.{key}")


def _apart(field: FieldInfo) -> bool:
    below, is_table = block_in(field.annotation)
    whole = below is not None and not is_table and below.INERT
    return bool(whole or about(field, "inert") or about(field, "untracked"))
