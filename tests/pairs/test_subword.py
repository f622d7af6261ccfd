"""Training and encoding subwords, against sentencepiece called the plain way."""

from __future__ import annotations

import hashlib
import itertools
import json
import logging

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import psp.pairs.subword
from psp.core.errors import ConfigError, DataError, PspError
from psp.pairs.subword import LONGEST_LINE, train_subword
from psp.text.sentencepiece_tokenizer import SentencepieceTokenizer, load_sentencepiece
from tests.conftest import PAIRS, SENTENCES, odd_text, reference_ids, train_sentencepiece, write_mixed


@pytest.fixture
def mixed(tmp_path):
    return write_mixed(tmp_path / "mix.tsv", ((*pair, index % 2) for index, pair in enumerate(PAIRS)))


def train(mixed, folder, **settings):
    settings = {"vocab_size": 150, "character_coverage": 1.0} | settings
    report = train_subword(mixed, folder / "sp.model", report=folder / "sp.json", **settings)
    return load_sentencepiece(folder / "sp.model"), report


def pieces(processor):
    return [processor.id_to_piece(index) for index in range(processor.get_piece_size())]


@pytest.mark.parametrize("coverage", [1.0, 0.98])
def test_it_is_the_model_that_sentencepiece_trains_on_both_sides(mixed, tmp_path, coverage):
    processor, _ = train(mixed, tmp_path, character_coverage=coverage)
    plain = tmp_path / "plain.model"
    plain = load_sentencepiece(train_sentencepiece(plain, character_coverage=coverage, num_threads=1))
    assert pieces(processor) == pieces(plain)
    assert processor.encode(SENTENCES) == plain.encode(SENTENCES)


#: The same words as they are written in the Quran, and in a newspaper.
MARKED = ["إِنَّ القِطَّةَ فِي البَيْتِ", "أُحِبُّ القِطَّةَ", "ذَهَبَ إِلَى المَدْرَسَةِ ١٢"]
BARE = ["ان القطه في البيت", "احب القطة", "ذهب الى المدرسة 12"]


def test_arabic_is_folded_by_the_model_itself(tmp_path):
    mixed = write_mixed(tmp_path / "mix.tsv", [(*pair, 0) for pair in zip(MARKED, BARE, strict=True)] * 20)
    folded, _ = train(mixed, tmp_path, vocab_size=60, normalisation="nmt_nfkc+arabic")
    assert folded.encode(MARKED) == folded.encode(BARE)
    assert not {"\u064e", "أ", "ة", "ى", "١"} & set("".join(pieces(folded)))
    # And by code of our own, which reads the model's rules.
    tokenizer = SentencepieceTokenizer(tmp_path / "sp.model")
    plain, fast = tokenizer.encode(MARKED), tokenizer.encode(MARKED, fast=tokenizer.fast())
    assert plain.ids.tolist() == fast.ids.tolist() == list(itertools.chain.from_iterable(folded.encode(BARE)))
    (tmp_path / "written").mkdir()
    written, _ = train(mixed, tmp_path / "written", vocab_size=60)
    assert written.encode(MARKED) != written.encode(BARE)
    train(mixed, tmp_path / "written", vocab_size=60, normalisation="nmt_nfkc+arabic")
    assert (tmp_path / "written/sp.model").read_bytes() == (tmp_path / "sp.model").read_bytes()


def test_the_report_describes_the_model(mixed, tmp_path):
    processor, report = train(mixed, tmp_path)
    assert report == {
        "format": 1,
        "sentences": len(SENTENCES),
        "asked": 150,
        "vocab_size": processor.get_piece_size(),
        "character_coverage": 1.0,
        "sha256": hashlib.sha256((tmp_path / "sp.model").read_bytes()).hexdigest(),
        "skipped_long": 0,
    }
    assert json.loads((tmp_path / "sp.json").read_text()) == report
    assert [line.split("\t")[0] for line in (tmp_path / "sp.vocab").read_text().split("\n")[:-1]] == pieces(processor)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_same_input_and_threads_give_the_same_bytes(mixed, tmp_path, threads):
    digests = {train(mixed, tmp_path / str(run), threads=threads)[1]["sha256"] for run in range(2)}
    assert len(digests) == 1


@pytest.mark.parametrize(("sample", "sentences"), [(100, 100), (101, 102), (10**6, len(SENTENCES))])
def test_the_sample_is_the_head_of_the_file_both_sides_of_each_pair(mixed, tmp_path, sample, sentences):
    whole = train(mixed, tmp_path / "whole", sample=sample)[1]
    head = write_mixed(tmp_path / "head.tsv", ((*pair, 0) for pair in PAIRS[: sentences // 2]))
    assert whole["sentences"] == sentences
    assert whole == train(head, tmp_path / "head")[1]


def test_nothing_depends_on_separators_inside_a_line(tmp_path):
    rows = [(f"{source}\u2028\r\x85{source}", target, 0) for source, target in PAIRS]
    assert train(write_mixed(tmp_path / "mix.tsv", rows), tmp_path)[1]["sentences"] == 2 * len(rows)


def test_a_small_corpus_gives_a_smaller_vocabulary_and_a_warning(mixed, tmp_path, caplog):
    processor, report = train(mixed, tmp_path, vocab_size=5000)
    assert report["asked"] == 5000
    assert report["vocab_size"] == processor.get_piece_size() < 5000
    (warning,) = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert "5000" in warning and str(report["vocab_size"]) in warning


def test_lines_that_sentencepiece_would_skip_are_counted(mixed, tmp_path, caplog):
    longest = "é" * (LONGEST_LINE // 2)
    rows = [(*pair, 0) for pair in PAIRS]
    longer = write_mixed(tmp_path / "longer.tsv", [*rows, (longest + "e", longest, 0)])
    _, report = train(longer, tmp_path)
    assert (report["sentences"], report["skipped_long"]) == (len(SENTENCES) + 1, 1)
    assert f"1 sentences longer than {LONGEST_LINE} bytes" in caplog.text
    alone = write_mixed(tmp_path / "without.tsv", [*rows, (longest, SENTENCES[0], 0)])
    assert "é" in "".join(pieces(train(alone, tmp_path)[0]))  # the limit's own length is taken


def test_sentencepiece_speaks_in_our_log_and_nowhere_else(mixed, tmp_path, caplog, capfd):
    caplog.set_level(logging.INFO)
    train(mixed, tmp_path)
    assert f"Loaded all {len(SENTENCES)} sentences" in caplog.text
    assert capfd.readouterr() == ("", "")


def test_more_characters_than_pieces_says_how_many_are_needed(mixed, tmp_path):
    with pytest.raises(ConfigError, match=r"write vocab_size: (\d+) or more") as error:
        train(mixed, tmp_path, vocab_size=8)
    needed = int(str(error.value).split("write vocab_size: ")[1].split()[0])
    assert not list(tmp_path.glob("sp.*"))
    with pytest.raises(ConfigError):
        train(mixed, tmp_path, vocab_size=needed - 1)
    assert train(mixed, tmp_path, vocab_size=needed)[1]["vocab_size"] == needed


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"mix\.tsv: no sentence"),
        (b"a\tb\t0\nc\td\n", r"mix\.tsv, line 2: 2 columns"),
        (b"a\tb\t0\na\t\xff\t0\n", r"mix\.tsv, line 2: not UTF-8"),
    ],
)
def test_bad_input_is_named_and_leaves_nothing(tmp_path, content, message):
    mixed = tmp_path / "mix.tsv"
    mixed.write_bytes(content)
    with pytest.raises(DataError, match=message):
        train(mixed, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_missing_file_and_a_sample_of_nothing(tmp_path, mixed):
    with pytest.raises(DataError, match="No such file"):
        train(tmp_path / "nothing.tsv", tmp_path)
    with pytest.raises(ConfigError, match="sample is 0"):
        train(mixed, tmp_path, sample=0)


def test_an_error_of_sentencepiece_is_one_line_and_keeps_the_old_model(mixed, tmp_path):
    (tmp_path / "sp.model").write_bytes(b"old")
    with pytest.raises(PspError, match=r"mix\.tsv: sentencepiece cannot train on this file: .*vocab_size") as error:
        train(mixed, tmp_path, vocab_size=-5)
    assert "\n" not in str(error.value)
    assert (tmp_path / "sp.model").read_bytes() == b"old"


@pytest.mark.parametrize(
    ("child", "message"),
    [
        ("import os; os.kill(os.getpid(), 9)", "killed by signal 9"),
        ("import sys; sys.stdin.read(); sys.exit(5)", "exited with status 5"),
    ],
)
def test_a_sentencepiece_that_dies_is_an_error(mixed, tmp_path, monkeypatch, child, message):
    monkeypatch.setattr(psp.pairs.subword, "_CHILD", child)
    with pytest.raises(DataError, match=message):
        train(mixed, tmp_path)
    assert not list(tmp_path.glob("sp.*"))


@pytest.mark.parametrize("content", [b"", b"x", bytes(range(256)) * 20])
def test_what_is_no_sentencepiece_model_is_refused(tmp_path, content, capfd):
    path = tmp_path / "sp.model"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"sp\.model"):
        load_sentencepiece(path)
    with pytest.raises(DataError, match="cannot be read"):
        load_sentencepiece(tmp_path / "nothing.model")
    assert capfd.readouterr() == ("", "")


@pytest.fixture(scope="module", params=["as trained", "without a word mark in front"])
def tokenizer(request, tmp_path_factory):
    # Only without the word mark, which is a known piece, can a sentence be of unknown pieces alone.
    path = tmp_path_factory.mktemp("sp") / "sp.model"
    return SentencepieceTokenizer(train_sentencepiece(path, add_dummy_prefix=request.param == "as trained"))


@given(texts=st.lists(odd_text, max_size=12), threads=st.sampled_from([1, 2]))
def test_encoding_is_sentencepiece_without_unknown_pieces(tokenizer, texts, threads):
    processor = tokenizer.processor
    encoded, whole = tokenizer.encode_prepared(texts, threads), tokenizer.encode_whole(texts, threads)
    ids, offsets = encoded.ids, encoded.offsets
    expected = [reference_ids(processor, text) for text in texts]
    assert (ids.dtype, offsets.dtype) == (np.int32, np.int64)
    assert offsets.tolist() == [0, *np.cumsum([len(sentence) for sentence in expected], dtype=int).tolist()]
    assert [ids[a:b].tolist() for a, b in itertools.pairwise(offsets)] == expected
    assert whole.ids.tolist() == [number for text in texts for number in processor.encode(text)]


def test_small_languages_have_a_larger_part_of_the_sample(tmp_path):
    arabic = [(f"كلمة {n}", f"word {n}") for n in range(10)]
    rows = [(*pair, index % 2) for index, pair in enumerate(PAIRS[:90])]
    rows[5:5] = [(*pair, 2) for pair in arabic]
    mixed = write_mixed(tmp_path / "mix.tsv", rows)
    languages = [["en", "fr"], ["fr", "en"], ["ar", "en"]]

    def taken(**settings):
        sampled = list(psp.pairs.subword._sampled(mixed, 40, languages, **settings))
        assert [row for row in ((s, t, int(n)) for s, t, n in sampled) if row not in rows] == []
        return sum(index == "2" for _, _, index in sampled), len(sampled)

    assert taken(exponent=1) == (10, 40)  # the head, where they stand
    assert taken(exponent=0.5) == (10, 40)
    assert taken(exponent=0) == (10, 40)  # as many as there are
    half = [pair for pair in rows if pair[2] != 2] + [(*pair, 2) for pair in arabic]
    write_mixed(mixed, half)
    assert taken(exponent=1) == (0, 40)
    assert taken(exponent=0.5) == (10, 40)
    report = train(mixed, tmp_path, sample=80, corpus_languages=languages, language_sampling=0.5)[1]
    assert report["sentences"] == 80
