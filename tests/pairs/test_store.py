"""The store, against sentences encoded one by one."""

from __future__ import annotations

import itertools
import json
import os

import h5py
import pytest
from hypothesis import given
from hypothesis import strategies as st

import psp.pairs.store_file
from psp.core.errors import DataError
from psp.core.files import sha256
from psp.pairs.store import Store, write_store
from psp.text.sentencepiece_tokenizer import load_sentencepiece
from psp.text.words import clean
from tests.conftest import PAIRS, odd_text, reference_ids, write_mixed
from tests.pairs.conftest import on_a_full_disk

CORPORA = ["Books", "Müsli"]
ROWS = [(*pair, index % 2) for index, pair in enumerate(PAIRS)]


def write(folder, model, rows=ROWS, **settings):
    mixed = write_mixed(folder / "mix.tsv", rows)
    settings = {"languages": ["en", "fr"], "corpora": CORPORA} | settings
    return write_store(mixed, model, folder / "store.h5", **settings)


def test_the_kind_of_each_pair_is_told_by_its_corpus_languages(tmp_path, model):
    rows = [("a", "b", index % len(CORPORA)) for index in range(20)]
    kinds = [["en", "en"] if index == 1 else ["en", "fr"] for index in range(len(CORPORA))]
    write(tmp_path, model, rows, corpus_languages=kinds)
    with Store(tmp_path / "store.h5") as store:
        assert store.corpus_languages == kinds
        block = store.read(3, 15)
        assert block.paraphrase.tolist() == [row[2] == 1 for row in rows[3:15]]
    write(tmp_path, model, rows, languages=["en"])
    with Store(tmp_path / "store.h5") as store:
        assert store.corpus_languages == [["en", "en"]] * len(CORPORA)
        assert store.read(0, 20).paraphrase.all()
    write(tmp_path, model, rows)
    with Store(tmp_path / "store.h5") as store:
        assert not store.read(0, 20).paraphrase.any()
    with pytest.raises(ValueError, match="name those of each corpus"):
        write(tmp_path, model, rows, languages=["de", "en", "fr"])


def sides(block):
    return [
        [side.ids[a:b].tolist() for a, b in itertools.pairwise(side.offsets)] for side in (block.source, block.target)
    ]


def expected(model, rows, max_pieces=None):
    processor = load_sentencepiece(model)
    return [
        [(reference_ids(processor, row[side]) or [processor.unk_id()])[:max_pieces] for row in rows] for side in (0, 1)
    ]


@given(
    rows=st.lists(
        st.tuples(odd_text.map(clean).filter(bool), odd_text.map(clean).filter(bool), st.integers(0, len(CORPORA) - 1)),
        min_size=1,
        max_size=10,
    ),
    kind=st.sampled_from(["marked", "bare"]),
    max_pieces=st.sampled_from([None, 1, 3]),
    batch=st.integers(1, 4),
)
def test_it_holds_what_sentencepiece_gives_sentence_by_sentence(
    models, tmp_path_factory, rows, kind, max_pieces, batch
):
    model = models / f"{kind}.model"
    folder = tmp_path_factory.mktemp("store")
    attributes = write(folder, model, rows, max_pieces=max_pieces, batch=batch)
    whole = expected(model, rows)
    unknown = load_sentencepiece(model).unk_id()
    with Store(folder / "store.h5") as store:
        block = store.read(0, len(store))
        assert sides(block) == expected(model, rows, max_pieces)
        assert block.corpus.tolist() == [row[2] for row in rows]
        assert (len(store), store.max_pieces, store.unknown_id) == (len(rows), max_pieces, unknown)
    for side, sentences in zip(("source", "target"), whole, strict=True):
        assert attributes[f"{side}_only_unknown"] == sentences.count([unknown])
        assert attributes[f"{side}_truncated"] == sum(len(ids) > max_pieces for ids in sentences if max_pieces)


def test_a_language_that_the_vocabulary_does_not_cover_is_named(tmp_path, models, caplog):
    """English is covered, the other language is in letters that have no piece."""
    rows = [("the house", "цветы в саду", 0), ("a red car", "the house", 1)] * 20
    with caplog.at_level("WARNING"):
        write(tmp_path, models / "marked.model", rows, languages=["en", "xx"], corpora=["a", "b"],
              corpus_languages=[["en", "xx"], ["en", "en"]])  # fmt: skip
    (warning,) = [record.message for record in caplog.records]
    assert warning.startswith("xx: ") and "raise subword.character_coverage" in warning and "of 20 sentences" in warning
    processor = load_sentencepiece(models / "marked.model")
    ids = [piece for row in rows[::2] for piece in processor.encode(row[1])]
    assert f"{100 * ids.count(processor.unk_id()) / len(ids):.0f}% of the pieces are unknown" in warning


def test_attributes_describe_it(tmp_path, model):
    attributes = write(tmp_path, model)
    with h5py.File(tmp_path / "store.h5") as file:
        assert {
            name: getattr(value, "item", lambda value=value: value)() for name, value in file.attrs.items()
        } == attributes
        assert {file[name].chunks for name in ("source/ids", "target/offsets", "corpus")} == {(65_536,)}
    assert json.loads(attributes["corpora"]) == CORPORA
    with Store(tmp_path / "store.h5") as store:
        assert (store.languages, store.corpora) == (["en", "fr"], CORPORA)
        assert store.vocab_size == load_sentencepiece(model).get_piece_size()
        assert store.vocabulary_sha256 == sha256(model)


def test_unknown_pieces_are_counted(tmp_path, model):
    attributes = write(tmp_path, model, [("bread 日 bread 本", "pain", 0), ("bread", "du 🙂 pain", 1)])
    assert (attributes["source_unknown_dropped"], attributes["target_unknown_dropped"]) == (2, 1)


def test_any_slice_is_the_same_as_that_part_of_the_whole(tmp_path, model):
    write(tmp_path, model)
    with Store(tmp_path / "store.h5") as store:
        source, target = sides(store.read(0, len(store)))
        for start, stop in [(0, 1), (7, 7), (5, 100), (len(store) - 1, len(store)), (len(store), len(store))]:
            block = store.read(start, stop)
            assert sides(block) == [source[start:stop], target[start:stop]]
            assert block.source.offsets[0] == block.target.offsets[0] == 0
            assert len(block.corpus) == stop - start
        for start, stop in [(-1, 3), (3, 2), (0, len(store) + 1)]:
            with pytest.raises(IndexError, match=f"{start} to {stop}"):
                store.read(start, stop)


@pytest.mark.parametrize("batch", [1, 7, 100_000])
def test_more_than_a_chunk_comes_back_whole(tmp_path, model, monkeypatch, batch):
    monkeypatch.setattr(psp.pairs.store_file, "CHUNK", 16)
    write(tmp_path, model, batch=batch)
    with Store(tmp_path / "store.h5") as store:
        assert sides(store.read(0, len(store))) == expected(model, ROWS)


def test_the_same_input_gives_the_same_bytes(tmp_path, model):
    digests = set()
    for run, threads in enumerate([1, 1, 2]):
        (tmp_path / str(run)).mkdir()
        write(tmp_path / str(run), model, threads=threads)
        digests.add(sha256(tmp_path / str(run) / "store.h5"))
    assert len(digests) == 1


def test_corpora_beyond_a_byte_keep_their_index(tmp_path, model):
    names = [f"c{index}" for index in range(300)]
    rows = [("bread", "du pain", index) for index in range(300)]
    write(tmp_path, model, rows, corpora=names)
    with Store(tmp_path / "store.h5") as store:
        assert store.read(0, 300).corpus.tolist() == list(range(300))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"mix\.tsv: holds no pair"),
        (b"a\tb\t0\na\tb\t1\na\tb\t2\n", r"mix\.tsv, line 3: the third column is '2'"),
        (b"a\tb\t0\na\tb\t-1\n", r"mix\.tsv, line 2: the third column is '-1'"),
    ],
)
def test_bad_input_is_named_and_leaves_the_old_store(tmp_path, model, content, message):
    (tmp_path / "mix.tsv").write_bytes(content)
    (tmp_path / "store.h5").write_bytes(b"old")
    with pytest.raises(DataError, match=message):
        write_store(
            tmp_path / "mix.tsv", model, tmp_path / "store.h5", languages=["en", "fr"], corpora=CORPORA, batch=1
        )
    assert (tmp_path / "store.h5").read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mix.tsv", "store.h5"]


@pytest.mark.parametrize("room", [0, 3_000, 200_000, 600_000])
def test_a_full_disk_is_one_clear_error_and_leaves_nothing(tmp_path, model, room):
    write_mixed(tmp_path / "mix.tsv", ROWS * 200)
    options = {"languages": ["en", "fr"], "corpora": ["a", "b"]}
    on_a_full_disk(tmp_path, room, f"write_store(Path('mix.tsv'), Path({str(model)!r}), Path('store.h5'), **{options})")


@pytest.fixture
def store_path(tmp_path, model):
    write(tmp_path, model, ROWS * 20)
    return tmp_path / "store.h5"


def test_a_store_cut_short_anywhere_is_refused(store_path):
    content = store_path.read_bytes()
    for length in [0, 1, 100, 2000, len(content) // 2, len(content) - 1]:
        store_path.write_bytes(content[:length])
        with pytest.raises(DataError, match=r"store\.h5: (truncated|damaged).*make it again"):
            Store(store_path)


def test_a_flipped_bit_among_the_ids_is_found(store_path):
    with h5py.File(store_path) as file:
        place = file["target/ids"].id.get_chunk_info(0).byte_offset
    content = bytearray(store_path.read_bytes())
    content[place + 1000] ^= 1
    store_path.write_bytes(content)
    with Store(store_path) as store, pytest.raises(DataError, match=r"store\.h5: damaged"):
        store.read(0, len(store))


def test_other_files_and_other_versions_are_refused(tmp_path, store_path):
    with pytest.raises(DataError, match="no such file"):
        Store(tmp_path / "nothing.h5")
    os.mkfifo(tmp_path / "pipe.h5")
    with pytest.raises(DataError, match=r"pipe.h5: is a pipe or a device"):
        Store(tmp_path / "pipe.h5")
    (tmp_path / "text.h5").write_text("bread\n")
    with pytest.raises(DataError, match="not an HDF5 file"):
        Store(tmp_path / "text.h5")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = [1, 2]
    with pytest.raises(DataError, match="not a psp store"):
        Store(tmp_path / "other.h5")
    with h5py.File(store_path, "a") as file:
        file.attrs["version"] = 2
    with pytest.raises(DataError, match=r"version 2, but this psp reads 1"):
        Store(store_path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("languages", "[" * 100_000), ("languages", "9" * 5000), ("languages", "{}"), ("languages", b"\xff"),
        ("corpus_languages", "[1, 2]"), ("corpus_languages", '[["en"]]'), ("corpora", h5py.Empty("f")),
        ("corpora", "3"), ("pairs", "many"), ("pairs", -1), ("vocab_size", [1, 2]),
        ("vocab_size", 1.5), ("max_pieces", "few"), ("unknown_id", None), ("version", [2, 2]), ("format", 7),
    ],
)  # fmt: skip
def test_damaged_attributes_are_one_clear_error(store_path, name, value):
    with h5py.File(store_path, "a") as file:
        del file.attrs[name]
        if value is not None:
            file.attrs[name] = value
    with (
        pytest.raises(DataError, match=r"store\.h5: (damaged|a store of|an HDF5 file, but)"),
        Store(store_path),
    ):
        pass


@pytest.mark.parametrize("dataset", ["corpus", "source/offsets", "target/ids"])
def test_columns_that_do_not_fit_each_other_are_refused(store_path, dataset):
    with h5py.File(store_path, "a") as file:
        file[dataset].resize((len(file[dataset]) - 1,))
    with pytest.raises(DataError, match="damaged"):
        Store(store_path)
    with h5py.File(store_path, "a") as file:
        del file[dataset]
    with pytest.raises(DataError, match="damaged"):
        Store(store_path)


def test_ids_beyond_the_vocabulary_and_empty_sides_are_refused(store_path):
    with h5py.File(store_path, "a") as file:
        file["source/ids"][5] = 60_000
        file["target/offsets"][8] = file["target/offsets"][9]
    with Store(store_path) as store:
        for start, stop in [(0, 5), (6, 12)]:
            with pytest.raises(DataError, match="damaged"):
                store.read(start, stop)
        store.read(20, 30)


def test_another_vocabulary_is_refused(models, store_path):
    with Store(store_path) as store:
        store.check_vocabulary(models / "marked.model")
        with pytest.raises(DataError, match="a store from another vocabulary"):
            store.check_vocabulary(models / "bare.model")
