"""Entries of the catalogue of corpora, and the items of a model's ``corpora``."""

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
