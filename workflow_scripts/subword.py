"""Train a model's sentencepiece model."""

from pathlib import Path

from psp.core.scripts import job
from psp.pairs.subword import train_subword

with job(snakemake) as snakemake:
    settings = snakemake.params.settings
    train_subword(
        Path(snakemake.input[0]),
        Path(snakemake.output.model),
        vocab_size=settings["vocab_size"],
        character_coverage=settings["character_coverage"],
        sample=settings["sample"],
        normalisation=snakemake.params.normalisation,
        corpus_languages=snakemake.params.corpus_languages,
        language_sampling=settings["language_sampling"],
        threads=settings["threads"],
        seed=snakemake.params.seed,
        report=Path(snakemake.output.report),
    )
