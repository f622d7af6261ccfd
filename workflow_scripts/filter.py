"""Filter one corpus, or some of its rows; or join what was made of all of them."""

from pathlib import Path

from psp.core.logs import job
from psp.corpora import open_corpus
from psp.evaluation.scored import scored
from psp.pairs import data_warnings, filters
from psp.text.segment import Segmenter


def filtered(inputs, params, outputs, processes):
    settings, part = params.filters, params.part
    languages = tuple(part["languages"])
    resources = {"lid": inputs.lid[0]} if inputs.lid else {}
    if params.tests:
        resources["tests"] = list(scored(params.tests))
    return filters.filter_corpus(
        open_corpus(
            part["kind"],
            Path(inputs.corpus),
            part["opus"],
            tuple(part["names"]),
            max_bad_rows=settings["max_bad_rows"],
        ),
        *outputs,
        corpus=part["corpus"],
        languages=languages,
        filters=filters.build(settings, languages, resources),
        segmenters={
            language: Segmenter(how["segmenter"], cut_all=how["cut_all"]) for language, how in params.segment.items()
        },
        lower_case=settings["lower_case"],
        prepared=params.prepared,
        seed=params.seed,
        processes=processes,
        shard=params.rows and tuple(params.rows),
    )


with job(snakemake.log[0]):
    outputs = [Path(snakemake.output[name]) for name in ("pairs", "report", "dropped")]
    if snakemake.input.get("tsv"):
        made = [map(Path, snakemake.input[name]) for name in ("tsv", "json", "dropped.tsv")]
        summary = filters.gather(list(zip(*made, strict=True)), *outputs, seed=snakemake.params.seed)
    else:
        summary = filtered(snakemake.input, snakemake.params, outputs, snakemake.threads)
    if snakemake.params.rows is None:
        label, model = snakemake.wildcards.get("bitext", snakemake.wildcards.part), snakemake.wildcards.model
        data_warnings.log_dropped(label, summary, snakemake.params.warn_share, model)
