"""Punctuation marks have one embedding, whether or not a space stands before them."""

import numpy as np
import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from psp.models.cosines import unit
from psp.models.static import StaticModel
from psp.pairs.store import PairBlock
from psp.training.loop import Training
from psp.training.spacing import Spacing
from tests.conftest import rows_of
from tests.training.conftest import sentences

MARK = "\u2581"
PIECES = ["<unk>", MARK, ".", f"{MARK}.", f"{MARK}ankle", "ankle", f"{MARK}'s", "'s", f"{MARK}(", "(", f"{MARK}!", "3"]
#: ``▁ankle`` is another piece than ``ankle``, and ``▁!`` has no other form.
SAME = {3: 2, 6: 7, 8: 9}


def test_only_pieces_that_begin_with_punctuation_are_one():
    spacing = Spacing(PIECES)
    assert spacing.same.tolist() == [SAME.get(row, row) for row in range(len(PIECES))]
    assert (spacing.lone, Spacing(PIECES[2:]).lone) == (1, None)


SENTENCES = st.lists(st.lists(st.integers(0, len(PIECES) - 1), min_size=1, max_size=6), min_size=1, max_size=8)


@given(SENTENCES, st.booleans())
def test_sentences_are_read_as_a_loop_would(rows, with_lone):
    spacing = Spacing(PIECES)
    if not with_lone:
        spacing.lone = None
    expected = []
    for sentence in rows:
        ids = [SAME.get(number, number) for number in sentence]
        expected.append([number for number in ids if number != spacing.lone] or ids)
    found = spacing.read(sentences(rows))
    assert rows_of(found) == expected
    assert found.offsets.dtype == np.int64


@given(SENTENCES)
def test_a_mean_over_the_filled_table_is_that_over_what_is_read(rows):
    """So a program that knows nothing of it gives the same vectors, up to their length."""
    spacing = Spacing(PIECES)
    table = np.random.default_rng(1).standard_normal((len(PIECES), 4)).astype(np.float32)
    spacing.fill(table)
    for whole, read in zip(rows, rows_of(spacing.read(sentences(rows))), strict=True):
        assert np.allclose(table[whole].sum(axis=0), table[read].sum(axis=0), atol=1e-5)


def test_pairs_are_read_so_on_both_sides():
    class Source:
        def __len__(self):
            return 2

        def read(self, start, stop):
            sides = sentences([[4, 1, 2], [11]][start:stop]), sentences([[4, 3], [6]][start:stop])
            return PairBlock(*sides, np.zeros(stop - start, int), np.ones(stop - start, bool))

    pairs = Spacing(PIECES).pairs(Source())
    block = pairs.read(0, 2)
    assert len(pairs) == 2 and block.paraphrase.all()
    assert (rows_of(block.source), rows_of(block.target)) == ([[4, 2], [11]], [[4, 2], [7]])


@pytest.mark.parametrize("ignore", [True, False])
def test_a_trained_model_does_not_see_the_space(ignore, tmp_path):
    text = "".join(f"le {word} .\tthe {word} .\n" for word in ("chat", "chien", "train", "pain", "lait", "vin") * 20)
    text += "".join(f"le {word}.\tthe {word}.\n" for word in ("chat", "chien", "train") * 20)
    (tmp_path / "pairs.tsv").write_text(text)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(text.replace("\t", "\n").splitlines()), model_prefix=str(tmp_path / "sp"),
        vocab_size=40, hard_vocab_limit=False, minloglevel=2,
    )  # fmt: skip
    settings = {"epochs": 1, "batch_size": 32, "dim": 16, "ignore_spaces": ignore}
    Training(
        tmp_path / "pairs.tsv", tmp_path / "sp.model", tmp_path / "model", tmp_path / "train", settings, None,
        threads=1, model_config={"languages": ["en", "fr"], "lower_case": True, "segment": {}},
    ).run()  # fmt: skip
    model = StaticModel.load(tmp_path / "model")
    vectors = model.embed_raw_text(["the cat .", "the cat."])
    assert bool(np.allclose(*unit(vectors), atol=1e-5)) == ignore
