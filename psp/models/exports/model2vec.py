"""Export a model2vec ``StaticModel``: an embedding matrix and a Hugging Face tokenizer, without psp."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from psp.models.exports.static_embedding import write_static
from psp.models.static import StaticModel


def write(model: StaticModel, out: Path, sentences: Sequence[str]) -> str:
    """Write the folder; see :func:`psp.models.exports.export`. Sentence-transformers loads it too."""
    config = {
        "model_type": "model2vec",
        "architectures": ["StaticModel"],
        "normalize": False,
        "max_length": None,  # the default truncates texts to 512 pieces
        "hidden_dim": model.dim,
        "embedding_dtype": "float32",
    }
    return write_static(
        model,
        out,
        sentences,
        tensor="embeddings",
        config=("config.json", config),
        drops=True,
        code="""
from model2vec import StaticModel

model = StaticModel.from_pretrained("this/folder")
vectors = model.encode(["a red car", "une voiture rouge"])
""",
    )
