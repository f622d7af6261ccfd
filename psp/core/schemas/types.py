"""The building blocks of the types of JSON files.

A file is a ``TypedDict``, in which each key has a type with its limits and, as text in ``Annotated``, a description for
people. mypy checks the types, and JSON Schemas are generated from them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from psp.core.settings import RECIPES

SOME = Meta(min_length=1)
TEN = Meta(min_length=10, max_length=10)
TWO = Meta(min_length=2, max_length=2)
UNIQUE = Meta(extra_json_schema={"uniqueItems": True})

Text = Annotated[str, SOME]
Count = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
Several = Annotated[int, Meta(ge=2)]
Amount = Annotated[float, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
PositiveNumber = Annotated[float, Meta(gt=0)]
Hundred = Annotated[float, Meta(ge=-100, le=100)]
Cosine = Annotated[float, Meta(ge=-1, le=1)]
Sha256 = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]

Format = Annotated[Literal[1], "the version of this format"]
ModelName = Annotated[Text, "the model's name in the config"]
CorpusName = Annotated[Text, "the corpus, as the config names it"]
Recipe = Annotated[str, Meta(extra_json_schema={"enum": list(RECIPES)}), "the recipe of its settings"]
Label = Annotated[Text, "the corpus and its languages, such as Europarl.en-fr"]
Codes = Annotated[list[str], TWO, "codes of the source's and the target's language"]
Device = Annotated[Literal["cpu", "cuda"], "where it was trained"]
Dtype = Literal["float32", "float16", "int8"]
RankedBy = Annotated[Literal["score", "translation", "overlap", "length"], "what ranks, as in the config's block rank"]
Settings = Annotated[dict[str, Any], "settings, as in the config (docs/settings.md)"]

#: Keywords of JSON Schema that a type cannot express, by the type's name.
KEYWORDS: dict[str, dict[str, Any]] = {}


def add_keywords(kind: type, **keywords: Any) -> None:
    """Add to the schema of a type, such as which keys belong together; ``if_`` and ``else_`` stand for the keywords."""
    KEYWORDS[kind.__name__] = {word.rstrip("_"): value for word, value in keywords.items()}
