"""Mined pairs as a file for others, and its card."""

import json

import pytest
import yaml

from psp.core.errors import DataError
from psp.models.registry import load_encoder
from psp.models.similarity import cosines
from psp.pairs.pivot import Bitext, mine
from psp.report.publish import Published, publish

ROWS = [
    (f"Il y a {number} maisons | rouges.", english.format(number))
    for number in range(30)
    for english in ("There are {} red houses.", "Houses, red: {}", "  {} red houses, there are ")
]
ABOUT = Published(
    "Mined-fr", "CC0-1.0 AND MIT", [{"label": "Rooms.en-fr", "version": "v1", "licence": "CC0-1.0 AND MIT"}]
)


@pytest.fixture
def mined(tmp_path):
    """A mined file and the two thirds of it that filters have kept."""
    bitext = tmp_path / "bitext.tsv"
    bitext.write_text("".join(f"{a}\t{b}\n" for a, b in ROWS))
    out, report = tmp_path / "mined.tsv", tmp_path / "mined.json"
    mine([Bitext("Rooms.en-fr", bitext, 0)], out, report, languages=("en", "en"), through="fr", seed=1)
    rows = [line.split("\t") for line in out.read_text().splitlines()]
    kept = [row for number, row in enumerate(rows) if number % 3]
    filtered = tmp_path / "filtered.tsv"
    filtered.write_text("".join(f"{row[0].strip()}\t{row[1].strip()}\n" for row in kept))
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("".join(f"{word} {len(word)} {number}\n" for number, word in enumerate(["red", "there", "are"])))
    return out, filtered, report, kept, str(vectors)


def test_each_pair_has_its_shared_sentence_cosine_and_corpora(mined, tmp_path):
    path, filtered, report, kept, vectors = mined
    out, card = tmp_path / "out.jsonl", tmp_path / "out.md"
    assert publish(path, filtered, report, out, card, ABOUT, encoder=vectors) == len(kept) == 40
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    encoder = load_encoder(vectors)
    sides = [[row[side].strip() for row in kept] for side in (0, 1)]
    scores = cosines(*map(encoder.embed, sides))
    for row, (source, target, shared, _), score in zip(rows, kept, scores, strict=True):
        assert row == {
            "source": source.strip(), "target": target.strip(), "shared": shared, "cosine": round(score, 4),
            "corpora": ["Rooms.en-fr"],
        }  # fmt: skip
    text = card.read_text()
    front = yaml.safe_load(text.split("---")[1])
    assert front["language"] == ["en"] and front["license"] == "other" and front["license_name"] == "CC0-1.0 AND MIT"
    assert front["configs"][0]["data_files"] == "out.jsonl"
    for said in ("40 pairs of sentences", "90 pairs of bitext have 30 distinct translations", "maisons \\| rouges"):
        assert said in text
    again = tmp_path / "again.jsonl"
    publish(path, filtered, report, again, card, ABOUT, encoder=vectors)
    assert again.read_bytes() == out.read_bytes()


def test_parquet_has_the_same_rows(mined, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="not installed (pip install 'paraphrastic[parquet]')")
    path, filtered, report, _, _ = mined
    lines, table = tmp_path / "out.jsonl", tmp_path / "out.parquet"
    for out in (lines, table):
        publish(path, filtered, report, out, tmp_path / "out.md", ABOUT._replace(licence="MIT"))
    rows = [json.loads(line) for line in lines.read_text().splitlines()]
    assert parquet.read_table(table).to_pylist() == rows and "cosine" not in rows[0]
    assert yaml.safe_load((tmp_path / "out.md").read_text().split("---")[1])["license"] == "mit"


def test_pairs_that_were_not_mined_are_told(mined, tmp_path):
    path, filtered, report, _, _ = mined
    filtered.write_text(filtered.read_text() + "never\tseen\n")
    out = tmp_path / "out.jsonl"
    with pytest.raises(DataError, match="holds a pair that was not mined"):
        publish(path, filtered, report, out, tmp_path / "out.md", ABOUT)
    assert not out.exists() and not (tmp_path / "out.md").exists()
    with pytest.raises(DataError, match=r"ends in neither \.jsonl nor \.parquet"):
        publish(path, filtered, report, tmp_path / "out.csv", tmp_path / "out.md", ABOUT)


def test_no_pair_is_a_file_without_rows(mined, tmp_path):
    path, filtered, report, _, _ = mined
    filtered.write_text("")
    assert publish(path, filtered, report, tmp_path / "out.jsonl", tmp_path / "out.md", ABOUT) == 0
    assert (tmp_path / "out.jsonl").read_text() == "" and "0 pairs" in (tmp_path / "out.md").read_text()
