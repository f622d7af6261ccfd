"""Embed the pieces of a model's vocabulary with the encoder that its training starts from."""

from pathlib import Path

from psp.config.jobs import EMBEDDINGS
from psp.core.scripts import job
from psp.models.embedding_cache import cached
from psp.text.tokenizer_kinds import as_tokenizer
from psp.training.piece_vectors import embed_pieces
from psp.training.torch_state import torch_state

with job(snakemake) as snakemake:
    params, name = snakemake.params, snakemake.params.encoder
    with torch_state(params.threads):
        embed_pieces(
            as_tokenizer(Path(snakemake.input.vocabulary)), cached(name, EMBEDDINGS), name, Path(snakemake.output[0])
        )
