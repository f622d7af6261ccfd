"""The block ``speed`` of the config."""

from __future__ import annotations

from psp.core.settings import Section, listing, number, whole
from psp.evaluation.speed.systems import PEERS

SECTION = Section(
    "the speed measurement (paper, section 5)",
    {
        "sentences": whole(120000, at_least=100, help="sentences embedded, at most"),
        "batch_size": whole(64, at_least=1, help="sentences of a batch, in the paper's protocol"),
        "repeats": whole(
            5,
            at_least=3,
            help="rounds, in each of which every system makes a pass of each kind; the median is reported",
        ),
        "seconds": number(
            2,
            above=0,
            help="about how long a pass of MiniLM or USE may take; they embed as many sentences as that allows",
        ),
        "peers": listing(
            [*PEERS],
            items={"type": "string", "enum": [*PEERS]},
            distinct=True,
            help="systems measured beside psp, where they are installed (extra peers); the others are named",
        ),
    },
)
