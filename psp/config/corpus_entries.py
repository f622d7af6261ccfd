"""Resolve the items of a model's ``corpora`` list against the catalogue."""

from __future__ import annotations

import hashlib
import itertools
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from psp.config.blocks.corpora import KINDS, CorpusBlock, CorpusKind, language_pair, of_item
from psp.config.blocks.filters import BY_NAME, for_text, problems
from psp.config.blocks.mixing import CALLED, NEEDS, RankBlock
from psp.config.blocks.overlay import merge
from psp.core.errors import ConfigError, closest

#: How names of packed files end.
COMPRESSED = ("gz", "bz2", "xz", "zst", "zip")
#: The block ``rank`` of a corpus that is not ranked.
UNRANKED: Mapping[str, Any] = RankBlock.defaults()


@dataclass(frozen=True)
class CorpusSpec:
    """One corpus of a model: its file, the order of its languages, and its filters.

    Attributes:
        corpus: its name in the catalogue; for a local file, the item's ``name``, or else one derived from the path.
        opus: OPUS's name of the corpus, in its address and archives; ``corpus`` unless the catalogue gives another.
        kind: one of :data:`psp.config.blocks.corpora.KINDS`.
        version: the release; None for a local file.
        languages: the config's codes of source and target; equal for paraphrases, different for bitext.
        names: the same in the corpus's own codes; of a table, its columns.
        cap: the maximum number of pairs to keep.
        licence: the declared SPDX id.
        filters: the settings of all filters for this corpus.
        rank: the settings of the block ``rank`` for this corpus.
        path: the path of a local file.
        beside: further files of the user's that it consists of.
        sources: of mined and translated pairs: the bitext that they are made from.
        through: of mined pairs: the language of the shared side; of translated ones, that of the side translated.
        pivot: of mined pairs: the settings of the block ``pivot``.
        translation: of translated pairs: the name of the ``translator``, and the settings of the block
            ``backtranslate``.
    """

    corpus: str
    opus: str
    kind: str
    version: str | None
    languages: tuple[str, str]
    names: tuple[str, ...]
    cap: int | None
    licence: str | None
    filters: Mapping[str, Any]
    path: str | None = None
    beside: tuple[str, ...] = ()
    sources: tuple[CorpusSpec, ...] = ()
    through: str | None = None
    pivot: Mapping[str, Any] = field(default_factory=dict)
    translation: Mapping[str, Any] = field(default_factory=dict)
    rank: Mapping[str, Any] = field(default_factory=lambda: UNRANKED)

    @property
    def paraphrase(self) -> bool:
        """Whether both sides are in one language."""
        return self.languages[0] == self.languages[1]

    @property
    def is_text(self) -> bool:
        """Whether it holds sentences rather than pairs."""
        return self.of.is_text

    @property
    def of(self) -> CorpusKind:
        """Its kind."""
        return KINDS[self.kind]

    @property
    def paths(self) -> tuple[str, ...]:
        """The user's own files."""
        return () if self.path is None else (self.path, *self.beside)

    @property
    def ranked(self) -> bool:
        """Whether some of its deciles are left out."""
        return self.rank["by"] is not None

    @property
    def pair(self) -> str:
        """The archive's name for the pair: languages in alphabetical order."""
        return language_pair(self.names[:2])

    @property
    def label(self) -> str:
        """The part's name in results/<model>/pairs, such as ``Europarl.en-fr``; of text ``news.en``."""
        return f"{self.corpus}.{'-'.join(self.languages[: 1 if self.is_text else 2])}"

    @property
    def download(self) -> str | None:
        """The archive's name under results/downloads; None for local files and for pairs made from bitext."""
        return self.of.download(self.opus, self.version, self.pair)


def of_pair(corpus: Mapping[str, Any], key: str, pair: str) -> Any:
    """A catalogue entry's ``version`` or ``licence`` for an archive: the pair's, or else the whole corpus's."""
    return corpus.get(f"{key}s", {}).get(pair, corpus.get(key))


def kind_of(corpus: Mapping[str, Any]) -> str:
    """A catalogue entry's ``kind``."""
    return str(corpus.get("kind", CorpusBlock.default("kind")))


def check_entry(name: str, corpus: Mapping[str, Any]) -> None:
    """Check the settings of a catalogue entry by language pair.

    Raises:
        ConfigError: a pair is not named like its archive; or the corpus has a single file, but the entry has settings
            by pair.
    """
    for key in ("opus", "versions", "licences"):
        if not KINDS[kind_of(corpus)].by_pair and key in corpus:
            raise ConfigError(
                f"corpora.{name}.{key}: is only for OPUS corpora; kind {corpus['kind']} has one file, so leave it out"
            )
    for key in ("versions", "licences", "pairs", "bytes"):
        for pair in corpus.get(key, {}):
            parts = pair.split("-")
            cuts = [("-".join(parts[:cut]), "-".join(parts[cut:])) for cut in range(1, len(parts))]
            if not any(first <= second for first, second in cuts):
                meant = f"; write {language_pair(parts)}" if len(parts) == 2 else ", such as en-fr"
                raise ConfigError(
                    f"corpora.{name}.{key}: {pair} is not a pair as archives name it, in alphabetical order{meant}"
                )


def resolve(
    item: str | Mapping[str, Any],
    *,
    languages: tuple[str, ...],
    catalogue: Mapping[str, Mapping[str, Any]],
    filters: Mapping[str, Any],
    recipe: str,
    where: str,
    rank: Mapping[str, Any] = UNRANKED,
) -> CorpusSpec:
    """Resolve one item of a model's ``corpora``.

    A setting of ``filters`` or ``rank`` comes from these, each overriding the one before: the model's; the catalogue
    entry's; the entry's for the model's recipe; the item's.

    Args:
        item: a name from the catalogue, or a mapping with ``name`` or ``path``.
        languages: the model's.
        catalogue: the config's ``corpora``.
        filters, rank: the model's.
        where: the item's location, for errors, such as ``models.fr.corpora``.

    Raises:
        ConfigError: the corpus is unknown, its languages do not fit, or settings contradict one another.
    """
    item = {"name": item} if isinstance(item, str) else item
    corpus: dict[str, Any]
    path, beside = None, list[str]()
    if given := of_item(item):
        if len(given) > 1:
            raise ConfigError(f"{where}: an item is {', or '.join(kind.called for kind in given)}; write two items")
        keys = (given[0].item[0], *given[0].further_files)
        if missing := next((key for key in keys if key not in item), None):
            example = ", ".join(f"{key}: {item.get(key, 'FILE')}" for key in keys)
            raise ConfigError(f"{where}: an item has {keys[0]}, but no {missing}; write `- {{{example}}}`")
        path, *beside = (item[key] for key in keys)
        name, corpus = item.get("name", file_name(path, *beside)), {"kind": given[0].kind}
    elif "name" in item:
        name = item["name"]
        if name not in catalogue:
            raise ConfigError(
                f"{where}: {name} is not a corpus of the config{closest(name, catalogue)}; add it under `corpora:`, "
                f"e.g. `{name}: {{version: v1}}`"
            )
        corpus = dict(catalogue[name])
    else:
        raise ConfigError(f"{where}: an item names no corpus; write `- {{name: Europarl}}` or `- {{path: my.tsv}}`")
    kind = KINDS[kind_of(corpus)]
    if stray := next(
        (key for other in KINDS.values() for key in other.item if key in item and key not in kind.item), None
    ):
        raise ConfigError(f"{where}: {name}: {stray} is for another kind of corpus; leave it out")
    pair = _languages(item, name, kind, languages, where)
    if kind.is_text:
        filters = for_text(filters)
        _check_text(item, name, where)
    of_recipe = corpus.get("recipes", {}).get(recipe, {})
    own, ranked = (merge(corpus.get(key, {}), of_recipe.get(key, {})) for key in ("filters", "rank"))
    names = (corpus.get("names", {}).get(pair[0], pair[0]), corpus.get("names", {}).get(pair[1], pair[1]))
    part = CorpusSpec(
        corpus=name,
        opus=corpus.get("opus", name),
        kind=kind.kind,
        version=of_pair(corpus, "version", language_pair(names)),
        languages=pair,
        names=kind.names(item, names),
        cap=item.get("cap", corpus.get("cap")),
        licence=item.get("licence", of_pair(corpus, "licence", language_pair(names))),
        filters=merge(filters, merge(own, item.get("filters", {}))),
        path=path,
        beside=tuple(beside),
        rank=merge(rank, merge(ranked, item.get("rank", {}))),
    )
    check_filters(part, filters, where)
    return part


def _check_text(item: Mapping[str, Any], name: str, where: str) -> None:
    """Check that an item of text enables no filter that compares the sides of pairs."""
    for key, block in item.get("filters", {}).items():
        if key not in BY_NAME:
            continue
        declared = BY_NAME[key]
        wrong = [f".{one}" for one in block if one in declared.OF_TEXT and block[one] != declared.OF_TEXT[one]]
        if declared.COMPARES and block.get("enabled", True):
            wrong = ["", *wrong]
        if wrong:
            raise ConfigError(
                f"{where}: {name}: filters.{key}{wrong[0]} is for pairs, but this is text, one sentence per line; "
                "leave it out"
            )


def file_name(*paths: str) -> str:
    """Derive a corpus's name from the path of its file, or what those of its files begin with.

    The extensions are left out, and a hyphen stands for unusual characters. A name with letters that are not ASCII gets
    a short hash: otherwise all names in another script would be one.
    """
    names = [Path(path).name for path in paths]
    shared = "".join(
        same[0] for same in itertools.takewhile(lambda same: len(set(same)) == 1, zip(*names, strict=False))
    )
    name = names[0] if len(names) == 1 else re.sub(r"[^._-]*$", "", shared) or names[0]
    endings = [*COMPRESSED, *itertools.chain.from_iterable(kind.endings for kind in KINDS.values())]
    while (shorter := re.sub(rf"\.({'|'.join(map(re.escape, endings))})$", "", name, flags=re.IGNORECASE)) != name:
        name = shorter
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._") or "local"
    if any(character.isalnum() and not character.isascii() for character in name):
        digest = hashlib.sha256(unicodedata.normalize("NFC", name).encode(errors="surrogateescape"))
        return f"{plain}-{digest.hexdigest()[:6]}"
    return plain


def _languages(
    item: Mapping[str, Any], name: str, kind: CorpusKind, languages: tuple[str, ...], where: str
) -> tuple[str, str]:
    pair = tuple(item.get("languages", languages))
    key = next(key for key in (*kind.item, "name") if key in item)
    value = item[key]
    if len(pair) == 1 and not kind.by_pair:
        pair = (pair[0], pair[0])  # paraphrases: both sides in one language
    if kind.in_one_language and "languages" not in item and pair[0] != pair[1]:
        raise ConfigError(
            f"{where}: {name} has both sides in one language, but the model has {len(languages)}; "
            f"write `- {{name: {name}, languages: [{languages[0]}, {languages[0]}]}}`"
        )
    if kind.is_text and (len(pair) != 2 or pair[0] != pair[1]):
        raise ConfigError(
            f"{where}: {name} is text in one language, but the model has {len(languages)}; say which, e.g. "
            f"`- {{text: {value}, languages: [{languages[0]}, {languages[0]}]}}`"
        )
    if len(pair) != 2 or (kind.by_pair and pair[0] == pair[1]):
        what = "is bitext and needs two languages" if kind.by_pair else "needs the languages of its two sides"
        raise ConfigError(
            f"{where}: {name} {what}, but the model has {len(languages)}; "
            f"write `- {{{key}: {value}, languages: [en, fr]}}`"
        )
    if stranger := next((language for language in pair if language not in languages), None):
        raise ConfigError(
            f"{where}: {name} has language {stranger}, which is not in {where.removesuffix('corpora')}languages; add it"
        )
    return pair[0], pair[1]


def check_filters(part: CorpusSpec, filters: Mapping[str, Any], where: str) -> None:
    for key in ("lower_case", "normalise"):
        if part.filters[key] != filters[key]:
            raise ConfigError(
                f"{where}: {part.corpus}: filters.{key} is {str(part.filters[key]).lower()}, but a model reads all "
                "text the same way; set it in the model's filters"
            )
    for problem in problems(part.filters, part.languages, part.of):
        raise ConfigError(f"{where}: {part.corpus}: {problem}")


def check_distinct(parts: Sequence[CorpusSpec], where: str, twice: str = "is listed twice") -> None:
    """Check that corpora have different labels.

    Raises:
        ConfigError: two have one.
    """
    seen: dict[str, CorpusSpec] = {}
    for part in parts:
        other = seen.setdefault(part.label, part)
        if other is part:
            continue
        if part.path is not None and other.path != part.path:
            key = next(iter(part.of.item), "path")
            raise ConfigError(
                f"{where}: {other.path or other.corpus} and {part.path} would both be called {part.label}; name one, "
                f"e.g. `- {{{key}: {part.path}, name: {part.corpus}-2}}`"
            )
        raise ConfigError(f"{where}: {part.label} {twice}; leave one out")


def check_ranking(parts: Sequence[CorpusSpec], where: str) -> None:
    """Check that corpora can be ranked as requested, as far as their kinds tell.

    Args:
        parts: all corpora of the model.
        where: for errors, such as ``models.fr.corpora``.

    Raises:
        ConfigError: one has no scores, or ranking is by overlap but its sides are in two languages.
    """
    for part in parts:
        by = part.rank["by"]
        if by in NEEDS and part.of.without_scores:
            having = [one.label for one in parts if not one.of.without_scores]
            called = CALLED[by]
            advice = (
                f"of the model's corpora, {' and '.join(having)} may have them: rank by {by} there alone, e.g. "
                f"`- {{name: {having[0].rpartition('.')[0]}, rank: {{by: {by}}}}}`"
                if having
                else "nor has another corpus of the model; rank by length or, of paraphrases, by overlap"
            )
            raise ConfigError(
                f"{where}: rank.by is {by}, but {part.of.without_scores}, such as {part.label}, have no "
                f"{called}; {advice}"
            )
        if by == "overlap" and (part.is_text or not part.paraphrase):
            what = (
                "its sides are the same" if part.is_text else "its sides are in two languages, with few words in common"
            )
            raise ConfigError(
                f"{where}: rank.by is overlap, but {part.label} cannot be ranked by it: {what}; rank by length"
            )
