"""LSTM encoders in NumPy: the vectors that :mod:`psp.training.encoders.lstm` trains, without torch.

An LSTM reads the embeddings of a sentence's ids; the sentence's vector is the mean of its hidden states, or their
largest value in each dimension (Wieting & Gimpel 2018, section 4). A bidirectional one reads the sentence both ways,
and averages or concatenates the two states of each position.

The same formulas, gates and order of the gates (input, forget, cell, output) as ``torch.nn.LSTM``; the vectors differ
from torch's by about 1e-7. They also depend, in the last bits, on what else is embedded in the same call, since a
matrix product rounds differently for another number of rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from psp.core.errors import DataError
from psp.models.table import EmbeddingMatrix, usable
from psp.text.tokenizer import Encoded

FORWARD, BOTH = "lstm", "blstm"
KINDS = (FORWARD, BOTH)
AVERAGE, CONCAT = "average", "concat"
MEAN, MAX = "mean", "max"
_DIRECTIONS = {FORWARD: ("forward",), BOTH: ("forward", "backward")}
#: Sentences of similar length are read together: at most this many, with at most this many tokens. The recurrent
#: product of 512 rows is at two thirds of a core's peak, and what a block holds at 300 dimensions fits in 80 MB.
SENTENCES, TOKENS = 512, 16_384


class Direction(NamedTuple):
    """The matrices of one direction, float32, with the rows of the input, forget, cell and output gates.

    Attributes:
        input: (4 width, dim).
        hidden: (4 width, width).
        bias: (4 width,).
    """

    input: npt.NDArray[np.float32]
    hidden: npt.NDArray[np.float32]
    bias: npt.NDArray[np.float32]


class Lstm:
    """The LSTM after the embedding matrix.

    Args:
        directions: the matrices of the forward direction, or of the forward and the backward one.
        combine: ``average`` or ``concat``: how the two states of a position are joined; ignored with one direction.
        pooling: ``mean`` or ``max``: how the states of a sentence are pooled.

    Raises:
        ValueError: the shapes do not match, or a word is not one of those above.
    """

    def __init__(self, directions: Sequence[Direction], combine: str = AVERAGE, pooling: str = MEAN) -> None:
        if len(directions) not in (1, 2) or combine not in (AVERAGE, CONCAT) or pooling not in (MEAN, MAX):
            raise ValueError(f"{len(directions)} directions, combine {combine!r}, pooling {pooling!r}")
        self.directions, self.combine, self.pooling = tuple(directions), combine, pooling
        self.input_dim, self.width = directions[0].input.shape[1], directions[0].hidden.shape[1]
        shapes = [(4 * self.width, self.input_dim), (4 * self.width, self.width), (4 * self.width,)]
        if any([matrix.shape for matrix in direction] != shapes for direction in directions):
            raise ValueError(f"the matrices of a direction have shapes {shapes}")
        self._ready = [_prepared(direction) for direction in self.directions]

    @property
    def kind(self) -> str:
        """``lstm``, or ``blstm`` with two directions."""
        return KINDS[len(self.directions) - 1]

    @property
    def called(self) -> str:
        """Its name in a sentence: ``an LSTM`` or ``a BLSTM``."""
        return {FORWARD: "an LSTM", BOTH: "a BLSTM"}[self.kind]

    @property
    def dim(self) -> int:
        """The number of dimensions of a sentence's vector."""
        return dim_of(self.kind, self.width, self.combine)

    @property
    def nbytes(self) -> int:
        """The size of the matrices in bytes."""
        return sum(matrix.nbytes for direction in self.directions for matrix in direction)

    def keys(self) -> dict[str, Any]:
        """Its entry ``encoder`` in config.json."""
        both = {"combine": self.combine} if self.kind == BOTH else {}
        return {"kind": self.kind, "width": self.width, "pooling": self.pooling, **both}

    def tensors(self) -> dict[str, np.ndarray]:
        """The tensors stored besides the embedding matrix, by name."""
        return {
            f"lstm.{direction}.{name}": matrix
            for direction, matrices in zip(_DIRECTIONS[self.kind], self.directions, strict=True)
            for name, matrix in matrices._asdict().items()
        }

    @classmethod
    def read(cls, keys: Mapping[str, Any], tensors: Mapping[str, np.ndarray], dim: int, path: Path) -> Self:
        """Make one from the results of :meth:`keys` and :meth:`tensors`.

        Args:
            keys: of config.json.
            tensors: all tensors of the file except the embedding matrix's.
            dim: the number of dimensions of the embeddings.
            path: the file of the tensors, for errors.

        Raises:
            DataError: something is missing or superfluous, or does not fit.
        """
        wanted = [f"lstm.{direction}.{name}" for direction in _DIRECTIONS[keys["kind"]] for name in Direction._fields]
        if wrong := sorted(set(wanted) ^ set(tensors)):
            raise DataError(f"{', '.join(wrong)}: missing, or not of an LSTM; copy the model's folder again", path)
        if any(tensor.dtype != np.float32 or not usable(tensor) for tensor in tensors.values()):
            raise DataError("the LSTM's matrices hold something other than finite float32; copy the folder again", path)
        matrices = [np.array(tensors[name]) for name in wanted]
        directions = [Direction(*matrices[start : start + 3]) for start in range(0, len(matrices), 3)]
        try:
            made = cls(directions, keys.get("combine", AVERAGE), keys["pooling"])
        except (ValueError, KeyError, IndexError) as error:
            raise DataError(f"not an LSTM that this psp knows ({error}); install the psp that wrote it", path) from None
        if (made.width, made.input_dim) != (keys.get("width"), dim):
            raise DataError(
                f"an LSTM from {made.input_dim} to {made.width} dimensions, but config.json says from {dim} to "
                f"{keys.get('width')}; copy the model's folder again",
                path,
            )
        return made

    def pool(self, table: EmbeddingMatrix, encoded: Encoded, out: npt.NDArray[np.float32]) -> None:
        """Write the sentences' vectors into ``out``, float32 (n, dim); zeros for a sentence without ids.

        Args:
            table: the embedding matrix.
            encoded: the sentences' ids.
            out: where.
        """
        out[:] = 0
        for rows, block in self._blocks(table, encoded):
            out[rows] = self._pooled(block)

    def states(self, table: EmbeddingMatrix, encoded: Encoded) -> npt.NDArray[np.float32]:
        """The state of each position, with both directions averaged or concatenated: float32 (ids, dim).

        Args:
            table: the embedding matrix.
            encoded: the sentences' ids.
        """
        states = np.empty((len(encoded.ids), self.dim), np.float32)
        for rows, block in self._blocks(table, encoded):
            places = np.arange(len(block.ids)) + np.repeat(encoded.offsets[rows] - block.starts, block.lengths)
            states[places] = self._joined(block)
        return states

    def _blocks(self, table: EmbeddingMatrix, encoded: Encoded) -> Iterator[tuple[npt.NDArray[np.intp], StateBlock]]:
        """The sentences with ids, longest first, in blocks of bounded size, and their numbers."""
        lengths = np.diff(encoded.offsets)
        order = np.argsort(-lengths, kind="stable")[: np.count_nonzero(lengths)]
        start = 0
        while start < len(order):
            # The first sentence of a block is its longest.
            count = max(1, min(SENTENCES, TOKENS // int(lengths[order[start]])))
            rows = order[start : start + count]
            yield rows, StateBlock(table, encoded.take(rows))
            start += count

    def sha256(self) -> str:
        """SHA-256 of the matrices."""
        digest = hashlib.sha256()
        for name, matrix in sorted(self.tensors().items()):
            digest.update(name.encode() + np.ascontiguousarray(matrix).tobytes())
        return digest.hexdigest()

    def _pooled(self, block: StateBlock) -> npt.NDArray[np.float32]:
        """The vectors of a block's sentences, (n, dim)."""
        # The states themselves are needed only where both directions' are averaged before the maximum is taken.
        if self.pooling == MAX and self.combine == AVERAGE and self.kind == BOTH:
            return np.maximum.reduceat(self._joined(block), block.starts, axis=0)
        return self._both([self._run(number, block) for number in range(len(self.directions))])

    def _joined(self, block: StateBlock) -> npt.NDArray[np.float32]:
        """The states of a block's positions, (tokens, dim)."""
        return self._both([self._states(number, block) for number in range(len(self.directions))])

    def _run(self, number: int, block: StateBlock) -> npt.NDArray[np.float32]:
        """One direction's mean or maximum of each sentence's states, (n, width)."""
        pooled = np.full((len(block.starts), self.width), 0 if self.pooling == MEAN else -np.inf, np.float32)
        for _, states in _steps(self._ready[number], block, bool(number)):
            part = pooled[: len(states)]
            if self.pooling == MEAN:
                part += states
            else:
                np.maximum(part, states, out=part)
        if self.pooling == MEAN:
            pooled /= block.lengths[:, None].astype(np.float32)
        return pooled

    def _states(self, number: int, block: StateBlock) -> npt.NDArray[np.float32]:
        """One direction's states of all positions, (tokens, width)."""
        ordered = np.empty((len(block.ids), self.width), np.float32)
        for places, states in _steps(self._ready[number], block, bool(number)):
            ordered[places] = states
        return ordered

    def _both(self, states: list[npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
        if len(states) == 1:
            return states[0]
        if self.combine == CONCAT:
            return np.concatenate(states, axis=1)
        return (states[0] + states[1]) * np.float32(0.5)


def vector_dim(config: Mapping[str, Any]) -> int:
    """The number of dimensions of a model's vectors, from its config.json: the embeddings' or an LSTM's."""
    encoder = config.get("encoder") or {}
    if encoder.get("kind") not in KINDS:
        return int(config["dim"])
    return dim_of(encoder["kind"], int(encoder["width"]), encoder.get("combine"))


def dim_of(kind: str, width: int, combine: str | None) -> int:
    """The number of dimensions of the vectors of an LSTM of a kind."""
    return width * (2 if kind == BOTH and combine == CONCAT else 1)


class StateBlock:
    """Sentences that are read together.

    Attributes:
        embeddings: of the ids that occur, float32 (distinct ids, dim).
        ids: rows of them, for all positions of all sentences, (tokens,).
        starts, lengths: of each sentence in ``ids``, (n,); lengths do not increase, and are at least 1.
    """

    def __init__(self, table: EmbeddingMatrix, sentences: Encoded) -> None:
        used, ids = np.unique(sentences.ids, return_inverse=True)
        self.embeddings, self.ids = table.rows(used), ids.ravel()
        self.starts, self.lengths = sentences.offsets[:-1], np.diff(sentences.offsets)


def _prepared(direction: Direction) -> Direction:
    """The matrices transposed, with the gates' rows halved.

    The logistic function of x is (1 + tanh(x / 2)) / 2: with halved rows, one call of tanh serves all four gates, and
    NumPy's is vectorised, while exp and a division are not both.
    """
    width = direction.hidden.shape[1]
    half = np.full(4 * width, 0.5, np.float32)
    half[2 * width : 3 * width] = 1
    return Direction(
        np.ascontiguousarray((direction.input * half[:, None]).T),
        np.ascontiguousarray((direction.hidden * half[:, None]).T),
        direction.bias * half,
    )


def _steps(
    matrices: Direction, block: StateBlock, reverse: bool
) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]]:
    """For each step, the flat positions that are read, (m,), and the states after it, (m, width), a view.

    m is the number of sentences that are long enough, which come first.
    """
    width, starts, lengths = matrices.hidden.shape[0], block.starts, block.lengths
    projected = block.embeddings @ matrices.input
    projected += matrices.bias
    state, cell = (np.zeros((len(starts), width), np.float32) for _ in range(2))
    gates, scratch = np.empty((len(starts), 4 * width), np.float32), np.empty((len(starts), width), np.float32)
    half = np.float32(0.5)
    # The number of sentences longer than t, for t = 0, 1, ...
    active = np.searchsorted(-lengths, -np.arange(int(lengths[0])), side="left")
    for step, m in enumerate(active.tolist()):
        places = starts[:m] + (lengths[:m] - 1 - step if reverse else step)
        z, h, c, other = gates[:m], state[:m], cell[:m], scratch[:m]
        if step:
            np.matmul(h, matrices.hidden, out=z)
            z += projected[block.ids[places]]
        else:
            np.take(projected, block.ids[places], axis=0, out=z)
        np.tanh(z, out=z)
        enter, forget, new, leave = (z[:, width * gate : width * (gate + 1)] for gate in range(4))
        for gate in (enter, forget, leave):
            gate += 1
            gate *= half
        c *= forget
        np.multiply(enter, new, out=other)
        c += other
        np.tanh(c, out=h)
        h *= leave
        yield places, h
