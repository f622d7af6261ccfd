"""Look at a model's corpora before anything is trained."""

from pathlib import Path

from psp.core.logs import job
from psp.evaluation.scored import scored
from psp.pairs.inspect.run import Corpus, inspect
from psp.report.inspect import write
from psp.text.segment import Segmenter

with job(snakemake.log[0]):
    inputs, params, settings = snakemake.input, snakemake.params, snakemake.params.settings
    sets = {key: value for key, value in params.tests.items() if value and key != "archive"}
    # Each kind of set by itself: the filter `decontaminate` takes some kinds.
    tests = {
        key: list(
            scored(
                {
                    "languages": params.languages,
                    key: value,
                    **({"archive": params.tests["archive"]} if key == "development" else {}),
                }
            )
        )
        for key, value in sets.items()
    }
    report = inspect(
        snakemake.wildcards.model,
        [
            Corpus(**{**part, "languages": tuple(part["languages"]), "names": tuple(part["names"])}, file=Path(file))
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
