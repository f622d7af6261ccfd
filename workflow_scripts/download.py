"""Fetch one file from the first of its mirrors that has it."""

from pathlib import Path

from psp.config import Config
from psp.corpora.download import fetch
from psp.logs import job

with job(snakemake.log[0]):
    config = Config(snakemake.config, Path(snakemake.scriptdir).parent / "config/schema.yaml")
    fetch(
        config.remote(snakemake.wildcards.name),
        Path(snakemake.output.file),
        Path(snakemake.output.record),
        offline=config.offline,
        retries=config.sources["retries"],
        timeout=config.sources["timeout"],
    )
