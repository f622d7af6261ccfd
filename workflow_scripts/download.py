"""Download one file from the first working mirror."""

from pathlib import Path

from psp.config.config import Config
from psp.core.logs import job
from psp.corpora.download import fetch

with job(snakemake.log[0]):
    config = Config(snakemake.config)
    fetch(
        config.remote(snakemake.wildcards.name),
        Path(snakemake.output.file),
        Path(snakemake.output.record),
        offline=config.offline,
        retries=config.sources["retries"],
        timeout=config.sources["timeout"],
    )
