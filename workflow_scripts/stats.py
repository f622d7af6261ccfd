"""Measure the corpora of a model, and draw pairs for annotators."""

from pathlib import Path

from psp.core.logs import job
from psp.pairs.stats.run import Corpus, describe
from psp.pairs.stats.sheet import read_sheet, write_sheet
from psp.report.stats import write

with job(snakemake.log[0]):
    settings, output = dict(snakemake.params.settings), snakemake.output
    found = describe(
        [
            Corpus(part["label"], tuple(part["languages"]), Path(file), text=part["kind"] == "text")
            for part, file in zip(snakemake.params.parts, snakemake.input.pairs, strict=True)
        ],
        model=snakemake.wildcards.model,
        pairs=settings["pairs"],
        ranges=settings["ranges"],
        samples=settings["samples"],
        sheet=settings["sheet"],
        seed=snakemake.params.seed,
        idf_from={language: Path(file) for language, file in settings["idf_from"].items()},
        sheets=[read_sheet(path) for path in settings["labels"]],
    )
    write_sheet(output.sheet, found.drawn)
    write(found.report, Path(output.json), Path(output.text))
