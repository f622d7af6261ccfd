"""How pairs are made from bitext, ranked, deduplicated and mixed."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from psp.config.blocks.base import Block
from psp.config.blocks.fields import Distinct, Text, setting, within


class PivotBlock(Block):
    """Pairs mined from bitext: sentences of one language that share a translation (Dadas 2022)."""

    pairs: Literal["cover", "all"] = setting(
        "cover",
        "from a group of n sentences, cover takes ceil(n/2) pairs, so that each sentence is in at least "
        "one; all takes every pair, at most 10 a group",
        recipes={"dadas": "cover"},
    )
    max_group: int | None = setting(
        20,
        "leave out larger groups: a sentence with so many translations says little (`Yes.`); null: no limit",
        recipes={"dadas": None},
        ge=2,
    )
    encoder: Text | None = setting(
        None,
        "compares each sentence with its translation before grouping, if `min_cosine` is set, as for the "
        "filter `similarity`; it must know both languages",
        recipes={"dadas": "use-multilingual"},  # its own, paraphrase-xlm-r-multilingual-v1, is in no package
    )
    min_cosine: float | None = setting(
        None,
        "leave out sentences with a lower cosine to their translation; only sentences that share a "
        "translation are embedded",
        recipes={"dadas": 0.7},
        ge=-1,
        le=1,
    )
    own_filters: bool = setting(
        True,
        "filter mined pairs with defaults of their own (docs/guide/paraphrases.md); false: only with `decontaminate` "
        "and the config's own filters",
        recipes={"dadas": False},
    )


DECILES = 10
#: The columns that a ranking needs, besides source and target, and their names.
NEEDS = {"score": 1, "translation": 2}
CALLED = {"score": "scores (a third column)", "translation": "translation scores (a fourth column)"}


class RankBlock(Block):
    """Which deciles of a corpus are kept, ranked by a value after the filters; each corpus is ranked by itself."""

    by: Literal["score", "translation", "overlap", "length"] | None = setting(
        None,
        "score: the third column; translation: the fourth, the translation's length-normalised score; "
        "overlap: shared word trigrams, as in the filter `overlap`; length: mean words of the two sides; "
        "null: keep all",
    )
    deciles: Annotated[list[Annotated[int, Field(ge=1, le=10)]], Distinct] = setting(
        [9, 10], "the deciles to keep: 1 has the lowest values, 10 the highest", min_length=1
    )


class NearDuplicatesBlock(Block):
    """Pairs that resemble an earlier one in the mixed order; the paper keeps them."""

    enabled: bool = setting(False, "drop them; costs 30 us and 128 bytes of disk per pair")
    threshold: float = setting(
        0.8,
        "minimum estimated Jaccard similarity of the two pairs' character trigrams (MinHash); pairs with "
        "the same letters and digits are near-duplicates at any threshold",
        ge=0.3,
        le=1,
    )


class MixBlock(Block):
    """Deduplication and shuffling."""

    warn_pairs: int = setting(
        5000,
        "warn about models with fewer training pairs; on similarity, models trained on fewer scored below "
        "untrained embeddings with SIF weights (docs/results.md, Few pairs)",
        inert=True,
        ge=0,
    )
    near_duplicates: NearDuplicatesBlock = within(NearDuplicatesBlock)


class StatsBlock(Block):
    """The statistics results/<model>/stats.json of each corpus after its filters, and a sheet for people to judge
    pairs.
    """

    INERT: ClassVar[bool] = True

    pairs: int = setting(100000, "distinct pairs of each corpus in the sample, drawn by the seed", ge=1)
    ranges: list[float] = setting(
        [-0.1, 0.2, 0.4, 0.6, 0.8, 1.0],
        "the ends of the ranges of scores, in ascending order; a range holds its upper end, not its lower one",
        min_length=2,
    )
    samples: int = setting(3, "pairs of each range to show in the report", ge=0, le=1000)
    sheet: int = setting(100, "pairs of each range to put on the sheet for annotators", ge=1)
    labels: Annotated[list[Text], Distinct] = setting(
        [], "filled sheets, one per annotator: their labels and agreement are counted"
    )
    idf_from: dict[str, Text] = setting(
        {}, "for each language, a file of sentences, one per line, to take the IDF from; default: the sample itself"
    )


class LexiconBlock(Block):
    """The lexicon results/<model>/lexicon.tsv: pairs of words that match across pairs, by pointwise mutual
    information.
    """

    INERT: ClassVar[bool] = True

    languages: list[str] | None = setting(
        None,
        "the pairs it is made from, such as [en, en] (paraphrases) or [en, fr] (a translation lexicon); "
        "null: the model's paraphrases if it has any, otherwise the pairs of its first corpus",
        min_length=2,
        max_length=2,
    )
    min_count: int = setting(
        10,
        "list two words that occur in the two sides of a pair at least this often (5 suits small corpora)",
        recipes={"paranmt": 10},
        ge=1,
    )
    smoothing: float = setting(
        0.1,
        "added to each count and to the count expected by chance",
        recipes={"paranmt": 0.1},
        unstated=["paranmt"],
        gt=0,
    )
    stop_top: int = setting(0, "number of most frequent words to leave out (of each language)", ge=0)
    within_length: int | None = setting(
        30,
        "leave out pairs with a longer side, in words including punctuation marks; null for no limit",
        recipes={"paranmt": 30},
        ge=1,
    )
    min_score: float | None = setting(
        None, "leave out pairs with a lower score in the third column; null for no limit", recipes={"paranmt": 0.35}
    )
