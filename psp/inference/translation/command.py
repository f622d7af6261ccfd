"""A shell command as a translator: one sentence per line in, its translation out."""

from __future__ import annotations

import collections
import contextlib
import math
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from typing import IO, Any

from psp.config.blocks.translator import CommandBlock
from psp.core.errors import ConfigError
from psp.inference.translation.base import Hypothesis, Translator, TranslatorError
from psp.models.text_model import checked_texts

#: Characters of a line, or of a command's stderr, in an error.
SHOWN = 200
#: A command may write this many times its input, plus this many bytes.
LONGER, ROOM = 100, 1 << 20
#: Seconds without output in which a child that a finished command left behind may still write.
GRACE = 5


def _write(pipe: IO[bytes], data: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), pipe:  # a command may end without reading all
        pipe.write(data)


def _keep(pipe: IO[bytes], last: collections.deque[bytes]) -> None:
    with pipe:
        while block := pipe.read1(1 << 12):  # type: ignore[attr-defined]
            last.append(block)


class CommandTranslator(Translator):
    """Runs a command once for each call, so that texts come in blocks.

    Args:
        command: for the shell.
        scores: whether it writes ``translation \\t score``.
        timeout: seconds without output after which it is ended.
    """

    def __init__(self, command: str, *, scores: bool = False, timeout: float = CommandBlock().timeout) -> None:
        self.command, self.scores, self.timeout = command, scores, timeout

    @property
    def identity(self) -> dict[str, Any]:
        settings = {"command": self.command, "scores": "column" if self.scores else "none"}
        return {"kind": "command", "settings": settings, "files": {}}

    def translate(self, texts: Sequence[str], *, n: int = 1) -> list[list[Hypothesis]]:
        if n != 1:
            raise ConfigError(f"a command gives one translation per line, not {n}")
        texts = checked_texts(texts)
        if not texts:
            return []
        for place, text in enumerate(texts):
            if "\n" in text or "\r" in text:
                raise TranslatorError("a text with a line feed, which a command would take for two", place)
        status, written, errors = self._answer("".join(f"{text}\n" for text in texts).encode())
        rows = written.split(b"\n")
        if rows[-1] == b"":
            rows.pop()
        if status:
            because = f": {errors[-1][:SHOWN]}" if errors else ""
            place = min(len(rows), len(texts) - 1)
            raise TranslatorError(f"`{self.command}` ended with status {status}{because}", place)
        if len(rows) != len(texts):
            place = min(len(rows), len(texts) - 1)
            raise TranslatorError(f"`{self.command}` wrote {len(rows):,} lines for {len(texts):,}", place)
        return [[self._hypothesis(row, text, place)] for place, (row, text) in enumerate(zip(rows, texts, strict=True))]

    def _answer(self, asked: bytes) -> tuple[int, bytes, list[str]]:
        """Run the command; return its status, its output, and the last lines of its stderr.

        Raises:
            TranslatorError: it writes much more than translations of its input, or nothing for too long.
        """
        most = LONGER * len(asked) + ROOM
        process = subprocess.Popen(
            ["/bin/sh", "-c", self.command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # so that the shell's children end with it
        )
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        last: collections.deque[bytes] = collections.deque(maxlen=20)
        threads = [
            threading.Thread(target=_write, args=(process.stdin, asked), daemon=True),
            threading.Thread(target=_keep, args=(process.stderr, last), daemon=True),
        ]
        for thread in threads:
            thread.start()
        output, written, heard = process.stdout.fileno(), bytearray(), time.monotonic()
        ready = select.poll()
        ready.register(output)
        try:
            while True:
                ended = process.poll() is not None
                if ready.poll(1000):
                    block = os.read(output, 1 << 16)
                    if not block and ended:
                        break
                    written += block
                    heard = time.monotonic() if block else heard
                    time.sleep(0 if block else 0.1)  # it has closed its output, and goes on
                if len(written) > most:
                    raise TranslatorError(f"`{self.command}` writes more than {most:,} bytes for {len(asked):,}", 0)
                quiet = time.monotonic() - heard
                if ended and quiet > GRACE:  # a child of it holds its output open
                    break
                if not ended and quiet > self.timeout:
                    place = min(written.count(b"\n"), asked.count(b"\n") - 1)
                    raise TranslatorError(f"`{self.command}` wrote nothing for {self.timeout:g} s (`timeout`)", place)
            status = process.wait()
        finally:
            with contextlib.suppress(ProcessLookupError):  # also what it has left behind
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            process.stdout.close()
        for thread in threads:
            thread.join(5)
        return status, bytes(written), b"".join(last).decode(errors="replace").strip().splitlines()

    def _hypothesis(self, row: bytes, text: str, place: int) -> Hypothesis:
        try:
            translation = row.decode().rstrip("\r")
        except UnicodeDecodeError:
            raise TranslatorError(f"`{self.command}` wrote a line that is not UTF-8", place) from None
        score: float | None = None
        if self.scores:
            translation, mark, number = translation.rpartition("\t")
            try:
                score = float(number)
            except ValueError:
                score = math.nan
            if not mark or not math.isfinite(score):
                raise TranslatorError(f"`{self.command}` wrote no `translation, tab, score`: {row[:SHOWN]!r}", place)
        translation = " ".join(translation.split())
        if not translation and text.strip():
            raise TranslatorError(f"`{self.command}` wrote an empty line", place)
        return Hypothesis(translation, score)
