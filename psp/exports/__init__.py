"""A model in the forms that other libraries load by themselves, each in a file of its own with a function ``write``.

Where a form brings a tokenizer that is not sentencepiece, it is compared with sentencepiece on a sample of sentences,
and what came out is in the form's README.md and is returned.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psp.model import Model

#: The forms, and what loads them.
FORMS = {
    "sentence-transformers": "SentenceTransformer(path, trust_remote_code=True) with psp installed; the same vectors",
    "static-embedding": "SentenceTransformer(path) without psp; its tokenizer is Hugging Face's",
    "model2vec": "StaticModel.from_pretrained(path) without psp; its tokenizer is Hugging Face's",
    "onnx": "onnxruntime and others; a graph from ids to vectors",
    "word2vec": "gensim and others; text, a piece and its row a line",
}


def export(form: str, model: Model, out: Path | str, sentences: Sequence[str] | None = None) -> str:
    """Write a model in another form.

    Args:
        form: a key of :data:`FORMS`.
        model: what to write.
        out: a folder (of word2vec a file) that does not exist.
        sentences: on which a tokenizer is compared (default: those of :func:`psp.exports.common.sample`).

    Returns:
        What is to be known about it, in a few sentences.

    Raises:
        ValueError: no such form.
        DataError: ``out`` exists or cannot be written.
        PspError: the model cannot be had in this form, or a package is missing.
    """
    from psp.exports.common import sample

    if form not in FORMS:
        raise ValueError(f"no form {form!r}; there are {', '.join(FORMS)}")
    module = importlib.import_module(f"psp.exports.{form.replace('-', '_')}")
    said: str = module.write(model, Path(out), sample() if sentences is None else sentences)
    return said
