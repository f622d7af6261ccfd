"""Semantic textual similarity: reading the published sets, and the paper's figures on them.

Every figure is a correlation times 100 between the system's similarities and people's scores, beside the number of
pairs and a 95% bootstrap interval. Layouts, as released: SemEval 2012 to 2017 as two files of aligned lines (sentence
pairs, scores), the STS Benchmark as tab-separated tables, a user's own set as ``score \\t sentence \\t sentence``.
"""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import IO, Any

import numpy as np
from scipy import stats

from psp.errors import DataError
from psp.evaluation import bootstrap
from psp.evaluation.scorers import Floats, Scorer
from psp.text import read_lines

#: The data sets of each SemEval year, as their files name them.
YEARS: Mapping[str, tuple[str, ...]] = {
    "2012": ("MSRpar", "MSRvid", "SMTeuroparl", "surprise.OnWN", "surprise.SMTnews"),
    "2013": ("FNWN", "headlines", "OnWN", "SMT"),
    "2014": ("deft-forum", "deft-news", "headlines", "images", "OnWN", "tweet-news"),
    "2015": ("answers-forums", "answers-students", "belief", "headlines", "images"),
    "2016": ("answer-answer", "headlines", "plagiarism", "postediting", "question-question"),
}
#: Left out of 2013's concatenation (the paper's protocol); the published mean Pearson of 2013 includes it.
SMT = ("2013", "SMT")
#: The tracks of SemEval-2017 and their languages.
TRACKS: Mapping[str, tuple[str, str]] = {
    "track1.ar-ar": ("ar", "ar"),
    "track2.ar-en": ("ar", "en"),
    "track3.es-es": ("es", "es"),
    "track4a.es-en": ("es", "en"),
    "track4b.es-en": ("es", "en"),
    "track5.en-en": ("en", "en"),
    "track6.tr-en": ("tr", "en"),
}
#: Used for choosing models (paper, section 3.2), so that it is no test: tracks 1 to 4a and 6 are its translations.
DEVELOPMENT_TRACK = "track5.en-en"
BENCHMARK: Mapping[str, str] = {"dev": "sts-dev.csv", "test": "sts-test.csv"}

FOLDERS = {f"STS{year[2:]}-en-test" for year in YEARS} | {"STS17-test", "STSBenchmark"}


@dataclass(frozen=True)
class StsSet:
    """Labelled sentence pairs: ``a[i]`` and ``b[i]`` are similar to the degree ``gold[i]`` (float64, any scale)."""

    name: str
    a: list[str]
    b: list[str]
    gold: Floats

    def __len__(self) -> int:
        return len(self.a)


class MissingSetError(Exception):
    """The source holds no such data set: the evaluation skips it and says so."""


class StsSource:
    """The STS files in a zip archive or a folder, with or without a folder (``STS/``) around them.

    Use it as a context manager.

    Raises:
        DataError: no such file, not a zip archive, a file in it twice, or no STS folder in it.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._archive: zipfile.ZipFile | None = None
        if self.path.is_dir():
            names = [str(p.relative_to(self.path).as_posix()) for p in sorted(self.path.glob("*/*"))]
            names += [str(p.relative_to(self.path).as_posix()) for p in sorted(self.path.glob("*/*/*"))]
        else:
            try:
                self._archive = zipfile.ZipFile(self.path)
            except OSError as error:
                message = f"cannot be read ({error.strerror}); give a folder or a zip archive of STS sets"
                raise DataError(message, self.path) from None
            except zipfile.BadZipFile:
                raise DataError("not a zip archive; delete it and download it again", self.path) from None
            names = self._archive.namelist()
        self._members: dict[tuple[str, str], str] = {}
        for name in names:
            parts = PurePosixPath(name).parts
            if len(parts) not in (2, 3) or parts[-2] not in FOLDERS or parts[0] == "__MACOSX":
                continue
            if (parts[-2], parts[-1]) in self._members:
                self.close()
                raise DataError(f"holds {parts[-2]}/{parts[-1]} twice; keep one", self.path)
            self._members[parts[-2], parts[-1]] = name
        if not self._members:
            self.close()
            raise DataError(f"no STS data in it: none of the folders {', '.join(sorted(FOLDERS))}", self.path)

    def __enter__(self) -> StsSource:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._archive is not None:
            self._archive.close()

    def has_folder(self, folder: str) -> bool:
        return any(name == folder for name, _ in self._members)

    def place(self, folder: str, file: str) -> str:
        """How an error names a file of this source."""
        return f"{self.path}/{self._members.get((folder, file), f'{folder}/{file}')}"

    def lines(self, folder: str, file: str) -> list[str]:
        """The lines of a file, without carriage returns around them.

        Raises:
            MissingSetError: there is no such file.
            DataError: it is not UTF-8, or the archive is damaged.
        """
        if (folder, file) not in self._members:
            raise MissingSetError(f"no {folder}/{file} in {self.path.name}")
        member = self._members[folder, file]
        try:
            data = (self.path / member).read_bytes() if self._archive is None else self._archive.read(member)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
            raise DataError(f"damaged ({error}); delete it and download it again", self.path) from None
        return _lines(io.BytesIO(data), self.place(folder, file))

    def semeval(self, year: str, name: str) -> StsSet:
        """Data set ``name`` of a SemEval year (2012 to 2016), or a track of 2017, without its unlabelled pairs.

        Raises:
            MissingSetError: one of its two files is not there.
            DataError: a malformed line, or another number of scores than pairs (in 2017 scores may be fewer: only the
                first 250 of the 500 pairs of track 6 have one).
        """
        folder = "STS17-test" if year == "2017" else f"STS{year[2:]}-en-test"
        inputs, golds = f"STS.input.{name}.txt", f"STS.gs.{name}.txt"
        pairs, scores = self.lines(folder, inputs), self.lines(folder, golds)
        if len(scores) > len(pairs) or (len(scores) < len(pairs) and year != "2017"):
            raise DataError(
                f"{len(scores)} scores for the {len(pairs)} pairs of {inputs}; the two files must be aligned",
                self.place(folder, golds),
            )
        rows = []
        for number, (pair, score) in enumerate(zip(pairs, scores, strict=False), start=1):
            columns = pair.split("\t")
            if len(columns) not in (2, 4):  # 2016 and 2017 were also released with the sources in two more columns
                raise DataError(
                    f"{len(columns)} columns instead of 2, tab-separated sentences", self.place(folder, inputs), number
                )
            texts = _texts(columns[0], columns[1], self.place(folder, inputs), number)
            if score.strip():  # an empty line is a pair that nobody scored
                rows.append((_score(score, self.place(folder, golds), number), *texts))
        return _as_set(name, rows, self.place(folder, golds))

    def benchmark(self, part: str) -> StsSet:
        """The STS Benchmark's ``dev`` or ``test`` part.

        Raises:
            MissingSetError: its file is not there.
            DataError: a line with fewer than seven columns, or a score that is no number.
        """
        folder, file = "STSBenchmark", BENCHMARK[part]
        rows = []
        for number, line in enumerate(self.lines(folder, file), start=1):
            columns = line.split("\t")  # no quoting: quotation marks are part of the sentences
            if len(columns) < 7:
                raise DataError(
                    f"{len(columns)} columns instead of 7 (genre, file, year, id, score, sentence, sentence)",
                    self.place(folder, file),
                    number,
                )
            score = _score(columns[4], self.place(folder, file), number)
            rows.append((score, *_texts(columns[5], columns[6], self.place(folder, file), number)))
        return _as_set(part, rows, self.place(folder, file))


def read_file(path: Path | str, name: str | None = None) -> StsSet:
    r"""A user's own set: UTF-8, one pair a line, ``score \t sentence \t sentence``.

    Raises:
        DataError: no such file, no pairs, or a malformed line (file and line are named).
    """
    path = Path(path)
    try:
        with path.open("rb") as stream:
            lines = _lines(stream, path)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from None
    rows = []
    for number, line in enumerate(lines, start=1):
        columns = line.split("\t")
        if len(columns) != 3:
            raise DataError(f"{len(columns)} columns instead of 3: score, sentence, sentence", path, number)
        rows.append((_score(columns[0], path, number), *_texts(columns[1], columns[2], path, number)))
    return _as_set(path.name if name is None else name, rows, path)


def _lines(stream: IO[bytes], path: Path | str) -> list[str]:
    return [line.strip("\r") for line in read_lines(stream, path)]


def _score(text: str, path: Path | str, line: int) -> float:
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise DataError(f"the score {text!r} is not a number", path, line)
    return score


def _texts(a: str, b: str, path: Path | str, line: int) -> tuple[str, str]:
    if not a.strip() or not b.strip():
        raise DataError("an empty sentence", path, line)
    return a, b


def _as_set(name: str, rows: Sequence[tuple[float, str, str]], path: Path | str) -> StsSet:
    if not rows:
        raise DataError("no scored pairs", path)
    gold, a, b = zip(*rows, strict=True)
    return StsSet(name, list(a), list(b), np.array(gold, dtype=np.float64))


@dataclass(frozen=True)
class Scored:
    """A system's similarities on one set, and its resamples (uint16 counts, shape (resamples, pairs))."""

    data: StsSet
    similarity: Floats
    counts: bootstrap.Counts
    pearson: Floats  # in each resample

    @property
    def figures(self) -> dict[str, Any]:
        """``pearson``, ``spearman`` (times 100) with their intervals, and ``pairs``.

        Where a side has one value only there is no correlation: null, with the reason under ``why``.
        """
        x, gold = self.similarity, self.data.gold
        why = no_correlation(x, gold)
        if why is not None:
            return {**_figure("pearson", None, None), **_figure("spearman", None, None), "pairs": len(x), "why": why}
        return {
            **_figure("pearson", float(stats.pearsonr(x, gold).statistic), self.pearson),
            **_figure("spearman", _spearman(x, gold), bootstrap.spearman(self.counts, x, gold)),
            "pairs": len(x),
        }


def no_correlation(similarity: Floats, gold: Floats) -> str | None:
    """Why there is no correlation between the two, or None where there is one."""
    if len(gold) < 2:
        return "fewer than two pairs"
    if np.ptp(gold) == 0:
        return "all gold scores are equal"
    # A model that gives every pair the same vector leaves differences in the last bits, which rank nothing.
    if np.ptp(similarity) <= 1e-12 * max(1.0, float(np.abs(similarity).max())):
        return "the system finds every pair equally similar"
    return None


def score_set(scorer: Scorer, data: StsSet, *, name: str, resamples: int, seed: int) -> Scored:
    """Score a set; ``name`` (unique over all sets) and ``seed`` choose its resamples."""
    similarity = np.asarray(scorer.pairwise(data.a, data.b), dtype=np.float64)
    if similarity.shape != (len(data),) or not np.isfinite(similarity).all():
        raise ValueError(f"a scorer must give {len(data)} finite numbers for {name}")
    counts = bootstrap.resample_counts(len(data), resamples, seed, name)
    return Scored(data, similarity, counts, bootstrap.pearson(counts, similarity, data.gold))


@dataclass(frozen=True)
class Year:
    """A year's report and, for the average over years, its figures in each resample (None where there is none)."""

    body: dict[str, Any]
    resampled: dict[str, Floats | None]


def score_year(year: str, scored: Sequence[Scored]) -> Year:
    """The paper's two figures on a SemEval year, over the sets that are there.

    ``pearson_mean`` is the mean over the data sets (2013: with SMT as published, ``pearson_mean_without_smt`` beside
    it); ``spearman_concatenated`` that of all pairs taken together, 2013 without SMT. Resamples are drawn within each
    set.
    """
    rest = [one for one in scored if (year, one.data.name) != SMT]
    sets = {one.data.name: one.figures for one in scored}
    body: dict[str, Any] = {"sets": sets}
    resampled: dict[str, Floats | None] = {}
    for key, chosen in (("pearson_mean", list(scored)), ("pearson_mean_without_smt", rest)):
        if key == "pearson_mean_without_smt" and year != SMT[0]:
            resampled[key] = resampled["pearson_mean"]
            continue
        without = [one.data.name for one in chosen if sets[one.data.name]["pearson"] is None]
        if without or not chosen:
            why = f"no correlation on {', '.join(without)}" if without else "none of its data sets"
            body |= _figure(key, None, None) | {f"{key}_why": why}
            resampled[key] = None
        else:
            values = np.array([stats.pearsonr(one.similarity, one.data.gold).statistic for one in chosen])
            resampled[key] = np.mean([one.pearson for one in chosen], axis=0)
            body |= _figure(key, float(values.mean()), resampled[key])
    key = "spearman_concatenated"
    why_not: str | None = "none of its data sets"
    if rest:
        x = np.concatenate([one.similarity for one in rest])
        gold = np.concatenate([one.data.gold for one in rest])
        why_not = no_correlation(x, gold)
    if why_not is not None:
        body |= _figure(key, None, None) | {f"{key}_why": why_not}
        resampled[key] = None
    else:
        resampled[key] = bootstrap.spearman(np.hstack([one.counts for one in rest]), x, gold)
        body |= _figure(key, _spearman(x, gold), resampled[key])
    body["pairs"] = sum(len(one.data) for one in scored)
    body["pairs_concatenated"] = sum(len(one.data) for one in rest)
    return Year(body, resampled)


def average(years: Mapping[str, Year]) -> dict[str, Any]:
    """The mean over the years of each yearly figure; ``years`` names those that went into it."""
    body: dict[str, Any] = {"years": list(years)}
    for key in ("pearson_mean", "pearson_mean_without_smt", "spearman_concatenated"):
        without = [year for year, found in years.items() if found.resampled[key] is None]
        if without:
            body |= _figure(key, None, None) | {f"{key}_why": f"no figure for {', '.join(without)}"}
            continue
        # Other years than 2013 have no SMT to leave out: there the two means are one.
        values = [found.body.get(key, found.body["pearson_mean"]) for found in years.values()]
        resampled = [drawn for found in years.values() if (drawn := found.resampled[key]) is not None]
        body |= _figure(key, float(np.mean(values)) / 100, np.mean(resampled, axis=0))
    body["pairs"] = sum(found.body["pairs"] for found in years.values())
    body["pairs_concatenated"] = sum(found.body["pairs_concatenated"] for found in years.values())
    return body


def _spearman(x: Floats, gold: Floats) -> float:
    return float(stats.spearmanr(x, gold).statistic)


def _figure(key: str, value: float | None, resampled: Floats | None) -> dict[str, Any]:
    """A correlation and its interval, both times 100, rounded so that a matrix library's last bits do not show."""
    return {
        key: None if value is None else round(100 * value, 4),
        f"{key}_interval": None if resampled is None else bootstrap.interval(100 * resampled),
    }
