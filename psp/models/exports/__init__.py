"""Export a model to formats that other libraries load, each in its own module with a function ``write``.

If a format's tokenizer is not sentencepiece, the two are compared on a sample of sentences; the result is returned, and
written to the export's README.md.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from psp.core.errors import PspError

if TYPE_CHECKING:
    from psp.models.text_model import TextModel

#: The formats, and what loads them.
FORMS = {
    "sentence-transformers": "SentenceTransformer(path, trust_remote_code=True) with psp installed; the same vectors",
    "static-embedding": "SentenceTransformer(path), or model2vec's StaticModel.from_pretrained(path), without psp; its "
    "tokenizer is Hugging Face's",
    "onnx": "onnxruntime and others; a graph from ids to vectors",
    "word2vec": "gensim and others; text, one piece and its embedding per line",
}
#: The one that holds a tokenizer of Hugging Face's library.
HUGGING_FACE = "static-embedding"


def export(form: str, model: TextModel, out: Path | str, sentences: Sequence[str]) -> str:
    """Export a model to another format.

    Args:
        form: a key of :data:`FORMS`.
        model: the model.
        out: the folder (word2vec: file) to write; must not exist.
        sentences: a sample on which to compare the tokenizer with the model's own.

    Returns:
        Notes for the user, in a few sentences.

    Raises:
        ValueError: unknown format.
        DataError: ``out`` exists or cannot be written.
        PspError: the model does not support this format, or a package is missing.
    """
    if form not in FORMS:
        raise ValueError(f"unknown format {form!r}; available: {', '.join(FORMS)}")
    if reason := unsupported_reason(form, model):  # before anything is written
        raise PspError(reason)
    module = importlib.import_module(f"psp.models.exports.{form.replace('-', '_')}")
    summary: str = module.write(model, Path(out), sentences)
    return summary


def unsupported_reason(form: str, model: TextModel) -> str | None:
    """Why a format cannot hold a model; None if it can."""
    # Imported here since the command's parser needs FORMS alone.
    from psp.models.combined import parts_of
    from psp.models.exports.tokenizer import is_convertible
    from psp.models.static import StaticModel

    graphs = form in ("sentence-transformers", "onnx")
    others = "export to sentence-transformers or onnx"
    if len(parts := parts_of(model)) > 1 and not graphs:
        return f"{form} has one vocabulary, and a combination of models several: {others}, or export its parts"
    for part in parts:
        if type(part)._pool is not StaticModel._pool:
            return f"{form} does not know the encoder of a {type(part).__name__}"
        if graphs:
            continue
        if part.contextual is not None:
            return f"{form} holds means only; this model's vectors come from {part.contextual.called}: {others}"
        if reason := part.tokenizer.unsupported.get(form):
            return f"{form} {reason}: {others}"
        if form == HUGGING_FACE and not is_convertible(part.tokenizer):
            kind = part.tokenizer.name_on_disk()
            return f"{form} has a tokenizer of Hugging Face's, and there is none of the kind {kind}: {others}"
    return None


def own_texts(model: TextModel, size: int = 2000) -> list[str]:
    """Texts on which to verify a tokenizer: pieces of the model's own, drawn at random, always the same."""
    from psp.models.combined import parts_of
    from psp.text.sentencepiece_tokenizer import WORD_MARK

    rng = random.Random("export")
    pieces = [piece for part in parts_of(model) for piece in part.tokenizer.pieces()]
    pieces = [piece for piece in pieces if not piece.startswith("<")]
    texts = (" ".join(rng.choices(pieces, k=rng.randint(1, 12))).replace(WORD_MARK, " ") for _ in range(size))
    return [" ".join(text.split()) for text in texts]
