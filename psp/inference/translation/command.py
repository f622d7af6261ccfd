"""A shell command as a translator: sentences in, one a line, and a translation for each line out."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Sequence
from typing import Any

from psp.core.errors import ConfigError
from psp.inference.translation.contract import Hypothesis, Translator, TranslatorError

#: Characters of a line, or of what a command writes to stderr, in an error.
SHOWN = 200


class CommandTranslator(Translator):
    """Runs a command once for each call, so that texts come in blocks.

    Args:
        command: for the shell.
        scores: whether it writes ``translation \\t score``.
    """

    def __init__(self, command: str, *, scores: bool = False) -> None:
        self.command, self.scores = command, scores

    @property
    def identity(self) -> dict[str, Any]:
        settings = {"command": self.command, "scores": "column" if self.scores else "none"}
        return {"kind": "command", "settings": settings, "files": {}}

    def translate(self, texts: Sequence[str], *, n: int = 1) -> list[list[Hypothesis]]:
        if n != 1:
            raise ConfigError(f"a command gives one translation a line, not {n}")
        if not texts:
            return []
        for place, text in enumerate(texts):
            if "\n" in text or "\r" in text:
                raise TranslatorError("a text with a line feed, which a command would take for two", place)
        done = subprocess.run(
            ["/bin/sh", "-c", self.command],
            input="".join(f"{text}\n" for text in texts).encode(),
            capture_output=True,
        )
        rows = done.stdout.split(b"\n")
        if rows[-1] == b"":
            rows.pop()
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            because = f": {said[-1][:SHOWN]}" if said else ""
            place = min(len(rows), len(texts) - 1)
            raise TranslatorError(f"`{self.command}` ended with status {done.returncode}{because}", place)
        if len(rows) != len(texts):
            place = min(len(rows), len(texts) - 1)
            raise TranslatorError(f"`{self.command}` wrote {len(rows):,} lines for {len(texts):,}", place)
        return [[self._hypothesis(row, text, place)] for place, (row, text) in enumerate(zip(rows, texts, strict=True))]

    def _hypothesis(self, row: bytes, text: str, place: int) -> Hypothesis:
        try:
            found = row.decode().rstrip("\r")
        except UnicodeDecodeError:
            raise TranslatorError(f"`{self.command}` wrote a line that is not UTF-8", place) from None
        score: float | None = None
        if self.scores:
            found, mark, number = found.rpartition("\t")
            try:
                score = float(number)
            except ValueError:
                score = math.nan
            if not mark or not math.isfinite(score):
                raise TranslatorError(f"`{self.command}` wrote no `translation, tab, score`: {row[:SHOWN]!r}", place)
        found = " ".join(found.split())
        if not found and text.strip():
            raise TranslatorError(f"`{self.command}` wrote an empty line", place)
        return Hypothesis(found, score)
