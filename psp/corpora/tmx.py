"""Read translation memories in TMX, optionally compressed, a unit at a time.

A unit (``<tu>``) has a text (``<seg>``) in each of some languages (``xml:lang`` of ``<tuv>``: ``en``, ``EN``,
``en-GB``, ``eng``). Formatting codes in a text (``<bpt>``, ``<ept>``, ``<it>``, ``<ph>``, ``<ut>``) are left out.

A file is refused that has entities of its own: nothing outside of it is read, and no text grows by being repeated. A
byte that is not UTF-8 spoils its unit only: it becomes :data:`_STRANGE`, which no text has.
"""

from __future__ import annotations

import codecs
import functools
import logging
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any
from xml.parsers import expat

from psp.core import files
from psp.core.errors import DataError
from psp.core.files import BUFFER_BYTES, check_plain
from psp.corpora.archive import open_text
from psp.corpora.estimate import count_lines
from psp.corpora.rows import ENCODING, Row, bad_row, row_of
from psp.text.languages import ISO3

log = logging.getLogger(__name__)

#: What stands for a byte that is not UTF-8: a character that is never text.
_STRANGE = "\ufdd0"
_CODES = {"bpt", "ept", "it", "ph", "ut"}
_UTF8 = re.compile(rb"\s*(<\?xml[^>]*encoding\s*=\s*[\"']utf-?8[\"']|(?!<\?xml[^>]*encoding))", re.IGNORECASE)

codecs.register_error("psp-strange", lambda error: (_STRANGE, error.end))  # type: ignore[attr-defined]


def read(path: Path | str, corpus: str, names: tuple[str, ...]) -> Iterator[Row]:
    """Yield the texts of each unit in the two languages; units without one of them are counted in the log.

    Raises:
        DataError: the file is missing, damaged, not well-formed or declares entities, no unit has both languages,
            or a unit is longer than a line may be; possibly after rows were yielded.
        PspError: the package for .zst is not installed.
    """
    path = Path(path)
    units = others = 0
    languages: set[str] = set()
    with open_text(path, (".tmx", ".xml")) as stream:
        for line, unit in _Reader(path).units(stream):
            if not units and len(languages) < 10:  # for the error
                languages.update(language for language, _ in unit)
            sides = _sides(unit, names)
            if len(sides) < 2:
                others += 1
                continue
            units += 1
            if _STRANGE in sides[0] + sides[1]:
                yield bad_row(ENCODING, "\t".join(sides), "not UTF-8", line)
            else:
                yield row_of(sides, names, line)
    if not units:
        there = ", ".join(sorted(languages)[:10])
        raise DataError(f"no unit has a text in {' and in '.join(names)}; there are {there or 'none'}", path)
    if others:
        log.warning("%s: %s of %s units lack %s", path, f"{others:,}", f"{units + others:,}", " or ".join(names))


def count(path: Path, corpus: str, names: tuple[str, ...]) -> tuple[int, bool]:
    return count_lines(path, end=b"</tu>", suffixes=(".tmx", ".xml"))


def _sides(unit: Sequence[tuple[str, str]], names: Sequence[str]) -> list[str]:
    """The texts of a unit in these languages, which may be the same; fewer where it lacks one."""
    left = list(unit)
    sides = []
    for name in names:
        place = next((place for place, (language, _) in enumerate(left) if _is(language, name)), None)
        if place is not None:
            sides.append(left.pop(place)[1])
    return sides


@functools.lru_cache(maxsize=1000)
def _is(language: str, name: str) -> bool:
    """Whether a unit's language, in lower case, is one that a config names."""
    known = {name.casefold(), ISO3.get(name, name)}
    return language in known or re.split("[-_]", language)[0] in known


class _Reader:
    """Collects the units of a file: the line of each, and its texts with their languages in lower case."""

    def __init__(self, path: Path) -> None:
        self._path, self._most = path, files.LINE_BYTES
        self._done: list[tuple[int, list[tuple[str, str]]]] = []
        self._unit: list[tuple[str, str]] = []
        self._language, self._line = "", 0
        self._parts: list[str] | None = None  # of the text that is open
        self._codes = self._size = 0  # codes that are open; bytes of the unit

    def units(self, stream: IO[bytes]) -> Iterator[tuple[int, list[tuple[str, str]]]]:
        """Yield each unit once it is complete."""
        chunk = beginning = stream.read(BUFFER_BYTES)
        utf8 = b"\0" not in chunk[:4] and _UTF8.match(chunk.removeprefix(codecs.BOM_UTF8))
        decoder = codecs.getincrementaldecoder("utf-8")("psp-strange") if utf8 else None
        parser = expat.ParserCreate("utf-8" if decoder else None)
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._text
        parser.EntityDeclHandler = parser.SkippedEntityHandler = self._entity
        parser.buffer_text = True
        self._parser = parser
        fed = 0
        try:
            while True:
                data = decoder.decode(chunk, final=not chunk).encode() if decoder else chunk
                fed += len(data)
                parser.Parse(data, not chunk)
                # A tag or a comment is held until it ends.
                if fed - parser.CurrentByteIndex > self._most + 2 * BUFFER_BYTES and chunk:
                    raise self._too_long()
                yield from self._done
                self._done = []
                if not chunk:
                    return
                chunk = stream.read(BUFFER_BYTES)
        except expat.ExpatError as error:
            check_plain(beginning, self._path)
            raise DataError(
                f"not well-formed XML ({expat.ErrorString(error.code)}); correct it, or export it again",
                self._path,
                error.lineno,
            ) from None

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "tu":
            self._unit, self._size, self._line = [], 0, self._parser.CurrentLineNumber
        elif name == "tuv":
            self._add(1)
            self._language = attributes.get("xml:lang", attributes.get("lang", "")).casefold()
        elif name == "seg":
            self._parts, self._codes = [], 0
        elif name in _CODES:
            self._codes += 1

    def _end(self, name: str) -> None:
        if name == "tu":
            self._done.append((self._line, self._unit))
        elif name == "seg" and self._parts is not None:
            self._unit.append((self._language, "".join(self._parts)))
            self._parts = None
        elif name in _CODES:
            self._codes -= 1

    def _text(self, data: str) -> None:
        if self._parts is None or self._codes > 0:
            return
        self._add(len(data.encode()))
        self._parts.append(data)

    def _add(self, size: int) -> None:
        self._size += size
        if self._size > self._most:
            raise self._too_long()

    def _entity(self, *_: Any) -> None:
        raise DataError("has entities of its own, which psp does not read; replace them by their text", self._path)

    def _too_long(self) -> DataError:
        return DataError(
            f"a unit or a tag of more than {self._most:,} bytes; break it up, or leave it out",
            self._path,
            self._parser.CurrentLineNumber,
        )
