"""How a translator was trained."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from msgspec import Meta

from psp.core.schemas.types import SOME, Count, Device, Format, Positive, Settings, Sha256, Share, Text

Bleu = Annotated[float, Meta(ge=0, le=100.01)]
EndedBy = Annotated[Literal["epochs", "steps", "minutes", "patience"], "the limit that ended training"]


class HeldOutCorpus(TypedDict):
    corpus: Annotated[Text, "its name"]
    pairs: Annotated[Count, "distinct pairs, those of earlier corpora left out"]
    heldout: Annotated[Count, "pairs held out"]
    neighbours: Annotated[Count, "pairs left out because they share a sentence with one of these"]
    kept: Annotated[Count, "pairs to train on"]


class HeldOutReport(TypedDict):
    """What was held out of a translator's training, by sentence."""

    format: Format
    corpora: Annotated[list[HeldOutCorpus], SOME, "each corpus; kept, heldout and neighbours add up to pairs"]
    sets: Annotated[
        dict[str, Count],
        Meta(extra_json_schema={"required": ["development"]}),
        "pairs of each held-out set by its name",
    ]


class TranslatorLanguages(TypedDict):
    """ISO 639 codes."""

    source: Annotated[Text, "what it reads"]
    target: Annotated[Text, "what it writes"]


class TranslatorSentencepiece(TypedDict):
    """The sentencepiece model of both sides."""

    pieces: Annotated[Positive, "number of its pieces"]
    sha256: Annotated[Sha256, "SHA-256 of its file"]


class TranslatorData(TypedDict):
    """The training pairs."""

    pairs: Annotated[Positive, "pairs"]
    cut: Annotated[Count, "sentences of both sides that had more than max_tokens subwords and were truncated"]
    source_tokens: Annotated[Count, "subwords of all sources"]
    target_tokens: Annotated[Count, "subwords of all targets"]
    unknown: Annotated[Count, "characters of both that have no subword"]
    batches: Annotated[Positive, "batches of a pass"]
    padding: Annotated[Share, "share of padding in all batches"]


class TranslatorValidation(TypedDict):
    step: Annotated[Positive, "updates so far"]
    bleu: Annotated[Bleu, "cased BLEU of greedy translations of the development pairs"]


class TranslatorValidations(TypedDict):
    """The scores that chose them."""

    pairs: Annotated[Positive, "pairs held out for that"]
    scores: Annotated[list[TranslatorValidation], "in the order of training"]


class TranslatorSignatures(TypedDict):
    """Sacrebleu's descriptions of the cased scores."""

    bleu: Annotated[Text, "of BLEU"]
    chrf: Annotated[Text, "of chrF"]


class TranslatorScored(TypedDict):
    bleu: Annotated[Bleu, "BLEU"]
    chrf: Annotated[Bleu, "chrF"]
    lower_bleu: Annotated[Bleu, "BLEU of lower-cased text"]
    lower_chrf: Annotated[Bleu, "chrF of lower-cased text"]


class TranslatorJudged(TranslatorScored):
    copies: Annotated[Count, "translations that are their source"]
    empty: Annotated[Count, "translations without text"]
    overlong: Annotated[Count, "translations cut off at twice the source's subwords plus 10"]


class TranslatorCorpus(TypedDict):
    pairs: Annotated[Positive, "pairs of the corpus in the set"]
    float32: Annotated[TranslatorScored, "computed in float32"]
    int8: Annotated[TranslatorScored, "computed in int8"]


class TranslatorSet(TypedDict):
    pairs: Annotated[Positive, "pairs of the set"]
    float32: Annotated[TranslatorJudged, "computed in float32"]
    int8: Annotated[TranslatorJudged, "computed in int8, as translators are used"]
    corpora: Annotated[dict[str, TranslatorCorpus], "the scores of each corpus in the set by its name"]


class TranslatorReport(TypedDict):
    """How a translator was trained, and its scores on sentences that training has not read; without times or rates."""

    format: Format
    languages: TranslatorLanguages
    settings: Settings
    seed: Annotated[Count, "of the first weights, of batches and of dropout"]
    device: Device
    threads: Annotated[Positive, "torch's threads on the CPU"]
    sentencepiece: TranslatorSentencepiece
    parameters: Annotated[Positive, "weights"]
    data: TranslatorData
    steps: Annotated[Positive, "updates of the weights"]
    pairs_seen: Annotated[Positive, "pairs trained on, counted in each pass"]
    ended_by: EndedBy
    best: Annotated[TranslatorValidation, "the weights that were kept"]
    development: TranslatorValidations
    signatures: TranslatorSignatures
    sets: Annotated[dict[str, TranslatorSet], "the scores of each held-out set by its name"]


class TranslatorConfigTraining(TypedDict):
    """How long it was trained."""

    steps: Annotated[Positive, "updates of the weights"]
    pairs_seen: Annotated[Positive, "pairs, counted in each pass"]
    ended_by: EndedBy
    best: Annotated[TranslatorValidation, "the weights that were kept"]


class TranslatorConfig(TypedDict):
    """What a translator's folder holds."""

    format: Format
    kind: Annotated[Literal["translator"], "that it is a translator"]
    languages: Annotated[TranslatorLanguages, "ISO 639 codes"]
    pieces: Annotated[Positive, "number of its subwords"]
    encoder_layers: Annotated[Positive, "layers of the encoder"]
    decoder_layers: Annotated[Positive, "layers of the decoder"]
    dim: Annotated[Positive, "width of its vectors"]
    heads: Annotated[Positive, "attention heads"]
    feed_forward: Annotated[Positive, "width inside the feed-forward sublayers"]
    share_vectors: Annotated[bool, "one embedding matrix for source, target and output"]
    max_tokens: Annotated[Positive, "subwords of a sentence that it was trained to read; more are cut off"]
    parameters: Annotated[Positive, "weights"]
    seed: Annotated[Count, "of training"]
    training: TranslatorConfigTraining
