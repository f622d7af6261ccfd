"""Items of a model's ``corpora`` that are mined from bitext: ``{mined: en, through: fr, from: ...}``, and ``pivoted``.

The mining itself is :mod:`psp.pairs.pivot`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from psp.config.corpus_entries import Part, check_filters, resolve
from psp.config.licences import may_be_adapted
from psp.config.overlay import merge
from psp.core.errors import ConfigError
from psp.corpora.kinds import of_item

#: Filters of mined pairs, unless the config says otherwise, for the model or the item. Bitext is filtered before it is
#: mined, by language too; what is left to find are copies, other numbers, and lines too short to mean the same.
FILTERS: Mapping[str, Any] = {
    "identical": {"enabled": True, "near": 1},
    "length": {"enabled": True, "min": 4, "max": 40, "tokens": "words"},
    "numbers": {"enabled": True},
    "overlap": {"enabled": True, "max": 0.7},
    "language": {"enabled": False},
    "ratio": {"enabled": False},
    "similarity": {"enabled": False},
}
#: Without filters of their own (``pivot.own_filters``), what is kept clear of test sets is all that is looked at.
_KEPT = "decontaminate"
#: Keys that such an item may have.
_KEYS = ("through", "from", "pairs", "max_group", "name", "cap", "filters", "rank")


def is_mined(item: Any) -> bool:
    """Whether an item of ``corpora`` is mined pairs."""
    return isinstance(item, Mapping) and ("mined" in item or "pivoted" in item)


def own_filters(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The block ``filters`` of mined pairs, without what the config itself says.

    Args:
        settings: a model's blocks ``filters`` and ``pivot``.
    """
    if settings["pivot"]["own_filters"]:
        return merge(settings["filters"], FILTERS)
    off = {
        name: {"enabled": False}
        for name, one in settings["filters"].items()
        if isinstance(one, Mapping) and "enabled" in one and name != _KEPT
    }
    return merge(settings["filters"], off)


def resolve_mined(
    item: Mapping[str, Any],
    *,
    model: str,
    languages: tuple[str, ...],
    settings: Mapping[str, Any],
    written: Mapping[str, Any],
    catalogue: Mapping[str, Mapping[str, Any]],
    recipe: str,
    parts_of: Callable[[str], Iterable[Part]],
    circular: Callable[[str], bool],
    where: str,
) -> Part:
    """Resolve an item that is mined from bitext.

    Args:
        item: with ``mined``, a language, or ``pivoted``, two; ``through``; and ``from``.
        model, languages: the model's name and languages.
        settings: its blocks ``filters``, ``rank`` and ``pivot``.
        written: what of ``filters`` the config itself says; :data:`FILTERS` stand in for the rest.
        catalogue: the config's ``corpora``.
        recipe: the model's.
        parts_of: resolves the corpora of another model.
        circular: whether an encoder is trained on the pairs of this model.
        where: the item's location, for errors, such as ``models.fr.corpora``.

    Raises:
        ConfigError: the item is incomplete, its languages do not fit, a corpus is unknown, or none holds a language.
    """
    if "mined" in item and "pivoted" in item:
        raise ConfigError(f"{where}: an item is either mined or pivoted; write two items")
    kind = "mined" if "mined" in item else "pivoted"
    wanted = [item["mined"]] if kind == "mined" else list(item["pivoted"])
    said = f"{where}: {kind} {' and '.join(wanted)}"
    for key in ("through", "from"):
        if key not in item:
            example = "[OpenSubtitles]" if key == "from" else "en"
            raise ConfigError(f"{said}: has no `{key}`; write e.g. `{key}: {example}`")
    if strange := [key for key in item if key not in (kind, *_KEYS)]:
        raise ConfigError(f"{said}: {strange[0]} is not for mined pairs; leave it out")
    through = item["through"]
    if through in wanted:
        raise ConfigError(f"{said}: through {through}, the same language; name the one that their translations are in")
    if stranger := next((language for language in wanted if language not in languages), None):
        raise ConfigError(f"{said}: {stranger} is not in {where.removesuffix('corpora')}languages; add it")
    sources = tuple(bitext(item["from"], wanted, through, settings, catalogue, recipe, parts_of, model, said))
    for language in wanted:
        if not any(language in source.languages for source in sources):
            raise ConfigError(
                f"{said}: no corpus of `from` is bitext of {language} and {through}; name one that is, or another "
                "language for `through`"
            )
    check_distinct(sources, said)
    both = (wanted[0], wanted[-1])
    own = {key: item[key] for key in ("pairs", "max_group") if key in item}
    mining = {**settings["pivot"], **own}
    if mining["min_cosine"] is not None and mining["encoder"] is None:
        raise ConfigError(
            f"{said}: pivot.min_cosine is {mining['min_cosine']}, but pivot.encoder names none; write e.g. "
            "`pivot: {encoder: use-multilingual, min_cosine: 0.7}`"
        )
    part = Part(
        corpus=item.get("name", f"Mined-{through}"),
        opus="",
        kind="mined",
        version=None,
        languages=both,
        names=both,
        cap=item.get("cap"),
        licence=union([source.licence for source in sources]),
        filters=merge(merge(own_filters(settings), written), item.get("filters", {})),
        sources=sources,
        through=through,
        pivot=mining,
        rank=merge(settings["rank"], item.get("rank", {})),
    )
    check_filters(part, settings["filters"], where)
    similarity = part.filters["similarity"]
    used = {"filters.similarity.encoder": similarity["encoder"] if similarity["enabled"] else None}
    used["pivot.encoder"] = mining["encoder"] if mining["min_cosine"] is not None else None
    for key, encoder in used.items():
        if encoder is not None and circular(encoder):
            raise ConfigError(
                f"{said}: {key} is {encoder}, which is trained on these very pairs, a circle; name another, such as "
                "use-multilingual (ar de en es fr it ja ko nl pl pt ru th tr zh)"
            )
    return part


def bitext(
    given: Any,
    wanted: list[str],
    through: str,
    settings: Mapping[str, Any],
    catalogue: Mapping[str, Mapping[str, Any]],
    recipe: str,
    parts_of: Callable[[str], Iterable[Part]],
    model: str,
    said: str,
) -> Iterable[Part]:
    """Resolve ``from``: each of its corpora in each of the languages ``wanted`` that it has with ``through``.

    Raises:
        ConfigError: it lists something else, or a corpus is unknown or in other languages.
    """
    fitting = [{language, through} for language in wanted]
    if isinstance(given, Mapping):
        if given["model"] == model:
            raise ConfigError(f"{said}: from {model}, whose corpora these are to be; break the cycle")
        yield from (part for part in parts_of(given["model"]) if set(part.languages) in fitting and not part.sources)
        return
    for entry in given:
        one = {"name": entry} if isinstance(entry, str) else dict(entry)
        if is_mined(one) or "model" in one or "translated" in one:
            raise ConfigError(f"{said}: `from` lists bitext, or is `{{model: name}}`; name corpora")
        if "rank" in one:
            raise ConfigError(
                f"{said}: bitext of `from` is used whole, but has `rank`; set it for the pairs it becomes"
            )
        if (given_file := of_item(one)) and "languages" not in one:
            key = next(iter(given_file[0].item))
            raise ConfigError(
                f"{said}: does not say which languages the columns of {one[key]} are in; write "
                f"`- {{{key}: {one[key]}, languages: [{through}, {wanted[0]}]}}`"
            )
        pairs = [one["languages"]] if "languages" in one else [[through, language] for language in wanted]
        for pair in pairs:
            listed = catalogue.get(one.get("name", ""), {}).get("pairs")
            if listed and len(pairs) > 1 and "-".join(sorted(pair)) not in listed:
                continue  # of two languages, one may be missing
            if set(pair) not in fitting:
                raise ConfigError(
                    f"{said}: {one.get('name') or next(iter(one.values()))} is in {' and '.join(pair)}; leave it out"
                )
            yield resolve(
                {**one, "languages": list(pair)},
                languages=(*wanted, through),
                catalogue=catalogue,
                filters=settings["filters"],
                recipe=recipe,
                where=said,
            )


def check_distinct(sources: Iterable[Part], said: str) -> None:
    """Check that no corpus is in ``from`` twice.

    Raises:
        ConfigError: one is.
    """
    labels = [source.label for source in sources]
    if repeated := next((label for label in labels if labels.count(label) > 1), None):
        raise ConfigError(f"{said}: {repeated} is in `from` twice; leave one out")


def union(licences: Iterable[str | None]) -> str | None:
    """The licence of what comes from several corpora, an SPDX expression; None if one of them declares none."""
    found = list(dict.fromkeys(licences))
    if not found or None in found:
        return None
    # What is itself a union is taken apart.
    parts = (str(one).split(" AND ") if not re.search(r"[()]| OR ", str(one)) else [str(one)] for one in found)
    known = sorted({part for several in parts for part in several})
    bracketed = [f"({one})" if " " in one and len(known) > 1 else one for one in known]
    return " AND ".join(bracketed)


def check_publishable(part: Part, where: str) -> None:
    """Check that mined pairs may be passed on.

    Args:
        part: the corpus.
        where: the location of its model, such as ``models.fr``.

    Raises:
        ConfigError: they were not mined, or a corpus that they come from has a licence that forbids it, or none.
    """
    said = f"{where}.corpora: {part.corpus}"
    if part.kind != "mined":
        raise ConfigError(f"{said} is not mined; what can be published is mined pairs")
    for source in part.sources:
        if source.licence is None:
            problem = f"{source.corpus} declares no licence"
        else:
            try:
                if may_be_adapted(source.licence):
                    continue
                problem = f"the licence of {source.corpus}, {source.licence}, forbids it"
            except ValueError as error:
                problem = f"the licence of {source.corpus}: {error}"
        raise ConfigError(
            f"{said} cannot be published: {problem}; leave it out of `from`, or declare the licence that you know it "
            f"has: `corpora: {{{source.corpus}: {{licence: ...}}}}`"
        )
