"""The paper's encoder (section 3.2): a sentence's vector is the mean of its subword embeddings.

The input is flat ids and offsets; there is no padding, no dense gradient, and no copy of the token embeddings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from psp.core.jit import compiled, mix, mixed
from psp.models.folder import save_model
from psp.models.static import StaticModel
from psp.text.tokenizer import Encoded, Tokenizer
from psp.training.optimiser import DeferredAdam, DenseAdam, RowOptimiser
from psp.training.spacing import Spacing

BeforeRead = Callable[[Tensor, npt.NDArray[np.int64]], None]


def mean_encoder(table: Tensor, train: Mapping[str, Any]) -> tuple[MeanEncoder, RowOptimiser]:
    """Make the encoder of ``table`` with the settings ``train``, and the optimiser that is fast on its device."""
    encoder = MeanEncoder(table, train["dropout"], train["seed"], token_dropout=train["token_dropout"])
    if table.device.type != "cpu":
        encoder.dense_gradient = True
        return encoder, DenseAdam(encoder.parameters(), lr=train["learning_rate"])
    optimiser = DeferredAdam(encoder.parameters(), lr=train["learning_rate"])
    encoder.before_read = optimiser.prepare
    return encoder, optimiser


class MeanEncoder(torch.nn.Module):
    """The mean of the embeddings of a sentence's ids.

    Args:
        table: embeddings, shape (rows, dim); becomes a parameter that shares its memory. Its gradient is sparse and
            coalesced, unless ``dense_gradient`` is set.
        dropout: probability of zeroing an element of a token embedding, independently for each occurrence; kept
            elements are divided by 1 - dropout, so that the expectation is the plain mean.
        seed: of the dropout noise.
        before_read: called with the table and the rows that are about to be read; ``prepare`` of a deferring optimiser.
        token_dropout: probability of leaving a token out of the mean; see :func:`drop_tokens`.
    """

    def __init__(
        self,
        table: Tensor,
        dropout: float = 0.0,
        seed: int = 0,
        before_read: BeforeRead | None = None,
        token_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.table = torch.nn.Parameter(table)
        self._dropout, self._seed, self._token_dropout = dropout, seed, token_dropout
        self.before_read = before_read or (lambda table, rows: None)
        #: Pieces that share a row with others.
        self.spacing: Spacing | None = None
        self._compiled = table.device.type == "cpu"
        #: On a GPU: whether the gradient is of the whole table, which is then written once a step and read by Adam
        #: anyway. Finding the rows in use instead makes the CPU wait for the GPU.
        self.dense_gradient = False
        self._slot = np.full(len(table), -1, dtype=np.int32)

    def encode(self, sentences: Encoded) -> Tensor:
        with torch.no_grad():
            if self._compiled:
                self.before_read(self.table, np.unique(sentences.ids).astype(np.int64))
                table = self.table.detach().numpy()
                vectors = np.empty((len(sentences), table.shape[1]), dtype=table.dtype)
                _means(table, sentences.ids, sentences.offsets, vectors)
                return torch.from_numpy(vectors)
            return mean_vectors(self.table, *tensors(sentences, self.table.device))

    def forward(self, sentences: Encoded, step: int) -> Tensor:
        if self._token_dropout:
            sentences = drop_tokens(sentences, self._token_dropout, self._seed, step)
        keys = noise_keys(sentences.offsets, self._seed, step) if self._dropout else None
        if self._compiled:
            bag = _Bag(sentences, self._slot)
            self.before_read(self.table, bag.rows)
            return _Mean.apply(self.table, bag, keys, self._dropout)
        ids, offsets = tensors(sentences, self.table.device)
        rows: Tensor = self.table
        if not self.dense_gradient:
            used, ids = torch.unique(ids, return_inverse=True)
            rows = functional.embedding(used, self.table, sparse=True)  # the gradient has only the rows in use
        if keys is None:
            return mean_vectors(rows, ids, offsets)
        kept = kept_elements(torch.from_numpy(keys).to(ids.device), self.table.shape[1], self._dropout)
        return dropped_mean_vectors(rows, ids, offsets, kept, self._dropout)

    def embedder(self, tokenizer: Tokenizer, config: Mapping[str, Any]) -> StaticModel:
        # New each time, and for few sentences: not worth loading compiled code.
        return StaticModel(self._whole(self.state_dict()), tokenizer, config, accelerate=False)

    def save(
        self, folder: Path, weights: Mapping[str, Tensor], tokenizer: Tokenizer, config: Mapping[str, Any]
    ) -> None:
        save_model(folder, self._whole(weights), tokenizer, config)

    def _whole(self, weights: Mapping[str, Tensor]) -> npt.NDArray[Any]:
        """The embedding table, with the rows that are not trained."""
        table = weights["table"].detach().cpu().numpy()
        if self.spacing is not None:
            table = table if table.flags.writeable else table.copy()
            self.spacing.fill(table)
        return table


def mean_vectors(table: Tensor, ids: Tensor, offsets: Tensor) -> Tensor:
    """Average each sentence's embeddings in torch: on any device, with torch's gradient.

    Args:
        table: embeddings, shape (rows, dim).
        ids: concatenated ids of all sentences; int32 or int64, shape (tokens,).
        offsets: sentence i is ``ids[offsets[i]:offsets[i + 1]]``; same dtype as ``ids``, shape (sentences + 1,).

    Returns:
        Shape (sentences, dim); a sentence without tokens has the zero vector.
    """
    return functional.embedding_bag(ids, table, offsets, mode="mean", include_last_offset=True)


def dropped_mean_vectors(table: Tensor, ids: Tensor, offsets: Tensor, kept: Tensor, dropout: float) -> Tensor:
    """Like :func:`mean_vectors`, with a mask: bool, shape (tokens, dim), False where an element is dropped."""
    tokens = functional.embedding(ids, table) * kept * scale_of_kept(dropout)
    # Each token now has its own row, so a sentence's mean is a bag of consecutive rows (4 times as fast as index_add on
    # a CPU, and deterministic on a GPU).
    return mean_vectors(tokens, torch.arange(len(ids), device=ids.device, dtype=ids.dtype), offsets)


def tensors(sentences: Encoded, device: torch.device) -> tuple[Tensor, Tensor]:
    """Ids (as int64) and offsets as tensors on a device."""
    return torch.from_numpy(sentences.ids).to(device, torch.int64), torch.from_numpy(sentences.offsets).to(device)


def normal_table(rows: int, dim: int, seed: int) -> Tensor:
    """Draw an embedding table from N(0, 1), float32 on the CPU: the same for every device."""
    return torch.randn(rows, dim, generator=torch.Generator().manual_seed(seed))


# Noise. Elements e and e + half of a token share a 32-bit hash of the token's key and e; each uses 16 bits of it.
# Hashing again is cheaper than keeping the forward pass's mask (7 MB per mini-batch) for the backward pass, and a
# counter, unlike a generator's state, needs no checkpoint.
_LEVELS = 1 << 16


def noise_keys(offsets: npt.NDArray[np.int64], seed: int, step: int) -> npt.NDArray[np.uint32]:
    """A key for each token's noise, uint32, shape (tokens,): a hash of seed, step, sentence number and position."""
    lengths = np.diff(offsets)
    position = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    token = (np.repeat(np.arange(len(lengths)), lengths).astype(np.uint64) << np.uint64(32)) + position.astype(
        np.uint64
    )
    return (mix(token + _run(seed, step)) >> np.uint64(32)).astype(np.uint32)


def _run(seed: int, step: int) -> npt.NDArray[np.uint64]:
    """The part of the noise that all tokens of a step share, uint64, shape (1,)."""
    return mix(mix(np.array([seed], dtype=np.uint64)) + np.uint64(step))


def drop_tokens(sentences: Encoded, dropout: float, seed: int, step: int) -> Encoded:
    """Token dropout: leave out tokens at random; a sentence that would lose all its tokens keeps them all.

    Args:
        sentences: the sentences.
        dropout: the probability of leaving out a token.
        seed, step: what the noise depends on, as in :meth:`psp.training.encoders.base.Encoder.__call__`.
    """
    ids, offsets = np.empty_like(sentences.ids), np.zeros_like(sentences.offsets)
    run = _run(seed, step)[0]
    kept = _drop(sentences.ids, sentences.offsets, run, np.uint64(_threshold(dropout)), ids, offsets)
    return Encoded(ids[:kept], offsets)


@compiled(parallel=False)
def _drop(ids, offsets, run, threshold, kept_ids, kept_offsets):  # type: ignore[no-untyped-def]
    """Copy the ids that are kept, and return their number."""
    kept = 0
    for i in range(len(offsets) - 1):
        start, stop, first = offsets[i], offsets[i + 1], kept
        sentence = np.uint64(i) << np.uint64(32)
        for token in range(start, stop):
            # The upper bits of the key itself; element dropout draws from a hash of the whole key instead.
            if mixed(sentence + np.uint64(token - start) + run) >> np.uint64(48) >= threshold:
                kept_ids[kept] = ids[token]
                kept += 1
        if kept == first:
            for token in range(start, stop):
                kept_ids[kept] = ids[token]
                kept += 1
        kept_offsets[i + 1] = kept
    return kept


def kept_elements(keys: Tensor, dim: int, dropout: float) -> Tensor:
    """The elements that dropout keeps: bool, shape (tokens, dim), on the device of ``keys`` (shape (tokens,))."""
    half = (dim + 1) // 2
    word = 0xFFFFFFFF
    x = (keys.to(torch.int64)[:, None] + torch.arange(half, device=keys.device) * 0x9E3779B9) & word
    x = ((x ^ (x >> 16)) * 0x7FEB352D) & word
    x = ((x ^ (x >> 15)) * 0x846CA68B) & word
    x = x ^ (x >> 16)
    return torch.cat([x & (_LEVELS - 1), x >> 16], dim=1)[:, :dim] >= _threshold(dropout)


def scale_of_kept(dropout: float) -> float:
    """The factor for kept elements: one over the share that is kept (dropout in steps of 2**-16)."""
    return _LEVELS / (_LEVELS - _threshold(dropout))


def _threshold(dropout: float) -> int:
    return min(round(dropout * _LEVELS), _LEVELS - 1)


class _Bag:
    """The tokens of some sentences, grouped by row of the embedding table in time proportional to their number.

    ``rows`` are the distinct rows in ascending order, int64; the tokens of ``rows[i]`` are
    ``order[starts[i]:starts[i + 1]]``, and token t belongs to sentence ``owner[t]``. ``slot`` is a counter per row of
    the table, int32, -1 between calls.
    """

    __slots__ = ("ids", "offsets", "order", "owner", "rows", "starts")

    def __init__(self, sentences: Encoded, slot: npt.NDArray[np.int32]) -> None:
        self.ids, self.offsets = sentences.ids, sentences.offsets
        self.rows = np.sort(_distinct(self.ids, slot))
        self.starts, self.order, self.owner = _order_tokens(self.ids, self.offsets, self.rows, slot)


class _Mean(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, table: Tensor, bag: _Bag, keys: npt.NDArray[np.uint32] | None, dropout: float) -> Tensor:
        ctx.bag, ctx.keys, ctx.dropout, ctx.shape = bag, keys, dropout, table.shape
        weight = table.detach().numpy()
        vectors = np.empty((len(bag.offsets) - 1, table.shape[1]), dtype=weight.dtype)
        if keys is None:
            _means(weight, bag.ids, bag.offsets, vectors)
        else:
            _dropped_means(weight, bag.ids, bag.offsets, keys, _threshold(dropout), scale_of_kept(dropout), vectors)
        return torch.from_numpy(vectors)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        bag = ctx.bag
        upstream = gradient.contiguous().numpy()
        values = np.empty((len(bag.rows), upstream.shape[1]), dtype=upstream.dtype)
        # Each token's share of its sentence's gradient; the 1 is for sentences without tokens.
        share = (1.0 / np.maximum(np.diff(bag.offsets), 1)).astype(upstream.dtype)
        if ctx.keys is None:
            _row_gradients(upstream, share, bag.starts, bag.order, bag.owner, values)
        else:
            share *= scale_of_kept(ctx.dropout)
            threshold = _threshold(ctx.dropout)
            _dropped_row_gradients(upstream, share, bag.starts, bag.order, bag.owner, ctx.keys, threshold, values)
        rows = torch.from_numpy(bag.rows)[None]
        sparse = torch.sparse_coo_tensor(
            rows, torch.from_numpy(values), ctx.shape, is_coalesced=True, check_invariants=False
        )
        return sparse, None, None, None


@compiled()
def _means(table, ids, offsets, vectors):  # type: ignore[no-untyped-def]
    for i in numba.prange(len(vectors)):
        vector = vectors[i]
        start, stop = offsets[i], offsets[i + 1]
        if start == stop:
            vector[:] = 0
            continue
        vector[:] = table[ids[start]]
        for token in range(start + 1, stop):
            row = table[ids[token]]
            for d in range(len(vector)):
                vector[d] += row[d]
        share = table.dtype.type(1.0 / (stop - start))
        for d in range(len(vector)):
            vector[d] *= share


@compiled(parallel=False)
def _draw(key, noise):  # type: ignore[no-untyped-def]
    """A token's noise: the low half of noise[e] for element e, the high half for element e + len(noise)."""
    for e in range(len(noise)):
        x = np.uint32(key + np.uint32(e) * np.uint32(0x9E3779B9))
        x = np.uint32((x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D))
        x = np.uint32((x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B))
        noise[e] = np.uint32(x ^ (x >> np.uint32(16)))


@compiled(parallel=False)
def _add_kept(vector, row, factor, noise, limit):  # type: ignore[no-untyped-def]
    """Add the kept elements of ``row``, times ``factor``, in two loops: one over both halves is not vectorised."""
    half = len(noise)
    zero = row.dtype.type(0.0)
    for e in range(half):
        vector[e] += row[e] * factor if (noise[e] & np.uint32(0xFFFF)) >= limit else zero
    upper, row_upper = vector[half:], row[half:]
    for e in range(len(upper)):
        upper[e] += row_upper[e] * factor if (noise[e] >> np.uint32(16)) >= limit else zero


@compiled()
def _dropped_means(table, ids, offsets, keys, threshold, scale, vectors):  # type: ignore[no-untyped-def]
    dim = vectors.shape[1]
    limit = np.uint32(threshold)
    for i in numba.prange(len(vectors)):
        vector = vectors[i]
        vector[:] = 0
        noise = np.empty((dim + 1) // 2, dtype=np.uint32)
        share = table.dtype.type(scale / max(offsets[i + 1] - offsets[i], 1))
        for token in range(offsets[i], offsets[i + 1]):
            _draw(keys[token], noise)
            _add_kept(vector, table[ids[token]], share, noise, limit)


@compiled(parallel=False)
def _distinct(ids, slot):  # type: ignore[no-untyped-def]
    """The distinct ids; their slots are 0 afterwards."""
    rows = np.empty(len(ids), dtype=np.int64)
    count = 0
    for row in ids:
        if slot[row] < 0:
            slot[row] = 0
            rows[count] = row
            count += 1
    return rows[:count].copy()


@compiled(parallel=False)
def _order_tokens(ids, offsets, rows, slot):  # type: ignore[no-untyped-def]
    """Sort the tokens by row with a counting sort; all slots are -1 again afterwards."""
    for i in range(len(rows)):
        slot[rows[i]] = i
    starts = np.zeros(len(rows) + 1, dtype=np.int64)
    for row in ids:
        starts[slot[row] + 1] += 1
    for i in range(len(rows)):
        starts[i + 1] += starts[i]
    place = starts[:-1].copy()
    order = np.empty(len(ids), dtype=np.int32)
    owner = np.empty(len(ids), dtype=np.int32)
    for sentence in range(len(offsets) - 1):
        for token in range(offsets[sentence], offsets[sentence + 1]):
            i = slot[ids[token]]
            order[place[i]] = token
            place[i] += 1
            owner[token] = sentence
    for row in rows:
        slot[row] = -1
    return starts, order, owner


@compiled()
def _row_gradients(gradient, share, starts, order, owner, values):  # type: ignore[no-untyped-def]
    for i in numba.prange(len(values)):
        value = values[i]
        value[:] = 0
        for place in range(starts[i], starts[i + 1]):
            sentence = owner[order[place]]
            part, from_sentence = share[sentence], gradient[sentence]
            for d in range(len(value)):
                value[d] += from_sentence[d] * part


@compiled()
def _dropped_row_gradients(gradient, share, starts, order, owner, keys, threshold, values):  # type: ignore[no-untyped-def]
    dim = values.shape[1]
    limit = np.uint32(threshold)
    for i in numba.prange(len(values)):
        value = values[i]
        value[:] = 0
        noise = np.empty((dim + 1) // 2, dtype=np.uint32)
        for place in range(starts[i], starts[i + 1]):
            token = order[place]
            sentence = owner[token]
            _draw(keys[token], noise)
            _add_kept(value, gradient[sentence], share[sentence], noise, limit)
