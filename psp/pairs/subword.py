"""Train the subwords: one unigram sentencepiece model shared by both sides (paper, section 3.1).

Sentencepiece does the training. This module chooses its sentences and makes sure that the same sentences give the same
bytes. Sentencepiece runs in a separate process, because it logs from C++ to file descriptor 2, cannot be interrupted,
and kills its process when memory runs out. This way its lines reach our log as they are written, Ctrl-C works, and a
crash is an error with a message.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import logging
import math
import re
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, TypedDict

import numpy as np
import sentencepiece

from psp.config.blocks.vocabulary import SubwordBlock
from psp.core.errors import ConfigError, DataError
from psp.core.files import atomic, atomic_text, sha256, write_json
from psp.core.logs import Progress
from psp.pairs.language_shares import language_pairs, quotas
from psp.pairs.pair_file import read_mixed
from psp.text.normalisation import NFKC, as_tsv, rules


class SentencepieceReport(TypedDict):
    """How the sentencepiece model was trained."""

    format: int
    sentences: int  # sentences trained on, both sides counted
    asked: int  # pieces requested
    vocab_size: int  # actual number of pieces; fewer than requested if the text does not support more
    character_coverage: float  # share of the text's characters that have a piece
    sha256: str  # SHA-256 of sentencepiece.model
    skipped_long: int  # sentences skipped because they are too long for sentencepiece


log = logging.getLogger(__name__)
DEFAULTS = SubwordBlock()

# Sentencepiece leaves out longer lines, by default those above 4,192 bytes. The longest of 1.2 million real
# sentences has 1,867; a hundred words of a script with three bytes a letter stay under this.
LONGEST_LINE = 16_384

#: The file of a model's rules, in the folder where sentencepiece runs.
RULES = "rules.tsv"

_CHILD = """
import io, json, signal, sys
import sentencepiece
signal.signal(signal.SIGINT, signal.SIG_DFL)
settings = json.loads(sys.argv[1])
sentencepiece.set_random_generator_seed(settings.pop("seed"))
model = io.BytesIO()
try:
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=sys.stdin.buffer, model_writer=model, **settings)
except Exception as error:
    print("psp:" + json.dumps(str(error)), file=sys.stderr)
    sys.exit(3)
sys.stdout.buffer.write(model.getvalue())
"""

# "I0000 00:00:1795249088.8 5221 trainer_interface.cc:446] Loaded all", in older versions
# "trainer_interface.cc(409) LOG(INFO) Loaded all".
_LOG_LINE = re.compile(r"(?:([IWEF])\d{4} [\d:.]+ +\d+ \S+\]|\S+\(\d+\) LOG\((I|W|E|F)[A-Z]+\)) (.*)")
_LEVELS = {"I": logging.INFO, "W": logging.WARNING, "E": logging.WARNING, "F": logging.WARNING}


def train_subword(
    mixed: Path,
    model: Path,
    *,
    vocab_size: int = DEFAULTS.vocab_size,
    character_coverage: float = DEFAULTS.character_coverage,
    sample: int = DEFAULTS.sample,
    normalisation: str = NFKC,
    corpus_languages: Sequence[Sequence[str]] = (),
    language_sampling: float = 1,
    threads: int = 1,
    seed: int = 0,
    report: Path,
) -> SentencepieceReport:
    """Train one unigram sentencepiece model on both sides; write it, its ``.vocab`` and a JSON report.

    Args:
        mixed: the mixed pair file.
        model: the model's path; its pieces and scores go beside it as text, with the suffix ``.vocab``.
        vocab_size: pieces requested. A small corpus gives fewer (a warning, and both numbers in the report).
        character_coverage: the share of the text's characters that get a piece of their own, 0.98 to 1.
        sample: sentences to train on, both sides counted. About 1.4 KB of memory each.
        normalisation: the name of the model's rules (:mod:`psp.text.normalisation`).
        corpus_languages: the languages of each corpus's source and target.
        language_sampling: the share of each language pair in the sample is its number of pairs to this power
            (:func:`psp.pairs.language_shares.quotas`).
        threads: the same number gives the same bytes; another may round sums differently.
        seed: of sentencepiece's generator. Unigram training draws nothing today; this keeps it reproducible.
        report: the JSON's path: sentences, asked, vocab_size, character_coverage, sha256, skipped_long.

    Returns:
        What the report holds.

    Raises:
        ConfigError: the settings cannot be met by this text (more characters to cover than pieces).
        DataError: the input is missing or invalid, or sentencepiece failed.
    """
    if sample < 1:
        raise ConfigError(
            f"subword: sample is {sample}, but must be at least one sentence; write e.g. `sample: 1000000`"
        )
    settings = {
        "model_type": "unigram",
        "vocab_size": vocab_size,
        "character_coverage": character_coverage,
        "hard_vocab_limit": False,
        "max_sentence_length": LONGEST_LINE,
        "input_sentence_size": 0,  # all that it is given: its own sampling takes its seed from the random device
        "shuffle_input_sentence": False,
        "num_threads": threads,
        "seed": seed,
    }
    counts = {"sentences": 0, "skipped_long": 0}
    with tempfile.TemporaryDirectory() as folder:
        if normalisation != NFKC:
            (Path(folder) / RULES).write_text(as_tsv(rules(normalisation)), "ascii")
            settings["normalization_rule_tsv"] = RULES  # the model keeps this path, which must be the same every time
        rows = _sampled(mixed, math.ceil(sample / 2), corpus_languages, language_sampling)
        serialised = _run_trainer(settings, _lines(rows, sample, counts, mixed), mixed, folder)
    if counts["skipped_long"]:
        log.warning("%d sentences longer than %d bytes were left out", counts["skipped_long"], LONGEST_LINE)
    processor = sentencepiece.SentencePieceProcessor(model_proto=serialised)
    size = processor.get_piece_size()
    if size < vocab_size:
        log.warning(
            "asked for %d pieces, got %d: %d sentences do not support more", vocab_size, size, counts["sentences"]
        )
    with atomic_text(model.with_suffix(".vocab")) as file:
        file.writelines(f"{processor.id_to_piece(i)}\t{processor.get_score(i):g}\n" for i in range(size))
    with atomic(model) as temporary:
        temporary.write_bytes(serialised)
    result: SentencepieceReport = {
        "format": 1,
        "sentences": counts["sentences"],
        "asked": vocab_size,
        "vocab_size": size,
        "character_coverage": character_coverage,
        "sha256": sha256(model),
        "skipped_long": counts["skipped_long"],
    }
    write_json(report, result)
    return result


def _sampled(
    mixed: Path, pairs: int, corpus_languages: Sequence[Sequence[str]], exponent: float
) -> Iterator[tuple[str, str, str]]:
    """The pairs to train on, with the index of their corpus.

    The mixed file is in the order of a seeded hash of its pairs, so its head IS a sample drawn by hash, and so are the
    first pairs of each language.
    """
    languages, of_corpus = language_pairs(corpus_languages)
    if exponent == 1 or len(languages) < 2:
        yield from itertools.islice(read_mixed(mixed), pairs)
        return
    there = Counter(index for _, _, index in read_mixed(mixed))
    counts = np.zeros(len(languages), np.int64)
    np.add.at(counts, of_corpus[[int(index) for index in there]], list(there.values()))
    left = quotas(counts, exponent, pairs)
    log.info("pairs of each language: %s", dict(zip(languages, left.tolist(), strict=True)))
    for row in read_mixed(mixed):
        language = of_corpus[int(row[2])]
        if left[language]:
            left[language] -= 1
            yield row
        elif not left.any():
            return


def _lines(rows: Iterable[tuple[str, str, str]], sample: int, counts: dict[str, int], mixed: Path) -> Iterator[bytes]:
    """Both sides of the pairs, a line each; sentencepiece would leave out the longest."""
    with Progress("reading sentences for the subword model", "sentences", sample) as progress:
        for source, target, _ in rows:
            for line in (source.encode(), target.encode()):
                if len(line) > LONGEST_LINE:
                    counts["skipped_long"] += 1
                else:
                    counts["sentences"] += 1
                    yield line + b"\n"
            progress.add(2)
    if not counts["sentences"]:
        raise DataError("no sentences to train the subword model on; are the filters too strict?", mixed)


def _run_trainer(settings: dict[str, Any], lines: Iterator[bytes], mixed: Path, folder: str) -> bytes:
    errors: list[str] = []
    process = subprocess.Popen(
        [sys.executable, "-c", _CHILD, json.dumps(settings)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
    )
    assert process.stdin and process.stdout and process.stderr  # for mypy: all three are pipes
    listener = threading.Thread(target=_listen, args=(process.stderr, errors), daemon=True)
    listener.start()
    try:
        with contextlib.suppress(BrokenPipeError):  # it has exited; its last line says why
            process.stdin.writelines(lines)
            process.stdin.close()
        serialised = process.stdout.read()
        status = process.wait()
        listener.join()
    finally:
        process.kill()  # does nothing if it has ended
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(BrokenPipeError):  # what was buffered for a process that has ended
                pipe.close()
    if status < 0:
        raise DataError(
            f"sentencepiece was killed by signal {-status} (9: most likely out of memory); lower subword.sample", mixed
        )
    if status != 0 or not serialised:
        raise _explain(errors[-1] if errors else f"it exited with status {status}; see the log", settings, mixed)
    return serialised


def _listen(stream: IO[bytes], errors: list[str]) -> None:
    """Pass sentencepiece's lines on to our log as they come; keep the message of its error."""
    for line in stream:
        text = line.decode("utf-8", "replace").rstrip()
        if text.startswith("psp:"):
            errors.append(json.loads(text.removeprefix("psp:")))
        elif match := _LOG_LINE.match(text):
            log.log(_LEVELS[match[1] or match[2]], "sentencepiece: %s", match[3])
        else:
            log.debug("sentencepiece: %s", text)


def _explain(message: str, settings: dict[str, Any], mixed: Path) -> ConfigError | DataError:
    if match := re.search(r"smaller than required_chars\. (\d+) vs (\d+)", message):
        return ConfigError(
            f"subword: vocab_size is {settings['vocab_size']}, but character_coverage "
            f"{settings['character_coverage']} of {mixed} needs {match[2]} pieces; write vocab_size: {match[2]} or "
            "more, or a lower character_coverage"
        )
    return DataError(f"sentencepiece cannot train on this file: {message.strip()}", mixed)
