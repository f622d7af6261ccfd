"""Items of a model's ``corpora`` that are bitext with one side translated into the language of the other:
``{translated: en, through: fr, from: ..., translator: NAME}``.

The translation itself is :mod:`psp.inference.translation.backtranslate`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psp.config.blocks.overlay import merge
from psp.config.corpus_entries import CorpusSpec, check_distinct, check_filters
from psp.config.licences import union
from psp.config.made_entries import KEPT, Asking, Made, of_files, register
from psp.config.mined_entries import bitext
from psp.core.errors import ConfigError

#: Keys that a translated item may have, besides those of the block ``backtranslate``.
_KEYS = ("translated", "through", "from", "translator", "name", "cap", "filters", "rank")
#: Keys of the block ``backtranslate`` that an item may set for itself.
_OWN = ("encoder", "sample")


@register
class TranslatedPairs(Made):
    """``{translated: en, through: fr, from: ..., translator: ...}``."""

    kind = "translated"
    block = "backtranslate"

    def resolve(self, item: Mapping[str, Any], asking: Asking) -> CorpusSpec:
        where, languages, settings = asking.where, asking.languages, asking.settings
        language = item["translated"]
        place = f"{where}: translated {language}"
        examples = {"through": "fr", "from": "[OpenSubtitles]", "translator": f"fr-{language}"}
        for key, example in examples.items():
            if key not in item:
                raise ConfigError(f"{place}: has no `{key}`; write e.g. `{key}: {example}`")
        if strange := next((key for key in item if key not in (*_KEYS, *_OWN)), None):
            raise ConfigError(f"{place}: {strange} is not for translated pairs; leave it out")
        through = item["through"]
        if through == language:
            raise ConfigError(f"{place}: through {through}, the same language; name the one that is translated from")
        if language not in languages:
            raise ConfigError(f"{place}: {language} is not in {where.removesuffix('corpora')}languages; add it")
        by = asking.translator(item["translator"])
        if by.languages != (through, language):
            raise ConfigError(
                f"{place}: {by.name} translates {by.languages[0]} to {by.languages[1]}, not {through} to {language}; "
                "name another translator"
            )
        sources = tuple(bitext(item["from"], [language], through, asking, place))
        if not sources:
            raise ConfigError(
                f"{place}: no corpus of `from` is bitext of {language} and {through}; name one that is, or another "
                "language for `through`"
            )
        check_distinct(sources, place, "is in `from` twice")
        block = {**settings["backtranslate"], **{key: item[key] for key in _OWN if key in item}}
        if block["encoder"] is None:
            if not isinstance(item["from"], Mapping):
                raise ConfigError(
                    f"{place}: has no `encoder`, which scores each pair; name one that knows {language}, e.g. "
                    "`encoder: use-multilingual`, or `results/fr/model`, a model of the config"
                )
            block["encoder"] = f"results/{item['from']['model']}/model"
        if asking.circular(block["encoder"]):
            raise ConfigError(
                f"{place}: encoder is {block['encoder']}, which is trained on these very pairs, a cycle; name another"
            )
        part = CorpusSpec(
            corpus=item.get("name", f"Translated-{through}"),
            opus="",
            kind=self.kind,
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

    def own(self, part: CorpusSpec) -> Mapping[str, Any]:
        return {key: value for key, value in part.translation.items() if key != "translator"}

    def planned(self, part: CorpusSpec, known: Mapping[str, int | None]) -> float:
        return KEPT * sentences(part, known)


def sentences(part: CorpusSpec, known: Mapping[str, int | None]) -> float:
    """Sentences of a corpus's bitext that are translated, by the numbers of pairs of files."""
    return min(KEPT * of_files(part, known), part.translation["sample"] or float("inf"))
