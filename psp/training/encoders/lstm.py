"""LSTM and BLSTM encoders (Wieting & Gimpel 2018, section 4), over the embeddings of words or subwords.

A sentence's vector is the mean of the hidden states, or their largest values; a BLSTM averages the states of its two
directions, or concatenates them. Torch's LSTM, without the peepholes of the published code, with forget biases that
start at 1. In use the vectors are NumPy's: :mod:`psp.models.lstm`.

The embedding matrix is optimised like that of a mean, by :class:`psp.training.optimiser.DeferredAdam`, and the LSTM's
matrices beside it by torch's Adam, with its own learning rate and gradient limit.

With ``precision: bfloat16`` an LSTM reads and returns bfloat16, by bfloat16 copies of its matrices; the matrices, their
gradients, the embeddings and a sentence's mean are float32. On one core with AVX512-BF16 (EPYC), 128 sentences of 21
tokens and 300 dimensions take 45 ms forward and backward; in float32, 75.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from psp.core.jit import mix
from psp.core.machine import has_bfloat16_lstm, in_bfloat16
from psp.models.folder import save_model
from psp.models.lstm import AVERAGE, BOTH, CONCAT, MAX, Direction, Lstm
from psp.models.static import StaticModel
from psp.text.tokenizer import Encoded, Tokenizer
from psp.training.encoders.mean import BeforeRead, drop_tokens, kept_elements, noise_keys, scale_of_kept
from psp.training.optimiser import DeferredAdam, DenseAdam, JointOptimiser, RowOptimiser

log = logging.getLogger(__name__)

#: Sentences of similar length that are padded to one length and read together.
CHUNK = 128


def lstm_encoder(table: Tensor, train: Mapping[str, Any], own: Mapping[str, Any]) -> tuple[LstmEncoder, RowOptimiser]:
    """Make the encoder over ``table``, and its optimiser.

    Args:
        table: the initial embedding matrix, float32 (rows, dim).
        train: the keys of the block ``train``.
        own: ``kind``, and the keys of the block ``lstm`` (:class:`psp.config.blocks.training.LstmSettings`).
    """
    if own["precision"] == "bfloat16" and not has_bfloat16_lstm(table.device.type):
        log.warning("lstm.precision is bfloat16, for which torch has no LSTM on this processor: it computes in float32")
    encoder = LstmEncoder(table, own, train["dropout"], train["seed"], token_dropout=train["token_dropout"])
    adam = DeferredAdam if table.device.type == "cpu" else DenseAdam
    embeddings = adam([encoder.table], lr=train["learning_rate"])
    encoder.before_read = embeddings.prepare
    matrices = [matrix for matrix in encoder.lstms.parameters() if matrix.requires_grad]
    return encoder, JointOptimiser([embeddings, DenseAdam(matrices, lr=own["learning_rate"], clip=own["clip"])])


class LstmEncoder(torch.nn.Module):
    """An embedding matrix, and one or two LSTMs that read it.

    Args:
        table: embeddings, shape (rows, dim); becomes a parameter that shares its memory, with a sparse gradient.
        own: ``kind``, ``width`` (None: dim), ``combine``, ``pooling``, ``scramble``, ``precision``.
        dropout: probability of zeroing an element of a token embedding, as for a mean.
        seed: of the initial matrices and of the noise.
        token_dropout: probability of leaving a token out of its sentence.
    """

    def __init__(
        self, table: Tensor, own: Mapping[str, Any], dropout: float = 0.0, seed: int = 0, token_dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.table = torch.nn.Parameter(table)
        dim = table.shape[1]
        width = own["width"] or dim
        self._combine, self._pooling, self._scramble = own["combine"], own["pooling"], own["scramble"]
        device = table.device.type
        self._reduced = has_bfloat16_lstm(device) and in_bfloat16(own["precision"], device, "lstm.precision")
        self._dropout, self._seed, self._token_dropout = dropout, seed, token_dropout
        self.before_read: BeforeRead = lambda table, rows: None
        directions = [torch.nn.LSTM(dim, width, batch_first=True) for _ in range(2 if own["kind"] == BOTH else 1)]
        _initialise(directions, seed)
        self.lstms = torch.nn.ModuleList(directions).to(table.device)
        self._dim = width * (len(directions) if self._combine == CONCAT else 1)

    def encode(self, sentences: Encoded) -> Tensor:
        with torch.no_grad():
            return self._vectors(sentences, None)

    def forward(self, sentences: Encoded, step: int) -> Tensor:
        if self._token_dropout:
            sentences = drop_tokens(sentences, self._token_dropout, self._seed, step)
        if self._scramble:
            sentences = scrambled(sentences, self._scramble, self._seed, step)
        keys = noise_keys(sentences.offsets, self._seed, step) if self._dropout else None
        return self._vectors(sentences, keys)

    def _vectors(self, sentences: Encoded, keys: npt.NDArray[np.uint32] | None) -> Tensor:
        device = self.table.device
        used, ids = np.unique(sentences.ids, return_inverse=True)
        self.before_read(self.table, used.astype(np.int64))
        # Ascending rows, each once: the gradient is sparse and coalesced.
        rows = functional.embedding(torch.from_numpy(used.astype(np.int64)).to(device), self.table, sparse=True)
        local = torch.from_numpy(ids.ravel()).to(device)
        if keys is None:
            tokens = None
        else:
            kept = kept_elements(torch.from_numpy(keys).to(device), self.table.shape[1], self._dropout)
            tokens = functional.embedding(local, rows) * kept * scale_of_kept(self._dropout)
        parts, order = [], []
        for chosen, places, lengths in _chunks(sentences):
            at = torch.from_numpy(places).to(device)
            inputs = functional.embedding(local[at], rows) if tokens is None else functional.embedding(at, tokens)
            parts.append(self._chunk(inputs, torch.from_numpy(lengths).to(device)))
            order.append(chosen)
        empty = np.flatnonzero(np.diff(sentences.offsets) == 0)
        if len(empty):
            parts.append(torch.zeros(len(empty), self._dim, device=device))
            order.append(empty)
        back = np.argsort(np.concatenate(order))  # sentences in their original order
        return torch.cat(parts)[torch.from_numpy(back).to(device)]

    def _chunk(self, inputs: Tensor, lengths: Tensor) -> Tensor:
        """The vectors of padded sentences: ``inputs`` (n, longest, dim), ``lengths`` int64 (n,), at least 1."""
        steps = torch.arange(inputs.shape[1], device=inputs.device)
        inside = steps < lengths[:, None]
        # The backward direction reads a sentence from its own last token on, and the padding last, like the forward
        # one: no state ever depends on padding.
        turned = torch.where(inside, lengths[:, None] - 1 - steps, steps)[:, :, None]
        states = []
        for number, lstm in enumerate(self.lstms):
            if number == 0:
                states.append(self._read(lstm, inputs))
                continue
            backward = self._read(lstm, inputs.gather(1, turned.expand_as(inputs)))
            states.append(backward.gather(1, turned.expand_as(backward)) if self._pooling == MAX else backward)
        if len(states) == 1:
            return self._pooled(states[0], inside)
        if self._combine == CONCAT:
            return torch.cat([self._pooled(part, inside) for part in states], dim=1)
        return self._pooled((states[0] + states[1]) * 0.5, inside)

    def _read(self, lstm: torch.nn.Module, inputs: Tensor) -> Tensor:
        """The states after each token, (n, longest, width)."""
        if not self._reduced:
            states: Tensor = lstm(inputs)[0]
            return states
        # Anew for each chunk: autocast keeps its copies of the matrices until it ends, and those that validation makes
        # have no gradient.
        with torch.autocast(inputs.device.type, torch.bfloat16):
            states = lstm(inputs)[0]
        return states.float()

    def _pooled(self, states: Tensor, inside: Tensor) -> Tensor:
        if self._pooling == MAX:
            return states.masked_fill(~inside[:, :, None], -torch.inf).amax(dim=1)
        return (states * inside[:, :, None]).sum(dim=1) / inside.sum(dim=1, keepdim=True)

    def embedder(self, tokenizer: Tokenizer, config: Mapping[str, Any]) -> StaticModel:
        weights = self.state_dict()
        return StaticModel(
            _array(weights["table"]), tokenizer, config, accelerate=False, contextual=self._in_numpy(weights)
        )

    def save(
        self, folder: Path, weights: Mapping[str, Tensor], tokenizer: Tokenizer, config: Mapping[str, Any]
    ) -> None:
        lstm = self._in_numpy(weights)
        table = _array(weights["table"])
        save_model(folder, table, tokenizer, config, encoder=lstm.keys(), tensors=lstm.tensors())

    def _in_numpy(self, weights: Mapping[str, Tensor]) -> Lstm:
        directions = [
            Direction(*(_array(weights[f"lstms.{number}.{name}_l0"]) for name in ("weight_ih", "weight_hh", "bias_ih")))
            for number in range(len(self.lstms))
        ]
        return Lstm(directions, self._combine if len(directions) == 2 else AVERAGE, self._pooling)


def scrambled(sentences: Encoded, share: float, seed: int, step: int) -> Encoded:
    """Put the tokens of some sentences into random order (ParaNMT's paper scrambles 30% of the pairs).

    Args:
        sentences: the sentences.
        share: the probability that a sentence is scrambled, 0 to 1.
        seed, step: what the noise depends on, as in :meth:`psp.training.encoders.base.Encoder.__call__`.
    """
    # Seeds of their own: dropout hashes the same numbers and positions.
    order_seed, draw_seed = (int(mix(np.array([seed], np.uint64) + np.uint64(n))[0]) for n in (1, 2))
    one_each = np.arange(len(sentences) + 1)
    chosen = (noise_keys(one_each, draw_seed, step) >> np.uint32(16)) < round(share * (1 << 16))
    lengths = np.diff(sentences.offsets)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    position = np.arange(sentences.offsets[-1])
    # Equal keys keep their order: lexsort is stable.
    keys = np.where(chosen[owner], noise_keys(sentences.offsets, order_seed, step).astype(np.int64), 0)
    return Encoded(sentences.ids[np.lexsort((position, keys, owner))], sentences.offsets)


def _chunks(
    sentences: Encoded,
) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Sentences that are not empty, in chunks of similar length.

    Yields their numbers, (n,), the flat positions of their tokens, (n, longest), padded with those of the first tokens,
    and their lengths, (n,).
    """
    lengths = np.diff(sentences.offsets)
    order = np.argsort(lengths, kind="stable")
    order = order[int((lengths == 0).sum()) :]
    for start in range(0, len(order), CHUNK):
        chosen = order[start : start + CHUNK]
        own = lengths[chosen]
        steps = np.arange(own.max())
        places = sentences.offsets[chosen][:, None] + np.where(steps < own[:, None], steps, 0)
        yield chosen, places, own


def _initialise(lstms: list[torch.nn.LSTM], seed: int) -> None:
    """Draw the matrices from a generator of their own, the same on every device; forget biases are 1.

    Torch's two biases do the same: the second stays 0.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for lstm in lstms:
            matrices, width = dict(lstm.named_parameters()), lstm.hidden_size
            for name, matrix in matrices.items():
                if name.startswith("weight"):
                    drawn = torch.rand(matrix.shape, generator=generator)
                    matrix.copy_((drawn * 2 - 1) / math.sqrt(width))
                else:
                    matrix.zero_()
            matrices["bias_ih_l0"][width : 2 * width] = 1
            matrices["bias_hh_l0"].requires_grad_(False)


def _array(weight: Tensor) -> npt.NDArray[Any]:
    return weight.detach().cpu().numpy()
