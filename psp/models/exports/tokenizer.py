"""Convert sentencepiece's unigram model, or a list of words, to a tokenizer of Hugging Face's; and compare the two.

Pieces: both find the best path through the same pieces and scores. With an English-French model of 50,000 pieces, 2 of
577,754 real sentences (documentation, interfaces, news, Tatoeba in 112 languages) are split differently; with a model
of 32,000 pieces for all these languages, 3 of 357,597: ties in score, with the same pieces in another order. Control
pieces and the unknown piece are renamed, since text such as "<s>" would match them.

The target libraries cannot leave out pieces as we do. If they count unknown pieces in the mean, these count as zeros,
so the vector has the right direction but is too short.

Words: ``WordLevel`` needs an unknown word, which counts in the mean. ``BPE`` without merges looks whole words up as
well, and drops all others if it has no unknown token. It looks the characters of those up one by one, so each word of
the vocabulary begins with a space, and is longer than a character. The words of 63,286 sentences in 112 languages are
those of psp.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from psp.core.errors import PspError
from psp.models.cosines import cosines
from psp.models.exports.common import library, rows
from psp.models.static import StaticModel, unknown_alone
from psp.text.characters import MARK, _kinds
from psp.text.characters import SPACE as SPACES
from psp.text.normalisation import HIDDEN_CHARACTERS, NON_JOINER, VISIBLE, rules
from psp.text.sentencepiece_tokenizer import SentencepieceTokenizer
from psp.text.tokenizer import Tokenizer
from psp.text.word_tokenizer import APOSTROPHES, WHITESPACE, WordTokenizer

SPACE = "▁"
HIDDEN = "\0"  # prefix of names that must not match any text
BATCH = 4096


def convert(model: StaticModel) -> Any:
    """Create a ``tokenizers.Tokenizer`` that maps text to the model's ids, with lower-casing but no segmentation.

    A tokenizer of words gives no ids for words that are unknown or left out.

    Raises:
        PspError: a package is missing; or the sentencepiece model is not a unigram model, treats white space unusually,
            or has byte pieces or user-defined pieces.
    """
    return _convert(model.tokenizer, model, library("tokenizers"))


def is_convertible(tokenizer: Tokenizer) -> bool:
    """Whether :func:`convert` knows a tokenizer's kind."""
    return _convert.dispatch(type(tokenizer)) is not _convert.dispatch(object)


@functools.singledispatch
def _convert(tokenizer: Tokenizer, model: StaticModel, tokenizers: Any) -> Any:
    """Make a Hugging Face tokenizer; a function for each kind that has one."""
    raise PspError(f"there is no Hugging Face tokenizer of the kind {tokenizer.name_on_disk()}")


@_convert.register
def _subwords(tokenizer: SentencepieceTokenizer, model: StaticModel, tokenizers: Any) -> Any:
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
        steps += _lower_casing(tokenizers)
    if normalised.precompiled_charsmap:
        steps += _normalising(tokenizers, normalised.precompiled_charsmap, tokenizer.normalisation)
    steps.append(normalizers.Replace(Regex(" {2,}"), " "))
    steps.append(normalizers.Replace(Regex("^ | $"), ""))
    if not unknown_alone(model.config):
        # Text without any character that a piece has gets no pieces: in an unknown script, those would be the marks
        # between words alone, with one vector for all such text.
        excluded_ids = set(model.tokenizer.excluded_ids)
        known = {
            character
            for number, piece in enumerate(proto.pieces)
            if piece.type == kinds.NORMAL and number not in excluded_ids
            for character in piece.piece
        }
        steps.append(normalizers.Replace(Regex(rf"\A[^{_ranges(sorted(map(ord, known - {SPACE})))}]+\z"), ""))
    if normalised.add_dummy_prefix:  # Metaspace would not add it to text that begins with U+2581
        steps.append(normalizers.Prepend(" "))
    made.normalizer = normalizers.Sequence(steps)
    # If no piece crosses a space, words can be tokenized separately, which is faster and gives the same result.
    crosses = any(SPACE in piece.piece[1:] for piece in proto.pieces if piece.type == kinds.NORMAL)
    made.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(SPACE, prepend_scheme="never", split=not crosses)
    made.decoder = tokenizers.decoders.Metaspace(SPACE)
    return made


@_convert.register
def _words(tokenizer: WordTokenizer, model: StaticModel, tokenizers: Any) -> Any:
    """:func:`convert` of words; see :func:`psp.text.word_tokenizer.split_words`, which has the same expression."""
    excluded_ids = set(tokenizer.excluded_ids)
    names = [
        f"{HIDDEN} {word}" if number in excluded_ids else f" {word}" for number, word in enumerate(tokenizer.pieces())
    ]
    names[tokenizer.unknown_id] = HIDDEN + tokenizer.piece(tokenizer.unknown_id)
    made = tokenizers.Tokenizer(
        tokenizers.models.BPE({name: number for number, name in enumerate(names)}, [], ignore_merges=True)
    )
    steps = _lower_casing(tokenizers) if tokenizer.lower_case else []
    if tokenizer.normalisation is not None:
        library("google.protobuf")
        normaliser = library("sentencepiece").SentencePieceNormalizer(
            norm_map=[*rules(tokenizer.normalisation).items()]
        )
        spec = library("sentencepiece.sentencepiece_model_pb2").NormalizerSpec
        charsmap = spec.FromString(normaliser.serialized_normalizer_spec()).precompiled_charsmap
        steps += _normalising(tokenizers, charsmap, tokenizer.normalisation)
    if steps:
        made.normalizer = tokenizers.normalizers.Sequence(steps)
    # psp's own characters, since the libraries know different versions of Unicode.
    white = _ranges(np.flatnonzero(_kinds() == SPACES).tolist())
    if tokenizer.split == WHITESPACE:
        expression = f"[^{white}]+"
    else:
        marks = _ranges(np.flatnonzero(_kinds() == MARK).tolist())
        run = f"[^{white}{marks}]+"
        expression = f"{run}(?:[{_ranges(map(ord, sorted(APOSTROPHES)))}]{run})*|[{marks}]"
    made.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
        [
            tokenizers.pre_tokenizers.Split(tokenizers.Regex(expression), "removed", invert=True),
            tokenizers.pre_tokenizers.Metaspace(" ", prepend_scheme="always", split=False),
        ]
    )
    return made


def _normalising(tokenizers: Any, charsmap: bytes, normalisation: str | None) -> list[Any]:
    """The normalizers that do what sentencepiece does by its compiled rules.

    ``Precompiled`` looks up what Unicode calls a grapheme, which may be longer than a rule, where sentencepiece takes
    the longest rule that fits: Korean in parts differed in 1,000 of 1,000 sentences. So letters are composed before,
    and what belongs to a grapheme without being seen is gone.
    """
    normalizers = tokenizers.normalizers
    steps = [normalizers.NFC(), normalizers.Precompiled(charsmap)]
    if VISIBLE in (normalisation or "").split("+"):
        hidden = normalizers.Replace(tokenizers.Regex(HIDDEN_CHARACTERS), "")
        steps = [hidden, normalizers.Replace(NON_JOINER, " "), *steps]
    return steps


def _lower_casing(tokenizers: Any) -> list[Any]:
    """The normalizers that lower-case as ``str.lower`` does: it has a rule for a final sigma, Rust does not."""
    cased, ignorable = r"[\p{Cased}&&[^\p{Case_Ignorable}]]", r"\p{Case_Ignorable}*"
    final = tokenizers.Regex(rf"{cased}{ignorable}\KΣ(?!{ignorable}{cased})")
    return [tokenizers.normalizers.Replace(final, "ς"), tokenizers.normalizers.Lowercase()]


def _ranges(codes: Iterable[int]) -> str:
    """Ascending code points as the inside of a character class."""
    # Consecutive code points have the same difference from their index in the list.
    runs = [list(run) for _, run in itertools.groupby(enumerate(codes), key=lambda item: item[1] - item[0])]
    return "".join(rf"\x{{{run[0][1]:x}}}-\x{{{run[-1][1]:x}}}" for run in runs)


def table(model: StaticModel) -> np.ndarray:
    """Return the embeddings for such a tokenizer, float32 (vocab_size, dim): zeros for pieces left out of the mean."""
    made = rows(model)
    made[[model.unknown_id, *model.config.get("left_out", [])]] = 0.0
    return made


class TokenizerComparison(NamedTuple):
    """A comparison with another tokenizer on a sample.

    Attributes:
        sentences: number of sentences.
        other: sentences with different known pieces.
        unknown: sentences with pieces that the model leaves out.
        cosine: lowest cosine of our vector and theirs, except for sentences of unknown pieces, which are zeros there.
        difference: largest difference between components of our vector and theirs.
        library: what encodes the model's text.
        words: whether the tokenizer is one of words; it leaves out what the model leaves out, so ``unknown`` is 0.
    """

    sentences: int
    other: int
    unknown: int
    cosine: float
    difference: float
    library: str
    words: bool

    def __str__(self) -> str:
        return (
            f"Compared with {self.library} on {self.sentences:,} sentences: {self.other:,} "
            f"have other {'words' if self.words else 'pieces'}"
            + ("" if self.words else f", {self.unknown:,} hold pieces that psp leaves out")
            + f"; the lowest cosine of the two vectors is {self.cosine:.6f}, the largest difference of a component "
            f"{self.difference:.1e}."
        )


def compare(model: StaticModel, tokenizer: Any, rows: np.ndarray, sentences: Sequence[str]) -> TokenizerComparison:
    """Compare a tokenizer and its embeddings with the model on sentences.

    Args:
        model: the model.
        tokenizer: from :func:`convert`.
        rows: from :func:`table`.
        sentences: a sample.
    """
    excluded_ids = np.zeros(len(rows), bool)
    excluded_ids[[model.unknown_id, *model.config.get("left_out", [])]] = True
    alone = [model.unknown_id]
    other = unknown = 0
    cosine, difference = 1.0, 0.0
    for start in range(0, len(sentences), BATCH):
        batch = list(sentences[start : start + BATCH])
        ids, offsets = model.ids(batch)
        ours = model.pool(ids, offsets).astype(np.float64)
        theirs = np.zeros_like(ours)
        for number, encoding in enumerate(tokenizer.encode_batch_fast(batch, add_special_tokens=False)):
            exported = np.array(encoding.ids, np.int64)
            known = exported[~excluded_ids[exported]]
            unknown += len(known) < len(exported)
            own = ids[offsets[number] : offsets[number + 1]]
            if not len(known) and np.array_equal(own, alone):  # the vector of an imported checkpoint
                known = own
            other += not np.array_equal(known, own)
            if len(exported):
                theirs[number] = rows[exported].astype(np.float64).mean(axis=0)
        there = ours.any(axis=1) & theirs.any(axis=1)
        if there.any():
            cosine = min(cosine, float(cosines(ours[there], theirs[there]).min()))
            difference = max(difference, float(np.abs(ours - theirs)[there].max()))
    encoder = model.tokenizer
    return TokenizerComparison(len(sentences), other, unknown, cosine, difference, encoder.library, encoder.is_words)
