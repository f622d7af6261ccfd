"""The network against torch's own layers, and its decoding against plain recomputation."""

import pytest
import torch
from torch import nn

from psp.training.translator.model import Flat, Sizes, TranslatorModel, attention, drop

SIZES = Sizes(pieces=40, encoder_layers=2, decoder_layers=2, dim=16, heads=2, feed_forward=24)


def network(sizes=SIZES, dropout=0.0):
    made = TranslatorModel(sizes, dropout)
    made.initialise(torch.Generator().manual_seed(3))
    with torch.no_grad():  # biases and norms that are not what they began as
        for weight in made.parameters():
            weight += 0.1 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(weight.numel()))
    return made.eval()


def ids(*lengths):
    generator = torch.Generator().manual_seed(1)
    found = torch.zeros(len(lengths), max(lengths), dtype=torch.int64)
    for row, length in enumerate(lengths):
        found[row, :length] = torch.randint(3, 40, (length,), generator=generator)
    return found, torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]


def copy_linear(theirs, ours):
    theirs.weight.data, theirs.bias.data = ours.weight.data, ours.bias.data


def copy_attention(theirs, ours):
    if ours.over_source:
        theirs.in_proj_weight.data = torch.cat((ours.query.weight, ours.key_value.weight)).detach()
        theirs.in_proj_bias.data = torch.cat((ours.query.bias, ours.key_value.bias)).detach()
    else:
        theirs.in_proj_weight.data = ours.query_key_value.weight.data
        theirs.in_proj_bias.data = ours.query_key_value.bias.data
    copy_linear(theirs.out_proj, ours.out)


def of_torch(ours):
    """torch's own encoder and decoder layers, with our weights."""
    kind = {"dropout": 0.0, "batch_first": True, "norm_first": True}
    encoder, decoder = [], []
    for layer in ours.encoder:
        one = nn.TransformerEncoderLayer(16, 2, 24, **kind)
        copy_attention(one.self_attn, layer.attention)
        copy_linear(one.norm1, layer.attention.norm)
        copy_linear(one.norm2, layer.feed_forward.norm)
        copy_linear(one.linear1, layer.feed_forward.inner)
        copy_linear(one.linear2, layer.feed_forward.outer)
        encoder.append(one)
    for layer in ours.decoder:
        one = nn.TransformerDecoderLayer(16, 2, 24, **kind)
        copy_attention(one.self_attn, layer.attention)
        copy_attention(one.multihead_attn, layer.source_attention)
        for norm, sublayer in zip((one.norm1, one.norm2, one.norm3), layer.children(), strict=True):
            copy_linear(norm, sublayer.norm)
        copy_linear(one.linear1, layer.feed_forward.inner)
        copy_linear(one.linear2, layer.feed_forward.outer)
        decoder.append(one)
    return encoder, decoder


@torch.no_grad()
def test_it_computes_what_torchs_own_layers_do():
    ours = network()
    encoder, decoder = of_torch(ours)
    source, there = ids(5, 3, 7)
    target, _ = ids(4, 6, 2)
    found = ours(source, there[:, None, None, :], target)
    vectors = ours.source_vectors(source) * 4 + ours.positions[:7]
    for layer in encoder:
        vectors = layer(vectors, src_key_padding_mask=~there)
    vectors = ours.encoder_norm(vectors)
    wanted = ours.source_vectors(target) * 4 + ours.positions[:6]
    causal = nn.Transformer.generate_square_subsequent_mask(6)
    for layer in decoder:
        wanted = layer(
            wanted, vectors, tgt_mask=causal, memory_mask=None, memory_key_padding_mask=~there, tgt_is_causal=True
        )
    torch.testing.assert_close(found, ours.decoder_norm(wanted), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("share", [True, False])
def test_greedy_decoding_is_the_likeliest_next_piece_of_the_whole_network(share):
    ours = network(Sizes(40, 2, 2, 16, 2, 24, share_vectors=share))
    source, there = ids(5, 3, 7)
    most = [6, 9, 12]
    found = ours.greedy(source, there[:, None, None, :], start=1, end=2, never=0, most=most)
    for row, length in enumerate((5, 3, 7)):  # each alone, without padding or cache
        written = [1]
        while len(written) <= most[row]:
            hidden = ours(source[row : row + 1, :length], None, torch.tensor([written]))[0, -1]
            logits = hidden @ ours.output_weight.T
            logits[0] = -torch.inf
            if (piece := int(logits.argmax())) == 2:
                break
            written.append(piece)
        assert found[row] == written[1:]
    assert any(found)


@pytest.mark.parametrize("causal", [True, False])
def test_attention_in_bfloat16_is_that_of_float32_but_for_rounding(causal):
    generator = torch.Generator().manual_seed(1)
    query, key, value = (torch.randn(3, 2, 6, 8, generator=generator) for _ in range(3))
    mask = None if causal else (torch.arange(6) < torch.tensor([6, 4, 2])[:, None])[:, None, None, :]
    exact = attention(query, key, value, mask, causal)
    low = attention(*(one.bfloat16() for one in (query, key, value)), mask, causal)
    assert low.dtype == torch.bfloat16
    torch.testing.assert_close(low.float(), exact, rtol=0.05, atol=0.03)


def test_dropout_leaves_out_its_share_keeps_the_mean_and_follows_the_seed():
    torch.manual_seed(1)
    vectors = torch.ones(101, 97, requires_grad=True)  # no multiple of 8
    found = drop(vectors, 0.1)
    assert (found == 0).float().mean().item() == pytest.approx(0.1, abs=0.01)
    assert found.mean().item() == pytest.approx(1, abs=0.01)
    found.sum().backward()
    assert torch.equal(vectors.grad, found.detach())  # the same mask backwards
    torch.manual_seed(1)
    assert torch.equal(drop(vectors, 0.1), found)


def test_all_weights_are_views_of_one_vector_and_so_are_their_gradients():
    ours = network()
    before = {name: weight.detach().clone() for name, weight in ours.named_parameters()}
    flat = Flat(ours)
    assert all(torch.equal(weight, before[name]) for name, weight in ours.named_parameters())
    source, _ = ids(4)
    ours(source, None, source).sum().backward()
    slopes = [weight.grad.reshape(-1) for weight in ours.parameters()]
    assert torch.equal(torch.cat(slopes), flat.gradients)
    assert flat.gradients.abs().sum() > 0
    flat.weights.zero_()
    assert not any(weight.any() for weight in ours.parameters())
