"""Keep pairs whose sides mean about the same, by their vectors' cosine: the paraphrase score, for data without it.

The paper keeps paraphrases from 0.4 to 1.0 (section 3.1) by the mean of PARAGRAM word vectors. For bitext the encoder
must know both languages; Dadas (2022) keeps pairs from 0.7 by paraphrase-xlm-r-multilingual-v1.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from psp.core.settings import Setting, flag, number, text, whole
from psp.models.registry import Encoder, load_encoder, survives_fork
from psp.models.similarity import cosines
from psp.pairs.filters.contract import Batch, Filter

BLOCK = 2000
"""Pairs whose vectors are in memory at once: 16 MB at 1024 dimensions."""


class SimilarityFilter(Filter):
    """Drops pairs with a cosine below ``min`` (too little in common) or above ``max`` (too much).

    ``encoder`` is what :func:`psp.models.registry.load_encoder` takes; ``words`` how many words are read from a file of
    word vectors. A side without a known word has the cosine 0 with everything.

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
    help = "the cosine of the sides' vectors, a paraphrase score for data without one"
    declared: ClassVar[Mapping[str, Setting]] = {
        "enabled": flag(False, help="drop a pair whose cosine is out of bounds"),
        "encoder": text(
            None,
            at_least=1,
            null=True,
            help="a file of word vectors (word2vec, GloVe, PARAGRAM), a psp model's folder, use-multilingual (extra "
            "use), or sentence-transformers:<name or folder> (extra sentence-transformers); for bitext it must know "
            "both languages",
        ),
        "min": number(
            0.4,
            help="least cosine (the paper's for paraphrases by word vectors; 0.7 for bitext by "
            "paraphrase-xlm-r-multilingual-v1 in Dadas 2022)",
        ),
        "max": number(1.0, help="largest cosine"),
        "words": whole(
            200_000,
            at_least=1,
            null=True,
            help="words read from a file of word vectors, from its beginning; null for all (4 bytes a number)",
        ),
    }

    def __init__(
        self, settings: Mapping[str, Any], languages: tuple[str, str], resources: Mapping[str, Path | str] | None = None
    ) -> None:
        super().__init__(settings, languages, resources)
        self.min, self.max = self.settings["min"], self.settings["max"]
        self._encoder: Encoder | None = None

    @classmethod
    def problem(cls, settings: Mapping[str, Any], languages: tuple[str, str], kind: str | None) -> str | None:
        if settings["enabled"] and settings["encoder"] is None:
            return (
                "filters.similarity is enabled but names no encoder; write e.g. "
                "`similarity: {enabled: true, encoder: use-multilingual, min: 0.7}`"
            )
        return super().problem(settings, languages, kind)

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
