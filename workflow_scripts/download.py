"""Download one file from the first working mirror."""

from dataclasses import replace
from pathlib import Path

from psp.config.config import Config
from psp.core.scripts import job, local
from psp.corpora.download import fetch

with job(snakemake) as snakemake:
    config = Config(snakemake.config)
    remote = config.remote(snakemake.wildcards.name)
    fetch(
        replace(remote, mirrors=local(remote.mirrors, snakemake.input)),
        Path(snakemake.output.file),
        Path(snakemake.output.record),
        offline=config.offline,
        retries=config.sources["retries"],
        timeout=config.sources["timeout"],
    )
