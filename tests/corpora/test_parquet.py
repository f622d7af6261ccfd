"""Pairs from tables."""

from __future__ import annotations

import random
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.config.config import Config
from psp.core import files
from psp.core.errors import ConfigError, DataError
from psp.corpora import count_pairs, open_corpus
from psp.corpora.rows import BadRow

pyarrow = pytest.importorskip("pyarrow", reason="not installed (pip install 'paraphrastic[parquet]')")
pq = pytest.importorskip("pyarrow.parquet")
NAMES = ("source", "target")
SIDES = st.text(st.characters(blacklist_categories=["Cs"]))


def write(path: Path, **columns: list[object]) -> Path:
    pq.write_table(pyarrow.table(columns), path, compression="zstd")
    return path


def read(path: Path, names: tuple[str, ...] = NAMES) -> list[object]:
    return list(open_corpus("parquet", path, "x", names))


@given(st.lists(st.tuples(SIDES, SIDES), max_size=8))
def test_the_texts_are_those_of_the_table_in_its_order(tmp_path_factory, rows):
    path = write(tmp_path_factory.mktemp("t") / "a.parquet", source=[a for a, _ in rows], target=[b for _, b in rows])
    if not rows:  # a column of nothing has no type
        return
    found = read(path)
    assert [tuple(" ".join(side.split()) for side in row) for row in found] == [
        tuple(" ".join(side.split()) for side in row) for row in rows
    ]
    assert not any("\n" in side or "\t" in side for row in found for side in row)
    assert count_pairs("parquet", path, "x", NAMES) == (len(rows), True)


def test_folders_fields_and_scores(tmp_path):
    write(tmp_path / "b.parquet", source=["c"], target=["d"], s=[0.5])
    write(tmp_path / "a.parquet", source=["a"], target=["b"], s=[1.0])
    assert read(tmp_path, (*NAMES, "s")) == [("a", "b", 1.0), ("c", "d", 0.5)]
    nested = write(tmp_path / "n.parquet", translation=[{"en": "the cat", "fr": "le chat"}])
    assert read(nested, ("translation.fr", "translation.en")) == [("le chat", "the cat")]
    empty = write(tmp_path / "e.parquet", source=["a", None, "d"], target=["b", "c", "e"], s=[float("nan"), 1.0, 2.0])
    assert [row.reason for row in read(empty, (*NAMES, "s")) if isinstance(row, BadRow)] == [
        "row: score",
        "row: columns",
    ]


def test_a_folder_of_datasets(tmp_path):
    datasets = pytest.importorskip("datasets", reason="not installed (pip install 'paraphrastic[transformer]')")
    datasets.Dataset.from_dict({"source": ["a", "b"], "target": ["c", "d"]}).save_to_disk(str(tmp_path / "d"))
    assert read(tmp_path / "d") == [("a", "c"), ("b", "d")]
    assert count_pairs("parquet", tmp_path / "d", "x", NAMES) == (2, True)


def test_what_is_no_table_is_one_error(tmp_path):
    path = write(tmp_path / "a.parquet", source=["a"], other=["b"])
    with pytest.raises(DataError, match=r"a\.parquet: has no column target; it has source, other: name two by"):
        read(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match=r"a\.parquet: cannot be read as a table \("):
        read(path, ("source", "other"))
    with pytest.raises(DataError, match="cannot be read as a table"):
        read(tmp_path / "none.parquet")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"empty: a folder without \*\.parquet files"):
        read(tmp_path / "empty")


def test_an_item_of_a_config(tmp_path):
    def parts(**item):
        models = {"m": {"languages": ["en", "fr"], "corpora": [item]}}
        return Config({"corpora": {}, "models": models}).model("m").parts

    (part,) = parts(parquet="some/t.parquet", columns=["en", "fr"])
    assert (part.kind, part.names, part.label, part.download) == ("parquet", ("en", "fr"), "t.en-fr", None)
    assert parts(parquet="t.parquet")[0].names == NAMES
    with pytest.raises(ConfigError, match="an item is a file of pairs, `path`, or a table, `parquet`; write two items"):
        parts(parquet="t.parquet", path="t.tsv")
    with pytest.raises(ConfigError, match="columns is for another kind of corpus; leave it out"):
        parts(path="t.tsv", columns=["en", "fr"])


def test_a_damaged_folder_of_datasets_is_refused(tmp_path: Path) -> None:
    """A text that begins far outside of the file: reading it would kill the process."""
    path = tmp_path / "data-00000-of-00001.arrow"
    sides = pyarrow.table({name: ["the cat", "le chien dort"] for name in ("source", "target")})
    with pyarrow.OSFile(str(path), "wb") as file, pyarrow.ipc.new_stream(file, sides.schema) as stream:
        stream.write_table(sides)
    whole, offsets = path.read_bytes(), np.array([0, 7, 20], np.int32)
    assert whole.count(offsets.tobytes()) == 2
    path.write_bytes(whole.replace(offsets.tobytes(), (offsets + 2**30).tobytes()))
    with pytest.raises(DataError, match="cannot be read as a table"):
        list(open_corpus("parquet", tmp_path, "", ("source", "target")))


def test_a_table_grows_no_more_than_other_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that the file holds once may be that of any number of rows, and a page may unpack to anything."""
    once = write(tmp_path / "once.parquet", source=["x" * 48_000_000], target=["y"])
    assert once.stat().st_size < 100_000
    with pytest.raises(DataError, match=r"once\.parquet: has more than 200 times its size unpacked"):
        read(once)
    monkeypatch.setattr(files, "RATIO", 1e9)
    with pytest.raises(DataError, match=r"a text of 48,000,000 bytes in source, more than 1,048,576;"):
        read(once)
    monkeypatch.setattr(files, "RATIO", 200)
    long = random.Random(1).randbytes(400_000).hex()
    same = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 2000, pyarrow.int32()), [long])
    many = tmp_path / "many.parquet"
    pq.write_table(pyarrow.table({"source": same, "target": ["y"] * 2000}), many, store_schema=False)
    assert many.stat().st_size < 1_000_000
    peak = 0
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=r"many\.parquet: has more than 200 times its size unpacked"):
            read(many)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak + pyarrow.default_memory_pool().max_memory() < 300 << 20


def test_two_columns_of_one_name_and_columns_of_no_text(tmp_path: Path) -> None:
    table = pyarrow.Table.from_arrays([pyarrow.array(["a"])] * 3, names=["source", "source", "target"])
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(DataError, match=r"a\.parquet: has 2 columns source; give each its own name"):
        read(tmp_path / "a.parquet")
    path = write(tmp_path / "b.parquet", source=[["a"]], target=["b"], n=[1])
    with pytest.raises(DataError, match=r"b\.parquet: its column source holds list<.*>, not text: name others by"):
        read(path)
    with pytest.raises(DataError, match="its column n holds int64, not text"):
        read(path, ("target", "n"))
    with pytest.raises(DataError, match=r"its column source holds list<.*>, not numbers"):
        read(write(path, a=["a"], b=["b"], source=[["a"]]), ("a", "b", "source"))
