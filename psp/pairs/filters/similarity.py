"""Keep pairs with similar meaning, by the cosine of their vectors: a paraphrase score for corpora without one.

The paper keeps paraphrases from 0.4 to 1.0 (section 3.1), using the mean of PARAGRAM word vectors. For bitext the
encoder must know both languages; Dadas (2022) keeps pairs from 0.7, using paraphrase-xlm-r-multilingual-v1.
"""

from __future__ import annotations

from typing import Any

import xxhash

from psp.models.cosines import text_cosines
from psp.models.registry import TextEncoder, load_encoder, survives_fork
from psp.pairs.filters.base import Batch, Filter

BLOCK = 2000
"""Pairs embedded at a time: 16 MB at 1024 dimensions."""

REMEMBERED = 1 << 19
"""Cosines kept for copies of a pair further on, 150 bytes each: copies are removed after the filters, but an encoder of
100 sentences/s would embed them first."""


class SimilarityFilter(Filter):
    """Drops pairs with a cosine below ``min`` (too little in common) or above ``max`` (too much).

    ``encoder`` is passed to :func:`psp.models.registry.load_encoder`; ``words`` limits the words read from a file of
    word vectors. A side without known words has cosine 0 with everything.

    The right ``min`` depends on the encoder, the languages and the text. Measured with multilingual USE on 3,000 pairs
    each: 0.61 keeps 95% of French XNLI and 96% of Multi30k, and the pairs dropped there are correct, if free,
    translations; 0.7 keeps 85% and 82%. In Arabic, Turkish and Chinese XNLI, 95% of pairs are above 0.50 to 0.53. In
    the Quran, 0.61 keeps 67% in French but 0.1% in Arabic, although 20 pairs that we read were all correct: the encoder
    cannot handle text with vowel marks (without them 22% are kept).

    Raises:
        ConfigError: no encoder is named.
        DataError, PspError: at the first batch, if the encoder cannot be loaded.
    """

    name = "similarity"
    order = 90

    def set_up(self) -> None:
        self._encoder: TextEncoder | None = None
        self._known: dict[bytes, float] = {}  # by a hash of the pair

    def prepare(self) -> None:
        if survives_fork(self.settings["encoder"]):
            self._load()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_encoder": None}

    def __call__(self, batch: Batch) -> list[str | None]:
        least, most = self.settings["min"], self.settings["max"]
        return [
            None if least <= score <= most else f"similarity: too {'low' if score < least else 'high'}"
            for score in self.scores(batch)
        ]

    def scores(self, batch: Batch) -> list[float]:
        """The cosine of each pair."""
        encoder = self._load()
        source, target = batch.source, batch.target
        if encoder.segmented:
            source, target = batch.source_tokens, batch.target_tokens
        similarities: list[float] = []
        for start in range(0, len(batch), BLOCK):
            block = slice(start, start + BLOCK)
            pairs = list(zip(source[block], target[block], strict=True))
            keys = [xxhash.xxh3_128_digest("\t".join(pair).encode()) for pair in pairs]
            if len(self._known) > REMEMBERED:
                self._known.clear()
            # Each text once: bitext with several translations repeats 16% of its texts (Tatoeba, English and French).
            new = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in self._known}
            self._known.update(zip(new, text_cosines(encoder.embed, list(new.values())).tolist(), strict=True))
            similarities += [self._known[key] for key in keys]
        return similarities

    def _load(self) -> TextEncoder:
        if self._encoder is None:
            self._encoder = load_encoder(self.settings["encoder"], words=self.settings["words"])
        return self._encoder
