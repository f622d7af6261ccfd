"""Keep pairs whose sides mean about the same, by their vectors' cosine: the paraphrase score, for data without it.

The paper keeps paraphrases from 0.4 to 1.0 (section 3.1) by the mean of PARAGRAM word vectors. For bitext the encoder
must know both languages; Dadas (2022) keeps pairs from 0.7 by the multilingual Universal Sentence Encoder.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from psp.cosine import cosines
from psp.encoders import Encoder, load_encoder, survives_fork
from psp.filters.contract import Batch, Filter

BLOCK = 2000
"""Pairs whose vectors are in memory at once: 16 MB at 1024 dimensions."""


class SimilarityFilter(Filter):
    """Drops pairs with a cosine below ``min`` (too little in common) or above ``max`` (too much).

    ``encoder`` is what :func:`psp.encoders.load_encoder` takes; ``words`` how many words are read from a file of word
    vectors. A side without a known word has the cosine 0 with everything.

    Which ``min`` is right depends on the encoder, the languages and the text. Measured with multilingual USE on 3,000
    pairs each: 0.61 keeps 95% of French XNLI and 96% of Multi30k, and what it drops there are right, if free,
    translations; 0.7 keeps 85% and 82%. Of Arabic, Turkish and Chinese XNLI 95% lie above 0.50 to 0.53. Of the Quran
    0.61 keeps 67% in French but 0.1% in Arabic, although 20 pairs read were all right: the encoder cannot read text
    with vowel marks (without them 22% are kept).

    Raises:
        ConfigError: no encoder is named.
        DataError, PspError: at the first batch, the encoder cannot be loaded.
    """

    name = "similarity"
    order = 90
    defaults: ClassVar[Mapping[str, Any]] = {"encoder": None, "min": 0.4, "max": 1.0, "words": 200_000}

    def __init__(
        self, settings: Mapping[str, Any], languages: tuple[str, str], resources: Mapping[str, Path | str] | None = None
    ) -> None:
        super().__init__(settings, languages, resources)
        self.min, self.max = self.settings["min"], self.settings["max"]
        if not isinstance(self.settings["encoder"], str):
            raise self.wrong("encoder", self.settings["encoder"], "names no encoder; write 'encoder: use-multilingual'")
        for key in ("min", "max"):
            value = self.settings[key]
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise self.wrong(key, value, "must be a number")
        if self.max < self.min:
            raise self.wrong("max", self.max, f"must not be below min, which is {self.min}")
        self._encoder: Encoder | None = None

    def prepare(self) -> None:
        if survives_fork(self.settings["encoder"]):
            self._load()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_encoder": None}

    def __call__(self, batch: Batch) -> list[str | None]:
        return [
            None if self.min <= score <= self.max else f"similarity: too {'low' if score < self.min else 'high'}"
            for score in self.scores(batch)
        ]

    def scores(self, batch: Batch) -> list[float]:
        """The cosine of each pair."""
        encoder = self._load()
        source, target = batch.source, batch.target
        if encoder.segmented:
            source, target = batch.source_tokens, batch.target_tokens
        found: list[float] = []
        for start in range(0, len(batch), BLOCK):
            stop = start + BLOCK
            found += cosines(encoder.embed(source[start:stop]), encoder.embed(target[start:stop])).tolist()
        return found

    def _load(self) -> Encoder:
        if self._encoder is None:
            self._encoder = load_encoder(self.settings["encoder"], words=self.settings["words"])
        return self._encoder
