"""Reading OPUS archives: alignment survives any text, and every kind of damage is named."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from psp.config.blocks.sources import Remote
from psp.core.errors import ConfigError, DataError
from psp.corpora import count_pairs, open_corpus
from psp.corpora.download import fetch
from psp.corpora.opus import member_names
from psp.corpora.opus import read as read_archive
from psp.corpora.rows import BadRow
from tests.corpora.conftest import zipped

EXACT = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
PAIRS = [(f"sentence number {i} {'x' * (i % 7)}", f"phrase numéro {i}") for i in range(400)]


def lines(sentences: list[str]) -> bytes:
    return "".join(f"{sentence}\n" for sentence in sentences).encode()


def archive(path: Path, pairs: list[tuple[str, str]] = PAIRS) -> Path:
    """English-French, as OPUS lays it out, with the members that are not text."""
    return zipped(
        path,
        {
            "README": b"about",
            "LICENSE": b"CC0",
            "Toy.en-fr.en": lines([source for source, _ in pairs]),
            "Toy.en-fr.fr": lines([target for _, target in pairs]),
            "Toy.en-fr.xml": b"<xml/>\n",
        },
    )


def fails(path: Path, languages: tuple[str, str] = ("en", "fr")) -> str:
    with pytest.raises(DataError) as caught:
        list(read_archive(path, "Toy", languages))
    message = str(caught.value)
    assert message.startswith(str(path)) and "\n" not in message
    return message


def test_pairs_come_in_the_order_asked_for(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip")
    assert list(read_archive(path, "Toy", ("en", "fr"))) == PAIRS
    assert list(read_archive(path, "Toy", ("fr", "en"))) == [(french, english) for english, french in PAIRS]


def test_a_folder_of_its_two_files_replaces_an_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(archive(tmp_path / "a.zip")) as packed:
        packed.extractall(tmp_path / "mine")
    fetched = tmp_path / "downloads/en-fr.txt.zip"
    fetch(Remote("opus/Toy/v1/en-fr.txt.zip", (str(tmp_path / "mine"),)), fetched, tmp_path / "record.json")
    assert list(read_archive(fetched, "Toy", ("en", "fr"))) == PAIRS
    for path in (fetched, tmp_path / "mine"):
        assert count_pairs("opus", path, "Toy", ("en", "fr")) == (400, True)
    twice = zipped(tmp_path / "b.zip", {"a/Toy.en-fr.en": b"a\n", "b/Toy.en-fr.en": b"b\n", "Toy.en-fr.fr": b"c\n"})
    assert "two members Toy.en-fr.en (" in fails(twice)


def test_opus_names_of_languages() -> None:
    assert member_names("OpenSubtitles", ("en", "zh_cn")) == (
        "OpenSubtitles.en-zh_cn.en",
        "OpenSubtitles.en-zh_cn.zh_cn",
    )
    assert member_names("Europarl", ("en", "de")) == ("Europarl.de-en.en", "Europarl.de-en.de")


sentence = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]))


@EXACT
@example(pairs=[("a\rb", "ends in\r"), ("a\u2028\u0085b", "x" * 300_000), ("", "a\tb")], kind=zipfile.ZIP_DEFLATED)
@given(pairs=st.lists(st.tuples(sentence, sentence)), kind=st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))
def test_any_text_survives(pairs: list[tuple[str, str]], kind: int, tmp_path: Path) -> None:
    sides = {"Toy.en-fr.en": lines([s for s, _ in pairs]), "Toy.en-fr.fr": lines([t for _, t in pairs])}
    assert list(read_archive(zipped(tmp_path / "a.zip", sides, kind), "Toy", ("en", "fr"))) == pairs


@pytest.mark.parametrize("english, french", [(3, 7), (9, 2), (0, 4), (5, 0)])
def test_unequal_sides_name_both_counts(tmp_path: Path, english: int, french: int) -> None:
    path = zipped(tmp_path / "a.zip", {"Toy.en-fr.en": b"a\n" * english, "Toy.en-fr.fr": b"b\n" * french})
    assert f"Toy.en-fr.en has {english} lines, Toy.en-fr.fr has {french};" in fails(path)
    assert f"Toy.en-fr.fr has {french} lines, Toy.en-fr.en has {english};" in fails(path, ("fr", "en"))


def test_missing_members_are_named_with_those_that_are_there(tmp_path: Path) -> None:
    message = fails(archive(tmp_path / "a.zip"), ("en", "fr_ca"))
    assert "Toy.en-fr_ca.en" in message and "Toy.en-fr_ca.fr_ca" in message and "Toy.en-fr.fr" in message
    message = fails(zipped(tmp_path / "b.zip", {"Toy.en-fr.en": b"a\n"}))
    assert "no member Toy.en-fr.fr (" in message
    assert "nothing" in fails(zipped(tmp_path / "c.zip", {}))


def test_bytes_that_are_not_utf8_name_member_and_line(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"Toy.en-fr.en": b"a\nb\nc\n", "Toy.en-fr.fr": "un\ndeux\né\n".encode("latin-1")})
    *good, bad = open_corpus("opus", path, "Toy", ("en", "fr"))
    assert good == [("a", "un"), ("b", "deux")] and bad == BadRow("row: not UTF-8", "\ufffd")
    with pytest.raises(
        DataError, match=r"a\.zip, line 3: Toy\.en-fr\.fr: not UTF-8 \(byte 1 of the line is 0xe9\); 1 of"
    ):
        list(open_corpus("opus", path, "Toy", ("en", "fr"), max_bad_rows=0))


def test_what_is_not_a_zip(tmp_path: Path) -> None:
    page = tmp_path / "page.zip"
    page.write_bytes(b"<html>Not found</html>")
    assert "not a valid zip" in fails(page)
    assert "No such file" in fails(tmp_path / "absent.zip")
    assert "directory" in fails(tmp_path)


def test_every_truncation_is_found(tmp_path: Path) -> None:
    whole = archive(tmp_path / "whole.zip").read_bytes()
    cut = tmp_path / "cut.zip"
    for size in range(0, len(whole), 97):
        cut.write_bytes(whole[:size])
        assert "not a valid zip" in fails(cut)


def test_a_wrong_checksum_is_found_although_all_lines_were_read(tmp_path: Path) -> None:
    path = zipped(
        tmp_path / "a.zip", {"Toy.en-fr.en": b"one\ntwo\n", "Toy.en-fr.fr": b"un\ndeux\n"}, zipfile.ZIP_STORED
    )
    path.write_bytes(path.read_bytes().replace(b"deux", b"doux"))
    assert "CRC" in fails(path)
    assert "CRC" in fails(path, ("fr", "en"))


@settings(EXACT, max_examples=100)
@given(place=st.floats(0, 1, exclude_max=True), change=st.integers(1, 255))
def test_one_changed_byte_is_harmless_or_an_error(place: float, change: int, tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    if not path.exists():
        archive(path, PAIRS[:12])  # small, so that the headers are a good part of it
    data = bytearray(path.read_bytes())
    data[int(place * len(data))] ^= change
    damaged = tmp_path / "damaged.zip"
    damaged.write_bytes(data)
    try:
        pairs = list(read_archive(damaged, "Toy", ("en", "fr")))
    except DataError as error:
        assert str(error).startswith(str(damaged))
    else:
        assert pairs == PAIRS[:12]


def test_an_encrypted_member_is_named(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip")
    data = bytearray(path.read_bytes())
    # Bit 0 of the flags, in the central directory (8 bytes into each entry) and the local header (6 bytes in).
    for match in re.finditer(rb"PK\x01\x02", bytes(data)):
        data[match.start() + 8] |= 1
    for match in re.finditer(rb"PK\x03\x04", bytes(data)):
        data[match.start() + 6] |= 1
    path.write_bytes(data)
    assert "Toy.en-fr.en is encrypted" in fails(path)


def test_one_language_is_a_mistake_in_the_config(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"Toy: .* not en twice"):
        next(iter(read_archive(tmp_path / "a.zip", "Toy", ("en", "en"))))


@pytest.mark.parametrize("language, total", [("fr", 610_616), ("ar", 84_381)])
def test_real_archives(psp_data: Path, language: str, total: int) -> None:
    counts = {}
    languages = ("en", language)
    for path in sorted(psp_data.glob(f"opus/*/*/moses/{'-'.join(sorted(languages))}.txt.zip")):
        corpus = path.parts[-4]
        counts[corpus] = sum(1 for _ in read_archive(path, corpus, languages))
    assert sum(counts.values()) == total, counts


def test_real_pairs_equal_a_plain_reading(psp_data: Path) -> None:
    path = next(psp_data.glob("opus/Multi30k/*/moses/de-en.txt.zip"))
    with zipfile.ZipFile(path) as opened:
        english, german = (opened.read(f"Multi30k.de-en.{side}").decode().split("\n") for side in ("en", "de"))
    assert english.pop() == german.pop() == ""
    assert list(read_archive(path, "Multi30k", ("en", "de"))) == list(zip(english, german, strict=True))
