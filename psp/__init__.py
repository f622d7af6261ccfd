"""Paraphrastic sentence embeddings, from raw parallel text to a fast model.

``import psp`` costs nothing: a module is imported when one of its names is first used. Loading a model and embedding
text need only numpy, sentencepiece and safetensors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psp.core import __version__

if TYPE_CHECKING:
    from psp.inference.search.texts import mine, search
    from psp.models.folder import load_model
    from psp.models.summary import results
    from psp.models.text_model import TextModel as Model

__all__ = ["Model", "__version__", "load_model", "mine", "results", "search"]


def __getattr__(name: str) -> Any:
    if name == "load_model":
        from psp.models.folder import load_model

        return load_model
    if name == "Model":
        from psp.models.text_model import TextModel

        return TextModel
    if name in {"mine", "search"}:
        from psp.inference.search import texts

        return getattr(texts, name)
    if name == "results":
        from psp.models.summary import results

        return results
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
