"""LSTM pooling: the last state of each sentence, whatever the padding, and the name that saved models have for it."""

from __future__ import annotations

import pickle

import pytest

pytest.importorskip("sentence_transformers", reason="not installed (pip install 'paraphrastic[transformer]')")
torch = pytest.importorskip("torch")

from paraphrastic.exports import LstmPooling  # noqa: E402


def pooled(module, sentences, *, left=False, longest=9):
    """Sentence vectors of token vectors, a list of (tokens, 6), padded with what must not be read."""
    tokens = torch.full((len(sentences), longest, 6), 1e6)
    mask = torch.zeros(len(sentences), longest, dtype=torch.long)
    for number, sentence in enumerate(sentences):
        place = slice(longest - len(sentence), None) if left else slice(len(sentence))
        tokens[number, place], mask[number, place] = sentence, 1
    return module({"token_embeddings": tokens, "attention_mask": mask})["sentence_embedding"]


@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_vector_is_the_last_state_of_each_direction(bidirectional):
    torch.manual_seed(1)
    module = LstmPooling(6, 8, bidirectional)
    sentences = [torch.randn(length, 6) for length in (3, 9, 1, 5)]
    found = pooled(module, sentences)
    assert found.shape == (4, module.get_embedding_dimension()) == (4, 8)
    for one, vector in zip(sentences, found, strict=True):
        states = module.lstm(one[None])[0][0]  # (tokens, 8): the backward half has read all at the first token
        expected = torch.cat([states[-1, :4], states[0, 4:]]) if bidirectional else states[-1]
        torch.testing.assert_close(vector, expected)
    torch.testing.assert_close(pooled(module, sentences, left=True, longest=11), found)


def test_without_a_mask_all_tokens_are_read_and_bfloat16_gives_float32():
    module = LstmPooling(6, 8)
    tokens = torch.randn(2, 4, 6)
    full = module({"token_embeddings": tokens})["sentence_embedding"]
    torch.testing.assert_close(full, pooled(module, list(tokens)))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        low = module({"token_embeddings": tokens})["sentence_embedding"]
    assert low.dtype == torch.float32
    torch.testing.assert_close(low, full, atol=0.02, rtol=0.1)


def test_it_is_saved_under_its_stable_name_and_loaded_with_the_same_weights(tmp_path):
    module = LstmPooling(6, 8, True)
    assert f"{LstmPooling.__module__}.{LstmPooling.__qualname__}" == "paraphrastic.exports.LstmPooling"
    module.save(str(tmp_path))
    loaded = LstmPooling.load(str(tmp_path))
    assert loaded.get_config_dict() == {"embedding_dimension": 6, "dim": 8, "bidirectional": True}
    sentences = [torch.randn(3, 6), torch.randn(2, 6)]
    assert torch.equal(pooled(loaded, sentences), pooled(module, sentences))
    assert torch.equal(pooled(pickle.loads(pickle.dumps(module)), sentences), pooled(module, sentences))


def test_an_odd_dimension_has_no_halves():
    with pytest.raises(ValueError, match="must be even"):
        LstmPooling(6, 7, True)
