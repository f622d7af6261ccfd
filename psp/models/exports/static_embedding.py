"""Export to sentence-transformers' ``StaticEmbedding``: an embedding matrix and a Hugging Face tokenizer, no psp."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from psp.core.files import atomic_text, new_folder, write_json
from psp.models.exports import tokenizer
from psp.models.exports.common import readme
from psp.models.static import StaticModel, unknown_alone
from psp.models.table import write_table
from psp.models.text_model import TextModel, checked_prompts

#: Its name before version 6, which later versions still accept.
CLASS = "sentence_transformers.models.StaticEmbedding"
CODE = """
from sentence_transformers import SentenceTransformer

model = SentenceTransformer("this/folder")
vectors = model.encode(["a red car", "une voiture rouge"])

# Or by model2vec, which reads the first 512 pieces of a text unless max_length says otherwise:
# model2vec.StaticModel.from_pretrained("this/folder").encode(texts, max_length=None)
"""
MODULES = [{"idx": 0, "name": "0", "path": "", "type": CLASS}]


def library_config(model: TextModel) -> dict[str, Any]:
    """Return sentence-transformers' settings other than the modules."""
    return {"prompts": checked_prompts(model.config), "default_prompt_name": None, "similarity_fn_name": "cosine"}


def write(model: StaticModel, out: Path, sentences: Sequence[str]) -> str:
    """Write the folder; see :func:`psp.models.exports.export`."""
    made, table = tokenizer.convert(model), tokenizer.table(model)
    # In parts, letters are other graphemes, which the tokenizers' library looks up in another way.
    both = [*sentences, *(unicodedata.normalize("NFD", sentence) for sentence in sentences)]
    notes = [str(tokenizer.compare(model, made, table, both))]
    if model.tokenizer.is_words:
        notes.append("Unknown words are left out of the mean, as by psp.")
    else:
        notes.append("Unknown pieces count in the mean as zeros: the vector has psp's direction, and is shorter.")
        if unknown_alone(model.config):
            notes.append("A text of unknown pieces alone has zeros; psp gives it the vector of the unknown piece.")
    if model.config.get("segment"):
        notes.append("Chinese text is not segmented here as psp does: segment it before.")
    with new_folder(out) as folder:
        write_table(folder / "model.safetensors", {"embedding.weight": table})
        with atomic_text(folder / "tokenizer.json") as file:
            file.write(made.to_str())
        write_json(folder / "config_sentence_transformers.json", library_config(model))
        write_json(folder / "modules.json", MODULES)
        readme(folder, model, CODE, " ".join(notes))
    return " ".join(notes)
