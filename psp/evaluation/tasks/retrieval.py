"""Retrieval of translations: for each sentence of a text, the nearest sentence of the aligned translation.

It is scored in both directions, between any two languages. The error rate is that of Tatoeba's protocol (Artetxe and
Schwenk, 2019); F1 is MTEB's, the mean over the right answers' classes, in which a sentence found by several queries has
a lower precision. Ties go to the first candidate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

from psp.core.errors import ConfigError, DataError
from psp.core.settings import Setting, choice, list_of, text
from psp.evaluation.metrics import retrieved
from psp.evaluation.scorers import Floats, Scorer
from psp.evaluation.tasks.base import PERCENT, BootstrapSpec, Measure, Part, Task
from psp.evaluation.testsets import read_tatoeba
from psp.text.languages import ISO3, TATOEBA

#: Codes in the names of NTREX-128's files, where they are not Tatoeba's.
_NTREX = {"en": "eng", "ar": "arb", "zh": "zho-CN", "sw": "swa", "fa": "fas", "ms": "msa", "lv": "lav", "sq": "sqi"}
#: Codes in the names of FLORES-200's files of languages with several scripts or varieties.
_FLORES = {"en": "eng", "ar": "arb_Arab", "zh": "zho_Hans", "sr": "srp_Cyrl", "sq": "als", "fa": "pes", "mn": "khk"}


class Retrieval(Task):
    """Nearest-neighbour search for translations; the parts are the two directions, the queries' language first."""

    kind = "retrieval"
    help = "search for each sentence's translation, in both directions"
    declared: ClassVar[Mapping[str, Setting]] = {
        "layout": choice(
            "plain",
            ["plain", "ntrex", "flores", "tatoeba"],
            help="plain: two files, `source` and `target`; or the folder `path` of NTREX-128, FLORES-200 or Tatoeba",
        ),
        "languages": list_of(
            items={"type": "string"}, at_least=2, at_most=2, distinct=True, help="the two languages, such as [fr, de]"
        ),
        "path": text(None, null=True, help="the folder of a published set"),
        "split": choice("devtest", ["dev", "devtest"], help="the part of FLORES-200"),
        "source": text(None, null=True, help="plain: sentences in the first language, one per line"),
        "target": text(None, null=True, help="plain: their translations"),
    }
    metrics: ClassVar[Mapping[str, Measure]] = {
        "error": Measure("share of queries whose nearest neighbour is not their translation", PERCENT, False),
        "f1": Measure("weighted F1 as MTEB reports it", PERCENT),
    }

    paths = frozenset({"path", "source", "target"})

    def files(self) -> list[Path]:
        settings = self.settings
        if settings["layout"] == "plain":
            if not (settings["source"] and settings["target"]):
                raise ConfigError(f"{self.place}: layout plain needs `source` and `target`, two files")
            return [self.path("source"), self.path("target")]
        if not settings["path"]:
            raise ConfigError(f"{self.place}: layout {settings['layout']} needs `path`, the folder of the set")
        folder = self.path("path")
        if settings["layout"] == "ntrex":
            return [_ntrex(folder, language) for language in settings["languages"]]
        if settings["layout"] == "flores":
            return [_flores(folder, language, settings["split"]) for language in settings["languages"]]
        return self._tatoeba(folder)

    def _tatoeba(self, folder: Path) -> list[Path]:
        languages = self.settings["languages"]
        if languages.count("en") != 1:
            raise ConfigError(f"{self.place}.languages: Tatoeba's sets pair a language with en")
        (foreign,) = (language for language in languages if language != "en")
        code = TATOEBA.get(foreign, foreign)
        if code not in TATOEBA.values():
            raise ConfigError(f"{self.place}.languages: Tatoeba has no set for {foreign}")
        ends = {foreign: code, "en": "eng"}
        return [folder / f"tatoeba.{code}-eng.{ends[language]}" for language in languages]

    @cached_property
    def texts(self) -> tuple[list[str], list[str]]:
        """The two texts, aligned."""
        source, target = self.files()
        return read_tatoeba(source, target)

    def sentences(self) -> Iterator[str]:
        for side in self.texts:
            yield from side

    def score(self, scorer: Scorer, draw: BootstrapSpec) -> dict[str, Part]:
        a, b = self.settings["languages"]
        similarity = scorer.cross(*self.texts)
        # Both directions of one resample have the same pairs: their figures may then be averaged.
        return {
            f"{a}-{b}": _part(similarity, self.texts[1], draw),
            f"{b}-{a}": _part(similarity.T, self.texts[0], draw),
        }


def _part(similarity: Floats, candidates: list[str], draw: BootstrapSpec) -> Part:
    nearest, wrong, duplicates = retrieved(similarity, candidates)
    # A class has one query, so its recall is 0 or 1, and its precision 1 / (how many queries found it).
    f1 = np.where(~wrong, 2 / (1 + np.bincount(nearest, minlength=len(nearest))), 0.0)
    figures = {"error": draw.mean(np.where(wrong, 100.0, 0.0)), "f1": draw.mean(100 * f1)}
    return Part(len(nearest), figures, {"duplicates": duplicates})


def _ntrex(folder: Path, language: str) -> Path:
    code = _NTREX.get(language, ISO3.get(language, language))
    path = folder / f"newstest2019-{'src' if code == 'eng' else 'ref'}.{code}.txt"
    if not path.exists():
        known = sorted({file.name.split(".")[1] for file in folder.glob("newstest2019-*.txt")})
        raise DataError(f"no such file; give a language by the code of its file: {', '.join(known) or 'none'}", path)
    return path


def _flores(folder: Path, language: str, split: str) -> Path:
    code = _FLORES.get(language, ISO3.get(language, language))
    exact = folder / split / f"{code}.{split}"
    files = [exact] if exact.exists() else sorted((folder / split).glob(f"{code}_*.{split}"))
    if len(files) != 1:
        known = sorted(file.stem for file in (folder / split).glob(f"*.{split}"))
        several = ", ".join(file.stem for file in files)
        raise DataError(
            (f"several files for {language}: {several}" if files else f"no file for {language}")
            + f"; give it by the code of its file, such as {several or ', '.join(known[:10]) or 'eng_Latn'}",
            folder / split,
        )
    return files[0]
