"""Export to a sentence-transformers model that runs on psp, with sentencepiece itself, and so gives the same vectors.

The folder is an ordinary model folder with three more files; ``psp.load_model`` loads it too.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from psp.core.files import atomic, new_folder, write_json
from psp.models.exports.common import readme, rows
from psp.models.exports.static_embedding import library_config
from psp.models.files import SENTENCEPIECE
from psp.models.folder import OURS, save_model
from psp.models.registry import SUBWORD_MEAN
from psp.models.static import StaticModel

MODULES = [{"idx": 0, "name": "0", "path": "", "type": SUBWORD_MEAN}]
CODE = """
from sentence_transformers import SentenceTransformer

# psp must be installed, and is what is trusted here: nothing in this folder is code.
model = SentenceTransformer("this/folder", trust_remote_code=True)
vectors = model.encode(["a red car", "une voiture rouge"])
"""

WITHOUT = f"""
Without `trust_remote_code=True` the library, from version 6, refuses:

> references the module class '{SUBWORD_MEAN}', which is not part of Sentence Transformers. Importing it executes
> third-party code.

That code is the psp that you have installed. `psp export static-embedding` writes another form, which needs neither the
argument nor psp.
"""


def write(model: StaticModel, out: Path, sentences: Sequence[str]) -> str:
    """Write the folder; see :func:`psp.models.exports.export`. ``sentences`` is unused: nothing differs."""
    said = "The vectors are those of psp, which must be installed."
    with new_folder(out) as folder:
        save(model, rows(model), folder)
        write_json(folder / "config_sentence_transformers.json", library_config(model))
        write_json(folder / "modules.json", MODULES)
        readme(folder, model, CODE, f"{said}\n\n{WITHOUT}")
    return said


def save(model: StaticModel, table: np.ndarray, folder: Path) -> dict[str, Any]:
    """Save a model folder with another embedding matrix; return its config."""
    path = folder / SENTENCEPIECE
    with atomic(path) as temporary:
        temporary.write_bytes(model.sentencepiece.serialized_model_proto())
    return save_model(folder, table, path, {key: value for key, value in model.config.items() if key not in OURS})
