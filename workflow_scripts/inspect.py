"""Inspect a model's corpora before training."""

from pathlib import Path

from psp.core.scripts import job
from psp.evaluation.scored import scored
from psp.pairs.inspect.run import InspectedCorpus, inspect
from psp.report.inspect import write
from psp.text.segment import Segmenter

with job(snakemake) as snakemake:
    inputs, params, settings = snakemake.input, snakemake.params, snakemake.params.settings
    # Each kind of set by itself: the filter `decontaminate` covers some kinds.
    development = {key: params.tests[key] for key in ("development", "archive", "judged")}
    kinds = {key: {key: value} for key, value in params.tests.items() if value and key not in development}
    if development["development"] or development["judged"]:
        kinds["development"] = development
    tests = {key: list(scored({"languages": params.languages, **sets})) for key, sets in kinds.items()}
    report = inspect(
        snakemake.wildcards.model,
        [
            InspectedCorpus(
                **{**part, "languages": tuple(part["languages"]), "names": tuple(part["names"])}, file=Path(file)
            )
            for part, file in zip(params.parts, inputs.corpora, strict=True)
        ],
        pairs=settings["pairs"],
        samples=settings["samples"],
        encoder=settings["encoder"],
        encoded=settings["encoded"],
        lid=inputs.lid,
        tests=tests,
        segmenters={
            language: Segmenter(how["segmenter"], cut_all=how["cut_all"])
            for language, how in params.segment.items()
            if language in params.languages
        },
        seed=params.seed,
        warn_pairs=params.warn_pairs,
    )
    write(report, Path(snakemake.output.json), Path(snakemake.output.html))
