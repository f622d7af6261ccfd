"""Keep the vectors of other libraries' encoders on disk, by the encoder's identity and the text.

A transformer embeds some hundred sentences a second, and every model compared with it scores the same test sets. A
cache is a folder ``<encoder's hash>/`` of files that never change: each call writes the missing vectors as one file,
atomically, so several processes may share it.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from psp.core.corruption import ARRAY_DAMAGE
from psp.core.errors import DataError
from psp.core.files import atomic, user_cache
from psp.core.logs import Progress
from psp.models.registry import ForeignEncoder, TextEncoder, load_encoder

log = logging.getLogger(__name__)

#: Texts embedded between two updates of the progress bar, and written together: a killed run loses no more.
BLOCK = 1024
_KEY = 16


def cached(name: str, folder: Path | str | None) -> TextEncoder:
    """Load an encoder by name (:func:`psp.models.registry.load_encoder`), with a cache if it is another library's.

    Args:
        name: the encoder's.
        folder: the cache; None for none. Our own models embed faster than vectors are read.

    Raises:
        DataError, PspError: as for loading.
    """
    loaded = load_encoder(name)
    if folder is not None and isinstance(loaded, ForeignEncoder):
        return CachedEncoder(loaded, loaded.identity, folder, name)
    return loaded


def default_folder() -> Path:
    """``psp/embeddings`` in the user's cache folder: ``$XDG_CACHE_HOME``, or ``~/.cache``."""
    return user_cache() / "embeddings"


class CachedEncoder:
    """An encoder whose vectors are kept in a folder.

    Args:
        encoder: the encoder.
        identity: the name of its part of the folder, :attr:`psp.models.registry.ForeignEncoder.identity`.
        folder: the cache; made if it does not exist.
        name: what errors and the log call the encoder.
    """

    def __init__(self, encoder: TextEncoder, identity: str, folder: Path | str, name: str) -> None:
        self.encoder, self.name, self.folder = encoder, name, Path(folder) / identity
        self.segmented = encoder.segmented
        self._files: list[np.ndarray] | None = None
        #: Where each text's vector is: its file, and its row there.
        self._places: dict[bytes, tuple[int, int]] = {}

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Embed texts, float (n, dim), in order; read cached vectors, and compute and keep the others.

        Vectors that are not finite, or not as many as texts, are returned without being kept.

        Raises:
            DataError: a file of the cache is damaged, or has vectors of another length than the encoder.
        """
        files = self._opened()
        keys = [_key(text) for text in texts]
        missing = list({key: text for key, text in zip(keys, texts, strict=True) if key not in self._places}.items())
        with Progress(f"embedding by {self.name}", "sentences", len(missing)) as bar:
            for start in range(0, len(missing), BLOCK):
                block = missing[start : start + BLOCK]
                vectors = np.asarray(self.encoder.embed([text for _, text in block]))
                if vectors.ndim != 2 or len(vectors) != len(block) or not np.isfinite(vectors).all():
                    return vectors
                self._keep([key for key, _ in block], vectors)
                bar.add(len(block))
        if not keys:
            return np.asarray(self.encoder.embed([]))
        places = np.array([self._places[key] for key in keys])
        used = np.unique(places[:, 0])
        sizes = {files[number].shape[1] for number in used}
        if len(sizes) > 1:
            raise DataError(
                f"{self.name} has given vectors of {' and '.join(map(str, sorted(sizes)))} dimensions; if its package "
                "was replaced, delete this folder",
                self.folder,
            )
        embedded = np.empty((len(keys), sizes.pop()), files[used[0]].dtype)
        for number in used:
            rows = places[:, 0] == number
            embedded[rows] = files[number][places[rows, 1]]
        if not np.isfinite(embedded).all():
            raise DataError(
                "holds vectors with values that are not numbers; delete this folder, and its texts are embedded again",
                self.folder,
            )
        return embedded

    def _opened(self) -> list[np.ndarray]:
        if self._files is None:
            self._files = []
            for path in sorted(self.folder.glob("*.keys.npy")):
                vectors = path.with_name(path.name.replace(".keys.", ".vectors."))
                try:
                    mapped = np.load(vectors, mmap_mode="r")
                    if mapped.offset + mapped.nbytes != vectors.stat().st_size:
                        raise ValueError("more or fewer numbers than its header says")
                    self._remember(np.load(path), mapped)
                except ARRAY_DAMAGE as error:
                    raise DataError(
                        f"damaged, or its .vectors.npy is ({error}); delete both, and their texts are embedded again",
                        path,
                    ) from None
        return self._files

    def _remember(self, keys: np.ndarray, vectors: np.ndarray) -> None:
        if keys.shape != (len(vectors), _KEY) or vectors.ndim != 2:
            raise ValueError(f"keys {keys.shape} for vectors {vectors.shape}")
        assert self._files is not None
        self._places.update((key.tobytes(), (len(self._files), row)) for row, key in enumerate(keys))
        self._files.append(vectors)

    def _keep(self, keys: list[bytes], vectors: np.ndarray) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        stacked = np.frombuffer(b"".join(keys), np.uint8).reshape(len(keys), _KEY)
        name = hashlib.sha256(stacked.tobytes()).hexdigest()[:32]
        # The keys last: a file without its keys is not looked at.
        for end, array in (("vectors", vectors), ("keys", stacked)):
            with atomic(self.folder / f"{name}.{end}.npy") as temporary, temporary.open("wb") as file:
                np.save(file, array)
        self._remember(stacked, vectors)


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_KEY).digest()
