"""CTranslate2 models as translators: converted ones (OPUS-MT, Marian, OpenNMT), and those that psp trains."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from psp.core.errors import ConfigError, DataError, from_extra
from psp.core.files import sha256
from psp.inference.translation.base import Hypothesis, Translator, limit
from psp.models.text_model import checked_texts
from psp.text.sentencepiece_tokenizer import load_sentencepiece

#: Names of sentencepiece models in a model's folder: of its sources, and of its translations.
_BESIDE = (("source.spm", "target.spm"), ("sentencepiece.model", "sentencepiece.model"))
#: A model's vocabulary must have this share of its sentencepiece model's subwords.
_KNOWN = 0.9


class Ctranslate2Translator(Translator):
    """A CTranslate2 model with the sentencepiece models of its two sides.

    Args:
        folder: the model.
        settings: those of :class:`psp.config.blocks.translator.Ctranslate2`.
        threads: threads of one translation; they do not change it.

    Raises:
        DataError: no such model, or no sentencepiece model, or one of another model.
        ConfigError: it should run on a GPU, but there is none.
        PspError: CTranslate2 is not installed.
    """

    def __init__(self, folder: Path | str, settings: Mapping[str, Any], *, threads: int = 1) -> None:
        self.folder, self.settings = Path(folder), dict(settings)
        with from_extra("translate", "translation needs CTranslate2"):
            import ctranslate2
        if not (self.folder / "model.bin").is_file():
            raise DataError("is not a CTranslate2 model (no model.bin)", self.folder)
        if settings["device"] == "cuda" and not ctranslate2.get_cuda_device_count():
            raise ConfigError("device: cuda, but there is no GPU; write `device: cpu`")
        self._paths = self._sentencepieces()
        self._source, self._target = (load_sentencepiece(path) for path in self._paths)
        for path, processor, side in zip(self._paths, (self._source, self._target), ("source", "target"), strict=True):
            known = self._vocabulary(side)
            self._check(path, processor, known, side)
            key = f"{side}_prefix"
            if strange := next((token for token in settings[key] if token not in known), None):
                raise ConfigError(
                    f"{key}: {strange} is not in the {side} vocabulary of {self.folder}; a model names a language that "
                    "it knows by a subword of its own"
                )
        self._threads = threads
        self._model = self._load()

    def _load(self) -> Any:
        import ctranslate2

        settings = self.settings
        # A thread for each of several batches is 1.8 times as fast on two cores as two threads in each batch: the small
        # products of a step of the search do not divide well. Sampling draws in one worker, in one order.
        workers = 1 if settings["sampling"] or settings["device"] == "cuda" else self._threads
        if settings["sampling"]:
            ctranslate2.set_random_seed(settings["seed"])
        try:
            return ctranslate2.Translator(
                str(self.folder), device=settings["device"], compute_type=settings["compute_type"],
                inter_threads=workers, intra_threads=max(1, self._threads // workers),
            )  # fmt: skip
        except (RuntimeError, ValueError) as error:
            raise DataError(f"cannot be loaded: {' '.join(str(error).split())}", self.folder) from None

    def _sentencepieces(self) -> tuple[Path, Path]:
        if own := self.settings["sentencepiece"]:
            return Path(own), Path(self.settings["target_sentencepiece"] or own)
        # A translator that psp trained has them beside its CTranslate2 model's folder.
        for place in (self.folder, self.folder.parent):
            for source, target in _BESIDE:
                if (place / source).is_file() and (place / target).is_file():
                    return place / source, place / target
        raise DataError(
            "no source.spm and target.spm, nor sentencepiece.model; name the model's with `sentencepiece`", self.folder
        )

    def _check(self, path: Path, processor: Any, known: set[str], side: str) -> None:
        """Check that a sentencepiece model is this model's, by the vocabulary of its side."""
        pieces = [processor.id_to_piece(number) for number in range(processor.get_piece_size())]
        share = sum(piece in known for piece in pieces) / len(pieces)
        if share < _KNOWN:
            raise DataError(
                f"for another model: {share:.0%} of its subwords are in the {side} vocabulary of {self.folder}", path
            )

    def _vocabulary(self, side: str) -> set[str]:
        for name in (f"{side}_vocabulary", "shared_vocabulary"):
            for ending in ("json", "txt"):
                path = self.folder / f"{name}.{ending}"
                if not path.is_file():
                    continue
                try:
                    body = path.read_text("utf-8")
                    return set(json.loads(body) if ending == "json" else body.split("\n"))
                except (ValueError, TypeError, OSError) as error:
                    raise DataError(f"cannot be read: {error}", path) from None
        raise DataError(f"has no {side}_vocabulary.json, nor shared_vocabulary.json", self.folder)

    @property
    def identity(self) -> dict[str, Any]:
        files = {path.name: sha256(path) for path in sorted(self.folder.iterdir()) if path.is_file()}
        for side, path in zip(("source", "target"), self._paths, strict=True):
            files[f"{side} sentencepiece"] = sha256(path)
        # Batches, threads and the place of a model do not affect its output.
        aside = ("ctranslate2", "sentencepiece", "target_sentencepiece", "batch_tokens")
        own = {key: value for key, value in self.settings.items() if key not in aside}
        return {"kind": "ctranslate2", "settings": own, "files": files}

    def translate(self, texts: Sequence[str], *, n: int = 1) -> list[list[Hypothesis]]:
        texts, settings = checked_texts(texts), self.settings
        if n < 1:
            raise ConfigError(f"{n} translations of each text; ask for at least one")
        if not settings["sampling"] and n > settings["beam"]:
            raise ConfigError(f"{n} translations of each text, but a beam of {settings['beam']}; make `beam` {n}")
        if settings["sampling"]:
            # A worker takes the seed when it begins, so that a call's draws do not depend on earlier ones.
            self._model = self._load()
        rows = [list(row) for row in self._source.encode(texts, out_type=str)]
        for place, row in enumerate(rows):
            if len(row) > settings["max_tokens"]:
                rows[place], self.cut = row[: settings["max_tokens"]], self.cut + 1
        # Without text there is nothing to translate; a model would make something up.
        order = sorted((place for place, row in enumerate(rows) if row), key=lambda place: len(rows[place]))
        prefix = list(settings["target_prefix"])
        answers: list[list[Hypothesis]] = [[Hypothesis("", None)] for _ in texts]
        # All texts of a call share the limit, so each call has texts of one length, and its other texts do not affect a
        # translation.
        begun = []
        for length, same in itertools.groupby(order, key=lambda place: len(rows[place])):
            places, most = list(same), limit(length)
            results = self._model.translate_batch(
                [[*settings["source_prefix"], *rows[place]] for place in places],
                target_prefix=[prefix] * len(places) if prefix else None,
                max_batch_size=settings["batch_tokens"],
                batch_type="tokens",
                beam_size=settings["beam"],
                num_hypotheses=n,
                length_penalty=settings["length_penalty"],
                max_input_length=0,
                max_decoding_length=most,
                sampling_topk=settings["sampling"] or 1,
                sampling_temperature=settings["temperature"],
                disable_unk=True,  # the unknown subword is not text
                return_scores=True,
                asynchronous=True,  # short calls of rare lengths run concurrently
            )
            begun.append((places, most, results))
        for places, most, results in begun:
            for place, pending in zip(places, results, strict=True):
                result = pending.result()
                answers[place] = [
                    self._hypothesis(tokens, score, most)
                    for tokens, score in zip(result.hypotheses, result.scores, strict=True)
                ]
        return answers

    def _hypothesis(self, tokens: list[str], score: float, most: int) -> Hypothesis:
        ended = len(tokens) < most
        # CTranslate2 divides by length^penalty alone. The length is that with the end of the sentence, if it has come.
        normalised = score * (len(tokens) + ended) ** (self.settings["length_penalty"] - 1)
        prefix = self.settings["target_prefix"]
        written = tokens[len(prefix) :] if tokens[: len(prefix)] == prefix else tokens
        return Hypothesis(" ".join(self._target.decode(written).split()), float(normalised), ended)
