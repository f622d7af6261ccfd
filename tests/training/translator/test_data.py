"""Encoded pairs and their batches."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from psp.core.errors import DataError
from psp.pairs.pair_file import read_sides
from psp.text.sentencepiece_tokenizer import load_sentencepiece
from psp.training.translator.data import Batches, encode_pairs, make_batch, padded
from psp.training.translator.errors import with_errors
from tests.training.translator.conftest import sentences, write_pairs


@pytest.fixture(scope="module")
def processor(prepared):
    return load_sentencepiece(prepared.sentencepiece)


@pytest.fixture(scope="module")
def encoded(prepared, processor, tmp_path_factory):
    return encode_pairs(prepared.pairs, processor, tmp_path_factory.mktemp("ids"), max_tokens=50)


def test_each_pass_has_every_pair_once_in_another_order_and_batches_of_one_size(encoded):
    batches = Batches(encoded, 200, seed=1)
    passes = [list(batches.of_pass(number)) for number in (0, 1, 0)]
    for found in passes:
        assert sorted(np.concatenate(found)) == list(range(len(encoded)))
        assert len(found) == len(batches)
    assert sorted(map(len, passes[0])) == sorted(map(len, passes[1]))
    assert all(map(np.array_equal, passes[0], passes[2]))
    assert not all(map(np.array_equal, passes[0], passes[1]))
    assert not np.array_equal(next(batches.of_pass(0)), next(Batches(encoded, 200, seed=2).of_pass(0)))
    for chosen in passes[0]:
        widest = max(np.diff(encoded.source.offsets)[chosen].max(), (np.diff(encoded.target.offsets)[chosen] - 1).max())
        assert widest * len(chosen) <= 200
    assert batches.waste() < 0.1


def test_a_batch_reads_its_pairs_and_predicts_all_of_them(encoded, processor):
    chosen = np.array([5, 0, 17])
    batch = make_batch(encoded, chosen, torch.device("cpu"))
    rows = [encoded.target.ids[encoded.target.offsets[one] : encoded.target.offsets[one + 1]] for one in chosen]
    assert batch.wanted.tolist() == [int(piece) for row in rows for piece in row[1:]]
    assert batch.target[0, 0] == processor.bos_id()
    flat = torch.zeros(batch.target.numel(), dtype=torch.int64)
    places = torch.arange(batch.target.numel()) if batch.places is None else batch.places
    flat[places] = batch.wanted
    shifted = flat.view(batch.target.shape)  # what is predicted at a place is read at the next
    for row, pieces in enumerate(rows):
        assert shifted[row, : len(pieces) - 2].tolist() == batch.target[row, 1 : len(pieces) - 1].tolist()


def test_padding_is_marked_and_none_needs_no_mask():
    ids, there = padded([np.array([4, 5]), np.array([6])])
    assert ids.tolist() == [[4, 5], [6, 0]]
    assert there.tolist() == [[True, True], [True, False]]
    assert padded([np.array([4]), np.array([6])])[1] is None


def test_a_line_of_ten_thousand_words_is_cut_and_counted(processor, tmp_path):
    rows = [*sentences(20), ("un " * 10_000, "one " * 10_000)]
    found = encode_pairs(write_pairs(tmp_path / "long.tsv", rows), processor, tmp_path, max_tokens=30)
    assert found.counts["cut"] == 2
    assert np.diff(found.source.offsets)[-1] == 31
    assert found.source.ids[-1] == processor.eos_id()
    assert np.diff(found.target.offsets)[-1] == 31
    assert found.target.ids[-1] != processor.eos_id()  # nothing teaches to stop there


def test_the_vocabulary_of_another_model_is_refused(processor, tmp_path):
    file = write_pairs(tmp_path / "other.tsv", [("ДВА ТРИ 四", "два три") for _ in range(5)])
    with pytest.raises(DataError, match=r"other.tsv: \d+% of its subwords are unknown .* made for other text"):
        encode_pairs(file, processor, tmp_path, max_tokens=30)


def test_an_empty_file_is_an_error(processor, tmp_path):
    with pytest.raises(DataError, match="holds no pairs"):
        encode_pairs(write_pairs(tmp_path / "none.tsv", []), processor, tmp_path, max_tokens=30)


def rows(side):
    return [side.ids[first:last].tolist() for first, last in pairwise(side.offsets)]


def test_denoised_sources_are_their_targets_with_errors(prepared, processor, tmp_path):
    plain = encode_pairs(prepared.pairs, processor, tmp_path / "plain", max_tokens=50)
    found = encode_pairs(prepared.pairs, processor, tmp_path / "found", max_tokens=50, errors=0.2, denoise=True, seed=3)
    assert np.array_equal(found.target.ids, plain.target.ids)
    wanted = processor.encode([with_errors(target, 3) for _, target in read_sides(prepared.pairs)])
    changed = 0
    for before, after, noisy in zip(rows(plain.source), rows(found.source), wanted, strict=True):
        assert after == before or after[:-1] == noisy[:50]
        changed += after != before
    assert 0.1 < changed / len(wanted) < 0.3


def test_some_sources_get_errors_and_no_target(prepared, processor, tmp_path):
    plain = encode_pairs(prepared.pairs, processor, tmp_path / "plain", max_tokens=50)
    half = encode_pairs(prepared.pairs, processor, tmp_path / "half", max_tokens=50, errors=0.3)
    again = encode_pairs(prepared.pairs, processor, tmp_path / "again", max_tokens=50, errors=0.3)
    assert np.array_equal(half.source.ids, again.source.ids)
    assert np.array_equal(half.target.ids, plain.target.ids)
    other = np.mean([one != two for one, two in zip(rows(plain.source), rows(half.source), strict=True)])
    assert 0.15 < other < 0.3
