"""``psp serve``: a local web page to try a model, and a small JSON API.

``app`` defines the endpoints, ``requests`` validates requests, ``guard`` rejects requests of other sites, ``pieces``
explains a cosine by pieces, ``server`` opens the socket and shuts down, ``page.html`` is the page. All need the extra
``serve``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ServeLimits:
    """Limits of requests.

    Attributes:
        body_bytes: bytes of the body.
        texts: number of texts; a pair has two.
        text_bytes: UTF-8 bytes of a text.
        wait: seconds that a client has to read each part of its answer; three times that to send its whole body.
        waiting: requests that wait for the model, or whose answers are being read; more are refused with status 503 and
            `Retry-After`.
        answer_bytes: bytes of all vectors whose answers are being read; what would exceed it is refused likewise.
    """

    body_bytes: int = 4 << 20
    texts: int = 10_000
    text_bytes: int = 64 << 10
    wait: float = 10.0
    waiting: int = 64
    answer_bytes: int = 256 << 20
