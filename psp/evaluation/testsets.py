"""Read the published test and development sets, and select those on which a model is scored.

Semantic textual similarity, as released: SemEval 2012 to 2017 as two files of aligned lines (sentence pairs, scores),
the STS Benchmark as tab-separated tables, a user's own set as ``score \\t sentence \\t sentence``. Tatoeba: two files
of aligned lines. Reading is separate from scoring because the filters need it too.
"""

from __future__ import annotations

import contextlib
import io
import math
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

import numpy as np
import numpy.typing as npt

from psp.config.blocks.evaluation import SEMEVAL, TRACKS
from psp.core.corruption import DAMAGE
from psp.core.errors import ConfigError, DataError
from psp.core.files import unpacked_problem
from psp.text.keys import normalised_keys
from psp.text.languages import TATOEBA
from psp.text.lines import read_lines

#: The data sets of each SemEval year, as in their file names.
YEARS: Mapping[str, tuple[str, ...]] = {
    "2012": ("MSRpar", "MSRvid", "SMTeuroparl", "surprise.OnWN", "surprise.SMTnews"),
    "2013": ("FNWN", "headlines", "OnWN", "SMT"),
    "2014": ("deft-forum", "deft-news", "headlines", "images", "OnWN", "tweet-news"),
    "2015": ("answers-forums", "answers-students", "belief", "headlines", "images"),
    "2016": ("answer-answer", "headlines", "plagiarism", "postediting", "question-question"),
}
#: Used for model selection (paper, section 5.1), so not a test set; tracks 1 to 4a and 6 are its translations.
DEVELOPMENT_TRACK = "track5.en-en"
BENCHMARK: Mapping[str, str] = {"dev": "sts-dev.csv", "test": "sts-test.csv"}

FOLDERS = {f"STS{year[2:]}-en-test" for year in YEARS} | {"STS17-test", "STSBenchmark"}
#: Bytes of a file of STS sets; the largest published one has 0.9 MB.
MOST_BYTES = 8 << 20
#: The scores of all published STS sets.
SCALE = (0.0, 5.0)


@dataclass(frozen=True)
class StsSet:
    """Labelled sentence pairs: ``a[i]`` and ``b[i]`` are similar to the degree ``gold[i]`` (float64, any scale)."""

    name: str
    a: list[str]
    b: list[str]
    gold: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.a)


class MissingSetError(Exception):
    """The source lacks a data set; the evaluation skips it and says so."""


class StsSource:
    """The STS files in a zip archive or a folder, with or without a top-level folder (``STS/``).

    Use as a context manager.

    Raises:
        DataError: no such file, not a zip archive, a duplicate file, or no STS folder in it.
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
                message = f"cannot be read ({error.strerror or error}); give a folder or a zip archive of STS sets"
                raise DataError(message, self.path) from None
            except DAMAGE:
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

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        if self._archive is not None:
            self._archive.close()

    def has_folder(self, folder: str) -> bool:
        return any(name == folder for name, _ in self._members)

    def place(self, folder: str, file: str) -> str:
        """Return the path by which errors name a file of this source."""
        return f"{self.path}/{self._members.get((folder, file), f'{folder}/{file}')}"

    def lines(self, folder: str, file: str) -> list[str]:
        """Read the lines of a file, stripped of carriage returns.

        Raises:
            MissingSetError: there is no such file.
            DataError: it is not UTF-8, or the archive is damaged.
        """
        if (folder, file) not in self._members:
            raise MissingSetError(f"no {folder}/{file} in {self.path.name}")
        member = self._members[folder, file]
        try:
            if self._archive is None:
                data = (self.path / member).read_bytes()
            else:
                info = self._archive.getinfo(member)
                problem = unpacked_problem(info.file_size, info.compress_size)
                if problem is None and info.file_size > MOST_BYTES:
                    problem = f"more than {MOST_BYTES:,} bytes, and no published set has"
                if problem:
                    raise DataError(f"{member} has {problem}; download it again", self.path)
                data = self._archive.read(member)
        except (*DAMAGE, RuntimeError) as error:  # RuntimeError: the member is encrypted
            raise DataError(f"damaged ({error}); delete it and download it again", self.path) from None
        return [line.strip("\r") for line in read_lines(io.BytesIO(data), self.place(folder, file))]

    def semeval(self, year: str, name: str) -> StsSet:
        """Read data set ``name`` of a SemEval year (2012 to 2016), or a track of 2017, without its unlabelled pairs.

        Raises:
            MissingSetError: one of its two files is missing.
            DataError: a malformed line, or the numbers of scores and pairs differ (in 2017 there may be fewer scores:
                only the first 250 of track 6's 500 pairs have one).
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
            if len(columns) not in (2, 4):  # 2016 and 2017 were also released with two more columns naming the sources
                raise DataError(
                    f"{len(columns)} columns instead of 2, tab-separated sentences", self.place(folder, inputs), number
                )
            texts = _texts(columns[0], columns[1], self.place(folder, inputs), number)
            if score.strip():  # an empty line is an unlabelled pair
                rows.append((read_score(score, self.place(folder, golds), number, SCALE), *texts))
        return as_set(name, rows, self.place(folder, golds))

    def benchmark(self, part: str) -> StsSet:
        """Read the STS Benchmark's ``dev`` or ``test`` part.

        Raises:
            MissingSetError: its file is missing.
            DataError: a line has fewer than seven columns, or a score is not a number.
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
            score = read_score(columns[4], self.place(folder, file), number, SCALE)
            rows.append((score, *_texts(columns[5], columns[6], self.place(folder, file), number)))
        return as_set(part, rows, self.place(folder, file))


def read_file(path: Path | str, name: str | None = None) -> StsSet:
    r"""Read a user's own set: UTF-8, one pair per line, ``score \t sentence \t sentence``.

    Raises:
        DataError: no such file, no pairs, or a malformed line (file and line are named).
    """
    path = Path(path)
    rows = []
    for number, line in enumerate(read_text(path), start=1):
        columns = line.split("\t")
        if len(columns) != 3:
            raise DataError(f"{len(columns)} columns instead of 3: score, sentence, sentence", path, number)
        rows.append((read_score(columns[0], path, number), *_texts(columns[1], columns[2], path, number)))
    return as_set(path.name if name is None else name, rows, path)


def read_text(path: Path, encoding: str = "utf-8") -> list[str]:
    r"""Read a set's lines, ending in ``\n`` or ``\r\n``, with or without a byte-order mark.

    Raises:
        DataError: the file cannot be read, or is not in the encoding.
    """
    try:
        with path.open("rb") as stream:
            text = [line.rstrip("\r") for line in _decoded(stream, path, encoding)]
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from None
    return [text[0].removeprefix("\ufeff"), *text[1:]] if text else []


def _decoded(stream: IO[bytes], path: Path, encoding: str) -> Iterator[str]:
    if encoding == "utf-8":
        yield from read_lines(stream, path)
        return
    for number, line in enumerate(stream, start=1):
        try:
            yield line.rstrip(b"\n").decode(encoding)
        except UnicodeDecodeError as error:
            raise DataError(f"not {encoding} (a byte {line[error.start]:#04x})", path, number) from None


def read_score(text: str, path: Path | str, line: int, limits: Sequence[float] | None = None) -> float:
    """Read a gold score.

    Raises:
        DataError: it is not a finite number, or not within ``limits``.
    """
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise DataError(f"the score {text!r} is not a number", path, line)
    if limits is not None and not limits[0] <= score <= limits[1]:
        raise DataError(f"the score {text} is not between {limits[0]:g} and {limits[1]:g}", path, line)
    return score


def sentence(text: str, path: Path | str, line: int) -> str:
    """A sentence that is not empty.

    Raises:
        DataError: it is.
    """
    if not text.strip():
        raise DataError("an empty sentence", path, line)
    return text


def _texts(a: str, b: str, path: Path | str, line: int) -> tuple[str, str]:
    return sentence(a, path, line), sentence(b, path, line)


def as_set(name: str, rows: Sequence[tuple[float, str, str]], path: Path | str) -> StsSet:
    """The set of scored pairs (score, sentence, sentence) of a file.

    Raises:
        DataError: there are none.
    """
    if not rows:
        raise DataError("no scored pairs", path)
    gold, a, b = zip(*rows, strict=True)
    return StsSet(name, list(a), list(b), np.array(gold, dtype=np.float64))


def tatoeba_code(language: str) -> str | None:
    """Return the three-letter code of a language's Tatoeba set, or None if there is none (English, unknown codes)."""
    return TATOEBA.get(language, language if language in TATOEBA.values() else None)


def tatoeba_files(folder: Path | str, language: str) -> tuple[Path, Path]:
    """Return the two files of a language's Tatoeba set: the language's side, then the English one.

    Raises:
        DataError: there is no Tatoeba set for this language.
    """
    iso3 = tatoeba_code(language)
    if iso3 is None:
        raise DataError(f"Tatoeba has no test set for the language {language!r}; leave it out")
    return Path(folder) / f"tatoeba.{iso3}-eng.{iso3}", Path(folder) / f"tatoeba.{iso3}-eng.eng"


def read_tatoeba(foreign: Path | str, english: Path | str) -> tuple[list[str], list[str]]:
    """Read the aligned sentences of both sides.

    Raises:
        DataError: a file is missing, not UTF-8 or empty, has an empty line, or the sides differ in length.
    """
    sides = _side(Path(foreign)), _side(Path(english))
    if len(sides[0]) != len(sides[1]):
        raise DataError(
            f"{len(sides[0])} lines, but {len(sides[1])} in {english}; line n must translate line n", foreign
        )
    return sides


def _side(path: Path) -> list[str]:
    lines = [sentence(line, path, number) for number, line in enumerate(read_text(path), start=1)]
    if not lines:
        raise DataError("no sentences", path)
    return lines


def read_development(sts: str | Path, archive: Path | str | None = None) -> StsSet:
    """Read the STS set for model selection: ``"semeval2017-en"`` (from ``archive``), or a user's own file.

    Raises:
        DataError: a file is missing or malformed, or the archive has no English track.
        ConfigError: ``"semeval2017-en"`` without an archive.
    """
    if sts != SEMEVAL:
        return read_file(sts)
    if archive is None:
        raise ConfigError(f"the development set {SEMEVAL!r} needs the STS archive; give its path")
    with StsSource(archive) as source:
        try:
            return source.semeval("2017", DEVELOPMENT_TRACK)
        except MissingSetError as error:
            raise DataError(f"{error}; name another development set", archive) from None


def scored_pairs(
    languages: Sequence[str],
    *,
    sts: Path | str | None = None,
    tatoeba: Mapping[str, tuple[Path | str, Path | str]] | None = None,
    files: Mapping[str, Path | str] | None = None,
    development: str | Path | None = None,
    archive: Path | str | None = None,
) -> Iterator[tuple[str, str, str]]:
    """Yield every sentence pair that a model in these languages is scored on: test sets, then the development set.

    Args:
        languages, sts, tatoeba, files: as for :func:`psp.evaluation.evaluate`, whose sets these are (a test keeps the
            two in step); sets that it skips are left out.
        development, archive: as for :func:`read_development`; None for no development set. (The held-out slice of the
            training corpora is not included: it is removed from them when they are mixed.)

    Yields:
        The set's name, such as ``STS 2014 headlines`` or ``Tatoeba fra-eng``, and the two sentences.

    Raises:
        DataError, ConfigError: a set cannot be read.
    """
    if sts is not None:
        with StsSource(sts) as source:
            for name, data in scored_sets(source, frozenset(languages)):
                yield from ((name, a, b) for a, b in zip(data.a, data.b, strict=True))
    for language, paths in (tatoeba or {}).items():
        iso3 = tatoeba_code(language)
        if iso3 is not None and {language, "en"} <= set(languages):
            yield from ((f"Tatoeba {iso3}-eng", a, b) for a, b in zip(*read_tatoeba(*paths), strict=True))
    for name, path in (files or {}).items():
        data = read_file(path, name)
        yield from ((f"files/{name}", a, b) for a, b in zip(data.a, data.b, strict=True))
    if development is not None:
        data = read_development(development, archive)
        yield from (("development", a, b) for a, b in zip(data.a, data.b, strict=True))


def scored_sets(source: StsSource, languages: frozenset[str]) -> Iterator[tuple[str, StsSet]]:
    """Yield the sets of an STS source that the languages cover, by name, without those that it lacks."""
    if "en" in languages:
        for year, names in YEARS.items():
            for name in names:
                yield from _if_there(f"STS {year} {name}", source.semeval, year, name)
    for track, needed in TRACKS.items():
        if set(needed) <= languages:
            yield from _if_there(f"SemEval-2017 {track}", source.semeval, "2017", track)
    if "en" in languages:
        for part in BENCHMARK:
            yield from _if_there(f"STS Benchmark {part}", source.benchmark, part)


def _if_there(name: str, read: Callable[..., StsSet], *which: str) -> Iterator[tuple[str, StsSet]]:
    with contextlib.suppress(MissingSetError):
        yield name, read(*which)


def benchmark(source: StsSource) -> dict[str, StsSet]:
    """The parts of the STS Benchmark that a source has."""
    sets = {}
    for part in BENCHMARK:
        with contextlib.suppress(MissingSetError):
            sets[part] = source.benchmark(part)
    return sets


def development_track(source: StsSource) -> StsSet | None:
    """SemEval-2017's English track; None where a source lacks it."""
    with contextlib.suppress(MissingSetError):
        return source.semeval("2017", DEVELOPMENT_TRACK)
    return None


def shared(data: StsSet, other: StsSet | None) -> npt.NDArray[np.bool_]:
    """Which pairs of a set are pairs of another, in either order, bool (pairs,)."""
    known = set() if other is None else set(_keys(other))
    return np.fromiter((pair in known for pair in _keys(data)), dtype=bool, count=len(data))


def _keys(data: StsSet) -> list[frozenset[str]]:
    """Each pair as the keys of its sentences."""
    return [frozenset(pair) for pair in zip(normalised_keys(data.a), normalised_keys(data.b), strict=True)]
