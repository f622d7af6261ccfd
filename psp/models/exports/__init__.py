"""Export a model to formats that other libraries load, each in its own module with a function ``write``.

If a format's tokenizer is not sentencepiece, the two are compared on a sample of sentences; the result is returned, and
written to the export's README.md.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from psp.core.errors import PspError

if TYPE_CHECKING:
    from psp.models.static import StaticModel

#: The formats, and what loads them.
FORMS = {
    "sentence-transformers": "SentenceTransformer(path, trust_remote_code=True) with psp installed; the same vectors",
    "static-embedding": "SentenceTransformer(path) without psp; its tokenizer is Hugging Face's",
    "model2vec": "StaticModel.from_pretrained(path) without psp; its tokenizer is Hugging Face's",
    "onnx": "onnxruntime and others; a graph from ids to vectors",
    "word2vec": "gensim and others; text, one piece and its embedding per line",
    "mteb": "mteb.evaluate(model_meta, tasks) with psp installed; a Python file that describes the model",
}


def export(
    form: str, model: StaticModel, out: Path | str, sentences: Sequence[str], source: Path | str | None = None
) -> str:
    """Export a model to another format.

    Args:
        form: a key of :data:`FORMS`.
        model: the model.
        out: the folder (word2vec, mteb: file) to write; must not exist.
        sentences: a sample on which to compare the tokenizer with the model's own.
        source: the folder that the model was loaded from, or ``hf://user/name``; only mteb's file names it.

    Returns:
        Notes for the user, in a few sentences.

    Raises:
        ValueError: unknown format.
        DataError: ``out`` exists or cannot be written.
        PspError: the model does not support this format, or a package is missing.
    """
    if form not in FORMS:
        raise ValueError(f"unknown format {form!r}; available: {', '.join(FORMS)}")
    if form != "mteb" and (reason := _obstacle(form, model)):  # before anything is written; mteb runs psp itself
        raise PspError(reason)
    module = importlib.import_module(f"psp.models.exports.{form.replace('-', '_')}")
    more = {"source": source} if form == "mteb" else {}
    said: str = module.write(model, Path(out), sentences, **more)
    return said


def _obstacle(form: str, model: StaticModel) -> str | None:
    """Why a format cannot hold a model; None if it can."""
    from psp.models.combined import CombinedModel  # the command's parser needs FORMS alone

    if isinstance(model, CombinedModel):
        return f"{form} does not hold a combination of models: other libraries know one vocabulary; export its parts"
    if model.sequence is not None:
        return f"{form} holds means only; this model's vectors come from {model.sequence.called}"
    kind = model.tokenizer.kind
    if kind == "sentencepiece" or (kind, form) == ("word", "word2vec"):
        return None
    if kind == "word":
        return f"{form} does not split text into this model's words; `psp export word2vec` writes their vectors"
    return f"{form} does not know tokenizers of the kind {kind}, whose pieces overlap or are its own"
