"""What is wrong with a config, in one line: each wrong key, its value, what is allowed, and the line to write."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import yaml
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from psp.config.blocks.fields import CODE, NAME, about, block_in, plain
from psp.core.errors import ConfigError, closest

#: Further wrong keys that are named.
MOST = 8
_NAME_IN_WORDS = "letters, digits, '.', '_' and '-', a letter or digit first, 100 at most"
_FORMS = {
    int: "a whole number", float: "a number", bool: "true or false", str: "a text", list: "a list", dict: "a mapping",
    type(None): "null",
}  # fmt: skip
_LIMITS = {
    "greater_than_equal": ("at least", "ge"), "greater_than": ("above", "gt"),
    "less_than_equal": ("at most", "le"), "less_than": ("below", "lt"),
}  # fmt: skip


class _Place(NamedTuple):
    """What is declared at a place of a config: a type, and the setting of the last key."""

    annotation: Any
    field: FieldInfo | None

    @property
    def block(self) -> type[Any] | None:
        block, is_table = block_in(self.annotation)
        return None if is_table else block


def check(raw: Mapping[str, Any], document: type[Any]) -> None:
    """Check a config against the model of the whole.

    Raises:
        ConfigError: it does not fit; one line names the first wrong key, what is allowed and what to write, and the
            other wrong keys.
    """
    if problem := next(_not_yaml(raw, ()), None):
        raise ConfigError(f"config: {problem}")
    try:
        document.model_validate(raw)
    except ValidationError as error:
        raise ConfigError(explained(error, document)) from None


def explained(error: ValidationError, document: type[Any], where: str = "config") -> str:
    """Say in one line what pydantic found.

    Args:
        document: the model of the whole.
        where: what the line begins with; for a block by itself, the block's place.
    """
    found = sorted(error.errors(include_url=False), key=lambda one: (len(_steps(one)), _steps(one)[:-1]))
    first = found[0]
    above = () if where == "config" else (where,)
    keys = list(
        dict.fromkeys(".".join((*above, *_key(one))) or "the top level" for one in _without_others(found, first))
    )
    more = f" (and {len(keys) - MOST} more)" if len(keys) > MOST else ""
    also = f"; wrong as well: {', '.join(keys[:MOST])}{more}" if keys else ""
    return ("" if above else "config: ") + _say(first, found, document, above) + also


def _steps(error: Any) -> tuple[str, ...]:
    """The keys to what is wrong, or missing."""
    return tuple(str(step) for step in error["loc"] if not str(step).startswith("<") and step != "[key]")


def _key(error: Any) -> tuple[str, ...]:
    """The keys to what is wrong; for one that is missing, to where it should be."""
    return _steps(error)[:-1] if error["type"] == "missing" else _steps(error)


def _without_others(found: Sequence[Any], first: Any) -> Iterator[Any]:
    """The errors that the first one's line does not name."""
    for one in found:
        same = one["type"] == first["type"] == "missing" and _key(one) == _key(first)
        if one is not first and not same:
            yield one


def _say(error: Any, found: Sequence[Any], document: type[Any], above: Sequence[str]) -> str:
    """Describe an error: the key, its value, what is allowed, what to write."""
    kind, value, context = error["type"], error["input"], error.get("ctx", {})
    path = [*above, *_key(error)]
    key = ".".join(path)
    loc = tuple(error["loc"])
    if kind == "extra_forbidden":
        unknown = path.pop()
        parent = _at(document, loc[:-1])
        known = list(parent.block.declared()) if parent.block else []
        default = _default(parent)
        example = f"; write e.g. `{path[-1]}: {_yaml(default)}`" if default is not _NONE and default else ""
        return (
            f"{key} is not a key{_meant(unknown, value, known, path, document)}; "
            f"{'.'.join(path) or 'the top level'} may hold {', '.join(known)}{example}"
        )
    if kind == "missing":
        lacking = [str(one["loc"][-1]) for one in found if one["type"] == "missing" and _key(one) == _key(error)]
        return f"{key or 'the top level'} lacks {', '.join(lacking)}; add it"
    if kind == "string_pattern_mismatch" and context["pattern"] == CODE:
        from psp.text.languages import wrong_code

        return f"{key}: {wrong_code(value)}"
    if loc and loc[-1] == "[key]":
        return (
            f"{'.'.join(path[:-1])}: {_yaml(value)} is not a usable name (it becomes a folder's); use {_NAME_IN_WORDS}"
        )
    place = _at(document, loc)
    default = _default(place)
    words = _words(kind, context, place, error["msg"])
    last = next((step for step in reversed(path) if not step.isdecimal()), "")
    line = f"{last}: {'[{}]' if path and path[-1].isdecimal() else '{}'}"  # an item's line is its list's
    example = "" if default is _NONE else f"; write e.g. `{line.format(_yaml(default))}`"
    if (instead := _instead(value, _types(place.annotation))) and _is_of_type(kind):
        example = f"; {instead[0]}; write `{line.format(instead[1])}`"
    meaning = f" ({_help(place)})" if _help(place) else ""
    return f"{key or 'the top level'} is {_yaml(value)}, but {words}{meaning}{example}"


def _words(kind: str, context: Mapping[str, Any], place: _Place, message: str) -> str:
    """What is allowed, after "but"."""
    if kind in _LIMITS:
        word, limit = _LIMITS[kind]
        return f"must be {word} {_number(context[limit])}"
    if kind in ("too_short", "too_long"):
        count = context.get("min_length", context.get("max_length"))
        return (f"needs at least {count} item" if kind == "too_short" else f"may have at most {count} item") + "s" * (
            count != 1
        )
    if kind == "string_too_short":
        return f"must have at least {context['min_length']} character" + "s" * (context["min_length"] != 1)
    if kind == "string_pattern_mismatch":
        return f"must {f'be {_NAME_IN_WORDS}' if context['pattern'] == NAME else 'match ' + context['pattern']}"
    if kind == "finite_number":
        return "must be a finite number"
    if kind in ("distinct", "choice", "empty"):
        return message
    return f"must be {allowed(place.annotation)}"


def _is_of_type(kind: str) -> bool:
    """Whether an error says that a value has the wrong type."""
    return kind.endswith(("_type", "_from_float", "union_tag_not_found")) or kind == "union_tag_invalid"


def allowed(annotation: Any) -> str:
    """The values that a type has, in a few words."""
    words = []
    for one in _types(annotation):
        words += list(get_args(one)) if get_origin(one) is Literal else [_FORMS.get(one, "a mapping")]
    return " or ".join(str(word) for word in dict.fromkeys(words))


def _types(annotation: Any) -> list[Any]:
    """The members of a type, each without metadata: a plain type, or a Literal."""
    if get_origin(annotation) is Annotated:
        return _types(get_args(annotation)[0])
    if get_origin(annotation) is Union or type(annotation).__name__ == "UnionType":
        return [one for member in get_args(annotation) for one in _types(member)]
    if get_origin(annotation) is Literal:
        return [annotation]
    origin = get_origin(annotation) or annotation
    return [dict if isinstance(origin, type) and issubclass(origin, BaseModel) else origin]


def _at(document: type[Any], loc: Sequence[Any]) -> _Place:
    """What is declared at a place."""
    annotation: Any = document
    field: FieldInfo | None = None
    for step in loc:
        if isinstance(step, str) and step.startswith("<"):
            annotation = next(one for one in get_args(plain(annotation)) if step in _tags(one))
            continue
        if step == "[key]":
            return _Place(str, field)
        inner: Any = plain(annotation)
        block, _ = block_in(inner)
        if block is not None and block is inner:
            field = block.declared().get(str(step))
            annotation = field.annotation if field is not None else values_of(block) or Any
        elif get_origin(inner) is dict:
            annotation, field = get_args(inner)[1], None
        elif get_origin(inner) is list:
            annotation = get_args(inner)[0]
            field = field if field is not None and about(field, "example") is not None else None
    return _Place(annotation, field)


def values_of(block: type[Any]) -> Any:
    """The type of the user's own entries beside the keys of a block; None if it takes none."""
    entries = (
        get_type_hints(block, include_extras=True).get("__pydantic_extra__")
        if block.model_config.get("extra") == "allow"
        else None
    )
    return get_args(entries)[1] if get_origin(entries) is dict else None


def _tags(annotation: Any) -> set[str]:
    if get_origin(annotation) is not Annotated:
        return set()
    return {one.tag for one in get_args(annotation)[1:] if hasattr(one, "tag")}


_NONE: Any = object()


def _default(place: _Place) -> Any:
    field = place.field
    if field is not None and (example := about(field, "example")) is not None:
        return example
    if field is None or field.is_required() or about(field, "absent") or field.default_factory is not None:
        return _NONE
    return field.default


def _help(place: _Place) -> str:
    if place.field is not None and place.field.description:
        return place.field.description
    return help_of(place.block) if place.block is not None else ""


def help_of(block: type[Any]) -> str:
    """A block's sentence, in lower case and without its full stop."""
    sentence = " ".join((block.__doc__ or "").partition("\n\n")[0].split()).removesuffix(".")
    first = sentence.partition(" ")[0]
    return sentence if first[1:] != first[1:].lower() else sentence[:1].lower() + sentence[1:]


def _number(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _not_yaml(value: Any, place: tuple[str, ...]) -> Iterator[str]:
    """Yield problems that no type detects: keys that YAML does not read as text, non-finite and huge numbers."""
    where = ".".join(place) or "the top level"
    if isinstance(value, float) and not math.isfinite(value):
        yield f"{where} is {_yaml(value)}, but must be a finite number; write one, or leave the key out"
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        yield f"{where} is a number of {len(str(abs(value))):,} digits, too large for 64 bits; write a smaller one"
    inside: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                yield f"{where}: the name {_yaml(key)} is {_read_as(key)}; write {_quoted(key)}, in quotes"
        inside = value.items()
    elif isinstance(value, list):
        inside = enumerate(value)
    for key, below in inside:
        yield from _not_yaml(below, (*place, str(key)))


def _read_as(value: Any) -> str:
    """Describe how YAML read a value that is not text."""
    if isinstance(value, bool):
        return f"YAML's {'yes' if value else 'no'} (it reads {'yes and on' if value else 'no and off'} so)"
    if value is None:
        return "YAML's null"
    return "a number in YAML" if isinstance(value, int | float) else "a date in YAML"


def _quoted(value: Any) -> str:
    """Quote a value that YAML did not read as text."""
    if isinstance(value, bool):
        return '"yes" or "on"' if value else '"no"'
    return f'"{_yaml(value)}"'


def _instead(value: Any, types: Sequence[Any]) -> tuple[str, str] | None:
    """Return why a value has the wrong type (text for a number, or a number for text), and what to write instead."""
    if isinstance(value, str) and {float, int} & set(types):
        try:
            number = float(value)
        except ValueError:
            return None
        if math.isfinite(number) and (float in types or number.is_integer()):
            return "YAML reads this as text", _yaml(number if float in types else int(number))
    if isinstance(value, float) and value.is_integer() and int in types:
        return "this has a decimal point", _yaml(int(value))
    if str in types and not isinstance(value, Mapping | list | None):
        return f"this is {_read_as(value)}", _quoted(value)
    return None


def _meant(name: str, value: Any, known: Iterable[str], path: Sequence[str], document: type[Any]) -> str:
    """A hint for an unknown key: where a key of that name exists, or the closest spelling; may be empty."""
    places: dict[str, list[str]] = {}
    for place in _places(document, path[:2] if path[:1] == ["models"] else ()):
        places.setdefault(place.rpartition(".")[2], []).append(place)
    if slip := difflib.get_close_matches(name, known, 1, 0.9):  # language for languages
        return f"; did you mean {slip[0]}?"
    # The block may not exist although its keys do, elsewhere.
    for asked in (name, *(value if isinstance(value, Mapping) else ())):
        if 1 <= len(paths := places.get(asked, [])) <= 3:
            return f"; {'it' if asked == name else asked} is {' or '.join(paths)}"
    if hint := closest(name, known):
        return hint
    (near, *_) = (*difflib.get_close_matches(name, [key for key, paths in places.items() if len(paths) <= 3], 1), "")
    return f"; did you mean {' or '.join(places[near])}?" if near else ""


def _places(document: type[Any], model: Sequence[str]) -> Iterator[str]:
    """Yield the dotted paths of all keys; given ``model``, a model's path, blocks are those of the model."""

    def below(block: type[Any], place: str) -> Iterator[str]:
        for key, field in block.declared().items():
            yield f"{place}{key}"
            inner, is_table = block_in(field.annotation)
            if inner is not None and not is_table:
                yield from below(inner, f"{place}{key}.")

    entry = block_in(document.declared()["models"].annotation)[0] if "models" in document.declared() else None
    of_model = entry.declared() if entry else {}
    for key, field in document.declared().items():
        prefix = f"{'.'.join(model)}." if model and key in of_model else ""
        yield prefix + key
        inner, is_table = block_in(field.annotation)
        if inner is not None and not is_table:
            yield from below(inner, f"{prefix}{key}.")
    for name, place in (("corpora", "corpora.<name>"), ("models", ".".join(model) or "models.<name>")):
        if name in document.declared():
            inner = block_in(document.declared()[name].annotation)[0]
            yield from (
                f"{place}.{key}" for key in (inner.declared() if inner else ()) if key not in document.declared()
            )


def _yaml(value: Any) -> str:
    return (
        yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10**6).removesuffix("\n...\n").strip()
    )
