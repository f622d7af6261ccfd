"""A model as LangChain's embeddings: ``from psp.langchain import PspEmbeddings``. Needs langchain-core."""

from __future__ import annotations

from pathlib import Path

from langchain_core.embeddings import Embeddings

from psp.models.folder import load_model
from psp.models.text_model import TextModel, checked_texts


class PspEmbeddings(Embeddings):
    """Vectors of a model, for LangChain's stores and retrievers.

    Args:
        model: a model, or its folder.

    Raises:
        DataError: there is no model in the folder.
    """

    def __init__(self, model: TextModel | str | Path) -> None:
        self.model = load_model(model) if isinstance(model, (str, Path)) else model

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return a vector of each text.

        Raises:
            TypeError: ``texts`` is not a list of str.
        """
        vectors: list[list[float]] = self.model.encode_document(checked_texts(texts)).tolist()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of one text."""
        vector: list[float] = self.model.encode_query(text).tolist()
        return vector
