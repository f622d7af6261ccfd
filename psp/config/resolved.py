"""One model's part of a config with all its settings written out: a config that reproduces the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from psp.config.blocks.entries import BLOCKS, Top
from psp.config.blocks.fields import about
from psp.config.blocks.overlay import merge
from psp.config.config import Config
from psp.config.made_entries import making

#: Top-level keys, besides inert ones, that are not the model's: about this machine, or written for this model below.
_ELSEWHERE = ("models", "corpora", "translators", "phrasebook", "report", "release")


def resolved(config: Config, name: str) -> dict[str, Any]:
    """The config of one model and those that it needs.

    Its own blocks are complete, so that a later default changes nothing; those of a transformer or a combination, which
    may not have every block, are as they were written, and so are the filters of mined pairs. Paths are as in the
    config, with ``${VARIABLE}``.

    Raises:
        ConfigError: no such model.
    """
    raw, model = config.raw, config.model(name)
    names = list(dict.fromkeys([name, *_needed(raw, name)]))
    parts = [part for other in names for part in (*config.model(other).parts, *config.model(other).files)]
    translators = dict.fromkeys(part.translation["translator"] for part in parts if part.translation)
    for translator in translators:
        data = config.translator(translator).data
        parts += data.parts if data else ()
    corpora = dict.fromkeys(part.corpus for part in parts if part.corpus in config.corpora)
    entries = {other: raw["models"][other] for other in names}
    if model.of.has_every_block:
        own = config.entry(name)
        defaults = [made.filters(model.settings) for part in model.parts if (made := making(part))]
        own_filters = any(filters != model["filters"] for filters in defaults)
        for block in BLOCKS:
            # Filters that are written apply to pairs that are made too, which have other defaults.
            if block in ("report", "release") or (block == "filters" and own_filters):
                continue
            written = merge(raw.get(block, {}), own.get(block, {}))
            # The values as written override the resolved ones, since a resolved path is this machine's.
            own[block] = merge(model.settings[block], written)
        entries[name] = {**own, "recipe": model.recipe, "seed": model.seed}
    top = {
        key: value
        for key, value in raw.items()
        if key not in (*_ELSEWHERE, *(key for key, field in Top.declared().items() if about(field, "inert")))
    }
    if "vectors" in top:
        used = {config.model(other)["train"]["init_vectors"] for other in names}
        top["vectors"] = {key: value for key, value in top["vectors"].items() if key in used}
    kept = {key: value for key, value in top.items() if value not in ({}, None)}
    if translators:
        kept["translators"] = {translator: raw["translators"][translator] for translator in translators}
    return {**kept, "corpora": {corpus: config.corpora[corpus] for corpus in corpora}, "models": entries}


def as_yaml(config: Config, name: str) -> str:
    """:func:`resolved` as a file that `--configfile` takes."""
    return yaml.safe_dump(resolved(config, name), sort_keys=False, allow_unicode=True, width=100)


def _needed(raw: Mapping[str, Any], name: str) -> Iterator[str]:
    """The models that a model's entry names, directly or not; it ends, since a config has no cycles."""
    entry = raw["models"][name]
    names = [entry.get("extends")]
    for item in entry.get("corpora", []):
        if isinstance(item, Mapping):
            translator = raw.get("translators", {}).get(item.get("translator"), {})
            origins = (item, item.get("from"), translator.get("from"))
            names += [origin.get("model") for origin in origins if isinstance(origin, Mapping)]
    encoder = entry.get("encoder")
    if isinstance(encoder, Mapping):
        names += [*encoder.get("concat", []), *encoder.get("add", [])]
    for other in filter(None, names):
        yield other
        yield from _needed(raw, other)
