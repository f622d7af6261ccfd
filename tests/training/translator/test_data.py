"""Encoded pairs and their batches."""

from itertools import chain, pairwise

import numpy as np
import pytest
import torch

from psp.core.errors import DataError
from psp.pairs.pair_file import read_sides
from psp.text.sentencepiece_tokenizer import load_sentencepiece
from psp.training.translator.data import Batches, collate, encode_pairs
from psp.training.translator.errors import with_errors
from tests.conftest import write_pair_file
from tests.training.translator.conftest import sentences


@pytest.fixture(scope="module")
def processor(prepared):
    return load_sentencepiece(prepared.sentencepiece)


@pytest.fixture(scope="module")
def encoded(prepared, processor, tmp_path_factory):
    return encode_pairs(prepared.pairs, processor, tmp_path_factory.mktemp("ids"), max_tokens=50)


def batches_of(batches, number):
    batches.set_epoch(number)
    return list(batches)


def test_each_pass_has_every_pair_once_in_another_order_and_batches_of_one_size(encoded):
    batches = Batches(encoded, 200, seed=1)
    passes = [batches_of(batches, number) for number in (0, 1, 0)]
    for found in passes:
        assert sorted(chain.from_iterable(found)) == list(range(len(encoded)))
        assert len(found) == len(batches)
    assert sorted(map(len, passes[0])) == sorted(map(len, passes[1]))
    assert passes[0] == passes[2] != passes[1]
    assert passes[0] != batches_of(Batches(encoded, 200, seed=2), 0)
    real = padded = 0
    for chosen in passes[0]:
        lengths = [len(side) for row in chosen for side in encoded[row]]
        assert max(lengths) * len(chosen) <= 200
        real, padded = real + sum(lengths), padded + max(lengths[::2]) * len(chosen) + max(lengths[1::2]) * len(chosen)
    assert real > 0.9 * padded


def test_a_batch_reads_its_pairs_and_predicts_all_of_them(encoded):
    chosen = [encoded[row] for row in (5, 0, 17)]
    batch = collate(chosen, 99)
    longest = max(len(source) for source, _ in chosen)
    for row, (source, target) in enumerate(chosen):
        assert batch["input_ids"][row].tolist()[: len(source)] == source.tolist()
        assert batch["attention_mask"][row].tolist() == [place < len(source) for place in range(longest)]
        assert batch["labels"][row].tolist()[: len(target)] == target.tolist()
        assert set(batch["labels"][row].tolist()[len(target) :]) <= {-100}
        # What is predicted at a place is read at the next.
        assert batch["decoder_input_ids"][row].tolist()[: len(target)] == [99, *target.tolist()[:-1]]


def test_padding_is_marked_and_none_needs_no_mask():
    one, two = torch.tensor([4, 5]), torch.tensor([6])
    assert collate([(one, two), (two, two)], 99)["attention_mask"].tolist() == [[1, 1], [1, 0]]
    assert "attention_mask" not in collate([(one, two), (one, one)], 99)


def test_a_line_of_ten_thousand_words_is_cut_and_counted(processor, tmp_path):
    rows = [*sentences(20), ("un " * 10_000, "one " * 10_000)]
    found = encode_pairs(write_pair_file(tmp_path / "long.tsv", rows), processor, tmp_path, max_tokens=30)
    assert found.counts["cut"] == 2
    assert np.diff(found.source.offsets)[-1] == 31
    assert found.source.ids[-1] == processor.eos_id()
    assert np.diff(found.target.offsets)[-1] == 30
    assert found.target.ids[-1] != processor.eos_id()  # nothing teaches to stop there


def test_the_vocabulary_of_another_model_is_refused(processor, tmp_path):
    file = write_pair_file(tmp_path / "other.tsv", [("ДВА ТРИ 四", "два три") for _ in range(5)])
    with pytest.raises(DataError, match=r"other.tsv: \d+% of its subwords are unknown .* made for other text"):
        encode_pairs(file, processor, tmp_path, max_tokens=30)


def test_an_empty_file_is_an_error(processor, tmp_path):
    with pytest.raises(DataError, match="holds no pairs"):
        encode_pairs(write_pair_file(tmp_path / "none.tsv", []), processor, tmp_path, max_tokens=30)


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
