"""Data for model selection, test sets, the systems to compare with, smaller matrices and the speed measurement."""

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import AfterValidator, ConfigDict, Field, Tag
from pydantic_core import PydanticCustomError

from psp.config.blocks.base import Block
from psp.config.blocks.fields import ByForm, Distinct, Name, Text, setting, within

Dtype = Literal["float32", "float16", "int8", "int4"]
Peer = Literal[
    "StaticEmbedding", "model2vec", "ONNX export", "MiniLM", "USE", "multilingual-e5-small", "EmbeddingBag, GPU",
    "MiniLM, GPU",
]  # fmt: skip
PEERS: tuple[str, ...] = get_args(Peer)
#: How the names of encoders of other libraries begin.
SENTENCE_TRANSFORMERS, MODEL2VEC = "sentence-transformers:", "model2vec:"
#: The development set of English, of SemEval-2017.
SEMEVAL = "semeval2017-en"
#: The tracks of SemEval-2017 and their languages.
TRACKS: Mapping[str, tuple[str, str]] = {
    "track1.ar-ar": ("ar", "ar"),
    "track2.ar-en": ("ar", "en"),
    "track3.es-es": ("es", "es"),
    "track4a.es-en": ("es", "en"),
    "track4b.es-en": ("es", "en"),
    "track5.en-en": ("en", "en"),
    "track6.tr-en": ("tr", "en"),
}


def _peer(name: str) -> str:
    if name not in PEERS and not (name.startswith(SENTENCE_TRANSFORMERS) and name != SENTENCE_TRANSFORMERS):
        raise PydanticCustomError(
            "choice", "must be {names} or sentence-transformers:<name or folder>", {"names": ", ".join(PEERS)}
        )
    return name


class WeightsBlock(Block):
    """The weights of the parts of the score."""

    sts: float = setting(1, "weight of `sts` in the mean over it and `sets`", gt=0)
    heldout: float = setting(1, "weight of the retrieval error, which is subtracted from that mean", ge=0)


class DevelopmentSet(Block):
    """A set of scored pairs that chooses models; its task's own keys are next to these."""

    model_config = ConfigDict(extra="allow")

    task: Literal["pair_classification", "similarity"] = setting(..., "the kind of task; its own keys are next to it")
    language: str = setting(..., "the language of its sentences; models without it do not use the set", min_length=2)
    weight: float = setting(1, "its weight in the mean of these sets and `sts`", gt=0)


class DevelopmentBlock(Block):
    """Data for model selection, never a test set."""

    sts: str | None = setting(
        "auto",
        "semeval2017-en, a file with lines `score \\t sentence \\t sentence`, or null; auto is "
        "semeval2017-en if the model has English, else null",
    )
    heldout: int = setting(
        2000,
        "pairs held out of the training corpora for retrieval error",
        recipes={"paper": 0, "code": 0, "paranmt": 0},
        ge=0,
    )
    candidates: int = setting(
        60000,
        "training pairs whose sentences are further candidates when the finished model retrieves the "
        "held-out pairs (`final` in train.json, by which settings are compared); none for a transformer",
        recipes=dict.fromkeys(("paper", "code", "paranmt", "dadas"), 0),
        ge=0,
    )
    sets: dict[Name, DevelopmentSet] = setting(
        {}, "further sets to choose settings by, name: settings of a task; `path` may be a list of files"
    )
    weights: WeightsBlock = within(WeightsBlock)


class TaskEntry(Block):
    """A test set; its task's own keys are next to `task`."""

    model_config = ConfigDict(extra="allow")

    task: str = setting(..., "the kind of task, or your own class, such as `my_tasks:Mine`")


class EvaluateBlock(Block):
    """The test sets."""

    sts: bool = setting(
        True, "score SemEval 2012-2017 and the STS Benchmark, as far as they are in the model's languages"
    )
    tatoeba: bool = setting(True, "the Tatoeba error rate of every language with English")
    files: dict[str, str] = setting(
        {},
        "your own STS files, name: path, with lines `score \\t sentence \\t sentence`; `~/` and "
        "`${VARIABLE}` are expanded",
    )
    tasks: dict[Name, TaskEntry] = setting(
        {}, "further test sets, name: settings; results/<model>/tasks/<name>.json has the scores", inert=True
    )
    resamples: int = setting(1000, "bootstrap resamples for each confidence interval", ge=100)


class ComparedSystem(Block):
    """An encoder under another name."""

    name: Name = setting(..., "what tables call it")
    encoder: Text = setting(..., "as in the list")


class CompareBlock(Block):
    """The systems that a model is compared with."""

    INERT: ClassVar[bool] = True

    systems: list[Annotated[Annotated[Text, Tag("<text>")] | Annotated[ComparedSystem, Tag("<mapping>")], ByForm]] = (
        setting(
            ["untrained", "untrained+sif", "word-overlap"],
            "untrained, untrained+sif, word-overlap, or encoders: a file of word vectors, the folder of a psp "
            "model, use-multilingual, multilingual-e5-small, minilm, sentence-transformers:<name or folder> or "
            "model2vec:<name or folder>; `{name: ..., encoder: ...}` gives one another name",
        )
    )
    tasks: Annotated[list[str], Distinct] = setting(
        [], "names of `evaluate.tasks` on which to compare them, too; each system is scored on each"
    )


class QuantizeBlock(Block):
    """The smaller embedding matrices of results/<model>/quantized.json, for each number format and number of
    dimensions.
    """

    INERT: ClassVar[bool] = True

    dtypes: Annotated[list[Dtype], Distinct] = setting(
        ["float32", "float16", "int8", "int4"], "number formats", min_length=1
    )
    dims: Annotated[list[Annotated[int, Field(ge=1)]], Distinct] = setting(
        [1024, 512, 256, 128],
        "numbers of dimensions to keep, from the first on; the model's own is always included, and larger "
        "ones are ignored",
    )


class SpeedBlock(Block):
    """The speed measurement (paper, section 7)."""

    INERT: ClassVar[bool] = True

    sentences: Annotated[Annotated[int, Field(ge=100), Tag("<number>")] | Annotated[Text, Tag("<text>")], ByForm] = (
        setting(
            120000, "maximum number of sentences to embed, of the model's training pairs; or a file with one a line"
        )
    )
    batch_size: int = setting(64, "batch size in the paper's protocol", ge=1)
    repeats: int = setting(5, "rounds of one pass of each kind by every system; the median is reported", ge=3)
    seconds: float = setting(
        2, "approximate duration of a pass of MiniLM or USE; they embed as many sentences as that allows", gt=0
    )
    peers: Annotated[list[Annotated[str, AfterValidator(_peer)]], Distinct] = setting(
        [*PEERS],
        "systems to measure besides psp, if installed (extra peers), and sentence-transformers:<name or "
        "folder>; missing ones are reported",
    )


def has_sts(languages: Sequence[str]) -> bool:
    """Return whether these languages cover any published STS set."""
    return "en" in languages or any(set(needed) <= set(languages) for needed in TRACKS.values())
