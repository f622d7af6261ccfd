"""Items of a model's ``corpora`` that are mined from bitext: ``{mined: en, through: fr, from: ...}``, and ``pivoted``.

The mining itself is :mod:`psp.pairs.pivot`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from psp.config.blocks.corpora import language_pair, of_item
from psp.config.blocks.overlay import merge
from psp.config.corpus_entries import CorpusSpec, check_distinct, check_filters, resolve
from psp.config.licences import union
from psp.config.made_entries import KEPT, Asking, Made, made_as, of_files, register
from psp.core.errors import ConfigError

#: Default filters of mined pairs, which the config can override for the model or the item. Bitext is filtered before
#: mining, by language too, so these need only find copies, different numbers, and lines too short to mean the same.
FILTERS: Mapping[str, Any] = {
    "identical": {"enabled": True, "near": 1},
    "length": {"enabled": True, "min": 4, "max": 40, "tokens": "words"},
    "numbers": {"enabled": True},
    "overlap": {"enabled": True, "max": 0.7},
    "language": {"enabled": False},
    "ratio": {"enabled": False},
    "similarity": {"enabled": False},
}
#: Without filters of their own (``pivot.own_filters``), pairs are only kept clear of test sets.
_KEPT = "decontaminate"
#: Pairs mined per pair of bitext, after filters: 2 to 5% of the sample's corpora through another language.
MINED = 0.03
#: Pairs of two languages through a third, per pair of a corpus that both have, the smaller one's: in the
#: sample's corpora, 0.69 to 0.98 of the lines share a side with a line of the other (15 pairs of languages, median
#: 0.87), and filters and deduplication left 0.8 of them where we tried it.
PIVOTED = 0.7
#: Keys that a mined item may have.
_KEYS = ("through", "from", "pairs", "max_group", "name", "cap", "filters", "rank")


@register
class MinedPairs(Made):
    """``{mined: en, through: fr, from: ...}``, or ``{pivoted: [de, fr], through: en, from: ...}``."""

    kind = "mined"
    block = "pivot"

    def resolve(self, item: Mapping[str, Any], asking: Asking) -> CorpusSpec:
        where, languages, settings = asking.where, asking.languages, asking.settings
        if "mined" in item and "pivoted" in item:
            raise ConfigError(f"{where}: an item is either mined or pivoted; write two items")
        kind = "mined" if "mined" in item else "pivoted"
        wanted = [item["mined"]] if kind == "mined" else list(item["pivoted"])
        place = f"{where}: {kind} {' and '.join(wanted)}"
        for key in ("through", "from"):
            if key not in item:
                example = "[OpenSubtitles]" if key == "from" else "en"
                raise ConfigError(f"{place}: has no `{key}`; write e.g. `{key}: {example}`")
        if strange := [key for key in item if key not in (kind, *_KEYS)]:
            raise ConfigError(f"{place}: {strange[0]} is not for mined pairs; leave it out")
        through = item["through"]
        if through in wanted:
            raise ConfigError(
                f"{place}: through {through}, the same language; name the one that their translations are in"
            )
        if stranger := next((language for language in wanted if language not in languages), None):
            raise ConfigError(f"{place}: {stranger} is not in {where.removesuffix('corpora')}languages; add it")
        sources = tuple(bitext(item["from"], wanted, through, asking, place))
        for language in wanted:
            if not any(language in source.languages for source in sources):
                raise ConfigError(
                    f"{place}: no corpus of `from` is bitext of {language} and {through}, as far as their `pairs` say; "
                    f"name one that is, with `languages: [{through}, {language}]`, or another language for `through`"
                )
        check_distinct(sources, place, "is in `from` twice")
        both = (wanted[0], wanted[-1])
        own = {key: item[key] for key in ("pairs", "max_group") if key in item}
        mining = {**settings["pivot"], **own}
        if mining["min_cosine"] is not None and mining["encoder"] is None:
            raise ConfigError(
                f"{place}: pivot.min_cosine is {mining['min_cosine']}, but pivot.encoder names none; write e.g. "
                "`pivot: {encoder: use-multilingual, min_cosine: 0.7}`"
            )
        part = CorpusSpec(
            corpus=item.get("name", f"Mined-{through}"),
            opus="",
            kind=self.kind,
            version=None,
            languages=both,
            names=both,
            cap=item.get("cap"),
            licence=union([source.licence for source in sources]),
            filters=merge(self.filters(settings), merge(asking.written, item.get("filters", {}))),
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
            if encoder is not None and asking.circular(encoder):
                raise ConfigError(
                    f"{place}: {key} is {encoder}, which is trained on these very pairs, a cycle; name another, such "
                    "as use-multilingual (ar de en es fr it ja ko nl pl pt ru th tr zh)"
                )
        return part

    def own(self, part: CorpusSpec) -> Mapping[str, Any]:
        return part.pivot

    def filters(self, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        if settings["pivot"]["own_filters"]:
            return merge(settings["filters"], FILTERS)
        off = {
            name: {"enabled": False}
            for name, one in settings["filters"].items()
            if isinstance(one, Mapping) and "enabled" in one and name != _KEPT
        }
        return merge(settings["filters"], off)

    def planned(self, part: CorpusSpec, known: Mapping[str, int | None]) -> float:
        if len(set(part.languages)) > 1:
            return PIVOTED * _in_both(part, known)
        return KEPT * MINED * of_files(part, known)


def _in_both(part: CorpusSpec, known: Mapping[str, int | None]) -> float:
    """For each corpus that has both languages of a part joined by a third, the number of pairs of the smaller one."""
    sizes: dict[str, dict[str, int]] = {}
    for source in part.sources:
        for language in set(source.languages) & set(part.languages):
            of = sizes.setdefault(source.corpus, {})
            of[language] = of.get(language, 0) + (known[source.path or source.download or ""] or 0)
    return sum(min(of.values()) for of in sizes.values() if len(of) == len(set(part.languages)))


def bitext(given: Any, wanted: list[str], through: str, asking: Asking, place: str) -> Iterable[CorpusSpec]:
    """Resolve ``from``: each of its corpora in each of the languages ``wanted`` that it has with ``through``.

    Raises:
        ConfigError: it lists something else, or a corpus is unknown or in other languages.
    """
    fitting = [{language, through} for language in wanted]
    if isinstance(given, Mapping):
        if given["model"] == asking.model:
            raise ConfigError(f"{place}: from {asking.model}, whose own corpora these would be; break the cycle")
        yield from (
            part for part in asking.parts_of(given["model"]) if set(part.languages) in fitting and not part.sources
        )
        return
    for entry in given:
        one = {"name": entry} if isinstance(entry, str) else dict(entry)
        if made_as(one) or "model" in one:
            raise ConfigError(f"{place}: `from` lists bitext, or is `{{model: name}}`; name corpora")
        if "rank" in one:
            raise ConfigError(
                f"{place}: bitext of `from` is used whole, but has `rank`; set `rank` for the mined pairs"
            )
        if (given_file := of_item(one)) and "languages" not in one:
            key = given_file[0].item[0]
            raise ConfigError(
                f"{place}: does not say which languages the columns of {one[key]} are in; write "
                f"`- {{{key}: {one[key]}, languages: [{through}, {wanted[0]}]}}`"
            )
        pairs = [one["languages"]] if "languages" in one else [[through, language] for language in wanted]
        corpus = asking.catalogue.get(one.get("name", ""), {})
        names = corpus.get("names", {})
        # Of two languages, one may be missing; a corpus that counts neither may have both.
        counted = [
            pair for pair in pairs if language_pair(names.get(code, code) for code in pair) in corpus.get("pairs", {})
        ]
        for pair in counted or pairs:
            if set(pair) not in fitting:
                raise ConfigError(
                    f"{place}: {one.get('name') or next(iter(one.values()))} is in {' and '.join(pair)}; leave it out"
                )
            yield resolve(
                {**one, "languages": list(pair)},
                languages=(*wanted, through),
                catalogue=asking.catalogue,
                filters=asking.settings["filters"],
                recipe=asking.recipe,
                where=place,
            )
