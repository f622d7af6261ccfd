"""The block ``speed`` of the config."""

from __future__ import annotations

from psp.core.settings import Section, integer, list_of, number
from psp.evaluation.speed.systems import PEERS

SECTION = Section(
    "the speed measurement (paper, section 5)",
    {
        "sentences": integer(120000, at_least=100, help="maximum number of sentences to embed"),
        "batch_size": integer(64, at_least=1, help="batch size in the paper's protocol"),
        "repeats": integer(
            5,
            at_least=3,
            help="rounds of one pass of each kind by every system; the median is reported",
        ),
        "seconds": number(
            2,
            above=0,
            help="approximate duration of a pass of MiniLM or USE; they embed as many sentences as that allows",
        ),
        "peers": list_of(
            [*PEERS],
            items={"type": "string", "enum": [*PEERS]},
            distinct=True,
            help="systems to measure besides psp, if installed (extra peers); missing ones are reported",
        ),
    },
    inert=True,
)
