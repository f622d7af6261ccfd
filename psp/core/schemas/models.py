"""The config.json of a model's folder."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, Required, TypedDict

from msgspec import Meta

from psp.core.schemas.types import UNIQUE, Count, Dtype, Positive, Sha256, Text, add_keywords


class TokenizerConfig(TypedDict):
    """The tokenizer, with the keys of its kind (format 1: sentencepiece; a combination: parts)."""

    kind: Annotated[Text, "the kind under which its class is registered"]
    files: Annotated[dict[str, Sha256], "SHA-256 of each of its files in the same folder, by name"]


#: Each part is a config.json of its own, with its share of the cosine, relative to the other weights.
WEIGHTED = {
    "items": {
        "$ref": "#/$defs/ModelConfig",
        "required": ["weight"],
        "properties": {"weight": {"type": "number", "exclusiveMinimum": 0}},
    }
}


class EncoderConfig(TypedDict, total=False):
    """The encoder, which turns ids into a vector, with the keys of its kind (format 1: the mean)."""

    kind: Required[Annotated[Text, "the kind, such as mean; concat or add for a combination of models"]]
    scaled: Annotated[
        bool, "of a combination: false if vectors are concatenated as they are, without scaling and weights"
    ]
    parts: Annotated[
        list[dict[str, Any]],
        Meta(min_length=2, extra_json_schema=WEIGHTED),
        "of a combination: the models whose vectors are joined",
    ]


class QuantizedFrom(TypedDict):
    """The embedding matrix before psp quantize; if quantized repeatedly, before the first time."""

    dtype: Annotated[Dtype, "its number format"]
    dim: Annotated[Positive, "its number of columns"]
    model: NotRequired[Annotated[Text, "its place on the Hugging Face Hub, such as user/fr, if it came from there"]]


class SegmenterConfig(TypedDict):
    """The segmenter; two languages must name the same one."""

    name: Annotated[Literal["jieba"], "the segmenter's name"]
    cut_all: NotRequired[
        Annotated[bool, "jieba's full mode: all words found, overlapping ones included (default: false)"]
    ]


class ModelConfig(TypedDict, total=False):
    """A model's embedding matrix, tokenizer and encoder, and how it reads text."""

    format: Required[
        Annotated[
            Literal[1, 2],
            "1: the mean of sentencepiece's pieces; 2: another tokenizer or encoder, or several models joined",
        ]
    ]
    kind: Required[Annotated[Literal["psp"], "distinguishes the folder from those of other libraries"]]
    tokenizer: TokenizerConfig
    encoder: EncoderConfig
    dim: Required[
        Annotated[
            Positive,
            "length of a vector, and number of columns of the embedding matrix (of a combination, of all of them)",
        ]
    ]
    dtype: Annotated[Dtype, "number format of the embedding matrix (default: float32)"]
    quantized_from: QuantizedFrom
    vocab_size: Annotated[Positive, "number of the tokenizer's ids, and of rows of the embedding matrix"]
    languages: Required[Annotated[list[str], UNIQUE, "codes of the languages it was trained on"]]
    lower_case: Annotated[bool, "whether text is lower-cased, after segmentation"]
    segment: Annotated[
        dict[str, SegmenterConfig],
        "how text with Han ideographs is segmented, by language code; empty for no segmentation",
    ]
    unknown_id: Annotated[Count, "id of the unknown piece"]
    left_out: Annotated[
        list[Count], UNIQUE, "pieces ignored like unknown ones, because they have no trained embedding (default: none)"
    ]
    unknown_alone: Annotated[
        bool,
        "whether a text of unknown pieces alone has the unknown piece's embedding, as in the published code, and not "
        "zeros (default: false, but true with imported_from)",
    ]
    prompts: Annotated[
        dict[str, str], "prompts that encode(prompt_name=...) puts before each text, by name (default: none)"
    ]
    sentencepiece_sha256: Annotated[Sha256, "SHA-256 of sentencepiece.model in the same folder (format 1 only)"]
    weights_sha256: Annotated[Sha256, "SHA-256 of model.safetensors in the same folder (not of transformers)"]
    recipe: Required[
        Annotated[str | None, "the config's recipe (psp, paper or code); null if the model was made without a config"]
    ]
    psp_version: Required[Annotated[Text, "the version of psp that wrote it"]]


# save_model accepts further keys, for the record; loading ignores them.
add_keywords(
    ModelConfig,
    additionalProperties=True,
    if_={"required": ["encoder"], "properties": {"encoder": {"properties": {"kind": {"enum": ["concat", "add"]}}}}},
    then={"required": ["tokenizer"], "properties": {"encoder": {"required": ["parts"]}}},
    else_={
        "required": ["vocab_size", "lower_case", "segment", "unknown_id"],
        "if": {"properties": {"format": {"const": 1}}},
        "then": {"required": ["sentencepiece_sha256"]},
        "else": {"required": ["tokenizer", "encoder"]},
    },
)
add_keywords(TokenizerConfig, additionalProperties=True)
add_keywords(EncoderConfig, additionalProperties=True)
