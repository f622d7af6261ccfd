r"""Back-translation: bitext becomes paraphrases (ParaNMT-50M, section 3).

One side of bitext is translated into the language of the other. Each pair gives a line ``reference \t translation \t
score \t translation score``: the side kept, the translation of the other, the cosine of the two by an encoder, and the
translation's log-probability divided by its number of subwords.

The work goes in blocks of 10,000 lines. Translations of a block are kept under its texts and the translator's identity,
written whole: a killed run loses only its current block, and another model with the same entry, or another encoder for
the score, translates nothing again.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TextIO, TypedDict, cast

import numpy as np

from psp.core.errors import DataError
from psp.core.files import atomic, read_json, sha256, write_json
from psp.core.logs import Progress
from psp.inference.translation.base import Hypothesis, Translator, TranslatorError
from psp.models.cosines import text_cosines
from psp.models.registry import TextEncoder
from psp.text.lines import raw_lines, read_lines


class TranslationSettings(TypedDict, total=False):
    """Its settings, without those that change no translation: of a command, or of a search."""

    command: str  # the shell command
    scores: Literal["none", "column"]  # column: it writes scores
    beam: int  # hypotheses kept at each step
    length_penalty: float  # power of the length in the comparison of hypotheses
    sampling: int  # 0: beam search; else subwords among which one is drawn
    seed: int  # seed of sampling
    temperature: float  # temperature of sampling
    max_tokens: int  # subwords after which a line is cut
    compute_type: str  # the weights in memory, as CTranslate2 names them
    device: Literal["cpu", "cuda"]  # where it ran
    source_prefix: list[str]  # subwords before each source
    target_prefix: list[str]  # subwords that each translation begins with


class BacktranslateTranslator(TypedDict):
    """The translator."""

    name: str  # its name in the config
    kind: Literal["command", "ctranslate2"]  # how it is run
    settings: TranslationSettings
    files: dict[str, str]  # SHA-256 of each of its files


class BacktranslateEncoder(TypedDict):
    """The encoder that scored the pairs."""

    name: str  # as in the config
    files: dict[str, str]  # SHA-256 of each of its files; none of an encoder in a package


class BacktranslateSource(TypedDict):
    corpus: str
    sha256: str  # SHA-256 of the file
    column: Literal[0, 1]  # the side that was translated: 0 the first, 1 the second
    lines: int  # its pairs


class BacktranslateCounts(TypedDict):
    lines: int  # lines translated
    empty: int  # lines without a translation, which are left out
    copies: int  # translations that are the line itself
    overlong: int  # translations that were cut off, or have more than three times the source's words plus ten
    cut: int  # lines longer than the translator takes, which are cut
    kept: int  # pairs written


class TranslatedReport(TypedDict):
    through: str  # the language of the side that was translated
    translator: BacktranslateTranslator
    encoder: BacktranslateEncoder
    sample: int | None  # the largest number of lines that are translated; null for all
    corpora: dict[str, BacktranslateCounts]  # counts, by corpus


class BacktranslateReport(TranslatedReport):
    """One side of bitext translated into the language of the other."""

    format: int
    languages: list[str]
    sources: list[BacktranslateSource]  # the filtered bitext
    seed: int  # of the choice of lines
    block_lines: int  # lines translated and written at a time


log = logging.getLogger(__name__)

FORMAT = 1
BLOCK_LINES = 10_000
#: A translation that did not end, or has over this many times its source's words plus ten, is repeating itself.
OVERLONG = 3


def back_translate(
    sources: Sequence[tuple[str, Path | str, int]],
    out: Path | str,
    report: Path | str,
    *,
    translator: Translator,
    encoder: TextEncoder,
    cache: Path | str,
    about: Mapping[str, Any],
    sample: int | None = None,
    seed: int = 1,
    block_lines: int = BLOCK_LINES,
) -> BacktranslateReport:
    """Translate one side of pair files, and write it with the other side and both scores.

    Args:
        sources: for each pair file its corpus, its path (``source \\t target`` lines), and which column is translated,
            0 or 1.
        out: the paraphrases, in the order of the sources.
        report: JSON with the translator's identity, the counts for each corpus, and ``about``. The same is returned.
        encoder: gives the paraphrase score.
        cache: a folder of finished blocks of translations, which may be removed at any time.
        about: what else determines the output or should be recorded, such as the encoder's name; JSON.
        sample: lines to translate, of all sources together, chosen at random; None for all.
        seed: of that choice.
        block_lines: lines of a block.

    Raises:
        DataError: a file is missing, malformed or empty; or the translator failed on a line twice, which is named.
    """
    out = Path(out)
    record = {
        **about,
        "translator": {**about.get("translator", {}), **translator.identity},
        "sources": [
            {"corpus": corpus, "sha256": sha256(path), "column": column, "lines": _lines(Path(path))}
            for corpus, path, column in sources
        ],
        "sample": sample,
        "seed": seed,
        "block_lines": block_lines,
    }
    finished = Path(cache) / _digest(translator.identity)
    counts: dict[str, dict[str, int]] = {}
    lines = sum(one["lines"] for one in record["sources"])
    chosen = _chosen(lines, sample, seed)
    with (
        Progress("back-translating", "lines", lines if sample is None else min(lines, sample)) as bar,
        atomic(out) as temporary,
        temporary.open("w", encoding="utf-8", newline="\n") as file,
    ):
        for corpus, path, column in sources:
            counts[corpus] = {}
            for rows in _blocks(Path(path), column, block_lines, chosen):
                for key, value in _write_rows(file, rows, Path(path), translator, finished, encoder).items():
                    counts[corpus][key] = counts[corpus].get(key, 0) + value
                bar.add(len(rows))
        if not sum(one.get("kept", 0) for one in counts.values()):
            raise DataError("no translation is left: there are no lines, or all translations are empty", out)
    summary = cast("BacktranslateReport", {"format": FORMAT, **record, "corpora": counts})
    write_json(report, summary)
    return summary


def _kept(
    translator: Translator, finished: Path, texts: Sequence[str], rows: Sequence[_Row], path: Path
) -> tuple[list[Hypothesis], int]:
    """The best translation of each text of a block, and how many texts were cut; kept in a file by the texts."""
    block = finished / f"{_digest(texts)}.json"
    if block.is_file():
        try:
            stored = read_json(block)
            hypotheses = [Hypothesis(text, score, ended) for text, score, ended in stored["translations"]]
            cut = int(stored["cut"])
        except (KeyError, TypeError, ValueError):
            raise DataError("not a block of translations; remove it", block) from None
        if len(hypotheses) != len(texts):
            raise DataError(f"{len(hypotheses)} translations of {len(texts)} texts; remove it", block)
        return hypotheses, cut
    before = translator.cut
    hypotheses = _translated(translator, texts, rows, path)
    cut = translator.cut - before
    write_json(block, {"cut": cut, "translations": [list(one) for one in hypotheses]})
    return hypotheses, cut


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:32]


def _lines(path: Path) -> int:
    try:
        with path.open("rb") as file:
            return sum(1 for _ in raw_lines(file, path))
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from None


class _Row(NamedTuple):
    """A line of bitext: its number, from 1, the side that is kept, and the one to translate."""

    number: int
    reference: str
    text: str


def _chosen(lines: int, sample: int | None, seed: int) -> Iterator[bool]:
    """Yield for each line of all sources whether the sample has it."""
    if sample is None or sample >= lines:
        return itertools.repeat(True)
    mask = np.zeros(lines, bool)
    mask[np.random.default_rng(seed).choice(lines, sample, replace=False, shuffle=False)] = True
    return map(bool, mask)


def _blocks(path: Path, column: int, size: int, chosen: Iterator[bool]) -> Iterator[list[_Row]]:
    """Yield blocks of the chosen lines of a file."""
    rows: list[_Row] = []
    with path.open("rb") as file:
        for number, line in enumerate(read_lines(file, path), start=1):
            cells = line.split("\t")
            if len(cells) < 2:
                raise DataError(f"{len(cells)} column where a pair has 2 (source, tab, target)", path, number)
            if next(chosen):
                rows.append(_Row(number, cells[1 - column], cells[column]))
            if len(rows) == size:
                yield rows
                rows = []
    if rows:
        yield rows


def _write_rows(
    file: TextIO, rows: Sequence[_Row], path: Path, translator: Translator, finished: Path, encoder: TextEncoder
) -> dict[str, int]:
    # A sentence that occurs in the block more than once is translated once.
    texts = list(dict.fromkeys(row.text for row in rows))
    hypotheses, cut = _kept(translator, finished, texts, rows, path)
    of_text = dict(zip(texts, hypotheses, strict=True))
    kept, counts = [], {"lines": len(rows), "empty": 0, "copies": 0, "overlong": 0, "cut": cut}
    for _, reference, text in rows:
        hypothesis = of_text[text]
        if not hypothesis.text:
            counts["empty"] += 1
            continue
        counts["copies"] += hypothesis.text == text
        counts["overlong"] += not hypothesis.ended or len(hypothesis.text.split()) > OVERLONG * len(text.split()) + 10
        kept.append((reference, hypothesis))
    counts["kept"] = len(kept)
    scores = text_cosines(encoder.embed, [(reference, hypothesis.text) for reference, hypothesis in kept])
    for (reference, hypothesis), score in zip(kept, scores, strict=True):
        last = "" if hypothesis.score is None else f"\t{hypothesis.score:.4f}"
        file.write(f"{reference}\t{hypothesis.text}\t{score:.4f}{last}\n")
    return counts


def _translated(translator: Translator, texts: Sequence[str], rows: Sequence[_Row], path: Path) -> list[Hypothesis]:
    try:
        translations = translator.translate(texts)
    except TranslatorError as error:
        log.warning("%s; once more", error)
        try:
            translations = translator.translate(texts)
        except TranslatorError as again:
            line = None
            if again.place is not None:
                line = next(row.number for row in rows if row.text == texts[again.place])
            raise DataError(f"{again}, twice; fix the translator, or remove the line", path, line) from None
    return [hypotheses[0] for hypotheses in translations]
