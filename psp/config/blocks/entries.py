"""The whole config: the top level, the entries of models, and their variants."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Discriminator, Field, Tag, create_model, model_validator
from pydantic_core import PydanticCustomError

from psp.config.blocks.base import Block
from psp.config.blocks.corpora import CorpusBlock, Items
from psp.config.blocks.evaluation import CompareBlock, DevelopmentBlock, EvaluateBlock, QuantizeBlock, SpeedBlock
from psp.config.blocks.fields import Distinct, Language, Name, Recipe, block_in, optional, setting, within
from psp.config.blocks.filters import FiltersBlock
from psp.config.blocks.mixing import LexiconBlock, MixBlock, PivotBlock, RankBlock, StatsBlock
from psp.config.blocks.report import ReleaseBlock, ReportBlock
from psp.config.blocks.sources import LicencesBlock, PhrasebookBlock, SourcesBlock, VectorsBlock
from psp.config.blocks.teacher import TeacherSettings
from psp.config.blocks.training import TUNABLE, LstmBlock, TrainBlock, TrainSettings
from psp.config.blocks.transformer import TUNABLE as OF_TRANSFORMER
from psp.config.blocks.transformer import TransformerBlock, TransformerEncoderBlock, TransformerSettings
from psp.config.blocks.translator import BacktranslateBlock, TranslatorBlock, TranslatorTrainBlock
from psp.config.blocks.vocabulary import SegmentBlock, StoreBlock, SubwordBlock, VocabularyBlock

Encoder = Literal["subword", "word", "trigram", "lstm", "blstm"]
Models = Annotated[list[Name], Distinct]
Seeds = Annotated[list[Annotated[int, Field(ge=0)]], Distinct]
DEFAULT_SEEDS = [1, 2, 3]
DEFAULT_ENCODER = "subword"


class CombinationBlock(Block):
    """Models whose vectors are joined."""

    concat: Models = optional("models of the config whose vectors to join", min_length=2)
    weights: list[Annotated[float, Field(ge=1e-15, le=1e15)]] = optional(  # as psp.models.combined.checked_weights
        "the weight of each in a cosine (default: 1)", min_length=2
    )
    add: Models = optional(
        "models whose vectors to add, if they are trained together: vectors of models trained apart share no space",
        min_length=2,
    )
    joint: bool = optional(
        "train them together, as parts of one model with one loss, on the corpora of the first (default: false)"
    )
    scaled: bool = optional(
        "for concatenated models trained together: scale each model's vectors to length 1 and weight them, as for "
        "models trained apart; false leaves them unchanged, as in the paper, so that the longer ones dominate "
        "(default: true)"
    )


def _encoder(value: Any) -> str | None:
    if isinstance(value, dict):
        return "<transformer>" if "kind" in value else "<combination>"
    return "<text>" if isinstance(value, str) else None


class _NotEmpty(Block):
    """A mapping that says something."""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.model_fields_set:
            raise PydanticCustomError("empty", "needs at least 1 key")
        return self


def _some(name: str, base: type[Block], of: type[Block], keys: Iterable[str], *, several: bool = False) -> Any:
    """A block of some of another's settings, each of which may be left out; or of a list of values for each."""
    fields: dict[str, Any] = {}
    for key in keys:
        field = of.declared()[key]
        one: Any = Annotated.__class_getitem__((field.annotation, None, *field.metadata))  # type: ignore[attr-defined]
        fields[key] = (
            (Annotated[list[one], Distinct], optional(field.description or "", example=field.default, min_length=1))
            if several
            else (one, optional(field.description or "", example=field.default))
        )
    return create_model(name, __base__=base, __module__=__name__, __doc__=base.__doc__, **fields)


class _Grid(_NotEmpty):
    """Values to try for keys of `train`, in all combinations: each is trained with the model's seed and scored on
    development data; a key with one value, such as `epochs: [2]`, holds for the points and not for the model.
    """


Grid = _some("Grid", _Grid, TrainSettings, TUNABLE, several=True)


class _OfTransformer(Block):
    """Of a transformer: settings that differ from the model's own block `transformer`."""


VariantOfTransformer = _some("VariantOfTransformer", _OfTransformer, TransformerSettings, OF_TRANSFORMER)


class _Variant(_NotEmpty):
    """Settings that differ from the model's own block `train`, such as {init: normal}; null removes a variant of the
    extended model.
    """

    recipe: Recipe = optional("use this recipe's values for all such keys instead of the model's own")
    seeds: Seeds = optional("seeds of this variant, which override the model's", min_length=1)
    transformer: VariantOfTransformer = optional("of a transformer: settings of the block `transformer`")  # type: ignore[valid-type]


Variant = _some("Variant", _Variant, TrainSettings, TUNABLE)


class Variants(Block):
    """Other training settings for the same pairs, by name, compared in results/<model>/variants.json; the model's own
    settings always come first, under the name of its recipe; and a grid of settings.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Variant | None]  # type: ignore[valid-type]

    grid: Grid | None = optional("values to try, in all combinations")  # type: ignore[valid-type]


class Blocks(Block):
    """The blocks that may be set at the top level of a config, for all models, and in a model's entry."""

    filters: FiltersBlock = within(FiltersBlock)
    pivot: PivotBlock = within(PivotBlock)
    backtranslate: BacktranslateBlock = within(BacktranslateBlock)
    segment: dict[str, SegmentBlock | None] = setting(
        {"zh": {"segmenter": "jieba"}},
        "languages written without spaces, and the segmenter of each; null for none: `{zh: null}`",
    )
    rank: RankBlock = within(RankBlock)
    mix: MixBlock = within(MixBlock)
    subword: SubwordBlock = within(SubwordBlock)
    vocabulary: VocabularyBlock = within(VocabularyBlock)
    store: StoreBlock = within(StoreBlock)
    lstm: LstmBlock = within(LstmBlock)
    train: TrainBlock = within(TrainBlock)
    transformer: TransformerBlock = within(TransformerBlock)
    teacher: TeacherSettings = within(TeacherSettings)
    stats: StatsBlock = within(StatsBlock)
    lexicon: LexiconBlock = within(LexiconBlock)
    development: DevelopmentBlock = within(DevelopmentBlock)
    evaluate: EvaluateBlock = within(EvaluateBlock)
    compare: CompareBlock = within(CompareBlock)
    quantize: QuantizeBlock = within(QuantizeBlock)
    speed: SpeedBlock = within(SpeedBlock)
    report: ReportBlock = within(ReportBlock)
    release: ReleaseBlock = within(ReleaseBlock)


class ModelBlock(Blocks):
    """One model."""

    languages: Annotated[list[Language], Distinct] = optional(
        "ISO 639 codes; two for bitext, source first, such as [en, fr]", min_length=1
    )
    corpora: Items = optional(
        "names from the catalogue; if two corpora hold the same pair, the earlier one keeps it", min_length=1
    )
    extends: str = optional("another model, whose settings this one inherits")
    encoder: Annotated[
        Annotated[Encoder, Tag("<text>")]
        | Annotated[TransformerEncoderBlock, Tag("<transformer>")]
        | Annotated[CombinationBlock, Tag("<combination>")],
        Discriminator(_encoder),
    ] = setting(
        DEFAULT_ENCODER,
        "what to average into a sentence's vector: the embeddings of its subwords (the block `subword`), words (the "
        "block `vocabulary`) or trigrams (the block `vocabulary`), or the hidden states of an LSTM in one direction or "
        "in both (the block `lstm`); or `{concat: [model, model], weights: [1, 0.5]}`, models whose vectors are "
        "joined; or `{kind: transformer, base: ...}`, a transformer",
    )
    recipe: Recipe = optional("the recipe that unset keys take their values from")
    seed: int = optional("seed of all random choices, in data and training", ge=0)
    seeds: Seeds = setting(
        DEFAULT_SEEDS,
        "training seeds; results/<model>/variants.json gives the mean and standard deviation over them",
        min_length=1,
    )
    variants: Variants = optional("other training settings for the same pairs, by name, and a grid of settings")


class Top(Block):
    """The top-level keys other than the catalogue, the models and the blocks."""

    recipe: Recipe = setting("psp", "the recipe that unset keys take their values from")
    seed: int = setting(1, "seed of all random choices, in data and training", ge=0)
    offline: bool = setting(
        False, "use only existing files and local mirrors; all missing files are named before anything runs", inert=True
    )
    keep_intermediate: bool = setting(
        False,
        "keep the text files between the data stages (results/<model>/pairs) and the models of variants instead of "
        "removing them",
        inert=True,
    )
    pins: str | None = setting(None, "a file written by `psp pin`, with the required size and SHA-256 of each download")


class Document(Blocks, Top):
    """The whole config."""

    corpora: dict[Name, CorpusBlock] = setting(..., "the catalogue of corpora, by OPUS name")
    models: dict[str, ModelBlock] = setting(..., "the models; each name is that of a folder under results/")
    sources: SourcesBlock = within(SourcesBlock)
    licences: LicencesBlock = within(LicencesBlock)
    phrasebook: PhrasebookBlock = within(PhrasebookBlock)
    vectors: dict[Name, VectorsBlock] = setting({}, "files of word vectors, by name, for `train.init_vectors`")
    translators: dict[Name, TranslatorBlock] = setting(
        {}, "translators, by name; each name is that of a folder under results/translators/"
    )


#: Blocks that may be set at the top level of a config, for all models, and in a model's entry.
BLOCKS = tuple(Blocks.declared())
#: The model of each block.
BLOCK: dict[str, type[Block]] = {
    **{
        key: block for key, field in Document.declared().items() if (block := block_in(field.annotation)[0]) is not None
    },
    "translator": TranslatorTrainBlock,
}
