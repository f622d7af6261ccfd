"""Transformers as models: contextual vectors by sentence-transformers, with the methods of any other model.

On disk a transformer is a folder that ``SentenceTransformer(path)`` loads too (with ``trust_remote_code=True`` and psp
installed if the pooling is psp's, :mod:`psp.models.lstm_pooling`):

- ``modules.json``, ``0_Transformer/`` and ``1_Pooling/`` or ``1_LstmPooling/``: sentence-transformers' own. The first
  module is not in the root, where other models of the library have it, since config.json there is psp's
- ``config.json``: format (2), kind ("psp"), dim (of a sentence's vector), vocab_size, unknown_id, languages,
  lower_case (false: the base's tokenizer decides), segment, recipe, psp_version; ``tokenizer``, with kind
  "transformer" and no files; ``encoder``, with kind "transformer", what was chosen in training (base, pooling,
  max_length...), and ``files``: the SHA-256 of all other files by their paths

Nothing is ever fetched from a network, and only psp's code and that of the libraries runs. Libraries are imported
when a model is loaded.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import shutil
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn, Self

import numpy as np
import numpy.typing as npt

from psp.core import __version__
from psp.core.errors import DataError, from_extra
from psp.core.files import sha256, write_json
from psp.models import CONFIG, SETTINGS, TRANSFORMER, transformer_files
from psp.models.folder import FORMAT, KIND, OURS, encoder_kind, read_config
from psp.models.static import Accelerator, TokenModel
from psp.models.table import EmbeddingMatrix
from psp.models.text_model import checked_prompts
from psp.models.trust import load_sentence_transformer
from psp.text.tokenizer import Encoded, Folder, Tokenizer, offsets_of

log = logging.getLogger(__name__)

BFLOAT16 = "bfloat16"

#: Sentences that go through the transformer together; they are sorted by length, so that few of them are padded much.
BATCH = 64
#: Sentences that are tokenized together.
TOKENIZED = 1024
#: Fast tokenizers keep how they truncate and pad inside, and fail if two threads set it.
_TOKENIZING = threading.Lock()


class TransformerTokenizer(Tokenizer):
    """A transformer's tokenizer: ids including the begin and end markers, cut to the transformer's length.

    Args:
        module: sentence-transformers' ``Transformer``.
        rows: ids that the transformer knows; there may be more than pieces.
    """

    kind = TRANSFORMER

    def __init__(self, module: Any, rows: int) -> None:
        self._module, self._rows = module, rows
        super().__init__()

    def __len__(self) -> int:
        return self._rows

    @property
    def unknown_id(self) -> int:
        """The id of everything outside the vocabulary; without one (bytes are pieces), that of padding."""
        tokenizer = self._module.tokenizer
        unknown = tokenizer.unk_token_id
        return int((tokenizer.pad_token_id or 0) if unknown is None else unknown)

    @property
    def silent_ids(self) -> list[int]:
        """The ids without meaning: begin, end, padding, unknown."""
        return sorted({self.unknown_id, *map(int, self._module.tokenizer.all_special_ids)})

    def piece(self, number: int) -> str:
        return str(self._module.tokenizer.convert_ids_to_tokens(number) or "")

    def _encode(self, texts: list[str], threads: int) -> Encoded:
        ids: list[np.ndarray] = []
        for start in range(0, len(texts), TOKENIZED):
            with _TOKENIZING:
                features = self._module.preprocess(texts[start : start + TOKENIZED])
            inside = features["attention_mask"].bool().numpy()
            ids += [row[mask] for row, mask in zip(features["input_ids"].numpy(), inside, strict=True)]
        return Encoded(np.concatenate(ids or [np.zeros(0)]).astype(np.int32), offsets_of([len(one) for one in ids]))

    def kept(self, whole: Encoded) -> Encoded:
        """All ids: a transformer has a vector for unknown ones too."""
        return whole

    def meaningful(self, encoded: Encoded) -> Encoded:
        """All sentences: vectors are those of sentence-transformers."""
        return encoded

    def contents(self) -> dict[str, bytes]:
        """What identifies it; its files are among the encoder's."""
        with _TOKENIZING:
            inner = _plain(self._module.tokenizer)
        if inner is None:  # not one of the library of tokenizers
            return {"vocab.json": json.dumps(self._module.tokenizer.get_vocab(), sort_keys=True).encode()}
        return {"tokenizer.json": inner.to_str().encode()}

    @classmethod
    def load(cls, folder: Folder, config: Mapping[str, Any]) -> NoReturn:
        raise DataError("the tokenizer of a transformer, which cannot be loaded alone; use psp.load_model")


class ContextualEncoder:
    """A sentence-transformers model in the place of :class:`psp.models.lstm.Lstm`: ids in, sentence vectors out.

    Args:
        model: the model; not copied.
        threads: torch's, while it computes.
        precision: float32 or bfloat16 (autocast).
    """

    kind, called = TRANSFORMER, "a transformer"

    def __init__(self, model: Any, keys: Mapping[str, Any], threads: int = 1, precision: str = "float32") -> None:
        self.model, self.threads, self.precision = model.eval(), threads, precision
        self._keys = dict(keys)
        self.dim = int(model.get_embedding_dimension())
        self._padding = int(model[0].tokenizer.pad_token_id or 0)

    @property
    def nbytes(self) -> int:
        """Bytes of all parameters except the table of token embeddings."""
        table = self.model[0].model.get_input_embeddings().weight
        return sum(one.nbytes for one in self.model.parameters()) - int(table.nbytes)

    def keys(self) -> dict[str, Any]:
        """Its entries in config.json, without its files."""
        return {key: value for key, value in self._keys.items() if key != "files"}

    def tensors(self) -> dict[str, np.ndarray]:
        """None: they are in files of the library's."""
        return {}

    def sha256(self) -> str:
        """A hash of all that determines the vectors: modules and parameters."""
        digest = hashlib.sha256(f"{self.model} {self.precision}".encode())
        for name, one in sorted(self.model.state_dict().items()):
            digest.update(name.encode())
            digest.update(np.ascontiguousarray(one.float().numpy()).tobytes())
        return digest.hexdigest()

    def pool(self, table: EmbeddingMatrix, encoded: Encoded, out: npt.NDArray[np.float32]) -> None:
        """Write the vectors of sentences, float32 (n, dim), into ``out``; zeros for a sentence without ids."""
        import torch

        lengths = np.diff(encoded.offsets)
        out[lengths == 0] = 0
        order = np.argsort(-lengths, kind="stable")[: np.count_nonzero(lengths)]
        cast = torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.precision == "bfloat16")
        with _torch_threads(self.threads), torch.inference_mode(), cast:
            for start in range(0, len(order), BATCH):
                rows = order[start : start + BATCH]
                part = encoded.take(rows)
                inside = np.arange(lengths[rows[0]]) < lengths[rows][:, None]
                ids = np.full(inside.shape, self._padding, np.int64)
                ids[inside] = part.ids
                features = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(inside).long()}
                out[rows] = self.model(features)["sentence_embedding"].float().numpy()

    def states(self, table: EmbeddingMatrix, encoded: Encoded) -> NoReturn:
        raise ValueError(
            "a transformer has no token vectors whose mean is the sentence's vector; for its last layer, load the "
            'folder in SentenceTransformer and write output_value="token_embeddings" there'
        )


class TransformerModel(TokenModel):
    """A transformer; vectors equal those of ``SentenceTransformer`` on the CPU, up to rounding.

    Texts longer than :attr:`max_seq_length` tokens are cut. A text of white space has only the begin and end markers,
    and has a vector, not zeros.

    Args:
        model: a ``SentenceTransformer`` whose first module is a ``Transformer``.
        config: that of the folder.
        threads: torch's.
        accelerate: "bfloat16": half the time with hardware bfloat16, other vectors (cosines above 0.999).

    Raises:
        ValueError: ``accelerate`` is another value.
        DataError: the prompts are not text.
    """

    def __init__(
        self, model: Any, config: Mapping[str, Any], *, threads: int = 1, accelerate: bool | str | None = None
    ) -> None:
        if isinstance(accelerate, str) and accelerate != BFLOAT16:
            raise ValueError(f"accelerate is {accelerate!r}; for transformers it is None or {BFLOAT16!r}")
        self.config, self.threads = dict(config), threads
        checked_prompts(self.config)
        self.table = EmbeddingMatrix(model[0].model.get_input_embeddings().weight.detach().numpy())
        self.tokenizer = TransformerTokenizer(model[0], len(self.table))
        precision = BFLOAT16 if accelerate == BFLOAT16 else "float32"
        self.contextual = ContextualEncoder(model, self.config.get("encoder") or {}, threads, precision)
        self._accelerator = Accelerator(False, self.tokenizer.fast)

    @classmethod
    def _load(cls, folder: Path, threads: int, accelerate: bool | str | None) -> Self:
        config = read_config(folder)
        if encoder_kind(config) != TRANSFORMER:
            raise DataError("not a transformer; load it with psp.load_model", folder)
        with _torch_threads(threads):  # with one, `psp embed --jobs` may fork afterwards
            model = cls(load_library_model(folder), config, threads=threads, accelerate=accelerate)
        if model.dim != config["dim"]:
            raise DataError(f"dim is {config['dim']}, but its vectors have {model.dim}; copy the folder again", folder)
        return model

    def __repr__(self) -> str:
        languages = ", ".join(self.config.get("languages") or []) or "unknown languages"
        pooling = self.contextual.keys().get("pooling", "unknown")
        return f"<psp.Model: {languages}; transformer, {pooling} pooling, {self.dim} dimensions>"

    @property
    def max_seq_length(self) -> float:
        """Tokens of a text that are read, including the begin and end markers; the rest is cut."""
        return int(self.contextual.model.max_seq_length)

    @max_seq_length.setter
    def max_seq_length(self, value: float | None) -> None:
        if value != self.max_seq_length:
            raise ValueError(f"max_seq_length is {value}: it was fixed in training, at {self.max_seq_length}")

    def quantized(self, dtype: str | None = None, dim: int | None = None) -> Self:
        if dtype not in (None, self.dtype) or dim not in (None, self.dim):
            raise ValueError(
                f"dtype={dtype}, dim={dim}: a transformer is not quantized or cut; on processors with bfloat16 "
                "multiplication accelerate='bfloat16' takes half the time; encode(texts, truncate_dim=...) cuts vectors"
            )
        return self

    def _pool(self, encoded: Encoded, out: np.ndarray) -> None:
        self.contextual.pool(self.table, encoded, out)

    def identity(self) -> str:
        return self._described().hexdigest()  # which covers the table; to embed 30,000 pieces would take minutes

    def _write(self, folder: Path) -> dict[str, Any]:
        return save_transformer(folder, self.contextual.model, self.config, self.contextual.keys())


def load_library_model(folder: Path | str) -> Any:
    """Load a folder as ``SentenceTransformer``, float32: :func:`psp.models.trust.load_sentence_transformer`.

    Raises:
        DataError, PspError: as there; or sentence-transformers is not installed.
    """
    with from_extra("transformer", "transformers need the package sentence-transformers"):
        import torch
        import transformers  # noqa: F401  # which quiet() needs
    with quiet():
        return load_sentence_transformer(Path(folder), dtype=torch.float32)[0]


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Silence transformers' progress bars for each file, and its notices about weights that pooling does not need.

    The former state is restored afterwards.
    """
    from transformers.utils import logging as said

    before, bars = said.get_verbosity(), said.is_progress_bar_enabled()
    try:
        said.set_verbosity_error()
        said.disable_progress_bar()
        yield
    finally:
        said.set_verbosity(before)
        if bars:
            said.enable_progress_bar()


def save_transformer(
    folder: Path | str, model: Any, config: Mapping[str, Any], encoder: Mapping[str, Any]
) -> dict[str, Any]:
    """Write a transformer's folder, replacing an older one; config.json is removed first and written last.

    Args:
        folder: the folder.
        model: a ``SentenceTransformer`` of a ``Transformer`` and modules after it.
        config: languages, recipe and anything else to record; the keys that say how text is read are the tokenizer's.
        encoder: config.json's entries about the encoder besides its kind and files.

    Returns:
        The complete config.

    Raises:
        DataError: the folder cannot be written.
    """
    folder = Path(folder)
    table = model[0].model.get_input_embeddings().weight
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / CONFIG).unlink(missing_ok=True)
        # Files of an older model; Snakemake has removed some of them, but does not know the others.
        if any((folder / name).is_file() for name in ("modules.json", SETTINGS)):
            for old in folder.glob("[0-9]_*"):
                shutil.rmtree(old)
        model[0].save_in_root = False  # there, config.json is psp's
        with quiet(), _TOKENIZING:
            _plain(model[0].tokenizer)
            model.save_pretrained(str(folder), create_model_card=False)
        paths = [folder / "modules.json", folder / SETTINGS, *folder.glob("[0-9]_*/*")]
        for path in [path for path in paths if path.suffix == ".jinja"]:  # for chats; no sentence needs it
            paths.remove(path)
            path.unlink()
        for path in paths:  # safetensors' files are readable only by their owner, whatever the umask
            path.chmod(paths[0].stat().st_mode)
        files = {path.relative_to(folder).as_posix(): sha256(path) for path in sorted(paths)}
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror or error}; choose another place", folder) from error
    own = {key: value for key, value in config.items() if key not in OURS and key not in ("lower_case", "segment")}
    full = {
        "format": FORMAT,
        "kind": KIND,
        "tokenizer": {"kind": TRANSFORMER, "files": {}},
        "encoder": {**encoder, "kind": TRANSFORMER, "files": files},
        "dim": int(model.get_embedding_dimension()),
        "vocab_size": int(table.shape[0]),
        "languages": [],
        "lower_case": False,
        "segment": {},
        "unknown_id": TransformerTokenizer(model[0], int(table.shape[0])).unknown_id,
        "recipe": None,
        "psp_version": __version__,
        **own,
    }
    transformer_files(full, folder / CONFIG)  # so that the files written can be read
    write_json(folder / CONFIG, full)
    return full


def _plain(tokenizer: Any) -> Any:
    """A fast tokenizer's inner one, with its remembered settings for cutting and padding removed; or None."""
    inner = getattr(tokenizer, "backend_tokenizer", None)
    if inner is not None:
        inner.no_truncation()
        inner.no_padding()
    return inner


@contextlib.contextmanager
def _torch_threads(threads: int) -> Iterator[None]:
    with from_extra("transformer", "transformers need the package sentence-transformers"):
        import torch
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(min(threads, os.cpu_count() or 1))
        yield
    finally:
        torch.set_num_threads(before)
