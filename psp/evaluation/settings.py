"""The block ``evaluate`` of the config."""

from __future__ import annotations

from psp.core.settings import NAME, Section, boolean, choice, integer, table
from psp.evaluation import tasks

SECTION = Section(
    "the test sets",
    {
        "sts": boolean(
            True, help="score SemEval 2012-2017 and the STS Benchmark, as far as they are in the model's languages"
        ),
        "tatoeba": boolean(True, help="the Tatoeba error rate of every language with English"),
        "files": table(
            {},
            values={"type": "string"},
            help="your own STS files, name: path, with lines `score \\t sentence \\t sentence`; `~/` and `${VARIABLE}` "
            "are expanded",
        ),
        "tasks": table(
            {},
            names=NAME,
            inert=True,
            values={
                "type": "object",
                "required": ["task"],
                "properties": {"task": choice(options=tasks.names, help="the kind of task").node},
            },
            help="further test sets, name: settings; results/<model>/tasks/<name>.json has the scores",
        ),
        "resamples": integer(1000, at_least=100, help="bootstrap resamples for each confidence interval"),
    },
)
