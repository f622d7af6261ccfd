"""Export to a sentence-transformers model that runs on psp, with its tokenizers, and so gives the same vectors.

The folder is an ordinary model folder with three more files; ``psp.load_model`` loads it too. Means of sentencepiece's
pieces have a module of their own, the older one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from psp.core.files import atomic, new_folder, write_json
from psp.models.combined import CombinedModel, parts_of
from psp.models.exports import unsupported_reason
from psp.models.exports.common import readme, rows
from psp.models.exports.static_embedding import library_config
from psp.models.files import PSP_MODEL, SENTENCEPIECE, SUBWORD_MEAN
from psp.models.folder import OURS, save_model
from psp.models.static import StaticModel
from psp.models.text_model import TextModel

CODE = """
from sentence_transformers import SentenceTransformer

# psp must be installed (`pip install .` in its checkout), and is what is trusted here: nothing in this folder is code.
model = SentenceTransformer("this/folder", trust_remote_code=True)
vectors = model.encode(["a red car", "une voiture rouge"])
"""

WITHOUT = """
Without `trust_remote_code=True` the library, from version 6, refuses:

> references the module class '{kind}', which is not part of Sentence Transformers. Importing it executes
> third-party code.

That code is the psp that you have installed. {other}
"""
STATIC = """
`psp export static-embedding` writes another form, which needs neither the
argument nor psp.
"""
GRAPH = "`psp export onnx` writes a graph, which needs no psp."


def write(model: TextModel, out: Path, sentences: Sequence[str]) -> str:
    """Write the folder; see :func:`psp.models.exports.export`. ``sentences`` is unused: nothing differs."""
    usage = "The vectors are those of psp, which must be installed."
    kind = SUBWORD_MEAN if is_subword_mean(model) else PSP_MODEL
    static = unsupported_reason("static-embedding", model) is None
    with new_folder(out) as folder:
        if kind == SUBWORD_MEAN:
            save(model, rows(model), folder)
        else:
            save_whole(model, folder)
        write_json(folder / "config_sentence_transformers.json", library_config(model))
        write_json(folder / "modules.json", [{"idx": 0, "name": "0", "path": "", "type": kind}])
        more = WITHOUT.format(kind=kind, other=(STATIC if static else GRAPH).strip())
        readme(folder, model, CODE, f"{usage}\n\n{more}")
    return usage


def is_subword_mean(model: TextModel) -> bool:
    """Whether a model is a mean of sentencepiece's pieces."""
    first, *others = parts_of(model)
    return not others and first.contextual is None and first.tokenizer.first_format_key is not None


def save(model: TextModel, table: np.ndarray, folder: Path) -> dict[str, Any]:
    """Save a mean of sentencepiece's pieces with another embedding matrix; return its config."""
    path = folder / SENTENCEPIECE
    with atomic(path) as temporary:
        temporary.write_bytes(model.sentencepiece.serialized_model_proto())
    return save_model(folder, table, path, {key: value for key, value in model.config.items() if key not in OURS})


def save_whole(model: TextModel, folder: Path) -> dict[str, Any]:
    """Save a model of any kind, without the model card of :meth:`psp.models.model.Model.save`."""
    if isinstance(model, CombinedModel):
        return CombinedModel.save(model, folder)
    assert isinstance(model, StaticModel)
    return StaticModel.save(model, folder)
