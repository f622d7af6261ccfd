"""Evaluate any :class:`~psp.evaluation.scorers.Scorer` by the paper's STS and Tatoeba protocols.

:func:`evaluate` returns the body shared by eval.json and compare.json; :func:`evaluate_model` writes eval.json for a
trained model. Results are bitwise reproducible for the same scorer, data, seed and number of resamples.
"""

from __future__ import annotations

import contextlib
import logging
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from psp.core.files import write_json
from psp.evaluation import bootstrap, resamples, testsets
from psp.evaluation.scorers import EmbeddingScorer, Floats, Scorer
from psp.evaluation.settings import SECTION
from psp.evaluation.tasks import sts as similarity
from psp.evaluation.tasks import tatoeba as retrieval
from psp.models.static import load
from psp.text.keys import normalised_keys
from psp.text.published_sets import checksum

__all__ = [
    "EmbeddingScorer",
    "Scorer",
    "compared_figures",
    "evaluate",
    "evaluate_model",
    "evaluate_system",
    "main_figures",
]

log = logging.getLogger(__name__)

FORMAT = 1


def evaluate(
    scorer: Scorer,
    *,
    languages: Sequence[str],
    sts: Path | str | None = None,
    tatoeba: Mapping[str, tuple[Path, Path]] | None = None,
    files: Mapping[str, Path] | None = None,
    resamples: int = SECTION["resamples"].default,
    seed: int = 0,
    resampled: dict[str, Floats] | None = None,
) -> dict[str, Any]:
    r"""Run every test set that the model's languages cover.

    Args:
        scorer: the system.
        languages: the model's languages, as in the config; sets in others are skipped, with the reason.
        sts: a zip archive or folder of STS sets.
        tatoeba: language -> its two files (language's side, English side).
        files: the user's own STS sets, name -> file of ``score \t sentence \t sentence``.
        resamples, seed: number and seed of bootstrap resamples for the 95% intervals of correlations.
        resampled: filled with each test's scores in each resample, float64 (resamples,), by the names of
            :func:`compared_figures`. Systems share the same resamples, so differences can be taken per resample.

    Returns:
        ``conditions``, ``sts`` (years, and ``average`` over them), ``semeval2017``, ``stsb``, ``tatoeba``, ``files``;
        ``sets``, the checksum of each set (:mod:`psp.text.published_sets`); and ``skipped``: a list of ``set`` and
        ``why``. Parts not requested are empty.

    Raises:
        DataError: a file is missing or malformed, or the archive holds no STS data at all.
    """
    run = _Run(scorer, frozenset(languages), resamples, seed, {} if resampled is None else resampled)
    body: dict[str, Any] = {
        "conditions": {"confidence": bootstrap.CONFIDENCE, "resamples": resamples, "seed": seed},
        "sts": {},
        "semeval2017": {},
        "stsb": {},
        "tatoeba": {},
        "files": {},
    }
    if sts is not None:
        with testsets.StsSource(sts) as source:
            body["sts"] = run.years(source)
            body["semeval2017"] = run.tracks(source)
            body["stsb"] = run.benchmark(source)
    elif not testsets.has_sts(languages):
        run.skip("STS", f"no published set is in the languages of this model: {', '.join(languages)}")
    if "en" not in languages and not tatoeba:
        run.skip("Tatoeba", "its sets pair a language with English, which this model does not have")
    for language, paths in (tatoeba or {}).items():
        body["tatoeba"] |= run.tatoeba(language, paths)
    if body["tatoeba"]:
        run.resampled["tatoeba"] = np.mean([run.resampled[f"tatoeba/{iso3}"] for iso3 in body["tatoeba"]], axis=0)
    for name, path in (files or {}).items():
        body["files"][name] = run.correlation(testsets.read_file(path, name), f"files/{name}", f"files/{name}")
    return body | {"sets": run.sets, "skipped": run.skipped}


def main_figures(body: Mapping[str, Any]) -> dict[str, float | None]:
    """Return one score per test from the body returned by :func:`evaluate`; None where it is undefined.

    Names: ``sts`` (mean Pearson over the years), ``semeval2017/<track>``, ``stsb/<part>`` and ``files/<name>``
    (Pearson), ``tatoeba/<direction>`` (error rate).
    """
    found = {"sts": body["sts"]["average"]["pearson_mean"]} if body["sts"] else {}
    for part in ("semeval2017", "stsb", "files"):
        found |= {f"{part}/{name}": figures["pearson"] for name, figures in body[part].items()}
    for directions in body["tatoeba"].values():
        found |= {f"tatoeba/{direction}": figures["error"] for direction, figures in directions.items()}
    return found


def compared_figures(body: Mapping[str, Any]) -> dict[str, float | None]:
    """Return the scores by which systems are compared, by name; None where a correlation is undefined.

    These are the scores of :func:`main_figures`; ``sts/spearman``, over all pairs of each year, and ``<test>/spearman``
    of each other test of similarity; ``tatoeba/<language>``, the mean error of both directions; and ``tatoeba``, the
    mean over languages.

    Args:
        body: eval.json, or a system of compare.json.
    """
    found = main_figures(body)
    if body["sts"]:
        found["sts/spearman"] = body["sts"]["average"]["spearman_concatenated"]
    for part in ("semeval2017", "stsb", "files"):
        found |= {f"{part}/{name}/spearman": figures["spearman"] for name, figures in body[part].items()}
    means = []
    for language, directions in body["tatoeba"].items():
        means.append(statistics.fmean(figures["error"] for figures in directions.values()))
        found[f"tatoeba/{language}"] = round(means[-1], 4)
    if means:
        found["tatoeba"] = round(statistics.fmean(means), 4)
    return found


def evaluate_model(
    model_dir: Path | str,
    out: Path | str,
    *,
    name: str,
    info: Mapping[str, Any] | None = None,
    resampled: Path | str | None = None,
    **tests: Any,
) -> dict[str, Any]:
    """Evaluate a trained model and write eval.json.

    Args:
        model_dir: the model's folder.
        out: path of eval.json; written atomically.
        name: the model's name in the config.
        info: further entries for eval.json, such as the recipe and the keys that differ from it.
        resampled: path for the scores in each resample (:mod:`psp.evaluation.resamples`); None: not written.
        tests: as for :func:`evaluate`.

    Returns:
        What was written: ``format``, ``model``, ``info``'s entries, then the body of :func:`evaluate`.

    Raises:
        DataError: as :func:`evaluate`; or ``model_dir`` holds no model.
    """
    return evaluate_system(EmbeddingScorer(load(model_dir)), out, name=name, info=info, resampled=resampled, **tests)


def evaluate_system(
    scorer: Scorer,
    out: Path | str,
    *,
    name: str,
    info: Mapping[str, Any] | None = None,
    resampled: Path | str | None = None,
    **tests: Any,
) -> dict[str, Any]:
    """Evaluate any system as :func:`evaluate_model` does a model.

    Raises:
        DataError: as :func:`evaluate`.
    """
    drawn: dict[str, Floats] = {}
    result = {"format": FORMAT, "model": name, **(info or {}), **evaluate(scorer, resampled=drawn, **tests)}
    if resampled is not None:
        resamples.write(resampled, drawn, result["conditions"])
    write_json(out, result)
    return result


class _Run:
    """One evaluation: the system, its languages, what was skipped, and the resampled scores."""

    def __init__(
        self, scorer: Scorer, languages: frozenset[str], resamples: int, seed: int, resampled: dict[str, Floats]
    ) -> None:
        self.scorer, self.languages, self.resamples, self.seed = scorer, languages, resamples, seed
        self.resampled = resampled
        self.skipped: list[dict[str, str]] = []
        self.sets: dict[str, str] = {}

    def score(self, data: testsets.StsSet, name: str, figure: str) -> similarity.Scored:
        log.info("%s: %d pairs", name, len(data))
        self.sets[figure] = checksum(data.a, data.b, data.gold)
        return similarity.score_set(self.scorer, data, name=name, resamples=self.resamples, seed=self.seed)

    def correlation(self, data: testsets.StsSet, name: str, figure: str) -> dict[str, Any]:
        """Score a set; ``name`` determines its resamples, ``figure`` is its key in :func:`main_figures`."""
        return self.kept(self.score(data, name, figure), figure)

    def kept(self, scored: similarity.Scored, figure: str) -> dict[str, Any]:
        """A set's figures, whose resamples are kept under a name of :func:`main_figures`."""
        self.resampled[figure] = 100 * scored.pearson
        self.resampled[f"{figure}/spearman"] = 100 * scored.spearman
        return scored.figures

    def skip(self, what: str, why: str) -> None:
        log.info("%s skipped: %s", what, why)
        self.skipped.append({"set": what, "why": why})

    def covers(self, what: str, *needed: str) -> bool:
        if missing := sorted(set(needed) - self.languages):
            self.skip(what, f"not a language of this model: {', '.join(missing)}")
        return not missing

    def years(self, source: testsets.StsSource) -> dict[str, Any]:
        years: dict[str, similarity.Year] = {}
        if not self.covers("STS 2012-2016", "en"):
            return {}
        for year, names in testsets.YEARS.items():
            scored = []
            if not source.has_folder(folder := f"STS{year[2:]}-en-test"):
                self.skip(f"STS {year}", f"no folder {folder} in {source.path.name}")
                continue
            for name in names:
                try:
                    data = source.semeval(year, name)
                    scored.append(self.score(data, f"{year}/{name}", f"sts/{year}/{name}"))
                except testsets.MissingSetError as error:
                    self.skip(f"STS {year} {name}", str(error))
            if scored:
                years[year] = similarity.score_year(year, scored)
        if not years:
            return {}
        for figure, key in (("sts", "pearson_mean"), ("sts/spearman", "spearman_concatenated")):
            means = [drawn for found in years.values() if (drawn := found.resampled[key]) is not None]
            if len(means) == len(years):
                self.resampled[figure] = 100 * np.mean(means, axis=0)
        return {year: found.body for year, found in years.items()} | {"average": similarity.average(years)}

    def tracks(self, source: testsets.StsSource) -> dict[str, Any]:
        body: dict[str, Any] = {}
        for track, languages in testsets.TRACKS.items():
            if not self.covers(f"SemEval-2017 {track}", *languages):
                continue
            try:
                body[track] = self.correlation(source.semeval("2017", track), f"2017/{track}", f"semeval2017/{track}")
            except testsets.MissingSetError as error:
                self.skip(f"SemEval-2017 {track}", str(error))
                continue
            if track == testsets.DEVELOPMENT_TRACK:
                body[track]["development"] = True
                body[track]["in_stsb"] = self.shared(source)
        return body

    def shared(self, source: testsets.StsSource) -> dict[str, int]:
        """How many of SemEval-2017's English pairs each part of the STS Benchmark holds: half of them each."""
        return {part: int(self.inside(source, data).sum()) for part, data in _benchmark(source).items()}

    def inside(self, source: testsets.StsSource, data: testsets.StsSet) -> npt.NDArray[np.bool_]:
        """Tell which pairs of a set are pairs of SemEval-2017's English track, bool (pairs,)."""
        try:
            track = source.semeval("2017", testsets.DEVELOPMENT_TRACK)
        except testsets.MissingSetError:
            return np.zeros(len(data), dtype=bool)
        known = set(_pairs(track))
        return np.fromiter((pair in known for pair in _pairs(data)), dtype=bool, count=len(data))

    def benchmark(self, source: testsets.StsSource) -> dict[str, Any]:
        body: dict[str, Any] = {}
        if not self.covers("STS Benchmark", "en"):
            return body
        for part in testsets.BENCHMARK:
            name = f"stsb/{part}"
            try:
                scored = self.score(source.benchmark(part), name, name)
            except testsets.MissingSetError as error:
                self.skip(f"STS Benchmark {part}", str(error))
                continue
            body[part] = self.kept(scored, name)
            inside = self.inside(source, scored.data)
            body[part]["in_semeval2017_en"] = int(inside.sum())
            if inside.any() and not inside.all():
                rest = similarity.without(scored, inside, name=f"{name}/rest", resamples=self.resamples, seed=self.seed)
                body[part]["without_semeval2017_en"] = rest.figures
        return body

    def tatoeba(self, language: str, paths: tuple[Path, Path]) -> dict[str, Any]:
        iso3 = testsets.tatoeba_code(language)
        if iso3 is None:
            self.skip(f"Tatoeba {language}", "Tatoeba has no set for this language")
            return {}
        if not self.covers(f"Tatoeba {iso3}-eng", language, "en"):
            return {}
        foreign, english = testsets.read_tatoeba(*paths)
        log.info("Tatoeba %s-eng: %d pairs", iso3, len(foreign))
        self.sets[f"tatoeba/{iso3}"] = checksum(foreign, english)
        found = retrieval.search(self.scorer, foreign, english, iso3)
        for direction, (_, wrong) in found.items():
            name = f"tatoeba/{direction}"
            counts = bootstrap.resample_counts(len(wrong), self.resamples, self.seed, name)
            self.resampled[name] = 100 * (counts @ wrong.astype(np.float64)) / len(wrong)
        self.resampled[f"tatoeba/{iso3}"] = np.mean([self.resampled[f"tatoeba/{one}"] for one in found], axis=0)
        return {iso3: {direction: figures for direction, (figures, _) in found.items()}}


def _benchmark(source: testsets.StsSource) -> dict[str, testsets.StsSet]:
    found = {}
    for part in testsets.BENCHMARK:
        with contextlib.suppress(testsets.MissingSetError):
            found[part] = source.benchmark(part)
    return found


def _pairs(data: testsets.StsSet) -> list[frozenset[str]]:
    """Each pair as the keys of its sentences, in either order."""
    return [frozenset(pair) for pair in zip(normalised_keys(data.a), normalised_keys(data.b), strict=True)]


def decontaminated(settings: Mapping[str, Any], reports: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return eval.json's entry on decontamination: the filter's settings, and the number of pairs it dropped.

    Args:
        settings: the config's block ``filters.decontaminate``.
        reports: the filter report of each corpus.
    """
    found = (
        count for report in reports for why, count in report["dropped"].items() if why.startswith("decontaminate: ")
    )
    return {**settings, "pairs": sum(found)}
