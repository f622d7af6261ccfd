"""Translate one side of bitext into the language of the other."""

from pathlib import Path

from psp.config.jobs import EMBEDDINGS, TRANSLATIONS
from psp.core.files import sha256
from psp.core.scripts import job
from psp.inference.translation.backtranslate import back_translate
from psp.inference.translation.load import load_translator
from psp.models.embedding_cache import cached

with job(snakemake) as snakemake:
    inputs, params = snakemake.input, snakemake.params
    back_translate(
        [(label, Path(path), column) for (label, column), path in zip(params.sources, inputs.bitext, strict=True)],
        Path(snakemake.output.pairs),
        Path(snakemake.output.report),
        translator=load_translator(params.translator, threads=params.threads, where=f"translators.{params.name}"),
        encoder=cached(params.encoder, EMBEDDINGS),
        cache=TRANSLATIONS,
        about={
            "languages": params.languages,
            "through": params.through,
            "translator": {"name": params.name},
            "encoder": {"name": params.encoder, "files": {Path(path).name: sha256(path) for path in inputs.encoder}},
        },
        sample=params.sample,
        seed=params.seed,
    )
