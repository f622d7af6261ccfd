"""Filter a corpus, some of its rows, or several small corpora; or join the output of all jobs of one."""

from functools import partial
from pathlib import Path

from psp.config import filter_jobs
from psp.core.forks import in_forks
from psp.core.scripts import job
from psp.pairs import data_warnings, filters


def gathered(inputs, outputs, params):
    """Join the output of the jobs of one corpus."""
    parts = [map(Path, inputs[name]) for name in ("tsv", "json", "dropped.tsv")]
    return [filters.gather(list(zip(*parts, strict=True)), *outputs[0], seed=params.seed)]


def filtered(inputs, outputs, params, threads):
    """Filter each corpus, side by side if there are several."""
    corpora = params.corpora.values()
    for judge in filter_jobs.corpus_filters(inputs, next(iter(corpora))):
        judge.prepare()  # forks share what it imports and reads
    calls = [
        partial(
            filter_jobs.filter_corpus,
            inputs,
            file,
            made,
            params,
            of_corpus,
            processes=threads if len(corpora) == 1 else 1,
        )
        for file, made, of_corpus in zip(inputs.corpus, outputs, corpora, strict=True)
    ]
    return in_forks(calls, threads, [Path(file).stat().st_size for file in inputs.corpus])


with job(snakemake) as snakemake:
    params, files = snakemake.params, [snakemake.output[name] for name in ("pairs", "report", "dropped")]
    files = [[made] if isinstance(made, str) else made for made in files]
    outputs = [[Path(file) for file in made] for made in zip(*files, strict=True)]
    if snakemake.input.get("tsv"):
        reports = gathered(snakemake.input, outputs, params)
    else:
        reports = filtered(snakemake.input, outputs, params, snakemake.threads)
    if params.rows is None:
        for label, report, share in zip(params.corpora, reports, params.warn_shares, strict=True):
            data_warnings.log_dropped(label, report, share, snakemake.wildcards.model)
