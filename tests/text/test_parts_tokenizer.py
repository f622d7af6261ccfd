"""Several tokenizers as one: ids side by side, each in a range of its own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.pairs.store import encode_side
from psp.text.parts_tokenizer import PartsTokenizer
from psp.text.tokenizer_kinds import as_tokenizer
from psp.text.trigram_tokenizer import TrigramTokenizer, trigrams
from psp.text.word_tokenizer import WordTokenizer
from tests.conftest import SENTENCES, odd_text, rows_of


@pytest.fixture(scope="module")
def parts():
    words = sorted({word for sentence in SENTENCES for word in sentence.lower().split()})
    runs = sorted({run for sentence in SENTENCES for run in trigrams(sentence)})
    return [WordTokenizer([(one, 2) for one in words]), TrigramTokenizer([(one, 2) for one in runs])]


@pytest.fixture(scope="module")
def both(parts):
    return PartsTokenizer(parts)


@given(texts=st.lists(st.one_of(odd_text, st.sampled_from(SENTENCES)), max_size=8))
def test_ids_are_those_of_the_parts_side_by_side(both, parts, texts):
    own = [rows_of(part.encode(texts)) for part in parts]
    expected = [one + [len(parts[0]) + number for number in other] for one, other in zip(*own, strict=True)]
    encoded = both.encode(texts)
    assert rows_of(encoded) == expected
    assert [rows_of(one) for one in both.divide(encoded)] == own
    assert encoded.offsets.dtype == np.int64


@given(texts=st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4), most=st.integers(1, 5))
def test_each_part_s_ids_are_truncated(both, parts, texts, most):
    encoded, counts = encode_side(both, texts, most)
    own = [encode_side(part, texts, most) for part in parts]
    assert [rows_of(one) for one in both.divide(encoded)] == [rows_of(one) for one, _ in own]
    assert counts["truncated"] == sum(one["truncated"] for _, one in own)


def test_pieces_and_text_again(both, parts):
    assert both.pieces() == [*parts[0].pieces(), *parts[1].pieces()] and len(both) == len(both.pieces())
    assert both.decode(both.encode(SENTENCES[:3])) == parts[0].decode(parts[0].encode(SENTENCES[:3]))
    assert both.spellings() is None


def test_several_files_make_one(parts, tmp_path):
    paths = []
    for number, part in enumerate(parts):
        (content,) = part.contents().values()
        paths.append(tmp_path / f"{number}.txt")
        paths[-1].write_bytes(content)
    made = as_tokenizer(paths)
    assert isinstance(made, PartsTokenizer) and sorted(made.contents()) == ["0.vocabulary.txt", "1.vocabulary.txt"]
    assert made.sha256() == PartsTokenizer(parts).sha256()
    assert (
        made.with_preprocessing({"lower_case": True}).encode(["THE CAT"]).ids.tolist()
        == made.encode(["the cat"]).ids.tolist()
    )


def test_no_folder_holds_one(tmp_path):
    with pytest.raises(DataError, match="load_model"):
        PartsTokenizer.load(tmp_path, {})
