"""Word vectors in every format that people have them in, and what is said of files that are cut off or damaged."""

from __future__ import annotations

import gzip
import logging
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.models.word_vectors import WordVectors, read_vectors
from psp.text.words import words

TABLE = {"the": [0.5, -1.25, 3e-05], "house": [1.0, 2.0, -0.1], "Été": [0.0, 7.5, 0.25], "🙂": [1.0, 1.0, 1.0]}
WORDS = len(TABLE)


def text(table: dict[str, list[float]], separator: str = " ", end: str = "\n") -> bytes:
    return "".join(separator.join([word, *map(repr, row)]) + end for word, row in table.items()).encode()


def binary(table: dict[str, list[float]], end: bytes = b"\n") -> bytes:
    rows = (word.encode() + b" " + np.array(row, "<f4").tobytes() + end for word, row in table.items())
    return b"%d %d\n" % (len(table), len(next(iter(table.values())))) + b"".join(rows)


HEADER = b"%d 3\n" % WORDS
FORMATS = {
    "glove.txt": text(TABLE),
    "word2vec.txt": HEADER + text(TABLE),
    "fasttext.vec": HEADER + text(TABLE, end=" \n"),
    "tabs.txt": text(TABLE, separator="\t"),
    "dos.txt": text(TABLE, end="\r\n"),
    "two-spaces.txt": text(TABLE, separator="  "),
    "word2vec.bin": binary(TABLE),
    "gensim.bin": binary(TABLE, end=b""),
    "glove.txt.gz": gzip.compress(text(TABLE)),
    "word2vec.bin.gz": gzip.compress(binary(TABLE)),
}


def write(folder: Path, content: bytes, name: str = "vectors.txt") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def as_dict(vectors: WordVectors) -> dict[str, list[float]]:
    return {word: vectors.vectors[row].tolist() for word, row in vectors.index.items()}


def rounded(table: dict[str, list[float]]) -> dict[str, list[float]]:
    return {word: np.array(row, np.float32).tolist() for word, row in table.items()}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_table(tmp_path, name):
    vectors = read_vectors(write(tmp_path, FORMATS[name], name))
    assert as_dict(vectors) == rounded(TABLE)
    assert (vectors.vectors.dtype, vectors.dim) == (np.float32, 3)


@settings(max_examples=50)
@given(
    table=st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs", "Z", "C"]), min_size=1, max_size=5),
        st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=4, max_size=4),
        min_size=1,
    ),
)
@example(table={"0": [0.004999999888241291, 0.0, 0.0, 0.0]})  # whose first byte is a line feed
def test_text_and_binary_round_trip(tmp_path_factory, table):
    folder = tmp_path_factory.mktemp("vectors")
    for content in (text(table), b"%d 4\n" % len(table) + text(table), binary(table), binary(table, b"")):
        vectors = read_vectors(write(folder, content))
        assert vectors.index.keys() == table.keys()
        # The parser may be half a unit of the last place away from the nearest number.
        expected = np.array([table[word] for word in vectors.index], np.float32)
        np.testing.assert_allclose(vectors.vectors, expected, rtol=1e-6, atol=1e-37)


def test_a_word_is_known_in_any_unicode_form(tmp_path):
    vectors = read_vectors(write(tmp_path, FORMATS["glove.txt"]))
    known = vectors.embed(["Été house", "x"])
    odd = vectors.embed(["E\u0301te\u0301 ｈｏｕｓｅ", "\ufeffÉ\u00adté hou\u200bse", "x"])
    assert known[0].any() and not odd[2].any()
    np.testing.assert_array_equal(odd[:2], known[[0, 0]])


@pytest.mark.parametrize("name", ["glove.txt", "word2vec.txt", "word2vec.bin"])
def test_a_limit_and_a_vocabulary(tmp_path, name):
    path = write(tmp_path, FORMATS[name], name)
    assert list(read_vectors(path, limit=2).index) == ["the", "house"]
    some = read_vectors(path, vocabulary={"Été", "the", "other"})
    assert as_dict(some) == {word: row for word, row in rounded(TABLE).items() if word in ("the", "Été")}
    assert list(read_vectors(path, limit=100).index) == list(TABLE)
    with pytest.raises(DataError, match="none of the wanted words"):
        read_vectors(path, vocabulary={"other"})


def test_many_words_in_many_blocks(tmp_path):
    generator = np.random.default_rng(1)
    rows = generator.standard_normal((2500, 5)).astype(np.float32)
    table = {f"w{number}": row.tolist() for number, row in enumerate(rows)}
    for content in (text(table), binary(table)):
        vectors = read_vectors(write(tmp_path, content))
        assert list(vectors.index) == list(table)
        np.testing.assert_allclose(vectors.vectors, rows, rtol=1e-6)


def test_words_twice_with_spaces_and_not_in_utf_8(tmp_path, caplog):
    content = b"a 1.5 2.5\na 3.5 4.5\n. . 5.5 6.5\nat x@y.z 1.5 0.5\n\xff\xfe 7.5 8.5\nlast 9.5 0.5\n"
    with caplog.at_level(logging.WARNING):
        vectors = read_vectors(write(tmp_path, content))
    assert as_dict(vectors) == {"a": [1.5, 2.5], ". .": [5.5, 6.5], "at x@y.z": [1.5, 0.5], "last": [9.5, 0.5]}
    assert "1 words are not UTF-8" in caplog.text


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"2 1\na 1.5\n\xff 2.5\n", "3: not UTF-8"),
        (b"a 1.5\nb 2.5\na 3.5\n", "3: 'a' has a vector in line 1 already"),
        (b"x 1.5\nb 2.5\nx 3.5\n", "3: 'x' has a vector"),  # not a wanted word either
    ],
)
def test_a_strict_reader_takes_neither(tmp_path, content, said, compressed):
    path = tmp_path / ("v.txt.gz" if compressed else "v.txt")
    path.write_bytes(gzip.compress(content) if compressed else content)
    with pytest.raises(DataError, match=f"line {said}"):
        read_vectors(path, vocabulary={"a", "b"}, strict=True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty, or starts with an empty line"),
        (b"word\n", "line 1: no vectors"),
        (b"a 1 2 3\nb 1 2\n", "line 2: 2 numbers, but the rows before have 3; the file is cut off or damaged"),
        (b"a 1 2 3\n\nb 1 2 3\n", "line 2: 0 numbers"),
        (b"a 1 2 3\nb 1 2 3e-", "line 2: could not convert string to float: b'3e-'"),
        (b"a 1 2 3\nb 1 x 3\nc 1 2 3\n", "line 2: could not convert"),
        (b"a 1 2 3\nb 1 nan 3\n", "line 2: not 3 finite numbers"),
        (b"a 1 2 3\nb 1 inf 3\n", "line 2: not 3 finite numbers"),
        (b"3 2\na 1 2\nb 1 2\n", "cut off: 2 rows of the 3 of its first line"),
        (b"1 2\na 1 2\nb 1 2\n", "line 3: more rows than the 1 of its first line"),
        (b"2 " + b"3" * 5000 + b"\na 1 2 3\n", "line 1"),
    ],
)
def test_text_that_is_cut_off_or_damaged(tmp_path, content, message):
    path = write(tmp_path, content)
    with pytest.raises(DataError, match=message) as caught:
        read_vectors(path)
    assert str(caught.value).startswith(f"{path}") and "\n" not in str(caught.value)


def test_every_cut_of_a_text_row_is_seen_or_warned_of(tmp_path, caplog):
    whole = text(TABLE)
    row = whole.rindex(b"\n", 0, -1) + 1
    for cut in range(row + 1, len(whole)):
        caplog.clear()
        try:
            read_vectors(write(tmp_path, whole[:cut]))
        except DataError as error:
            assert f"line {WORDS}" in str(error)
        else:
            assert "no line feed at its end" in caplog.text


def test_every_cut_of_a_binary_file_is_seen(tmp_path):
    whole = binary(TABLE, end=b"")
    first = whole.index(b"the ") + len(b"the ") + 12
    for cut in range(first, len(whole)):
        with pytest.raises(DataError, match=rf"cut off or damaged at word \d of the {WORDS}"):
            read_vectors(write(tmp_path, whole[:cut]))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (binary(TABLE) + b"more", f"more than the {WORDS} words"),
        (b"2 3\n" + binary(TABLE).partition(b"\n")[2], "more than the 2 words"),
        (b"1 2\na " + np.array([np.nan, 1], "<f4").tobytes(), "word 1 has numbers that are not finite"),
        (b"9 2\na " + np.array([0.1, 1], "<f4").tobytes() + b"x" * 30_000, "cut off or damaged at word 2 of the 9"),
    ],
)
def test_damaged_binary_files(tmp_path, content, message):
    with pytest.raises(DataError, match=message):
        read_vectors(write(tmp_path, content))


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(DataError, match=r"none\.txt: cannot be read: No such file"):
        read_vectors(tmp_path / "none.txt")
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        read_vectors(tmp_path)
    long = gzip.compress(text({f"w{number}": [number + 0.5, 1.5] for number in range(2000)}))
    with pytest.raises(DataError, match="truncated or damaged"):
        read_vectors(write(tmp_path, long[: len(long) // 2], "cut.txt.gz"))
    with pytest.raises(DataError, match="truncated or damaged"):
        read_vectors(write(tmp_path, b"plain text 1 2", "plain.txt.gz"))


# --- sentences ----------------------------------------------------------------------------------------------------


@settings(max_examples=50)
@given(st.lists(st.lists(st.sampled_from(["the", "THE", "house", "House", "Été", "unknown", "!", "🙂"])), max_size=12))
def test_a_sentence_is_the_mean_of_its_known_words(sentences):
    vectors = WordVectors({word: row for row, word in enumerate(TABLE)}, np.array(list(TABLE.values()), np.float32))
    texts = [" ".join(sentence) for sentence in sentences]
    expected = []
    for text_ in texts:
        known = [TABLE.get(word) or TABLE.get(word.lower()) for word in words(text_)]
        known = [row for row in known if row]
        expected.append(np.mean(known, axis=0) if known else np.zeros(3))
    found = vectors.embed(texts)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, np.array(expected).reshape(-1, 3), rtol=1e-5, atol=1e-6)


def test_no_sentence_depends_on_its_neighbours():
    generator = np.random.default_rng(2)
    vectors = WordVectors({f"w{n}": n for n in range(50)}, generator.standard_normal((50, 300)).astype(np.float32))
    texts = [" ".join(f"w{n}" for n in generator.integers(0, 60, size)) for size in generator.integers(0, 20, 400)]
    together = vectors.embed(texts)
    assert all((vectors.embed([text_])[0] == together[row]).all() for row, text_ in enumerate(texts))
