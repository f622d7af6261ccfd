"""Initial rows from another encoder's vectors of the pieces: pieces of similar meaning start with similar rows.

An encoder that knows the languages embeds each piece's text by itself, as in Model2Vec, but here training only starts
from these vectors. They are centred and partly whitened, since a few directions without meaning hold most of their
variance; mapped to the matrix's dimensions by a random orthonormal map, which keeps cosines; and mixed with random
numbers, so that pieces that the encoder finds alike can diverge.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from psp.core.errors import DataError
from psp.core.files import atomic
from psp.models.registry import TextEncoder
from psp.text.tokenizer import Tokenizer

log = logging.getLogger(__name__)

#: The key of the file's metadata.
KIND: Final = "psp-pieces"
#: What begins a word, in spellings.
_MARK: Final = "\N{LOWER ONE EIGHTH BLOCK}"
Vectors = npt.NDArray[np.float32]


def embed_pieces(tokenizer: Tokenizer, encoder: TextEncoder, name: str, out: Path) -> int:
    """Embed the text of each piece and write the vectors, a safetensors file.

    The text is that of :meth:`psp.text.tokenizer.Tokenizer.spellings` without the mark of a word's beginning; symbols
    such as ``<unk>`` and the mark alone have none.

    Args:
        tokenizer: whose pieces.
        encoder: the encoder.
        name: the encoder's, to be kept in the file.
        out: the file, whole or not at all: ``rows``, the ids of the pieces with a text, int32 (texts,), and
            ``vectors``, float32 (texts, dim).

    Returns:
        The number of pieces that were embedded.

    Raises:
        DataError: the pieces have no spelling, or the encoder gives vectors that are not finite.
    """
    spellings = tokenizer.spellings()
    if spellings is None:
        raise DataError(f"{tokenizer.name_on_disk()}: its pieces are not text that an encoder could embed")
    texts = [_text(piece) for piece in spellings]
    rows = np.array([row for row, text in enumerate(texts) if text], np.int32)
    distinct = list(dict.fromkeys(text for text in texts if text))
    vectors = np.asarray(encoder.embed(distinct), np.float32)
    if vectors.ndim != 2 or len(vectors) != len(distinct) or not np.isfinite(vectors).all():
        raise DataError(
            f"{name} gives vectors of the shape {vectors.shape} for {len(distinct)} texts, or some that are not finite"
        )
    places = {text: place for place, text in enumerate(distinct)}
    tensors = {"rows": rows, "vectors": vectors[[places[texts[row]] for row in rows]]}
    about = {"encoder": name, "pieces": _digest(tokenizer.pieces())}
    with atomic(out) as temporary:
        save_file(tensors, temporary, metadata={KIND: json.dumps(about)})
    log.info("%s has embedded %d of %d pieces", name, len(rows), len(spellings))
    return len(rows)


def encoder_of(path: Path) -> str:
    """The name of the encoder whose vectors a file has."""
    with safe_open(path, "numpy") as file:
        return str(json.loads(file.metadata()[KIND])["encoder"])


def read_piece_vectors(path: Path, pieces: Sequence[str]) -> tuple[npt.NDArray[np.int32], Vectors]:
    """Read what :func:`embed_pieces` wrote: ``rows`` and ``vectors``.

    Raises:
        DataError: no such file, it is damaged, or of another vocabulary.
    """
    try:
        with safe_open(path, "numpy") as file:
            about = json.loads((file.metadata() or {})[KIND])
            rows, vectors = file.get_tensor("rows"), file.get_tensor("vectors")
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise DataError(f"no vectors of pieces, or damaged ({error}); delete it, and it is made again", path) from None
    if about.get("pieces") != _digest(pieces):
        raise DataError("has the vectors of another vocabulary's pieces; delete it, and it is made again", path)
    return rows, vectors


def mix_in(
    table: Vectors, rows: npt.NDArray[np.int32], vectors: Vectors, *, share: float, whitening: float, seed: int
) -> None:
    """Give the rows of a table, of variance 1, a share of their variance from an encoder's vectors; in place.

    Args:
        table: float32 (pieces, dim).
        rows, vectors: which rows, and the encoder's vectors of them, float32 (rows, its dim).
        share: of the variance, 0 to 1.
        whitening: a, by which each principal component is divided by its deviation to the power a; 0 keeps the
            vectors' shape, 1 whitens them.
        seed: of the map.
    """
    turned = turn(whiten(vectors, whitening), table.shape[1], seed)
    table[rows] = np.float32(share**0.5) * turned + np.float32((1 - share) ** 0.5) * table[rows]


def whiten(vectors: Vectors, power: float) -> Vectors:
    """Centre vectors, and divide them along each principal component by its standard deviation to a power.

    Returns:
        float32, of the shape of ``vectors``; components without variance are 0.
    """
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    values, axes = np.linalg.eigh(centred.T @ centred / len(centred))
    deviations = np.sqrt(np.maximum(values, 0))
    there = deviations > 1e-6 * deviations.max(initial=0)
    scale = np.where(there, np.where(there, deviations, 1) ** -power, 0)
    return np.asarray((centred @ axes) * scale, np.float32)


def turn(vectors: Vectors, dim: int, seed: int) -> Vectors:
    """Map vectors to ``dim`` dimensions by a random orthonormal map, with elements of variance 1 on average.

    To fewer dimensions than they have, it is a projection: cosines are kept on average only.
    """
    high = max(dim, vectors.shape[1])
    basis, _ = np.linalg.qr(np.random.default_rng([seed, 7]).standard_normal((high, min(dim, vectors.shape[1]))))
    turned = vectors @ (basis.T if dim >= vectors.shape[1] else basis).astype(np.float32)
    return turned / np.float32(np.sqrt(np.mean(turned.astype(np.float64) ** 2)) or 1)


def _text(piece: str) -> str:
    if piece.startswith("<") and piece.endswith(">"):
        return ""
    return piece.replace(_MARK, " ").strip()


def _digest(pieces: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(pieces).encode()).hexdigest()
