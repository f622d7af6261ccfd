"""The vocabulary: all tokens counted, however little memory there is, and the most frequent kept."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from psp.core.errors import ConfigError, DataError
from psp.core.files import read_json, sha256
from psp.pairs import vocabulary as module
from psp.pairs.store import Store, write_store
from psp.pairs.vocabulary import build_vocabulary
from psp.text.tokenizer_kinds import as_tokenizer
from psp.text.trigram_tokenizer import trigrams
from psp.text.word_tokenizer import split_words
from tests.conftest import PAIRS, SENTENCES, write_mixed

SPLIT = {"word": split_words, "trigram": trigrams}
each = pytest.mark.parametrize("kind", ["word", "trigram"])


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    return write_mixed(tmp_path / "mix.tsv", [(*pair, 0) for pair in PAIRS])


def built(mixed: Path, kind: str, **settings: Any) -> tuple[list[tuple[str, int]], dict[str, Any]]:
    out, report = mixed.with_name("vocabulary.txt"), mixed.with_name("vocabulary.json")
    result = build_vocabulary(mixed, out, kind=kind, report=report, **settings)
    assert read_json(report) == result and result["sha256"] == sha256(out) == as_tokenizer(out).sha256()
    lines = out.read_text(encoding="utf-8").split("\n")[1:-1]
    return [(token, int(count)) for token, count in (line.split("\t") for line in lines)], result


def expected(kind: str, size: int, min_count: int) -> list[tuple[str, int]]:
    counts = Counter(token for text in SENTENCES for token in SPLIT[kind](text))
    kept = [(token, count) for token, count in counts.items() if count >= min_count]
    return sorted(kept, key=lambda entry: (-entry[1], entry[0]))[:size]


@each
@pytest.mark.parametrize(("size", "min_count"), [(200_000, 2), (200_000, 1), (20, 1), (1, 5)])
def test_the_most_frequent_come_first(kind: str, size: int, min_count: int, mixed: Path) -> None:
    entries, report = built(mixed, kind, size=size, min_count=min_count)
    assert entries == expected(kind, size, min_count)
    tokens = [token for text in SENTENCES for token in SPLIT[kind](text)]
    assert (report["sentences"], report["tokens"]) == (len(SENTENCES), len(tokens))
    assert (report["distinct"], report["entries"]) == (len(set(tokens)), len(entries))
    assert report["covered"] == sum(count for _, count in entries)
    assert ("split" in report) == (kind == "word")


@each
def test_neither_memory_nor_the_order_of_pairs_matters(kind: str, mixed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built(mixed, kind)
    content = mixed.with_name("vocabulary.txt").read_bytes()
    monkeypatch.setattr(module, "_BATCH", 7)
    rows = mixed.read_text(encoding="utf-8").splitlines(keepends=True)
    random.Random(1).shuffle(rows)
    mixed.write_text("".join(rows), encoding="utf-8")
    built(mixed, kind, most_in_memory=10)
    assert mixed.with_name("vocabulary.txt").read_bytes() == content
    assert {path.name for path in mixed.parent.iterdir()} == {"mix.tsv", "vocabulary.txt", "vocabulary.json"}


def test_words_may_be_split_at_white_space_alone(tmp_path: Path) -> None:
    mixed = write_mixed(tmp_path / "mix.tsv", [("it's well-known .", "it's, well-known", 0)])
    assert built(mixed, "word", min_count=1, split="whitespace")[0] == [
        ("well-known", 2), (".", 1), ("it's", 1), ("it's,", 1)
    ]  # fmt: skip
    assert built(mixed, "word")[0] == [("-", 2), ("it's", 2), ("known", 2), ("well", 2)]


@each
def test_what_cannot_be_is_said(kind: str, mixed: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=f"vocabulary: min_count is 100000, but no {kind} of .*; write e.g."):
        built(mixed, kind, min_count=100_000)
    assert not mixed.with_name("vocabulary.txt").exists()
    mixed.write_bytes(b"")
    with pytest.raises(DataError, match="no sentences to collect a vocabulary from"):
        built(mixed, kind)
    with pytest.raises(ConfigError, match=r"encoder: subword has no vocabulary .*; word and trigram have one"):
        built(mixed, "subword")


@pytest.mark.parametrize(("words", "dtype"), [(65_535, "uint16"), (65_536, "int32")])
def test_the_store_widens_for_a_large_vocabulary(words: int, dtype: str, tmp_path: Path) -> None:
    texts = [" ".join(f"w{number}" for number in range(first, min(first + 64, words))) for first in range(0, words, 64)]
    mixed = write_mixed(tmp_path / "mix.tsv", [(text, text, 0) for text in texts])
    assert len(built(mixed, "word")[0]) == words
    store = tmp_path / "store.h5"
    write_store(mixed, tmp_path / "vocabulary.txt", store, languages=["en"], corpora=["one"])
    with Store(store) as pairs:
        side = pairs.read(0, len(pairs)).source
        assert str(side.ids.dtype) == dtype and sorted(side.ids.tolist()) == list(range(1, words + 1))
        assert pairs.vocab_size == words + 1
        pairs.check_vocabulary(tmp_path / "vocabulary.txt")
