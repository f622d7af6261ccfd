"""Training from text, against the store that is made from the same text."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import psp.pairs.text_pairs
from psp.core.errors import ConfigError, DataError
from psp.core.files import sha256
from psp.pairs.store import Store, write_store
from psp.pairs.text_pairs import TextPairs, is_store, open_source
from psp.text.words import clean
from psp.training.batches import Epoch
from tests.conftest import PAIRS, odd_text, rows_of, write_mixed

ROWS: list[tuple[str, str, object]] = [(*pair, index % 2) for index, pair in enumerate(PAIRS)]
SIDE = odd_text.map(clean).filter(bool)


def without_corpus(path: Path, rows: list[Any]) -> Path:
    path.write_bytes("".join(f"{source}\t{target}\n" for source, target, _ in rows).encode())
    return path


def contents(pairs: Any, start: int, stop: int) -> tuple[Any, ...]:
    block = pairs.read(start, stop)
    sides = [rows_of(side) for side in (block.source, block.target)]
    return *sides, block.corpus.tolist(), block.paraphrase.tolist()


@pytest.mark.slow
@given(
    rows=st.lists(st.tuples(SIDE, SIDE, st.integers(0, 1)), min_size=1, max_size=12),
    kind=st.sampled_from(["marked", "bare"]),
    languages=st.sampled_from([["en", "fr"], ["en"]]),
    block=st.integers(1, 5),
    last_line_ends=st.booleans(),
    data=st.data(),
)
def test_any_part_is_what_a_store_of_the_text_holds(
    models: Path,
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[Any],
    kind: str,
    languages: list[str],
    block: int,
    last_line_ends: bool,
    data: st.DataObject,
) -> None:
    folder, model = tmp_path_factory.mktemp("text"), models / f"{kind}.model"
    mixed = write_mixed(folder / "mix.tsv", rows)
    write_store(mixed, model, folder / "store.h5", languages=languages, corpora=["a", "b"])
    if not last_line_ends:
        mixed.write_bytes(mixed.read_bytes()[:-1])
    start = data.draw(st.integers(0, len(rows)))
    stop = data.draw(st.integers(start, len(rows)))
    with pytest.MonkeyPatch.context() as patch, Store(folder / "store.h5") as store:
        patch.setattr(psp.pairs.text_pairs, "BLOCK_PAIRS", block)
        with TextPairs(mixed, model, languages) as text:
            assert len(text) == len(store) == len(rows)
            assert contents(text, start, stop) == contents(store, start, stop)
            assert (text.vocab_size, text.unknown_id, text.max_pieces, text.languages, text.vocabulary_sha256) == (
                store.vocab_size, store.unknown_id, store.max_pieces, store.languages, store.vocabulary_sha256
            )  # fmt: skip


def test_an_epoch_of_text_is_that_of_its_store(tmp_path: Path, model: Path) -> None:
    rows = [(f"{source} {number}", target, 0) for number in range(50) for source, target in PAIRS]
    assert len(rows) > 2 * 4096
    mixed = write_mixed(tmp_path / "mix.tsv", rows)
    write_store(mixed, model, tmp_path / "store.h5", languages=["en", "fr"], corpora=["a"])
    with (
        open_source(tmp_path / "store.h5", model, ["en", "fr"]) as store,
        open_source(mixed, model, ["en", "fr"], threads=2) as text,
    ):
        assert isinstance(store, Store) and isinstance(text, TextPairs)
        for pairs in (store, text):
            pairs.check_vocabulary(model)
        parts = [Epoch(pairs, seed=1, epoch=1, buffer_blocks=2).take(len(rows)) for pairs in (store, text)]
    for side in ("source", "target"):
        ours, theirs = (getattr(part, side) for part in parts)
        assert ours.ids.dtype == theirs.ids.dtype == np.int32
        np.testing.assert_array_equal(ours.ids, theirs.ids)
        np.testing.assert_array_equal(ours.offsets, theirs.offsets)


def test_pairs_without_a_corpus_are_of_the_languages_kind(tmp_path: Path, model: Path) -> None:
    path = without_corpus(tmp_path / "pairs.tsv", ROWS)
    with TextPairs(path, model, ["en", "fr"]) as text, TextPairs(path, model, ["en"]) as paraphrases:
        assert not text.read(0, len(ROWS)).paraphrase.any()
        assert paraphrases.read(0, len(ROWS)).paraphrase.all()
    mixed = write_mixed(tmp_path / "mix.tsv", ROWS)
    with TextPairs(mixed, model, ["en"]) as text:
        assert text.read(0, 5).corpus.tolist() == [row[2] for row in ROWS[:5]]
        assert text.read(0, len(ROWS)).paraphrase.all()
    for languages in (["en", "de", "fr"], []):
        with pytest.raises(ConfigError, match="name the one or two"):
            TextPairs(mixed, model, languages)


def test_parts_that_are_not_there(tmp_path: Path, model: Path) -> None:
    with TextPairs(write_mixed(tmp_path / "mix.tsv", ROWS), model, ["en", "fr"]) as text:
        for start, stop in [(-1, 3), (3, 2), (0, len(ROWS) + 1)]:
            with pytest.raises(IndexError, match=f"{start} to {stop}"):
                text.read(start, stop)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"pairs\.tsv: holds no pair"),
        (b"a b\n", r"pairs\.tsv, line 1: 1 columns; write a source, a tab"),
        (b"a\tb\n" * 9 + b"a\tb\t0\n", r"pairs\.tsv, line 10: 3 columns where the first line has 2"),
        (b"a\tb\t0\n" * 9 + b"a\tb\n", r"pairs\.tsv, line 10: 2 columns where the first line has 3"),
        (b"a\tb\n" * 9 + b"\tb\n", r"pairs\.tsv, line 10: a side without text"),
        (b"a\tb\n" * 9 + b"a\t \xe2\x80\xa8", r"pairs\.tsv, line 10: a side without text"),
        (b"a\tb\n" * 9 + b"a\tb\xff\n" + b"a\tb\n", r"pairs\.tsv, line 10: not UTF-8 \(a byte 0xff\)"),
        (b"a\tb\xe2\x80\xa8c\n\r\tb\xff", r"pairs\.tsv, line 2: not UTF-8"),
        (b"a\tb\t0\na\tb\t0.5\n", r"pairs\.tsv, line 2: the third column is '0\.5', not the index"),
    ],
)
def test_bad_lines_are_named_before_anything_is_trained(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, message: str
) -> None:
    monkeypatch.setattr(psp.pairs.text_pairs, "BLOCK_PAIRS", 4)
    (tmp_path / "pairs.tsv").write_bytes(content)
    with pytest.raises(DataError, match=message):
        TextPairs(tmp_path / "pairs.tsv", model, ["en", "fr"])


def test_a_file_that_is_not_there_or_is_a_folder(tmp_path: Path, model: Path) -> None:
    for path in (tmp_path / "nothing.tsv", tmp_path):
        with pytest.raises(DataError, match="cannot be read"):
            open_source(path, model, ["en", "fr"])
        with pytest.raises(DataError, match="cannot be read"):
            TextPairs(path, model, ["en", "fr"])


def test_a_file_that_changes_under_training_is_an_error(tmp_path: Path, model: Path) -> None:
    path = write_mixed(tmp_path / "mix.tsv", ROWS)
    with TextPairs(path, model, ["en", "fr"]) as text:
        with path.open("r+b") as file:
            file.truncate(1000)
        with pytest.raises(DataError, match=r"mix\.tsv: changed while"):
            text.read(0, len(ROWS))
    write_mixed(path, ROWS)
    with TextPairs(path, model, ["en", "fr"]) as text:
        path.write_bytes(path.read_bytes().swapcase())
        os.utime(path, ns=(1, 1))  # clocks of file systems may be coarse
        with pytest.raises(DataError, match=r"mix\.tsv: changed while"):
            text.read(0, 1)


def test_another_vocabulary_is_refused(tmp_path: Path, models: Path) -> None:
    with TextPairs(write_mixed(tmp_path / "mix.tsv", ROWS), models / "marked.model", ["en", "fr"]) as text:
        assert text.vocabulary_sha256 == sha256(models / "marked.model")
        with pytest.raises(DataError, match="another vocabulary"):
            text.check_vocabulary(models / "bare.model")


def test_a_store_is_told_by_its_name_or_its_first_bytes(tmp_path: Path, model: Path) -> None:
    mixed = write_mixed(tmp_path / "mix.tsv", ROWS)
    write_store(mixed, model, tmp_path / "store.h5", languages=["en", "fr"], corpora=["a", "b"])
    (tmp_path / "renamed").write_bytes((tmp_path / "store.h5").read_bytes())
    assert is_store(tmp_path / "store.h5") and is_store(tmp_path / "renamed") and not is_store(mixed)
    (tmp_path / "damaged.h5").write_bytes(b"")
    with pytest.raises(DataError, match="not an HDF5 file"):  # and not that it holds no pair
        open_source(tmp_path / "damaged.h5", model, ["en", "fr"])
