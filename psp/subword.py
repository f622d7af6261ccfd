"""Subwords: one unigram sentencepiece model shared by both sides (paper, section 3.1), and encoding with it.

Training is sentencepiece's own; what is ours is which sentences it sees and that the same sentences give the same
bytes. Sentencepiece runs in a process of its own: it logs from C++ to file descriptor 2, cannot be interrupted
while it works, and ends the process that it runs in when memory is short. Here its lines come out in our log as
they are written, Ctrl-C works, and its end is an error with a message.
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
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import sentencepiece

from psp.errors import ConfigError, DataError
from psp.files import atomic, atomic_text, sha256, write_json
from psp.progress import Progress
from psp.text import read_lines

log = logging.getLogger(__name__)

# Sentencepiece leaves out longer lines, by default those above 4,192 bytes. The longest of 1.2 million real
# sentences has 1,867; a hundred words of a script with three bytes a letter stay under this.
LONGEST_LINE = 16_384

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


class Encoded(NamedTuple):
    """Sentences as flat ids: sentence i has ``ids[offsets[i]:offsets[i + 1]]``.

    ``ids`` is int32, ``offsets`` int64 with one element more than there are sentences; ``dropped`` counts the
    unknown pieces that were left out.
    """

    ids: np.ndarray
    offsets: np.ndarray
    dropped: int


def read_mixed(path: Path) -> Iterator[tuple[str, str, str]]:
    r"""Read a mixed pair file: ``source \t target \t index \n``, the index as it is written.

    Raises:
        DataError: no such file, not UTF-8, a line without three columns, or a side without text.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise DataError("no such file; make it by the steps before this one", path) from None
    with file:
        for number, line in enumerate(read_lines(file, path), start=1):
            columns = line.split("\t")
            if len(columns) != 3:
                message = f"{len(columns)} columns where a mixed pair has 3 (source, target, corpus); make it again"
                raise DataError(message, path, number)
            source, target, index = columns
            if not source.strip() or not target.strip():
                raise DataError("a side without text; make the file again", path, number)
            yield source, target, index


def train_subword(
    mixed: Path,
    model: Path,
    *,
    vocab_size: int = 50_000,
    character_coverage: float = 0.9999,
    sample: int = 1_000_000,
    threads: int = 1,
    seed: int = 0,
    report: Path,
) -> dict[str, Any]:
    """Train one unigram sentencepiece model over both sides; write it, its ``.vocab`` and a JSON report.

    Args:
        mixed: the mixed pair file.
        model: where the model goes; beside it, with the suffix ``.vocab``, its pieces and their scores as text.
        vocab_size: pieces asked for. A small corpus gives fewer (a warning, and both numbers in the report).
        character_coverage: the share of the text's characters that get a piece of their own, 0.98 to 1.
        sample: sentences to train on, both sides counted. About 1.4 KB of memory each.
        threads: the same number gives the same bytes; another number may round its sums differently.
        seed: of sentencepiece's generator. Unigram training draws nothing today; set so that it stays so.
        report: where the JSON goes: sentences, asked, vocab_size, character_coverage, sha256, skipped_long.

    Returns:
        What the report holds.

    Raises:
        ConfigError: the settings cannot be met by this text (more characters to cover than pieces).
        DataError: bad or no input, or sentencepiece failed.
    """
    if sample < 1:
        raise ConfigError(f"subword: sample is {sample}, and counts sentences; write sample: 1000000, for example")
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
    serialised = _run_trainer(settings, _sample_lines(mixed, sample, counts), mixed)
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
    result = {
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


def _sample_lines(mixed: Path, sample: int, counts: dict[str, int]) -> Iterator[bytes]:
    # The mixed file is in the order of a seeded hash of its pairs, so its head IS a sample drawn by hash: both sides
    # of the first ceil(sample / 2) pairs.
    with Progress("reading sentences for the subword model", "sentences", sample) as progress:
        for source, target, _ in itertools.islice(read_mixed(mixed), math.ceil(sample / 2)):
            for line in (source.encode(), target.encode()):
                if len(line) > LONGEST_LINE:
                    counts["skipped_long"] += 1
                else:
                    counts["sentences"] += 1
                    yield line + b"\n"
            progress.add(2)
    if not counts["sentences"]:
        raise DataError("no sentence to train the subword model on; are the filters too strict?", mixed)


def _run_trainer(settings: dict[str, Any], lines: Iterator[bytes], mixed: Path) -> bytes:
    errors: list[str] = []
    process = subprocess.Popen(
        [sys.executable, "-c", _CHILD, json.dumps(settings)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin and process.stdout and process.stderr  # for mypy: all three are pipes
    listener = threading.Thread(target=_listen, args=(process.stderr, errors), daemon=True)
    listener.start()
    try:
        with contextlib.suppress(BrokenPipeError):  # it has ended already; its last words say why
            process.stdin.writelines(lines)
            process.stdin.close()
        serialised = process.stdout.read()
        status = process.wait()
        listener.join()
    finally:
        process.kill()  # does nothing to one that has ended
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(BrokenPipeError):  # what was buffered for a process that has ended
                pipe.close()
    if status < 0:
        raise DataError(
            f"sentencepiece was ended by signal {-status} (9: most likely out of memory); lower subword: sample", mixed
        )
    if status != 0 or not serialised:
        raise _explain(errors[-1] if errors else f"it ended with status {status}; see the log", settings, mixed)
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
            f"{settings['character_coverage']} of {mixed} takes {match[2]} pieces; write vocab_size: {match[2]} or "
            "more, or a lower character_coverage"
        )
    return DataError(f"sentencepiece cannot train on it: {message.strip()}", mixed)


def load_sentencepiece(path: Path) -> sentencepiece.SentencePieceProcessor:
    """Load a sentencepiece model.

    Raises:
        DataError: no such file, or not a sentencepiece model.
    """
    try:
        serialised = path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}; make it by the subword step", path) from None
    if not serialised:  # sentencepiece takes this for "no model yet", without an error
        raise DataError("an empty file where a sentencepiece model should be; make it again", path)
    try:
        # From memory: the library's own reading prints to stderr where the file is bad.
        return sentencepiece.SentencePieceProcessor(model_proto=serialised)
    except Exception as error:  # which class it is depends on sentencepiece's version
        raise DataError(f"not a sentencepiece model, or damaged ({error}); make it again", path) from None


def encode(processor: sentencepiece.SentencePieceProcessor, texts: list[str], threads: int = 1) -> Encoded:
    """Encode sentences in one call, unknown pieces left out.

    A sentence whose every piece is unknown becomes one unknown id, as in the published system; a sentence without
    pieces (nothing but white space and what the normalisation removes) stays without ids.
    """
    # Measured, 2 cores, en-fr: lists of ints 244k sentences/s a thread, return_type="numpy" 209k (an array object a
    # sentence), and 394k against 292k on two.
    lists = processor.encode(texts, out_type=int, num_threads=threads)
    offsets = np.zeros(len(lists) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, lists), np.int64, len(lists)), out=offsets[1:])
    ids = np.fromiter(itertools.chain.from_iterable(lists), np.int32, int(offsets[-1]))
    unknown = processor.unk_id()
    return drop(ids, offsets, ids == unknown, unknown)


def drop(ids: np.ndarray, offsets: np.ndarray, dropped: np.ndarray, unknown: int) -> Encoded:
    """Flat ids without those where ``dropped`` (bool) is true; a sentence that loses all has one id, ``unknown``."""
    if not dropped.any():
        return Encoded(ids, offsets, 0)
    keep = ~dropped
    kept = _counts(keep, offsets)
    lost = (kept == 0) & (np.diff(offsets) > 0)
    keep[offsets[:-1][lost]] = True
    kept[lost] = 1
    shorter = np.zeros_like(offsets)
    np.cumsum(kept, out=shorter[1:])
    left = ids[keep]
    left[shorter[:-1][lost]] = unknown
    return Encoded(left, shorter, int(len(ids) - shorter[-1]))


def _counts(mask: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """How many of each sentence's elements are true."""
    before = np.zeros(len(mask) + 1, np.int64)
    np.cumsum(mask, out=before[1:])
    return before[offsets[1:]] - before[offsets[:-1]]
