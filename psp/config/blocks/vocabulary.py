"""Segmentation, subwords and vocabularies, and the store of encoded pairs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from psp.config.blocks.base import Block
from psp.config.blocks.fields import setting


class SegmentBlock(Block):
    """How one language is segmented."""

    segmenter: Literal["jieba"] = setting(..., "jieba (Chinese)")
    cut_all: bool = setting(
        False, "jieba's full mode: all words found, overlapping ones included", recipes={"code": True}
    )
    inference: bool = setting(
        True, "also segment the text that the model embeds, as in training", recipes={"paper": False, "code": False}
    )


class SubwordBlock(Block):
    """The sentencepiece model."""

    vocab_size: int = setting(50000, "number of pieces; a small corpus yields fewer, with a warning", ge=16, le=2000000)
    character_coverage: float = setting(
        0.9999,
        'share of the text\'s characters that have a piece; at 0.995 an English-French model lacks "ç", "ô" '
        "and the digits 4 to 9, and one of six languages a fifth of Chinese",
        recipes={"paper": 0.995, "code": 0.995},
        unstated=["paper"],
        gt=0,
        le=1,
    )
    sample: int = setting(
        1000000,
        "maximum number of sentences to train on (memory grows with it)",
        recipes={"paper": 10000000, "code": 10000000},
        unstated=["paper"],
        ge=1000,
    )
    arabic: Literal["auto", "folded", "as written"] = setting(
        "auto",
        "folded: the sentencepiece model's own rules drop vowel marks and the lengthening stroke, unify "
        "the forms of alef, of the final ya and of the ta marbuta, and make digits ASCII; auto: folded in "
        "models with Arabic (ar)",
        recipes=dict.fromkeys(("paper", "code", "paranmt", "dadas"), "as written"),
    )
    unknown_alone: bool = setting(
        False,
        "a text of unknown pieces alone has the unknown piece's vector, as in the paper; false: it has "
        "none, so that all text in an unknown script is not alike",
        recipes={"paper": True, "code": True},
    )
    language_sampling: float = setting(
        1,
        "in a model of several language pairs, each pair's share of the sample is proportional to its "
        "number of pairs to this power, as far as it has that many: 1 keeps their proportions, 0 makes "
        "shares equal",
        ge=0,
        le=1,
    )
    threads: int = setting(
        8, "training threads, independent of the number of cores, since another number can change the model", ge=1
    )


class VocabularyBlock(Block):
    """The vocabulary of a model whose encoder is `word` or `trigram`."""

    size: int = setting(
        200000,
        "maximum number of words or trigrams, the most frequent ones",
        recipes={"paranmt": 200000},
        unstated=["paranmt"],
        ge=1,
        le=2000000,
    )
    min_count: int = setting(
        2,
        "minimum number of occurrences in the training pairs, both sides",
        recipes={"paranmt": 1},
        unstated=["paranmt"],
        ge=1,
    )
    split: Literal["letters", "whitespace"] = setting(
        "letters",
        "how text is split into words; letters: runs of letters and digits, with apostrophes inside them, "
        "and each punctuation mark or symbol by itself; whitespace: only at white space; no effect on "
        "trigrams",
        recipes={"paranmt": "whitespace"},
    )


class StoreBlock(Block):
    """The encoded pairs."""

    max_pieces: int | None = setting(
        None, "truncate sides to this many pieces; null: never", recipes={"code": 100}, ge=1
    )


@dataclass(frozen=True)
class PieceKind:
    """What a config has to know of a kind of pieces, which :mod:`psp.text.tokenizer_kinds` finds in text.

    Attributes:
        kind: its name, a value of `encoder`.
        called: its pieces, in the plural.
        block, file: the block of its vocabulary, and the file.
        store_bytes: that a pair takes in a store, for `psp plan`.
        is_words: whether its pieces are words, which have vectors that others have trained.
        unspelled: why training cannot start from the spelling of pieces; None if it can.
    """

    kind: str
    called: str
    block: str = "vocabulary"
    file: str = "vocabulary.txt"
    store_bytes: int = 100
    is_words: bool = False
    unspelled: str | None = None

    def most(self, settings: Mapping[str, Any]) -> int:
        """The largest number of ids, by a model's blocks of settings."""
        own = settings[self.block]
        return int(own["size"]) + 1 if "size" in own else int(own["vocab_size"])

    def making_mb(self, settings: Mapping[str, Any], sentences: float) -> float:
        """An estimate of the memory to make its file from this many sentences."""
        if "sample" not in (own := settings[self.block]):
            return 500
        # Measured: 150 MB for 0.1M and 1,400 MB for 1M real en-fr sentences of 84 bytes (sentencepiece 0.2.3); this is
        # twice that, for languages and corpora with longer lines.
        return float(500 + 3 * min(own["sample"], sentences) / 1000)


#: By name; the first is the default.
PIECES: dict[str, PieceKind] = {
    kind.kind: kind
    for kind in (
        PieceKind("subword", "subwords", "subword", "sentencepiece.model", store_bytes=73),
        PieceKind("word", "words", store_bytes=73, is_words=True),
        PieceKind("trigram", "trigrams", store_bytes=380, unspelled="no two trigrams share a run of three characters"),
    )
}
