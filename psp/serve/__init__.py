"""``psp serve``: a local page to try a model, and a small JSON API.

``app`` holds what is answered, ``requests`` what is accepted, ``guard`` who may ask, ``pieces`` why two texts have the
cosine that they have, ``server`` the socket and the end, ``page.html`` the page. They need the extra ``serve``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What one request may hold: bytes of its body, texts (a pair has two), and bytes of a text as UTF-8."""

    body_bytes: int = 4 << 20
    texts: int = 10_000
    text_bytes: int = 64 << 10
