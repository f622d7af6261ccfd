"""The block ``report`` of the config."""

from __future__ import annotations

from psp.core.settings import NAME, Section, list_of

#: What a page can ask for, and the files of it in a model's folder; those of tasks are named by the config.
PARTS = {
    "compare": "compare.json",
    "tasks": "tasks/",
    "variants": "variants.json",
    "quantize": "quantized.json",
    "speed": "speed.json",
}

SECTION = Section(
    "the pages results/<model>/report.html and results/report.html",
    {
        "include": list_of(
            ["compare"],
            items={"type": "string", "enum": list(PARTS)},
            distinct=True,
            help="what to make for a model's page; the page also shows all results made before",
        ),
        "models": list_of(
            [],
            items={"type": "string", "pattern": NAME},
            distinct=True,
            help="models that results/report.html compares; at the top level of a config only",
        ),
    },
    inert=True,
)
