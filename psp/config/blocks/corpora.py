"""Entries of the catalogue of corpora, and the items of a model's ``corpora``."""

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, Tag

from psp.config.blocks.base import Block
from psp.config.blocks.fields import ByForm, Distinct, Language, Mirrors, Name, Text, optional, setting
from psp.config.blocks.filters import FiltersBlock
from psp.config.blocks.mixing import RankBlock
from psp.config.blocks.sources import MIRRORS

Catalogued = Literal["opus", "paranmt"]
#: The kinds of corpora that the catalogue may have.
CATALOGUED: tuple[str, ...] = get_args(Catalogued)


@dataclass(frozen=True)
class CorpusKind:
    """What a config has to know of a kind of corpora; the module of its name in :mod:`psp.corpora` reads them.

    Attributes:
        kind: its name: in reports, and for a kind of the catalogue in the config (``corpora.<name>.kind``).
        item: the keys of an item of ``corpora`` of this kind; the first names its file.
        further_files: those keys that name further files.
        called: what errors call an item of this kind, such as "a file of pairs, `path`".
        endings: of its files, besides those of compression, which a corpus's own name leaves out.
        archive: the name under results/downloads; None if it is the user's own, or made from other corpora.
        in_one_language: whether both sides are in one language, unless an item says otherwise.
        is_text: whether it holds sentences, each a pair with itself.
        without_scores: what errors call such corpora if they never have scores; None if they may have them.
        made_by: the stage that makes its pairs from other corpora, if one does.
        makes: an item of such a kind has the first of these keys, or another.
    """

    kind: str
    item: tuple[str, ...] = ()
    further_files: tuple[str, ...] = ()
    called: str = ""
    endings: tuple[str, ...] = ()
    archive: str | None = None
    in_one_language: bool = False
    is_text: bool = False
    without_scores: str | None = None
    made_by: str | None = None
    makes: tuple[str, ...] = ()

    @property
    def by_pair(self) -> bool:
        """Whether each pair of languages has an archive, so that entries have settings by pair."""
        return "{pair}" in (self.archive or "")

    def download(self, corpus: str, version: str | None, pair: str) -> str | None:
        """The archive's name under results/downloads, if there is one."""
        return None if self.archive is None else self.archive.format(corpus=corpus, version=version, pair=pair)

    def placeholders(self, file: str) -> dict[str, str]:
        """What a mirror's address may have in braces, from the archive's name: corpus, version, and perhaps pair."""
        match = re.fullmatch(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(self.archive or "")), file)
        assert match is not None, file
        return match.groupdict()

    def names(self, item: Mapping[str, Any], names: tuple[str, ...]) -> tuple[str, ...]:
        """What the reader has to know of an item: the catalogue's two codes, two files, or a table's columns."""
        if self.further_files:
            return tuple(str(item[key]) for key in (self.item[0], *self.further_files))
        if "columns" not in self.item:
            return names
        given = (item.get("delimiter", ""),) if "delimiter" in self.item else ()
        return (*given, *item.get("columns", ("source", "target")))


#: By name; the first is the default of a catalogue's entry.
KINDS: dict[str, CorpusKind] = {
    kind.kind: kind
    for kind in (
        CorpusKind("opus", archive="opus/{corpus}/{version}/{pair}.txt.zip", without_scores="OPUS's corpora"),
        CorpusKind("paranmt", archive="paranmt/{corpus}/{version}.zip", in_one_language=True),
        CorpusKind("local", ("path",), called="a file of pairs, `path`", endings=("tsv", "txt")),
        CorpusKind(
            "lines", ("source", "target"), ("target",), "two files of lines, `source` and `target`", ("txt",),
            without_scores="files of lines",
        ),
        CorpusKind(
            "tmx", ("tmx",), called="a translation memory, `tmx`", endings=("tmx",),
            without_scores="translation memories",
        ),
        CorpusKind("csv", ("csv", "delimiter", "columns"), called="a CSV file, `csv`", endings=("csv",)),
        CorpusKind("jsonl", ("jsonl", "columns"), called="JSON lines, `jsonl`", endings=("jsonl", "ndjson")),
        CorpusKind(
            "text", ("text",), called="of sentences, `text`", is_text=True, without_scores="files of sentences",
        ),
        CorpusKind("parquet", ("parquet", "columns"), called="a table, `parquet`", endings=("parquet",)),
        CorpusKind("mined", without_scores="mined pairs", made_by="pivot", makes=("mined", "pivoted")),
        CorpusKind("translated", made_by="backtranslate", makes=("translated",)),
    )
}  # fmt: skip


def of_item(keys: Container[str]) -> list[CorpusKind]:
    """The kinds whose file an item of ``corpora`` names, by the item's keys."""
    return [kind for kind in KINDS.values() if kind.item and kind.item[0] in keys]


def language_pair(languages: Iterable[str]) -> str:
    """Return OPUS's name of a pair of its languages, in alphabetical order: ``("fr", "en")`` gives ``"en-fr"``."""
    return "-".join(sorted(languages))


class CorpusRecipe(Block):
    """A corpus's `filters` and `rank` under a recipe."""

    filters: FiltersBlock = optional("settings for this corpus, which override the model's")
    rank: RankBlock = optional("settings for this corpus, which override the model's")


class CorpusRecipes(Block):
    """Settings of this corpus under a recipe."""

    psp: CorpusRecipe = optional("under psp")
    paper: CorpusRecipe = optional("under paper")
    code: CorpusRecipe = optional("under code")
    paranmt: CorpusRecipe = optional("under paranmt")
    dadas: CorpusRecipe = optional("under dadas")
    distilled: CorpusRecipe = optional("under distilled")


class CorpusBlock(Block):
    """One corpus of the catalogue."""

    kind: Catalogued = setting(
        "opus",
        "opus: an archive of OPUS in its Moses layout; paranmt: lines `reference \\t translation \\t score`, "
        "or with a fourth column, the translation score",
    )
    opus: Name = optional("OPUS's name of the corpus, if the entry has another; lets one model use two releases")
    version: Name = setting(..., "the release, as OPUS names it")
    versions: dict[str, Name] = setting(
        {}, "releases of individual language pairs, by archive name, such as {en-pl: v2023}"
    )
    cap: int | None = setting(None, "maximum number of pairs, chosen at random after deduplication; null for all", ge=1)
    names: dict[str, Name] = setting({}, "this corpus's own language codes, if they differ, such as {zh: zh_cn}")
    licence: str | None = setting(None, "SPDX id of the licence; null if none is declared")
    licences: dict[str, str | None] = setting({}, "licences of individual language pairs, such as {en-pl: CC-BY-4.0}")
    filters: FiltersBlock = optional("settings for this corpus, which override the model's")
    rank: RankBlock = optional("settings for this corpus, which override the model's")
    recipes: CorpusRecipes = setting(
        {}, "settings of this corpus under a recipe, such as {code: {filters: {length: {max: 50}}}}"
    )
    mirrors: Mirrors = optional(MIRRORS)
    pairs: dict[str, Annotated[int, Field(ge=0)]] = setting(
        {},
        "pairs in each archive according to OPUS, such as {en-fr: 2051014}; for `psp plan`. Other archives may exist",
    )
    bytes: dict[str, Annotated[int, Field(ge=0)]] = setting(
        {}, "size of each archive in bytes, such as {en-fr: 200000000}; for `psp plan`"
    )


class OfModel(Block):
    """All bitext of a model, with its filters."""

    model: str = setting(..., "its name")


NameOrMapping = Annotated[Annotated[str, Tag("<text>")] | Annotated[dict[str, Any], Tag("<mapping>")], ByForm]


class CorpusItem(Block):
    """A name, or a mapping with a name, the path of your own file, or another model."""

    name: Name = optional("a name from the catalogue; with a path, the name of that file's corpus")
    model: str = optional("instead of a name or path: another model, all of whose corpora are used, in its languages")
    mined: Language = optional(
        "instead of a name: paraphrases in this language, sentences that share a translation in the bitext `from`"
    )
    pivoted: Annotated[list[Language], Distinct] = optional(
        "instead of a name: bitext of these two languages, sentences that share a translation in `from`",
        min_length=2,
        max_length=2,
    )
    translated: Language = optional(
        "instead of a name: paraphrases in this language, one side of the bitext `from` with a translation of the other"
    )
    translator: Name = optional(
        "for translated pairs: the translator, one of `translators`, from `through` to `translated`"
    )
    encoder: Text = optional("for translated pairs, instead of the block `backtranslate`'s")
    sample: int | None = optional("for translated pairs, instead of the block `backtranslate`'s", ge=1)
    through: Language = optional(
        "for mined pairs: the language of the shared translation; for translated ones: the language of the "
        "side that is translated"
    )
    from_: Annotated[
        Annotated[list[NameOrMapping], Field(min_length=1), Tag("<list>")] | Annotated[OfModel, Tag("<mapping>")],
        ByForm,
    ] = optional(
        "for mined and translated pairs: names from the catalogue or paths, as items of `corpora`; or "
        "`{model: name}`, all bitext of a model, with its filters",
        alias="from",
    )
    pairs: Literal["cover", "all"] = optional("for mined pairs, instead of the block `pivot`'s")
    max_group: int = optional("for mined pairs, instead of the block `pivot`'s", ge=2)
    csv: Text = optional("instead of a name or path: a CSV file with a header; plain, or .gz, .bz2, .xz, .zst, .zip")
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] = optional(
        'for a CSV file: what is between its columns, such as ";" (default: as its header has it)',
    )
    columns: Annotated[list[Text], Distinct] = optional(
        "for a table (Parquet, CSV, JSON lines): the columns of source, target and, if there is one, "
        "score; [translation.en, translation.fr] names fields of a column, but not in CSV (default: "
        "source, target)",
        min_length=2,
        max_length=3,
    )
    jsonl: Text = optional(
        "instead of a name or path: a file of JSON objects, one a line; plain, or .gz, .bz2, .xz, .zst, .zip"
    )
    source: Text = optional(
        "instead of a name or path: the file of the source side, one sentence a line; plain, or .gz, .bz2, "
        ".xz, .zst, .zip"
    )
    target: Text = optional("beside `source`: the file of the target side, with as many lines")
    path: Text = optional(
        "lines `source \\t target`, `source \\t target \\t score` or `source \\t target \\t score \\t "
        "translation score`; plain, or .gz, .bz2, .xz, .zst, .zip"
    )
    parquet: Text = optional(
        "instead of a name or path: a Parquet file, a folder of them, or one written by datasets' `save_to_disk`"
    )
    text: Text = optional(
        "instead of a name or path: a file of sentences, one per line, for a model with a `teacher`; "
        "plain, or .gz, .bz2, .xz, .zst, .zip"
    )
    tmx: Text = optional("instead of a name or path: a TMX file; plain, or .gz, .bz2, .xz, .zst, .zip")
    cap: int | None = optional("maximum number of pairs, which overrides the catalogue's", ge=1)
    languages: list[Language] = optional(
        "source and target, if the model has more languages; the same twice for paraphrases", min_length=2, max_length=2
    )
    licence: str | None = optional("SPDX id of the licence")
    filters: FiltersBlock = optional("settings for this corpus in this model, which override all others")
    rank: RankBlock = optional("settings for this corpus in this model, which override all others")


Items = list[Annotated[Annotated[str, Tag("<text>")] | Annotated[CorpusItem, Tag("<mapping>")], ByForm]]
