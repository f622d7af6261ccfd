"""Filter one corpus."""

from pathlib import Path

from psp.core.logs import job
from psp.corpora import open_corpus
from psp.evaluation.scored import scored
from psp.pairs import data_warnings, filters
from psp.text.segment import Segmenter

with job(snakemake.log[0]):
    settings, part = snakemake.params.filters, snakemake.params.part
    languages = tuple(part["languages"])
    resources = {"lid": snakemake.input.lid[0]} if snakemake.input.lid else {}
    if snakemake.params.tests:
        resources["tests"] = list(scored(snakemake.params.tests))
    summary = filters.filter_corpus(
        open_corpus(
            part["kind"],
            Path(snakemake.input.corpus),
            part["opus"],
            tuple(part["names"]),
            max_bad_rows=settings["max_bad_rows"],
        ),
        Path(snakemake.output.pairs),
        Path(snakemake.output.report),
        Path(snakemake.output.dropped),
        corpus=part["corpus"],
        languages=languages,
        filters=filters.build(settings, languages, resources),
        segmenters={
            language: Segmenter(how["segmenter"], cut_all=how["cut_all"])
            for language, how in snakemake.params.segment.items()
        },
        lower_case=settings["lower_case"],
        prepared=snakemake.params.prepared,
        seed=snakemake.params.seed,
        processes=snakemake.threads,
    )
    label, model = snakemake.wildcards.get("bitext", snakemake.wildcards.part), snakemake.wildcards.model
    data_warnings.log_dropped(label, summary, snakemake.params.warn_share, model)
