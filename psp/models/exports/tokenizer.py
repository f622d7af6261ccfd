"""Convert sentencepiece's unigram model to a tokenizer of Hugging Face's ``tokenizers``, and compare the two.

Both find the best path through the same pieces and scores. With an English-French model of 50,000 pieces, 2 of 577,754
real sentences (documentation, interfaces, news, Tatoeba in 112 languages) are split differently; with a model of 32,000
pieces for all these languages, 3 of 357,597: ties in score, with the same pieces in another order. Control pieces and
the unknown piece are renamed, since text such as "<s>" would match them.

The target libraries cannot leave out pieces as we do. If they count unknown pieces in the mean, these count as zeros,
so the vector has the right direction but is too short.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from psp.core.errors import PspError
from psp.models.exports.common import library, rows
from psp.models.similarity import cosines
from psp.models.static import StaticModel

SPACE = "▁"
HIDDEN = "\0"  # prefix of names that must not match any text
BATCH = 4096


def convert(model: StaticModel) -> Any:
    """Create a ``tokenizers.Tokenizer`` that maps text to the model's ids, with lower-casing but no segmentation.

    Raises:
        PspError: a package is missing; or the sentencepiece model is not a unigram model, treats white space unusually,
            or has byte pieces or user-defined pieces.
    """
    tokenizers = library("tokenizers")
    library("google.protobuf")
    description = library("sentencepiece.sentencepiece_model_pb2")
    proto = description.ModelProto()
    proto.ParseFromString(model.sentencepiece.serialized_model_proto())
    trained, normalised = proto.trainer_spec, proto.normalizer_spec
    kinds = description.ModelProto.SentencePiece
    if (
        trained.model_type != description.TrainerSpec.UNIGRAM
        or trained.treat_whitespace_as_suffix
        or not (normalised.escape_whitespaces and normalised.remove_extra_whitespaces)
        or {piece.type for piece in proto.pieces} - {kinds.NORMAL, kinds.UNKNOWN, kinds.CONTROL}
    ):
        raise PspError(
            "a Hugging Face tokenizer needs a unigram sentencepiece model with the usual treatment of white space and "
            "without byte pieces or user-defined pieces; export to sentence-transformers or onnx instead"
        )
    vocabulary = [
        (piece.piece if piece.type == kinds.NORMAL else HIDDEN + piece.piece, piece.score) for piece in proto.pieces
    ]
    made = tokenizers.Tokenizer(tokenizers.models.Unigram(vocabulary, model.unknown_id, byte_fallback=False))

    normalizers, Regex = tokenizers.normalizers, tokenizers.Regex
    steps: list[Any] = []
    if model.config.get("lower_case"):
        # Python has a special rule for lower-casing a final sigma; Rust does not.
        steps.append(normalizers.Replace(Regex(r"(?<=\p{L})Σ(?!\p{L})"), "ς"))
        steps.append(normalizers.Lowercase())
    if normalised.precompiled_charsmap:
        steps.append(normalizers.Precompiled(normalised.precompiled_charsmap))
    steps.append(normalizers.Replace(Regex(" {2,}"), " "))
    steps.append(normalizers.Replace(Regex("^ | $"), ""))
    if normalised.add_dummy_prefix:  # Metaspace would not add it to text that begins with U+2581
        steps.append(normalizers.Prepend(" "))
    made.normalizer = normalizers.Sequence(steps)
    # If no piece crosses a space, words can be tokenized separately, which is faster and gives the same result.
    crosses = any(SPACE in piece.piece[1:] for piece in proto.pieces if piece.type == kinds.NORMAL)
    made.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(SPACE, prepend_scheme="never", split=not crosses)
    made.decoder = tokenizers.decoders.Metaspace(SPACE)
    return made


def table(model: StaticModel) -> np.ndarray:
    """Return the embeddings for such a tokenizer, float32 (vocab_size, dim): zeros for pieces left out of the mean."""
    made = rows(model)
    made[[model.unknown_id, *model.config.get("left_out", [])]] = 0.0
    return made


class Comparison(NamedTuple):
    """A comparison with another tokenizer on a sample.

    Attributes:
        sentences: number of sentences.
        other: sentences with different known pieces.
        unknown: sentences with pieces that the model leaves out.
        cosine: lowest cosine of our vector and theirs, except for sentences of unknown pieces, which are zeros there.
        difference: largest difference between components of our vector and theirs.
    """

    sentences: int
    other: int
    unknown: int
    cosine: float
    difference: float

    def __str__(self) -> str:
        return (
            f"Compared with sentencepiece on {self.sentences:,} sentences: {self.other:,} have other pieces, "
            f"{self.unknown:,} hold pieces that psp leaves out; the lowest cosine of the two vectors is "
            f"{self.cosine:.6f}, the largest difference of a component {self.difference:.1e}."
        )


def compare(
    model: StaticModel, tokenizer: Any, rows: np.ndarray, sentences: Sequence[str], *, drops: bool
) -> Comparison:
    """Compare a tokenizer and its embeddings with the model on sentences.

    Args:
        model: the model.
        tokenizer: from :func:`convert`.
        rows: from :func:`table`.
        sentences: a sample.
        drops: whether the target leaves unknown pieces out of the mean, as model2vec does.
    """
    left_out = np.zeros(len(rows), bool)
    left_out[[model.unknown_id, *model.config.get("left_out", [])]] = True
    unknown_alone = np.array([model.unknown_id])
    other = unknown = 0
    cosine, difference = 1.0, 0.0
    for start in range(0, len(sentences), BATCH):
        batch = list(sentences[start : start + BATCH])
        ids, offsets = model.ids(batch)
        ours = model.pool(ids, offsets).astype(np.float64)
        theirs = np.zeros_like(ours)
        for number, encoding in enumerate(tokenizer.encode_batch_fast(batch, add_special_tokens=False)):
            found = np.array(encoding.ids, np.int64)
            known = found[~left_out[found]]
            unknown += len(known) < len(found)
            if len(found) and not len(known):
                known = unknown_alone
            other += not np.array_equal(known, ids[offsets[number] : offsets[number + 1]])
            counted = found[found != model.unknown_id] if drops else found
            if len(counted):
                theirs[number] = rows[counted].astype(np.float64).mean(axis=0)
        there = ours.any(axis=1) & theirs.any(axis=1)
        if there.any():
            cosine = min(cosine, float(cosines(ours[there], theirs[there]).min()))
            difference = max(difference, float(np.abs(ours - theirs)[there].max()))
    return Comparison(len(sentences), other, unknown, cosine, difference)
