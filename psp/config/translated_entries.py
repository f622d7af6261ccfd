"""Items of a model's ``corpora`` that are bitext, one side of which is translated into the language of the other:
``{translated: en, through: fr, from: ..., translator: NAME}``.

The translation itself is :mod:`psp.inference.translation.backtranslate`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from psp.config.corpus_entries import Part, check_filters
from psp.config.mined_entries import bitext, check_distinct, union
from psp.config.overlay import merge
from psp.config.translator_entries import Translator
from psp.core.errors import ConfigError

#: Keys that such an item may have, beside those of the block ``backtranslate``.
_KEYS = ("translated", "through", "from", "translator", "name", "cap", "filters", "rank")
#: Keys of the block ``backtranslate`` that an item may set for itself.
_OWN = ("encoder", "sample")


def is_translated(item: Any) -> bool:
    """Whether an item of ``corpora`` is translated bitext."""
    return isinstance(item, Mapping) and "translated" in item


def resolve_translated(
    item: Mapping[str, Any],
    *,
    model: str,
    languages: tuple[str, ...],
    settings: Mapping[str, Any],
    catalogue: Mapping[str, Mapping[str, Any]],
    recipe: str,
    parts_of: Callable[[str], Iterable[Part]],
    translator: Callable[[str], Translator],
    circular: Callable[[str], bool],
    where: str,
) -> Part:
    """Resolve an item whose pairs are one side of bitext and the translation of the other.

    Args:
        item: with ``translated``, the language of the pairs; ``through``, that of the translated side; ``from``; and
            ``translator``.
        model, languages: the model's name and languages.
        settings: its blocks ``filters``, ``rank`` and ``backtranslate``.
        catalogue: the config's ``corpora``.
        recipe: the model's.
        parts_of: resolves the corpora of another model.
        translator: resolves a translator of the config.
        circular: whether an encoder is trained on the pairs of this model.
        where: the item's location, for errors, such as ``models.en.corpora``.

    Raises:
        ConfigError: the item is incomplete, its languages do not fit, the translator does not translate between them, a
            corpus is unknown, or no encoder is named that could score the pairs.
    """
    language = item["translated"]
    said = f"{where}: translated {language}"
    examples = {"through": "fr", "from": "[OpenSubtitles]", "translator": f"fr-{language}"}
    for key, example in examples.items():
        if key not in item:
            raise ConfigError(f"{said}: has no `{key}`; write e.g. `{key}: {example}`")
    if strange := next((key for key in item if key not in (*_KEYS, *_OWN)), None):
        raise ConfigError(f"{said}: {strange} is not for translated pairs; leave it out")
    through = item["through"]
    if through == language:
        raise ConfigError(f"{said}: through {through}, the same language; name the one that is translated from")
    if language not in languages:
        raise ConfigError(f"{said}: {language} is not in {where.removesuffix('corpora')}languages; add it")
    by = translator(item["translator"])
    if by.languages != (through, language):
        raise ConfigError(
            f"{said}: {by.name} translates {by.languages[0]} to {by.languages[1]}, not {through} to {language}; name "
            "another translator"
        )
    sources = tuple(bitext(item["from"], [language], through, settings, catalogue, recipe, parts_of, model, said))
    if not sources:
        raise ConfigError(
            f"{said}: no corpus of `from` is bitext of {language} and {through}; name one that is, or another language "
            "for `through`"
        )
    check_distinct(sources, said)
    block = {**settings["backtranslate"], **{key: item[key] for key in _OWN if key in item}}
    if block["encoder"] is None:
        if not isinstance(item["from"], Mapping):
            raise ConfigError(
                f"{said}: has no `encoder`, which scores each pair; name one that knows {language}, e.g. `encoder: "
                "use-multilingual`, or `results/fr/model`, a model of the config"
            )
        block["encoder"] = f"results/{item['from']['model']}/model"
    if circular(block["encoder"]):
        raise ConfigError(
            f"{said}: encoder is {block['encoder']}, which is trained on these very pairs, a circle; name another"
        )
    part = Part(
        corpus=item.get("name", f"Translated-{through}"),
        opus="",
        kind="translated",
        version=None,
        languages=(language, language),
        names=(language, language),
        cap=item.get("cap"),
        licence=union([*(source.licence for source in sources), by.licence]),
        filters=merge(settings["filters"], item.get("filters", {})),
        sources=sources,
        through=through,
        translation={"translator": by.name, **block},
        rank=merge(settings["rank"], item.get("rank", {})),
    )
    check_filters(part, settings["filters"], where)
    return part
