"""A mini-batch in pieces: the vectors, loss and gradients of the whole, with less padding computed."""

from __future__ import annotations

import pytest

from psp.config.blocks.transformer import TransformerSettings

pytest.importorskip("sentence_transformers", reason="not installed (pip install 'paraphrastic[transformer]')")

import torch
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

from psp.training.transformer.base import build
from psp.training.transformer.pieces import in_pieces
from tests.training.transformer.conftest import PAIRS

#: Of two to eight words, not in the order of their lengths.
TEXTS = [" ".join([left] * (1 + number % 4)) for number, (left, _) in enumerate(PAIRS[:10])]


def model_of(base, pooling):
    torch.manual_seed(1)
    settings = TransformerSettings.of({"pooling": pooling, "dim": 24, "max_length": 40})
    return build(base, settings, "cpu").eval()  # without dropout


def learnt(model, **pieces):
    """The loss of a mini-batch, the gradients that it gives, and the cells (texts x tokens) that were computed."""
    cells = []
    table = model[0].model.get_input_embeddings()
    handle = table.register_forward_hook(lambda _, given, found: cells.append(given[0].numel()))
    features = [model.preprocess(TEXTS), model.preprocess([side for _, side in PAIRS[:10]])]
    with in_pieces(model[0], **pieces):
        loss = MultipleNegativesRankingLoss(model)(features, None)
    handle.remove()
    model.zero_grad()
    loss.backward()
    return (
        loss.item(),
        {name: one.grad.clone() for name, one in model.named_parameters() if one.grad is not None},
        cells,
    )


@pytest.mark.parametrize("pooling", ["mean", "cls", "max", "bilstm"])
def test_loss_and_gradients_are_those_of_the_whole_mini_batch(base, pooling):
    model = model_of(base, pooling)
    loss, gradients, cells = learnt(model, texts=10)
    assert len(cells) == 2
    of_pieces, found, fewer = learnt(model, texts=3)
    assert len(fewer) == 8 and sum(fewer) < 0.9 * sum(cells)
    assert of_pieces == pytest.approx(loss, abs=1e-5)
    assert found.keys() == gradients.keys() and len(found) > 20
    for name, gradient in gradients.items():
        torch.testing.assert_close(found[name], gradient, atol=1e-5, rtol=1e-3, msg=name)


def test_the_transformer_is_as_before_afterwards_and_text_padded_on_the_left_is_left_whole(base):
    model = model_of(base, "mean")
    model[0].tokenizer.padding_side = "left"
    features = model.preprocess(TEXTS)
    assert not features["attention_mask"][:, 0].all()
    with torch.inference_mode():
        expected = model(dict(features))["token_embeddings"]
        with pytest.raises(KeyError), in_pieces(model[0], 3):
            torch.testing.assert_close(model(dict(features))["token_embeddings"], expected, atol=0, rtol=0)
            raise KeyError
    assert "forward" not in vars(model[0])
