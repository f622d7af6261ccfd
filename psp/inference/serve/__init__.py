"""``psp serve``: a local web page to try a model, and a small JSON API.

``app`` defines the endpoints, ``requests`` validates requests, ``guard`` rejects requests of other sites, ``pieces``
explains a cosine by pieces, ``server`` opens the socket and shuts down, ``page.html`` is the page. All need the extra
``serve``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits per request: bytes of the body, number of texts (a pair has two), and UTF-8 bytes per text."""

    body_bytes: int = 4 << 20
    texts: int = 10_000
    text_bytes: int = 64 << 10
