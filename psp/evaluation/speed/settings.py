"""The block ``speed`` of the config."""

from __future__ import annotations

from psp.core.settings import Section, listing, number, whole
from psp.evaluation.speed.systems import PEERS

SECTION = Section(
    "the speed measurement (paper, section 5)",
    {
        "sentences": whole(120000, at_least=100, help="maximum number of sentences to embed"),
        "batch_size": whole(64, at_least=1, help="batch size in the paper's protocol"),
        "repeats": whole(
            5,
            at_least=3,
            help="rounds of one pass of each kind by every system; the median is reported",
        ),
        "seconds": number(
            2,
            above=0,
            help="approximate duration of a pass of MiniLM or USE; they embed as many sentences as that allows",
        ),
        "peers": listing(
            [*PEERS],
            items={"type": "string", "enum": [*PEERS]},
            distinct=True,
            help="systems to measure besides psp, if installed (extra peers); missing ones are reported",
        ),
    },
    inert=True,
)
