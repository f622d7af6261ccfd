"""Export to a sentence-transformers model that runs on psp, with its tokenizers, and so gives the same vectors.

The folder is an ordinary model folder with three more files; ``psp.load_model`` loads it too.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from psp.core.files import new_folder, write_json
from psp.models import PSP_MODEL
from psp.models.exports import unsupported_reason
from psp.models.exports.common import readme
from psp.models.exports.static_embedding import library_config
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
    static = unsupported_reason("static-embedding", model) is None
    with new_folder(out) as folder:
        model.save(folder, card=False)
        write_json(folder / "config_sentence_transformers.json", library_config(model))
        write_json(folder / "modules.json", [{"idx": 0, "name": "0", "path": "", "type": PSP_MODEL}])
        more = WITHOUT.format(kind=PSP_MODEL, other=(STATIC if static else GRAPH).strip())
        readme(folder, model, CODE, f"{usage}\n\n{more}")
    return usage
