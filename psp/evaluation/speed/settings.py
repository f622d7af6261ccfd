"""The block ``speed`` of the config."""

from __future__ import annotations

from psp.core.settings import Section, Setting, integer, list_of, number
from psp.evaluation.speed.systems import PEERS
from psp.models.registry import SENTENCE_TRANSFORMERS

SECTION = Section(
    "the speed measurement (paper, section 7)",
    {
        "sentences": Setting(
            lambda: {"type": ["integer", "string"], "minimum": 100, "minLength": 1},
            "a whole number from 100 on, or a file",
            help="maximum number of sentences to embed, of the model's training pairs; or a file with one a line",
            default=120000,
        ),
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
            items={"anyOf": [{"enum": [*PEERS]}, {"type": "string", "pattern": f"^{SENTENCE_TRANSFORMERS}."}]},
            distinct=True,
            help="systems to measure besides psp, if installed (extra peers), and "
            f"{SENTENCE_TRANSFORMERS}<name or folder>; missing ones are reported",
        ),
    },
    inert=True,
)
