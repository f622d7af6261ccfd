"""A small encoder-decoder transformer for translation, in torch (Vaswani et al. 2017, but pre-norm).

Layouts are those of CTranslate2's ``TransformerSpec`` (queries, keys and values in one matrix), so that the export
copies matrices unchanged. Dropout applies to vectors and to sublayers' outputs, not to attention weights, so that
torch's fused attention can be used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

#: Positions with an encoding, the maximum length of text in training and in the exported model.
POSITIONS = 1024


@dataclass(frozen=True)
class Sizes:
    """The sizes of a translator.

    Attributes:
        pieces: subwords of its sentencepiece model.
        encoder_layers, decoder_layers: layers.
        dim: width of all vectors; a multiple of 2 * heads.
        heads: attention heads.
        feed_forward: width inside a feed-forward sublayer.
        share_vectors: whether source, target and output have the same embedding matrix; else each has its own.
    """

    pieces: int
    encoder_layers: int
    decoder_layers: int
    dim: int
    heads: int
    feed_forward: int
    share_vectors: bool = True


class Attention(nn.Module):
    """Multi-head attention with pre-norm; adds its result to its input.

    Args:
        dim, heads: see :class:`Sizes`.
        over_source: attends to the encoder's output rather than to its own input.
    """

    def __init__(self, dim: int, heads: int, *, over_source: bool = False) -> None:
        super().__init__()
        self.heads, self.over_source = heads, over_source
        self.norm = nn.LayerNorm(dim)
        if over_source:
            self.query = nn.Linear(dim, dim)
            self.key_value = nn.Linear(dim, 2 * dim)
        else:
            self.query_key_value = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def split(self, vectors: Tensor) -> Tensor:
        """(n, length, dim) to (n, heads, length, dim / heads)."""
        count, length, dim = vectors.shape
        return vectors.view(count, length, self.heads, dim // self.heads).transpose(1, 2)

    def read_source(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of the encoder's output (n, length, dim), each (n, heads, length, dim / heads)."""
        key, value = self.key_value(source).chunk(2, dim=-1)
        return self.split(key), self.split(value)

    def read_itself(self, vectors: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values from its own input."""
        query, key, value = self.query_key_value(self.norm(vectors)).chunk(3, dim=-1)
        return self.split(query), self.split(key), self.split(value)

    def attend(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, causal: bool = False) -> Tensor:
        """The sublayer's output, (n, length, dim); positions with a false ``mask`` are ignored."""
        attended = attention(query, key, value, mask, causal).transpose(1, 2)
        joined: Tensor = self.out(attended.reshape(attended.shape[0], attended.shape[1], -1))
        return joined


def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, causal: bool = False) -> Tensor:
    """Scaled dot-product attention of (n, heads, length, width); see :meth:`Attention.attend`.

    Torch's own in float32 on a CPU, where it takes 4.2 ms against 6.7: forward and backward of 98 sentences of 10
    pieces, 4 heads of 64, one core of a Zen 4 with torch 2.13. In bfloat16 its own takes 25.8 ms against 2.5 (of 12
    sentences of 80 pieces 13.8 against 3.7). On a GPU its gradients differ from run to run, and cuDNN prepares itself
    anew for each shape of a batch: a step of the smallest translator took 300 ms on an H200.
    """
    if query.dtype == torch.float32 and query.device.type == "cpu":
        return F.scaled_dot_product_attention(query, key, value, attn_mask=mask, is_causal=causal)
    scores = torch.matmul(query * query.shape[-1] ** -0.5, key.transpose(-1, -2))
    if causal:
        seen = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
        scores = scores.masked_fill(~seen, -torch.inf)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return torch.matmul(torch.softmax(scores, -1), value)


def drop(vectors: Tensor, share: float) -> Tensor:
    """Dropout; on a CPU with the probability rounded to 1/256, so that one draw gives eight values of the mask.

    One draw per value, as in torch, takes 6 ns, and would be a tenth of a step.
    """
    if vectors.device.type != "cpu":
        return F.dropout(vectors, share)
    below = max(1, round(share * 256))
    bits = torch.empty(-(-vectors.numel() // 8), dtype=torch.int64).random_(-(2**63), None)
    kept = (bits.view(torch.uint8)[: vectors.numel()] >= below).view(vectors.shape)
    return vectors * kept.to(vectors.dtype).mul_(256 / (256 - below))


class FeedForward(nn.Module):
    """Two linear maps with a ReLU between them, with pre-norm."""

    def __init__(self, dim: int, inner: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.inner, self.outer = nn.Linear(dim, inner), nn.Linear(inner, dim)

    def forward(self, vectors: Tensor) -> Tensor:
        result: Tensor = self.outer(F.relu(self.inner(self.norm(vectors))))
        return result


class EncoderLayer(nn.Module):
    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.attention = Attention(sizes.dim, sizes.heads)
        self.feed_forward = FeedForward(sizes.dim, sizes.feed_forward)


class DecoderLayer(nn.Module):
    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.attention = Attention(sizes.dim, sizes.heads)
        self.source_attention = Attention(sizes.dim, sizes.heads, over_source=True)
        self.feed_forward = FeedForward(sizes.dim, sizes.feed_forward)


class TranslatorModel(nn.Module):
    """The network: ids of pieces in, vectors out whose products with ``output_weight`` are the logits.

    Args:
        sizes: its sizes.
        dropout: the share of values left out in training.
    """

    positions: Tensor

    def __init__(self, sizes: Sizes, dropout: float = 0.0) -> None:
        super().__init__()
        self.sizes, self.dropout = sizes, dropout
        self.source_vectors = nn.Embedding(sizes.pieces, sizes.dim)
        if not sizes.share_vectors:
            self.target_vectors = nn.Embedding(sizes.pieces, sizes.dim)
            self.output = nn.Linear(sizes.dim, sizes.pieces, bias=False)
        self.encoder = nn.ModuleList(EncoderLayer(sizes) for _ in range(sizes.encoder_layers))
        self.encoder_norm = nn.LayerNorm(sizes.dim)
        self.decoder = nn.ModuleList(DecoderLayer(sizes) for _ in range(sizes.decoder_layers))
        self.decoder_norm = nn.LayerNorm(sizes.dim)
        self.register_buffer("positions", position_encodings(POSITIONS, sizes.dim), persistent=False)

    @property
    def target_embedding(self) -> nn.Embedding:
        """The embedding matrix of the target."""
        return self.source_vectors if self.sizes.share_vectors else self.target_vectors

    @property
    def output_weight(self) -> Tensor:
        """The matrix (pieces, dim) whose products with the decoder's vectors are the logits."""
        return self.source_vectors.weight if self.sizes.share_vectors else self.output.weight

    def initialise(self, generator: torch.Generator) -> None:
        """Draw the initial weights: embeddings with variance 1 once scaled, matrices by Glorot's initialisation."""
        with torch.no_grad():
            for name, weight in self.named_parameters():
                if "vectors" in name or name == "output.weight":
                    weight.normal_(0, self.sizes.dim**-0.5, generator=generator)
                elif weight.dim() == 2:
                    # A matrix that joins queries, keys and values is initialised like its parts.
                    rows = self.sizes.dim if "key_value" in name else weight.shape[0]
                    bound = math.sqrt(6 / (rows + weight.shape[1]))
                    weight.uniform_(-bound, bound, generator=generator)
                elif name.endswith("bias"):
                    weight.zero_()
                else:
                    weight.fill_(1)  # of a norm

    def drop(self, vectors: Tensor) -> Tensor:
        """Dropout, in training."""
        return drop(vectors, self.dropout) if self.training and self.dropout else vectors

    def embed(self, vectors: nn.Embedding, ids: Tensor, first: int = 0) -> Tensor:
        """Vectors of ids (n, length), the first of which are at position ``first``."""
        encodings = self.positions[first : first + ids.shape[1]]
        return self.drop(vectors(ids) * math.sqrt(self.sizes.dim) + encodings)

    def encode(self, source: Tensor, mask: Tensor | None) -> Tensor:
        """The encoder's output, (n, length, dim).

        Args:
            source: ids (n, length), int64; each sentence ends in its end-of-sentence id, followed by padding.
            mask: (n, 1, 1, length), false for padding; None without padding.
        """
        vectors = self.embed(self.source_vectors, source)
        for layer in self.encoder:
            assert isinstance(layer, EncoderLayer)
            query, key, value = layer.attention.read_itself(vectors)
            vectors = vectors + self.drop(layer.attention.attend(query, key, value, mask))
            vectors = vectors + self.drop(layer.feed_forward(vectors))
        result: Tensor = self.encoder_norm(vectors)
        return result

    def decode(self, encoded: Tensor, mask: Tensor | None, target: Tensor) -> Tensor:
        """The decoder's output (n, length, dim) before each next id of ``target``, which begins with a start id."""
        vectors = self.embed(self.target_embedding, target)
        for layer in self.decoder:
            assert isinstance(layer, DecoderLayer)
            query, key, value = layer.attention.read_itself(vectors)
            vectors = vectors + self.drop(layer.attention.attend(query, key, value, None, causal=True))
            query = layer.source_attention.split(layer.source_attention.query(layer.source_attention.norm(vectors)))
            key, value = layer.source_attention.read_source(encoded)
            vectors = vectors + self.drop(layer.source_attention.attend(query, key, value, mask))
            vectors = vectors + self.drop(layer.feed_forward(vectors))
        result: Tensor = self.decoder_norm(vectors)
        return result

    def forward(self, source: Tensor, mask: Tensor | None, target: Tensor) -> Tensor:
        """The decoder's output for whole targets, see :meth:`encode` and :meth:`decode`."""
        return self.decode(self.encode(source, mask), mask, target)

    @torch.no_grad()
    def greedy(
        self, source: Tensor, mask: Tensor | None, *, start: int, end: int, never: int, most: Sequence[int]
    ) -> list[list[int]]:
        """Translate by taking the likeliest piece at each step.

        Args:
            source, mask: as for :meth:`encode`.
            start, end: ids that begin and end a sentence.
            never: an id that is never chosen.
            most: for each sentence, the maximum number of pieces of its translation.

        Returns:
            Ids without start and end.
        """
        encoded = self.encode(source, mask)
        read: list[tuple[Tensor, Tensor]] = []
        written: list[tuple[Tensor, Tensor] | None] = [None] * len(self.decoder)
        for layer in self.decoder:
            assert isinstance(layer, DecoderLayer)
            read.append(layer.source_attention.read_source(encoded))
        translations: list[list[int]] = [[] for _ in range(len(source))]
        alive = list(range(len(source)))
        last = torch.full((len(source), 1), start, dtype=torch.int64, device=source.device)
        for place in range(min(max(most, default=0), POSITIONS)):
            vectors = self.embed(self.target_embedding, last, place)
            for number, layer in enumerate(self.decoder):
                assert isinstance(layer, DecoderLayer)
                query, key, value = layer.attention.read_itself(vectors)
                if (before := written[number]) is not None:
                    key, value = torch.cat((before[0], key), 2), torch.cat((before[1], value), 2)
                written[number] = key, value
                vectors = vectors + layer.attention.attend(query, key, value, None)
                query = layer.source_attention.split(layer.source_attention.query(layer.source_attention.norm(vectors)))
                vectors = vectors + layer.source_attention.attend(query, *read[number], mask)
                vectors = vectors + layer.feed_forward(vectors)
            logits = F.linear(self.decoder_norm(vectors[:, -1]), self.output_weight)
            logits[:, never] = -torch.inf
            ids = logits.argmax(-1)
            going = []
            for row, piece in enumerate(ids.tolist()):
                if piece != end:
                    translations[alive[row]].append(piece)
                    if len(translations[alive[row]]) < most[alive[row]]:
                        going.append(row)
            if not going:
                break
            last = ids[:, None]
            if len(going) < len(alive):  # those that have ended are dropped from the batch
                rows = torch.tensor(going, device=source.device)
                last, alive = last[rows], [alive[row] for row in going]
                mask = None if mask is None else mask[rows]
                read = [(key[rows], value[rows]) for key, value in read]
                written = [None if one is None else (one[0][rows], one[1][rows]) for one in written]
        return translations


def position_encodings(count: int, dim: int) -> Tensor:
    """Sinusoidal encodings (count, dim), float32: sines in the first half, cosines in the second."""
    half = dim // 2
    rates = torch.exp(torch.arange(half, dtype=torch.float64) * (-math.log(10000.0) / max(half - 1, 1)))
    angles = torch.arange(count, dtype=torch.float64)[:, None] * rates
    return torch.cat((angles.sin(), angles.cos()), 1).float()


class Flat:
    """All weights of a network as one vector, of which they become views, and likewise their gradients.

    One call then updates, averages, clips or saves all weights.

    Attributes:
        weights: float32 (weights).
        gradients: the same shape; ``backward`` adds to it.
    """

    def __init__(self, network: nn.Module) -> None:
        parameters = list(network.parameters())
        self.weights = torch.cat([one.detach().reshape(-1) for one in parameters]).contiguous()
        self.gradients = torch.zeros_like(self.weights)
        sizes = [one.numel() for one in parameters]
        for one, own, slope in zip(parameters, self.weights.split(sizes), self.gradients.split(sizes), strict=True):
            one.data, one.grad = own.view(one.shape), slope.view(one.shape)
