"""Filter a corpus."""

from pathlib import Path

from psp.config.blocks.filters import FiltersBlock, needs_lid
from psp.core.scripts import job
from psp.corpora import open_corpus
from psp.evaluation.scored import scored
from psp.pairs import data_warnings, filters
from psp.text.segment import Segmenter

with job(snakemake) as snakemake:
    inputs, params, wildcards = snakemake.input, snakemake.params, snakemake.wildcards
    settings, part = FiltersBlock.whole(params.filters), params.part
    resources = {"lid": inputs.lid} if needs_lid(settings) else {}
    if params.tests:
        resources["tests"] = list(scored(params.tests))
    languages = tuple(part["languages"])
    report = filters.filter_corpus(
        open_corpus(
            part["kind"],
            Path(inputs.corpus),
            part["opus"],
            tuple(part["names"]),
            max_bad_rows=settings["max_bad_rows"],
        ),
        *map(Path, snakemake.output),
        corpus=part["corpus"],
        languages=languages,
        filters=filters.build(settings, languages, resources),
        segmenters={
            language: Segmenter(how["segmenter"], cut_all=how["cut_all"]) for language, how in params.segment.items()
        },
        lower_case=settings["lower_case"],
        clean=settings["clean"],
        normalisation=params.normalisation if params.prepared else None,
        prepared=params.prepared,
        seed=params.seed,
        processes=snakemake.threads,
    )
    label = wildcards.get("bitext", wildcards.part)
    data_warnings.log_dropped(label, report, params.warn_share, wildcards.model)
