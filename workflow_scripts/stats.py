"""Measure the corpora of a model, and draw pairs for annotators."""

from pathlib import Path

from psp.core.scripts import job
from psp.pairs.stats.annotation_form import read_form, write_form
from psp.pairs.stats.run import DescribedCorpus, describe
from psp.report.stats import write

with job(snakemake) as snakemake:
    settings, output = dict(snakemake.params.settings), snakemake.output
    report, drawn = describe(
        [
            DescribedCorpus(part["label"], tuple(part["languages"]), Path(file), text=part["kind"] == "text")
            for part, file in zip(snakemake.params.parts, snakemake.input.pairs, strict=True)
        ],
        model=snakemake.wildcards.model,
        pairs=settings["pairs"],
        ranges=settings["ranges"],
        samples=settings["samples"],
        sheet=settings["sheet"],
        seed=snakemake.params.seed,
        idf_from={language: Path(file) for language, file in settings["idf_from"].items()},
        forms=[read_form(path) for path in settings["labels"]],
    )
    write_form(output.sheet, drawn)
    write(report, Path(output.json), Path(output.text))
