"""How fast a model and its peers embed."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from msgspec import Meta

from psp.core.schemas.types import SOME, Amount, Cosine, Count, Dtype, Format, Positive, Several, Text

#: Load averages; null if the system does not report them.
Loads = Annotated[list[Amount], Meta(min_length=3, max_length=3)]


class SpeedFigures(TypedDict):
    median: Annotated[Amount, "median over the passes, per second"]
    min: Annotated[Amount, "slowest pass, per second"]
    max: Annotated[Amount, "fastest pass, per second"]
    passes: Annotated[list[Amount], SOME, "each pass, in order"]
    unit: Annotated[Literal["sentences/s", "bytes/s"], "the unit of all rates"]


class SpeedSystem(TypedDict):
    name: Annotated[Text, "the system"]
    cores: Annotated[Positive, "cores it was bound to, and threads of each of its libraries"]
    backend: Annotated[Text, "the library that did the work"]
    dtype: Annotated[Dtype | None, "number format of the embedding matrix; null for a system with another model"]
    dim: Annotated[Positive, "length of its vectors"]
    texts_of_a_batch: Annotated[Positive | None, "batch size for text input; null for all texts at once"]
    sentences: Annotated[Positive, "sentences per pass; if fewer than all, evenly spread over them"]
    agreement: Annotated[
        Cosine | None, "mean cosine with psp's float32 vectors on the first 1,000; null for a system with another model"
    ]
    load_seconds: Annotated[Amount, "time from imported libraries to the first vector, with files in the page cache"]
    resident_bytes: Annotated[
        Count | None, "resident memory of the process at that point; null if the system does not report it"
    ]
    cold: Annotated[SpeedFigures, "text in, vectors out, by a freshly loaded model with empty caches"]
    warm: Annotated[SpeedFigures, "the same in the next pass"]
    split: Annotated[SpeedFigures | None, "text in, ids out, after the warm pass; null for all systems but psp"]
    forward: Annotated[
        SpeedFigures | None, "the paper's protocol, ids in and vectors out; null if the system does not support it"
    ]
    no_forward: Annotated[str | None, "why forward is null"]
    busy_cores: Annotated[Amount, "CPU seconds per second, median over all passes; low if other work used the cores"]
    gathered: Annotated[Amount | None, "bytes of embeddings that the forward pass read per second"]
    of_copy: Annotated[Amount | None, "gathered divided by the rate of copying; above 1 if embeddings were in a cache"]


class SpeedMissing(TypedDict):
    name: Annotated[Text, "the system"]
    why: Annotated[Text, "the reason, such as a package that is not installed"]


class SpeedProcesses(TypedDict):
    name: Annotated[Text, "the system they run"]
    processes: Annotated[Several, "number of processes"]
    one: Annotated[SpeedFigures, "one process, while the others wait"]
    all: Annotated[SpeedFigures, "all processes together"]
    efficiency: Annotated[Amount, "the rate of all, divided by the rate of one times the number of processes"]


class SpeedMemory(TypedDict):
    cores: Annotated[Positive, "cores the process was bound to; one thread copies"]
    copy: Annotated[SpeedFigures, "bytes read and written per second by a plain copy of 256 MiB"]


class SpeedConditions(TypedDict):
    """Conditions that affect the rates."""

    cpu: Annotated[str, "the processor's name"]
    gpu: Annotated[str | None, "the GPU's name; null if the system reports none"]
    cores: Annotated[Positive | None, "logical cores of the machine; null if the system does not report them"]
    usable_cores: Annotated[Positive, "logical cores available to the measurement"]
    load_before: Annotated[Loads | None, "load averages before the measurement, over 1, 5 and 15 minutes"]
    load_after: Annotated[Loads | None, "load averages after the measurement, over 1, 5 and 15 minutes"]
    threads_limited_by: Annotated[str, "how systems are limited to their cores"]
    batch_size: Annotated[Positive, "batch size in the paper's protocol"]
    repeats: Annotated[Positive, "rounds; in each, every system made one pass of each kind"]
    dim: Annotated[Positive, "length of the model's vectors"]
    vocab_size: Annotated[Positive, "rows of the model's embedding matrix; of a combination, of those of all parts"]
    rows_in_use: Annotated[Count, "those of them that occur in the sentences"]
    mean_pieces: Annotated[Amount, "mean sentence length in pieces; of a combination, in those of all parts"]
    mean_characters: Annotated[Amount, "mean sentence length in characters"]
    segmented: Annotated[bool, "whether the model, or a part of it, segments text with Han ideographs"]
    versions: Annotated[
        dict[str, str],
        Meta(extra_json_schema={"required": ["psp", "python", "numpy", "sentencepiece"]}),
        "package versions, by package name",
    ]


class SpeedReport(TypedDict):
    """Embedding speed of a model and of other systems, with the measurement conditions."""

    format: Format
    model: Annotated[Text, "the model's name, which is that of its folder under results/"]
    sentences: Annotated[
        Positive, "sentences measured; systems with the model's embedding matrix embed all of them in each pass"
    ]
    asked: Annotated[Positive, "sentences requested; a small store has fewer"]
    source: Annotated[Text, "where the sentences come from"]
    systems: Annotated[list[SpeedSystem], SOME, "the systems measured, first on one core, then on all"]
    missing: Annotated[list[SpeedMissing], "systems that were requested but could not be measured"]
    processes: Annotated[
        SpeedProcesses | None,
        "one process per core, each bound to its core and embedding all sentences; null on a single core",
    ]
    memory: Annotated[list[SpeedMemory], SOME, "memory bandwidth, for each number of cores"]
    conditions: SpeedConditions
