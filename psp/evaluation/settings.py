"""The block ``evaluate`` of the config."""

from __future__ import annotations

from psp.core.settings import Section, flag, table, whole

SECTION = Section(
    "the test sets",
    {
        "sts": flag(True, help="SemEval 2012-2017 and the STS Benchmark, where the model covers their languages"),
        "tatoeba": flag(True, help="the Tatoeba error rate of every language beside English"),
        "files": table(
            {},
            values={"type": "string"},
            help="further STS files of your own, name: path, with lines `score \\t sentence \\t sentence`",
        ),
        "resamples": whole(1000, at_least=100, help="bootstrap resamples behind each confidence interval"),
    },
)
