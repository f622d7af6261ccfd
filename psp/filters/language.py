"""Keep pairs whose sides are in the languages that they should be in, by fastText's lid.176.

The paper identifies the language of paraphrase data only; for bitext this filter is our addition.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from psp.errors import ConfigError, DataError, PspError
from psp.filters.contract import SIDES, Batch, Filter

LABELS = {"cmn": "zh", "fil": "tl", "in": "id", "iw": "he", "ji": "yi", "nb": "no"}
"""lid.176's label for our language codes, where the two differ."""


def label(language: str) -> str:
    """lid.176's label for one of our language codes (a region, as in ``pt_br``, makes no difference)."""
    code = language.lower().replace("-", "_").partition("_")[0]
    return LABELS.get(code, code)


class LanguageFilter(Filter):
    """Drops pairs with a side whose most probable language is not its own, or is so by less than ``threshold``.

    With ``spare``, a side is kept after all when its own language has at least this probability, since the most
    probable language of a short text is often wrong. Measured on 602,592 English-French and 356,985 Chinese sides of
    documentation, interfaces, games and phrases: lid.176.ftz names another language for 1.9% of English, 1.8% of
    French and 12% of Chinese (two thirds of these: Japanese); of 100 such pairs read, 91 had a right English and 72 a
    right French side. ``spare: 0.02`` keeps 83%, 75% and 85% of them, and still drops two thirds of the French sides
    that were left in English.

    The text is judged in its own case and before segmentation, as the model was trained on it. Needs the resource
    ``lid``, the path of fastText's lid.176.ftz or lid.176.bin, which is read at the first batch.

    Raises:
        ConfigError: the model has no label for a language.
        DataError: the model file is missing or is not a fastText classifier.
    """

    name = "language"
    order = 20
    defaults: ClassVar[Mapping[str, Any]] = {"sides": "both", "threshold": 0.0, "spare": None}

    def __init__(
        self, settings: Mapping[str, Any], languages: tuple[str, str], resources: Mapping[str, Path | str] | None = None
    ) -> None:
        super().__init__(settings, languages, resources)
        self.threshold, self.spare = self.settings["threshold"], self.settings["spare"]
        for key in ("threshold", "spare"):
            value = self.settings[key]
            if key == "spare" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
                raise self.wrong(key, value, "must be a probability, from 0.0 to 1.0")
        if "lid" not in self.resources:
            raise ConfigError("filters.language: needs a language identification model, the resource 'lid'")
        self._model: Any = None

    def __call__(self, batch: Batch) -> list[str | None]:
        if self._model is None:
            self._model = self._load()
        reasons: list[str | None] = [None] * len(batch)
        for side in SIDES[self.settings["sides"]]:
            reason = f"language: {side}"
            wanted = "__label__" + label(self.languages[side == "target"])
            column = batch.source if side == "source" else batch.target
            # A list even for one text: predict(str) fails with numpy 2 in fasttext 0.9.3.
            labels, probabilities = self._model.predict(column)
            bad = [
                row
                for row, (top, probability) in enumerate(zip(labels, probabilities, strict=True))
                if not len(top) or top[0] != wanted or probability[0] < self.threshold
            ]
            if bad and self.spare is not None:
                possible, _ = self._model.predict([column[row] for row in bad], k=-1, threshold=self.spare)
                bad = [row for row, some in zip(bad, possible, strict=True) if wanted not in some]
            for row in bad:
                if reasons[row] is None:
                    reasons[row] = reason
        return reasons

    def _load(self) -> Any:
        path = Path(self.resources["lid"])
        if not path.is_file():
            raise DataError("no such file; fetch fastText's lid.176.ftz", path)
        try:
            import fasttext
        except ModuleNotFoundError:
            raise PspError("language identification needs fastText: pip install 'psp[data]'") from None
        fasttext.FastText.eprint = lambda *_: None  # versions up to 0.9.2 print a warning at each load
        try:
            model = fasttext.load_model(str(path))
            model.predict(["text"])  # a model of word vectors loads well and fails here
        except (ValueError, RuntimeError, MemoryError) as error:
            raise DataError(f"not a fastText classifier ({error}); fetch lid.176.ftz again", path) from None
        known = {name.removeprefix("__label__") for name in model.get_labels()}
        for side in SIDES[self.settings["sides"]]:
            language = self.languages[side == "target"]
            if label(language) not in known:
                raise ConfigError(
                    f"filters.language: {path} does not know the language {language!r}; "
                    "correct it in the model's 'languages', or write 'enabled: false' under filters.language"
                )
        return model
