"""Test sets as they are published: every layout of the STS sets, a user's own file, and Tatoeba."""

import contextlib
import os
import zipfile
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.evaluation import testsets
from psp.text.languages import TATOEBA
from tests.conftest import odd_text


def write_set(folder: Path, name: str, similarities, gold) -> None:
    """A SemEval set as released: a file of sentence pairs, and one of their scores."""
    folder.mkdir(parents=True, exist_ok=True)
    pairs = "".join(f"a\t{float(value)!r}\n" for value in similarities)
    (folder / f"STS.input.{name}.txt").write_text(pairs)
    (folder / f"STS.gs.{name}.txt").write_text("".join(f"{value}\n" for value in gold))


def read(root: Path, year: str, name: str) -> testsets.StsSet:
    with testsets.StsSource(root) as source:
        return source.semeval(year, name)


@pytest.fixture
def one_set(tmp_path):
    folder = tmp_path / "STS15-en-test"
    write_set(folder, "images", [0.1, 0.2, 0.3], [1, 2, 3])
    return folder


def test_unlabelled_pairs_are_left_out(one_set):
    (one_set / "STS.gs.images.txt").write_text("1.5\n\n 3\n")
    data = read(one_set.parent, "2015", "images")
    assert data.b == ["0.1", "0.3"]
    assert data.gold.tolist() == [1.5, 3.0]


def test_only_line_feeds_end_a_line(one_set):
    (one_set / "STS.input.images.txt").write_bytes("a\u2028b\t1\r\nc\x85\rd\t2\r\ne\t3\r\n".encode())
    (one_set / "STS.gs.images.txt").write_bytes(b"1\r\n\r\n3\r\n")
    data = read(one_set.parent, "2015", "images")
    assert data.a == ["a\u2028b", "e"]
    assert data.b == ["1", "3"]


@pytest.mark.parametrize("top", ["", "STS/"])
@pytest.mark.parametrize("packed", [True, False])
def test_archive_and_folder_give_the_same(tmp_path, top, packed):
    folder = tmp_path / "data" / top / "STS15-en-test"
    write_set(folder, "images", [0.1, 0.2, 0.3], [1, 2, 3])
    path = tmp_path / "data"
    if packed:
        path = tmp_path / "STS.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.mkdir(f"{top or 'STS15-en-test/'}")
            for file in sorted(folder.iterdir()):
                archive.write(file, f"{top}STS15-en-test/{file.name}")
                archive.writestr(f"__MACOSX/STS15-en-test/{file.name}", b"\0")
    data = read(path, "2015", "images")
    assert data.b == ["0.1", "0.2", "0.3"]
    with pytest.raises(testsets.MissingSetError, match=r"no STS15-en-test/STS\.input\.belief\.txt in"):
        read(path, "2015", "belief")


@pytest.mark.parametrize(
    ("pairs", "gold", "message"),
    [
        (b"a\tb\nc\n", b"1\n2\n", r"STS\.input\.images\.txt, line 2: 1 columns instead of 2"),
        (b"a\tb\nc\td\te\n", b"1\n2\n", r"STS\.input\.images\.txt, line 2: 3 columns instead of 2"),
        (b"a\tb\nc\t \n", b"1\n2\n", r"STS\.input\.images\.txt, line 2: an empty sentence"),
        (b"a\tb\nc\t\xff\n", b"1\n2\n", r"STS\.input\.images\.txt, line 2: not UTF-8"),
        (b"a\tb\nc\td\n", b"1\nx\n", r"STS\.gs\.images\.txt, line 2: the score 'x' is not a number"),
        (b"a\tb\nc\td\n", b"5\n5.1\n", r"STS\.gs\.images\.txt, line 2: the score 5\.1 is not between 0 and 5"),
        (b"a\tb\nc\td\n", b"-1\n2\n", r"STS\.gs\.images\.txt, line 1: the score -1 is not between 0 and 5"),
        (b"a\tb\nc\td\n", b"nan\n2\n", r"STS\.gs\.images\.txt, line 1: the score 'nan' is not a number"),
        (b"a\tb\nc\td\n", b"1\n", r"STS\.gs\.images\.txt: 1 scores for the 2 pairs"),
        (b"a\tb\n", b"1\n2\n", r"STS\.gs\.images\.txt: 2 scores for the 1 pairs"),
        (b"a\tb\n", b"\n", r"STS\.gs\.images\.txt: no scored pairs"),
    ],
)
def test_malformed_files_are_named(one_set, pairs, gold, message):
    (one_set / "STS.input.images.txt").write_bytes(pairs)
    (one_set / "STS.gs.images.txt").write_bytes(gold)
    with pytest.raises(DataError, match=message):
        read(one_set.parent, "2015", "images")


def test_a_track_may_have_more_pairs_than_scores(tmp_path):
    write_set(tmp_path / "STS17-test", "track6.tr-en", [0.1, 0.2, 0.3], [1, 2])
    assert len(read(tmp_path, "2017", "track6.tr-en")) == 2
    write_set(tmp_path / "STS17-test", "track6.tr-en", [0.1], [1, 2])
    with pytest.raises(DataError, match="2 scores for the 1 pairs"):
        read(tmp_path, "2017", "track6.tr-en")


def test_the_benchmark_is_not_quoted_and_may_have_more_columns(tmp_path):
    (tmp_path / "STSBenchmark").mkdir()
    path = tmp_path / "STSBenchmark" / "sts-dev.csv"
    path.write_bytes(b'g\tf\t2012\t0001\t2.5\t"a, b\tc"\ng\tf\t2012\t0002\t4\td\te\tsource\tsource\n')
    with testsets.StsSource(tmp_path) as source:
        data = source.benchmark("dev")
    assert (data.a, data.b, data.gold.tolist()) == (['"a, b', "d"], ['c"', "e"], [2.5, 4.0])
    path.write_bytes(b"g\tf\t2012\t0001\t2.5\ta\n")
    with testsets.StsSource(tmp_path) as source, pytest.raises(DataError, match=r"sts-dev\.csv, line 1: 6 columns"):
        source.benchmark("dev")


def test_sources_that_cannot_be_used(tmp_path):
    with pytest.raises(DataError, match=r"cannot be read \(No such file"):
        testsets.StsSource(tmp_path / "absent.zip")
    with pytest.raises(DataError, match="no STS data in it"):
        testsets.StsSource(tmp_path)
    (tmp_path / "STS.zip").write_bytes(b"<html>404</html>")
    with pytest.raises(DataError, match="not a zip archive"):
        testsets.StsSource(tmp_path / "STS.zip")
    with zipfile.ZipFile(tmp_path / "twice.zip", "w") as archive:
        archive.writestr("STS/STS15-en-test/STS.gs.images.txt", "1")
        archive.writestr("old/STS15-en-test/STS.gs.images.txt", "2")
    with pytest.raises(DataError, match=r"holds STS15-en-test/STS\.gs\.images\.txt twice"):
        testsets.StsSource(tmp_path / "twice.zip")


def test_a_damaged_archive_is_named(tmp_path):
    path = tmp_path / "STS.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("STS15-en-test/STS.input.images.txt", "PLAIN TEXT\tb\n")
        archive.writestr("STS15-en-test/STS.gs.images.txt", "1\n")
    path.write_bytes(path.read_bytes().replace(b"PLAIN TEXT", b"PLAIN TEXX"))
    with pytest.raises(DataError, match=r"STS\.zip: damaged .*download it again"):
        read(path, "2015", "images")


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_any_damaged_byte_of_an_archive_is_harmless_or_one_clear_error(tmp_path, method):
    path = tmp_path / "STS.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("STS15-en-test/STS.input.images.txt", "a cat sleeps\tthe cat sleeps\n" * 3)
        archive.writestr("STS15-en-test/STS.gs.images.txt", "1\n2\n3\n")
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xA8]) + whole[place + 1 :])
        with contextlib.suppress(DataError, testsets.MissingSetError):
            read(path, "2015", "images")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\ta\tb\n\n", "line 2: 1 columns instead of 3: score, sentence, sentence"),
        ("a\tb\t1\n", "line 1: the score 'a' is not a number"),
        ("1\t\tb\n", "line 1: an empty sentence"),
        ("", "no scored pairs"),
    ],
)
def test_a_users_malformed_file(tmp_path, text, message):
    path = tmp_path / "mine.tsv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        testsets.read_file(path)


@pytest.mark.skipif("PSP_DATA" not in os.environ, reason="PSP_DATA, the folder of real data, is not set")
def test_the_released_sets_have_their_known_sizes():
    sizes = {}
    with testsets.StsSource(Path(os.environ["PSP_DATA"]) / "eval" / "sts") as source:
        for year, names in testsets.YEARS.items():
            sizes[year] = [len(source.semeval(year, name)) for name in names]
        tracks = [len(source.semeval("2017", track)) for track in testsets.TRACKS]
        parts = [len(source.benchmark(part)) for part in testsets.BENCHMARK]
        everything = [source.semeval(year, name) for year, names in testsets.YEARS.items() for name in names]
    assert sizes["2012"] == [750, 750, 459, 750, 399]
    assert sizes["2013"] == [189, 750, 561, 750]
    assert sizes["2014"] == [450, 300, 750, 750, 750, 750]
    assert sizes["2015"] == [375, 750, 375, 750, 750]
    assert sizes["2016"] == [254, 249, 230, 244, 209]
    assert tracks == [250] * 7
    assert parts == [1500, 1379]
    assert all(data.gold.min() >= 0 and data.gold.max() <= 5 for data in everything)


#: Sentences that a line of a table can hold.
sentence = odd_text.map(lambda text: text.replace("\n", " ").replace("\t", " ").strip("\r")).filter(str.strip)


#: A byte-order mark, which some editors write at the start of a file.
MARK = "\ufeff"


@given(
    st.lists(st.tuples(st.floats(allow_nan=False, allow_infinity=False), sentence, sentence), min_size=1), st.booleans()
)
def test_any_sentences_of_a_users_file_come_back(tmp_path_factory, rows, marked):
    path = tmp_path_factory.mktemp("mine") / "mine.tsv"
    text = "".join(f"{score!r}\t{a}\t{b}\n" for score, a, b in rows)
    path.write_bytes(((MARK if marked else "") + text).encode())
    data = testsets.read_file(path)
    assert data.name == "mine.tsv" and len(data) == len(rows)
    assert [*zip(data.gold.tolist(), data.a, data.b, strict=True)] == rows


@given(st.lists(st.tuples(sentence, sentence), min_size=1), st.booleans())
def test_any_sentences_of_tatoeba_come_back(tmp_path_factory, rows, marked):
    assume(marked or not any(side.startswith(MARK) for side in rows[0]))
    foreign, english = ([side.strip("\r") for side in sides] for sides in zip(*rows, strict=True))
    files = (((MARK if marked else "") + "\n".join(side)).encode() for side in (foreign, english))
    paths = write_tatoeba(tmp_path_factory.mktemp("tatoeba"), *files)
    assert testsets.read_tatoeba(*paths) == (foreign, english)


def write_tatoeba(folder: Path, foreign: bytes, english: bytes) -> tuple[Path, Path]:
    paths = testsets.tatoeba_files(folder, "fr")
    paths[0].write_bytes(foreign)
    paths[1].write_bytes(english)
    return paths


@pytest.mark.parametrize(
    ("foreign", "english", "message"),
    [
        (b"un\ndeux\n", b"one\n", r"tatoeba\.fra-eng\.fra: 2 lines, but 1 in"),
        (b"un\n \n", b"one\ntwo\n", r"tatoeba\.fra-eng\.fra, line 2: an empty sentence"),
        (b"un\n\xff\n", b"one\ntwo\n", r"tatoeba\.fra-eng\.fra, line 2: not UTF-8"),
        (b"", b"", r"tatoeba\.fra-eng\.fra: no sentences"),
    ],
)
def test_bad_files_of_tatoeba_are_named(tmp_path, foreign, english, message):
    with pytest.raises(DataError, match=message):
        testsets.read_tatoeba(*write_tatoeba(tmp_path, foreign, english))


def test_a_missing_file_of_tatoeba_is_named(tmp_path):
    with pytest.raises(DataError, match=r"tatoeba\.fra-eng\.fra: cannot be read: No such file"):
        testsets.read_tatoeba(*testsets.tatoeba_files(tmp_path, "fr"))


@pytest.mark.parametrize(
    ("language", "iso3"),
    [("fr", "fra"), ("zh", "cmn"), ("sw", "swh"), ("fa", "pes"), ("no", "nob"), ("ceb", "ceb"), ("en", None)],
)
def test_codes_of_tatoeba(language, iso3):
    assert testsets.tatoeba_code(language) == iso3


def test_a_language_without_a_set_of_tatoeba_is_an_error(tmp_path):
    with pytest.raises(DataError, match="Tatoeba has no test set for the language 'en'"):
        testsets.tatoeba_files(tmp_path, "en")


@pytest.mark.skipif("PSP_DATA" not in os.environ, reason="PSP_DATA, the folder of real data, is not set")
def test_the_table_of_codes_is_that_of_the_published_files():
    folder = Path(os.environ["PSP_DATA"]) / "eval" / "tatoeba" / "v1"
    published = {path.name.split(".")[1].removesuffix("-eng") for path in folder.glob("tatoeba.*-eng.eng")}
    assert len(published) == 112
    assert set(TATOEBA.values()) == published
    for language in TATOEBA:
        foreign, english = testsets.read_tatoeba(*testsets.tatoeba_files(folder, language))
        assert 0 < len(foreign) == len(english) <= 1000


def test_a_set_larger_than_any_published_one_is_not_read(tmp_path):
    with zipfile.ZipFile(tmp_path / "STS.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("STS/STS17-test/STS.input.track5.en-en.txt", "a\n" * (5 << 20))
    with testsets.StsSource(tmp_path / "STS.zip") as source, pytest.raises(DataError, match="and no published set has"):
        source.semeval("2017", "track5.en-en")
