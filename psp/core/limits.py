"""Limits on files from others, so that no file, archive or server fills the memory or blocks a job for ever.

The config's block ``limits`` sets them. The workflow hands them to its jobs in the variable ``PSP_LIMITS``, as JSON;
outside the workflow, set that variable by hand, for some limits or all.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from psp.core.errors import ConfigError
from psp.core.settings import Section, integer, number

VARIABLE = "PSP_LIMITS"

SECTION = Section(
    "limits on files from others; an error names the limit exceeded",
    {
        "line_bytes": integer(1 << 20, at_least=1024, help="bytes of a line of text"),
        "unpacked_bytes": integer(
            200_000_000_000, at_least=1024, help="bytes of an archive or compressed file, unpacked"
        ),
        "ratio": number(
            200, above=1, help="how many times its size an archive's member or a compressed file may grow when unpacked"
        ),
        "download_bytes": integer(
            500_000_000_000, at_least=1024, help="bytes of a download whose size is neither pinned nor announced"
        ),
        "header_bytes": integer(16 << 20, at_least=1024, help="bytes of the header of a model's weights"),
        "redirects": integer(5, at_least=0, help="how often a server may redirect a download"),
        "rate": number(1024, at_least=0, help="minimum bytes per second from a server; slower downloads are abandoned"),
        "rate_seconds": number(60, above=0, help="seconds over which the rate is measured"),
    },
)

#: Files smaller than this when unpacked may have any ratio: a page of spaces is not a bomb.
HARMLESS_BYTES = 16 << 20


@dataclass(frozen=True)
class Limits:
    """The values of :data:`SECTION`."""

    line_bytes: int = SECTION["line_bytes"].default
    unpacked_bytes: int = SECTION["unpacked_bytes"].default
    ratio: float = SECTION["ratio"].default
    download_bytes: int = SECTION["download_bytes"].default
    header_bytes: int = SECTION["header_bytes"].default
    redirects: int = SECTION["redirects"].default
    rate: float = SECTION["rate"].default
    rate_seconds: float = SECTION["rate_seconds"].default

    def unpacked(self, size: int, packed: int) -> str | None:
        """Say in a few words why ``packed`` bytes may not unpack to this many; None if they may."""
        if size > self.unpacked_bytes:
            return f"more than {self.unpacked_bytes:,} bytes unpacked (limits.unpacked_bytes)"
        if size > HARMLESS_BYTES and size > self.ratio * max(packed, 1):
            return f"more than {self.ratio:g} times its size unpacked (limits.ratio)"
        return None


def limits() -> Limits:
    """The limits in force.

    Raises:
        ConfigError: the variable holds something else.
    """
    return _of(os.environ.get(VARIABLE, "{}"))


def as_variable(block: Mapping[str, Any]) -> str:
    """The config's block ``limits`` as the value of the variable."""
    return json.dumps(dict(block), sort_keys=True)


@functools.lru_cache(maxsize=8)
def _of(text: str) -> Limits:
    try:
        given = json.loads(text)
        values = {**given}
    except (ValueError, TypeError, RecursionError):
        raise ConfigError(
            f"{VARIABLE} is not a JSON object; write e.g. {VARIABLE}='{{\"line_bytes\": 4194304}}'"
        ) from None
    for key, value in values.items():
        if key not in SECTION.keys:
            raise ConfigError(f"{VARIABLE}: {key} is not a limit; the limits are {', '.join(SECTION.keys)}")
        if not SECTION[key].allows(value):
            raise ConfigError(f"{VARIABLE}: {key} is {value!r}, but must be {SECTION[key].allowed}")
    return Limits(**values)
