"""The tokenizer of sentencepiece, against sentencepiece."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.core.files import sha256
from psp.text.sentencepiece_tokenizer import SentencepieceTokenizer
from psp.text.tokenizer_kinds import as_tokenizer
from tests.conftest import SENTENCES, odd_text, rows_of, train_sentencepiece


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> SentencepieceTokenizer:
    return SentencepieceTokenizer(train_sentencepiece(tmp_path_factory.mktemp("sp") / "sp.model"))


@pytest.mark.slow
@given(texts=st.lists(odd_text, max_size=8), threads=st.sampled_from([1, 2]), lower=st.booleans())
def test_it_is_sentencepiece_with_things_left_out(
    tokenizer: SentencepieceTokenizer, texts: list[str], threads: int, lower: bool
) -> None:
    excluded_ids = [7, 11]
    reads = tokenizer.with_preprocessing({"lower_case": lower, "left_out": excluded_ids})
    processor, unknown = tokenizer.processor, tokenizer.processor.unk_id()
    whole = processor.encode([text.lower() if lower else text for text in texts], out_type=int)
    expected = [[i for i in ids if i not in (unknown, *excluded_ids)] or [unknown] * bool(ids) for ids in whole]
    encoded = reads.encode(texts, threads)
    assert (encoded.ids.dtype, encoded.offsets.dtype, len(encoded)) == (np.int32, np.int64, len(texts))
    assert rows_of(encoded) == expected
    prepared = reads.prepared(texts)
    assert rows_of(reads.encode_prepared(prepared, threads)) == expected
    assert rows_of(reads.encode_whole(prepared, threads)) == whole
    assert rows_of(reads.encode(texts, threads, fast=reads.fast())) == expected
    assert tokenizer.decode(reads.encode_whole(prepared)) == [processor.decode(ids) for ids in whole]


@given(text=odd_text)
def test_pieces_are_spelled_as_sentencepiece_does(tokenizer: SentencepieceTokenizer, text: str) -> None:
    processor = tokenizer.processor
    spelled = tokenizer.spelled(text)
    assert [piece for piece, _ in spelled] == processor.encode(text, out_type=str)
    assert [number for _, number in spelled] == processor.encode(text, out_type=int)


def test_its_vocabulary_is_sentencepieces(tokenizer: SentencepieceTokenizer) -> None:
    processor = tokenizer.processor
    assert tokenizer.pieces() == [processor.id_to_piece(i) for i in range(processor.get_piece_size())]
    assert (len(tokenizer), tokenizer.unknown_id) == (processor.get_piece_size(), processor.unk_id())
    assert tokenizer.silent_ids == [processor.unk_id(), processor.piece_to_id("▁")]
    assert tokenizer.contents() == {"sentencepiece.model": tokenizer.path.read_bytes()}
    assert tokenizer.sha256() == sha256(tokenizer.path) and str(tokenizer) == str(tokenizer.path)
    assert tokenizer.unsupported_reason() is None


def test_reading_changes_what_is_said_and_no_more(tokenizer: SentencepieceTokenizer) -> None:
    assert tokenizer.with_preprocessing({"languages": ["en"]}) is tokenizer
    lower = tokenizer.with_preprocessing({"lower_case": True})
    assert (lower.lower_case, tokenizer.lower_case) == (True, False) and lower.processor is tokenizer.processor
    assert lower.with_preprocessing({"left_out": [5]}).to_config({}) == {"lower_case": True, "left_out": [5]}
    assert lower.to_config({"lower_case": False, "dim": 3}) == {"lower_case": False, "dim": 3}
    assert as_tokenizer(tokenizer.path, {"lower_case": True}).to_config({}) == {"lower_case": True}


@pytest.mark.parametrize("fast", [False, True])
def test_half_a_surrogate_pair_is_named(tokenizer: SentencepieceTokenizer, fast: bool) -> None:
    compiled: Any = tokenizer.fast() if fast else None
    with pytest.raises(DataError, match=r"texts\[12\] is not valid Unicode: half a surrogate pair at character 1"):
        tokenizer.encode([*SENTENCES[:2], "a\udc80"], first=10, fast=compiled)
