"""Train on a sample of a model's pairs."""

from pathlib import Path

from psp.config.study_entries import STUDIES
from psp.core.files import read_json
from psp.core.scripts import job
from psp.pairs.samples import sample_size
from psp.training.by_corpus import distinct
from psp.training.loop import Training
from psp.training.samples import available, train_sample

with job(snakemake) as snakemake:
    params, wildcards = snakemake.params, snakemake.wildcards
    reports = {name: Path(path) for name, path in params.reports.items()}
    there = distinct(reports) if wildcards.study == "by_corpus" else available(map(read_json, reports.values()))
    train_sample(
        Training.configured(
            snakemake.input,
            params.training,
            params.job,
            seed=params.seed,
            version=params.version,
            out_dir=None,
            train_dir=Path(snakemake.output.report).parent,
        ),
        sample_size(there, params.pairs, f"models.{wildcards.model}.{STUDIES[wildcards.study]}"),
    )
