"""Sentencepiece's unigram model as a tokenizer of Hugging Face's ``tokenizers``, and how far the two differ.

Both find the best path through the same pieces and scores. Of 577,754 real sentences (documentation, interfaces, news,
Tatoeba in 112 languages) two had other pieces by it, with an English-French model of 50,000 pieces, and three of
357,597 with a model of 32,000 pieces for all of these languages: ties in score, the same pieces in another order.
What sentencepiece's control pieces and its unknown piece are called is changed, or text such as "<s>" would be one.

The target libraries cannot leave out what we leave out: where they count an unknown piece in the mean, it counts with
zeros, so that the vector has the right direction and is too short.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from psp.errors import PspError
from psp.exports.common import library, rows
from psp.model import Model

SPACE = "▁"
HIDDEN = "\0"  # before names that no text may match
BATCH = 4096


def convert(model: Model) -> Any:
    """The ``tokenizers.Tokenizer`` that takes a model's text to its ids, lower-casing included, segmentation not.

    Raises:
        PspError: a package is missing; or the sentencepiece model is no unigram model, treats white space unusually, or
            has pieces for bytes or defined by its user.
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
            "a Hugging Face tokenizer can only be made of a unigram sentencepiece model that treats white space as "
            "usual and has no pieces for bytes or of its user's: export to sentence-transformers or onnx"
        )
    vocabulary = [
        (piece.piece if piece.type == kinds.NORMAL else HIDDEN + piece.piece, piece.score) for piece in proto.pieces
    ]
    made = tokenizers.Tokenizer(tokenizers.models.Unigram(vocabulary, model.unknown_id, byte_fallback=False))

    normalizers, Regex = tokenizers.normalizers, tokenizers.Regex
    steps: list[Any] = []
    if model.config.get("lower_case"):
        # Python lower-cases a sigma at the end of a word by a rule of its own, Rust does not.
        steps.append(normalizers.Replace(Regex(r"(?<=\p{L})Σ(?!\p{L})"), "ς"))
        steps.append(normalizers.Lowercase())
    if normalised.precompiled_charsmap:
        steps.append(normalizers.Precompiled(normalised.precompiled_charsmap))
    steps.append(normalizers.Replace(Regex(" {2,}"), " "))
    steps.append(normalizers.Replace(Regex("^ | $"), ""))
    if normalised.add_dummy_prefix:  # Metaspace would not add it to text that begins with U+2581
        steps.append(normalizers.Prepend(" "))
    made.normalizer = normalizers.Sequence(steps)
    # Where no piece crosses a space, words can be tokenized by themselves, which is faster and gives the same.
    crosses = any(SPACE in piece.piece[1:] for piece in proto.pieces if piece.type == kinds.NORMAL)
    made.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(SPACE, prepend_scheme="never", split=not crosses)
    made.decoder = tokenizers.decoders.Metaspace(SPACE)
    return made


def table(model: Model) -> np.ndarray:
    """The rows for such a tokenizer, float32 (vocab_size, dim): zeros for pieces that a mean shall not hold."""
    made = rows(model)
    made[[model.unknown_id, *model.config.get("left_out", [])]] = 0.0
    return made


class Comparison(NamedTuple):
    """What another tokenizer makes of a sample.

    Attributes:
        sentences: in the sample.
        other: sentences whose known pieces are others.
        unknown: sentences with pieces that the model leaves out.
        cosine: of our vector and theirs, the lowest; sentences of unknown pieces alone, which have zeros there, aside.
        difference: of a component of our vector and theirs, the largest.
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


def compare(model: Model, tokenizer: Any, rows: np.ndarray, sentences: Sequence[str], *, drops: bool) -> Comparison:
    """Compare a tokenizer and its table with the model on sentences.

    Args:
        model: ours.
        tokenizer: of :func:`convert`.
        rows: of :func:`table`.
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
        lengths = np.linalg.norm(ours, axis=1) * np.linalg.norm(theirs, axis=1)
        there = lengths > 0
        if there.any():
            cosine = min(cosine, float((np.einsum("ij,ij->i", ours, theirs)[there] / lengths[there]).min()))
            difference = max(difference, float(np.abs(ours - theirs)[there].max()))
    return Comparison(len(sentences), other, unknown, cosine, difference)
