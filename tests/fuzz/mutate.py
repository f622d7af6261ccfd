"""Change bytes as damage and malice do: bits, lengths, numbers, and pieces of other files."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Sequence
from random import Random

#: What parsers stumble over.
TOKENS: Sequence[bytes] = (
    b"9" * 5000, b"[" * 2000, b"{" * 2000, b"-1", b"0", b"nan", b"inf", b"1e999", b"-1e999", b"1_0", "²".encode(),
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\n", b"\r", b"\t", b"\t\t\t", b"\n" * 50, b" ", b"null", b"true", b"{}",
    b"[]", b'""', b'"', b"../", b"/etc/passwd", b"'", b"#", b"&a", b"*a", b"!!python/object:os.system", b": ",
    "\u2028".encode(), "\ud7ff".encode(), b"\xed\xa0\x80", b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b",
)  # fmt: skip
NUMBERS = (0, 1, 2, 127, 128, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1)


def mutate(data: bytes, rng: Random, others: Sequence[bytes] = ()) -> bytes:
    """Make one to four changes."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
        data = rng.choice(_CHANGES)(data, rng, others)
    return data


def _place(data: bytes, rng: Random) -> int:
    # The beginning and the end hold what describes the rest.
    if data and rng.random() < 0.4:
        return rng.choice((rng.randrange(min(len(data), 64)), len(data) - 1 - rng.randrange(min(len(data), 64))))
    return rng.randrange(len(data) + 1)


def _flip(data: bytes, rng: Random, others: Sequence[bytes]) -> bytes:
    place = min(_place(data, rng), len(data) - 1)
    return data if place < 0 else data[:place] + bytes([data[place] ^ (1 << rng.randrange(8))]) + data[place + 1 :]


def _set(data: bytes, rng: Random, others: Sequence[bytes]) -> bytes:
    place = _place(data, rng)
    return data[:place] + bytes([rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))]) + data[place + 1 :]


def _cut(data: bytes, rng: Random, others: Sequence[bytes]) -> bytes:
    return data[: _place(data, rng)] if rng.random() < 0.8 else data[_place(data, rng) :]


def _leave_out(data: bytes, rng: Random, others: Sequence[bytes]) -> bytes:
    place = _place(data, rng)
    return data[:place] + data[place + rng.choice((1, 2, 4, 8, 16, 100)) :]


def _repeat(data: bytes, rng: Random, others: Sequence[bytes]) -> bytes:
    place, size = _place(data, rng), rng.choice((1, 2, 8, 50, 300))
    return data[:place] + data[place : place + size] * rng.choice((2, 3, 20)) + data[place + size :]


def _insert(data: bytes, rng: Random, others: Sequence[bytes]) -> bytes:
    place = _place(data, rng)
    return data[:place] + rng.choice(TOKENS) + data[place + rng.choice((0, 0, 1, 4)) :]


def _number(data: bytes, rng: Random, others: Sequence[bytes]) -> bytes:
    form, size = rng.choice((("<I", 4), ("<Q", 8), ("<H", 2), (">I", 4)))
    place = _place(data, rng)
    packed = struct.pack(form, rng.choice(NUMBERS) % (1 << 8 * size))
    return data[:place] + packed + data[place + size :]


def _splice(data: bytes, rng: Random, others: Sequence[bytes]) -> bytes:
    if not others:
        return data
    other = rng.choice(others)
    return data[: _place(data, rng)] + other[_place(other, rng) :]


def _digits(data: bytes, rng: Random, others: Sequence[bytes]) -> bytes:
    """Another number, or another digit, where there is one in text."""
    places = list(re.finditer(rb"[0-9]+(?:\.[0-9]+)?" if rng.random() < 0.5 else rb"[0-9]", data[:20_000]))
    if not places:
        return data
    place = rng.choice(places)
    number = rng.choice((b"-1", b"0", b"6.5", b"1e3", b"nan", b"99999999999", b"4294967296", b"1e308", b"1" * 400))
    return data[: place.start()] + number + data[place.end() :]


def _float(data: bytes, rng: Random, others: Sequence[bytes]) -> bytes:
    """What is no number, or too large a one, in place of a float32; matrices stand at the end of a file, in rows."""
    place = len(data) - 4 * rng.randrange(1, max(2, len(data) // 4))
    return (
        data[: max(place, 0)] + struct.pack("<f", rng.choice((math.nan, math.inf, -3e38))) + data[max(place, 0) + 4 :]
    )


_CHANGES: Sequence[Callable[[bytes, Random, Sequence[bytes]], bytes]] = (
    _flip, _flip, _set, _cut, _leave_out, _repeat, _insert, _insert, _number, _splice, _digits, _digits, _float
)  # fmt: skip
