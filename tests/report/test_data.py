"""data.json accounts for every pair, from the reports that the real stages write; data.md says the same."""

from __future__ import annotations

import dataclasses
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from psp.config.blocks.sources import Remote
from psp.core.errors import DataError
from psp.core.files import read_json, sha256, write_json
from psp.corpora.download import fetch
from psp.pairs import data_warnings, filters
from psp.pairs.dedupe import dedupe_corpus
from psp.pairs.mix import mix
from psp.pairs.store import Store, write_store
from psp.report.data import SAMPLES, CorpusSource, markdown, report
from tests.conftest import PAIRS, train_sentencepiece
from tests.report.conftest import data

LICENCE = "Some Licence 1.0\n\n  You may   use this text.\nFor anything.\nIn any way.\nAnywhere.\nAnd so on.\n"
#: One corpus from an archive and one from a file of the user's own; what becomes of each row is known.
SHORT = [("one", f"un {number}") for number in range(7)]
EMPTY = [("", "vide")]
ARCHIVE = [*PAIRS[:150], *SHORT, *EMPTY, *PAIRS[:30]]
OWN = [*PAIRS[140:], ("a | pipe", "~~~~ and a fence"), ("the very same", "The very same")]


def run_stages(folder: Path) -> list[CorpusSource]:
    """Filter, deduplicate, mix and encode two corpora; their sources in the config's order."""
    archive, own = folder / "downloads/en-fr.txt.zip", folder / "own.tsv"
    with zipfile.ZipFile(folder / "mirror.zip", "w") as file:
        file.writestr("LICENSE", LICENCE)
    record = Path(f"{archive}.json")
    fetch(Remote("en-fr.txt.zip", (str(folder / "mirror.zip"),), licence="MIT"), archive, record)
    own.write_text("".join(f"{source}\t{target}\n" for source, target in OWN), encoding="utf-8")
    sources = [
        CorpusSource("Made.en-fr", "opus", "v1", "CC0-1.0", archive, record),
        CorpusSource("Own.en-fr", "local", None, None, own, None),
    ]
    judges = filters.build({"length": {"sides": "both", "min": 3, "max": 100}, "identical": {}}, ("en", "fr"))
    for source, rows, cap in zip(sources, (ARCHIVE, OWN), (140, None), strict=True):
        name = source.label.partition(".")[0]
        out, counts, dropped = (
            folder / f"pairs/filter/{source.label}{end}" for end in (".tsv", ".json", ".dropped.tsv")
        )
        filters.filter_corpus(rows, out, counts, dropped, corpus=name, languages=("en", "fr"), filters=judges)
        kept, counts = (folder / f"pairs/dedupe/{source.label}{end}" for end in (".tsv", ".json"))
        dedupe_corpus(out, kept, counts, corpus=name, cap=cap, seed=1)
    mix(
        [(source.label, folder / f"pairs/dedupe/{source.label}.tsv") for source in sources],
        folder / "pairs/mix.tsv", folder / "pairs/heldout.tsv", folder / "pairs/mix.json", heldout_pairs=5, seed=1,
    )  # fmt: skip
    model = train_sentencepiece(folder / "sentencepiece.model")
    labels = [source.label for source in sources]
    write_store(folder / "pairs/mix.tsv", model, folder / "store.h5", languages=["en", "fr"], corpora=labels)
    return sources


def write(
    folder: Path, sources: list[CorpusSource], name: str = "data", near: Path | None = None, **options: Any
) -> dict[str, Any]:
    return report(
        "small", sources, folder / "pairs", folder / "store.h5", folder / f"{name}.json", folder / f"{name}.md",
        languages=["en", "fr"], recipe="psp", near=near, **options,
    )  # fmt: skip


@pytest.fixture
def stages(tmp_path: Path) -> tuple[Path, list[CorpusSource]]:
    return tmp_path, run_stages(tmp_path)


def test_every_pair_is_accounted_for(stages):
    folder, sources = stages
    value = write(folder, sources)
    assert value == read_json(folder / "data.json")
    made, own = value["corpora"]
    assert made["read"] == len(ARCHIVE)
    assert [(entry["filter"], entry["reason"], entry["pairs"]) for entry in made["dropped"]] == [
        ("length", "source too short", 7),
        (None, "empty", 1),
    ]
    assert made["deduplicated"] == {"duplicates": 30, "capped": 10}
    assert own["read"] == len(OWN)
    assert [(entry["filter"], entry["reason"], entry["pairs"]) for entry in own["dropped"]] == [
        ("identical", "identical", 1),
    ]
    assert own["deduplicated"] == {"duplicates": 0, "capped": 0}
    # Rows 140 to 149 are in both; of these some may have fallen to the first one's cap.
    assert 0 <= own["mixed"]["duplicates"] <= 10
    assert value["total"]["mixed"]["heldout"] == 5
    for entry in (made, own):
        gone = sum(reason["pairs"] for reason in entry["dropped"])
        gone += sum(entry["deduplicated"].values()) + sum(entry["mixed"].values())
        assert entry["read"] == gone + entry["kept"]
    total = value["total"]
    assert total["kept"] == made["kept"] + own["kept"] == len((folder / "pairs/mix.tsv").read_text().splitlines())
    assert total["dropped"] == 9
    short, empty = made["dropped"]  # whose samples are rows that were dropped
    assert len(short["samples"]) == SAMPLES
    assert {tuple(row) for row in short["samples"]} <= set(SHORT)
    assert empty["samples"] == [["", "vide"]]
    # Sizes are those of the store.
    with Store(folder / "store.h5") as store:
        block = store.read(0, len(store))
    for index, entry in enumerate(value["corpora"]):
        rows = np.flatnonzero(block.corpus == index)
        for side in ("source", "target"):
            lengths = np.diff(getattr(block, side).offsets)[rows]
            assert entry["pieces"][side] == lengths.sum()
            assert entry["mean_pieces"][side] == pytest.approx(lengths.mean(), abs=0.005)
    # Where they are from, and their licences.
    archive = folder / "downloads/en-fr.txt.zip"
    assert made["source"] == {
        "address": str(folder / "mirror.zip"),
        "bytes": archive.stat().st_size,
        "sha256": sha256(archive),
        "pinned": False,
    }
    # The config may have learned the licence since the download.
    assert made["licence"]["declared"] == "CC0-1.0"
    assert made["licence"]["text"] == (
        "Some Licence 1.0\nYou may use this text.\nFor anything.\nIn any way.\nAnywhere."
    )
    assert own["source"]["address"] == str(folder / "own.tsv")
    assert own["source"]["sha256"] == sha256(folder / "own.tsv")
    assert own["licence"] == {"declared": None, "text": None}


def test_near_duplicates_are_counted_where_they_were_removed(stages):
    folder, sources = stages
    plain = write(folder, sources)
    assert plain["total"]["near_duplicates"] == {}
    mixed = read_json(folder / "pairs/mix.json")["corpora"]
    corpora = [
        {"label": entry["label"], "in": entry["kept"], "same_key": 2, "similar": 1, "kept": entry["kept"] - 3}
        for entry in mixed
    ]
    near = folder / "pairs/near.json"
    write_json(near, {"format": 1, "corpora": corpora})
    lines = (folder / "pairs/mix.tsv").read_bytes().splitlines(keepends=True)
    kept = [line for index in b"01" for line in [line for line in lines if line[-2] == index][3:]]
    (folder / "pairs/kept.tsv").write_bytes(b"".join(kept))
    labels = [source.label for source in sources]
    model = folder / "sentencepiece.model"
    write_store(folder / "pairs/kept.tsv", model, folder / "store.h5", languages=["en", "fr"], corpora=labels)
    value = write(folder, sources, near=near)
    assert value["total"]["near_duplicates"] == {"same_key": 4, "similar": 2}
    assert value["total"]["kept"] == plain["total"]["kept"] - 6
    assert "near-duplicates by MinHash" in (folder / "data.md").read_text()
    with pytest.raises(DataError, match="pairs enter the store"):
        write(folder, sources)


def test_the_same_data_gives_the_same_bytes_without_a_date(stages):
    folder, sources = stages
    write(folder, sources)
    record = read_json(sources[0].record)
    write_json(sources[0].record, {**record, "date": "2001-01-01T00:00:00+00:00"})
    write(folder, sources, "again")
    for ending in ("json", "md"):
        one, two = (folder / f"{name}.{ending}" for name in ("data", "again"))
        assert one.read_bytes() == two.read_bytes()
        assert record["date"][:10] not in one.read_text() and "2001-01-01" not in two.read_text()


def test_the_text_says_what_the_json_says(stages):
    folder, sources = stages
    value = write(folder, sources)
    text = (folder / "data.md").read_text(encoding="utf-8")
    assert text == markdown(value) == markdown(json.loads((folder / "data.json").read_text()))
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line[:2] == "| "]
    heading = next(row for row in rows if row[0] == "corpus")
    made = dict(zip(heading, next(row for row in rows if row[0] == "Made.en-fr"), strict=True))
    assert made["licence"] == "CC0-1.0"
    assert made["read"] == str(len(ARCHIVE))
    assert made["dropped by filters"] == "8"
    assert made["duplicates"] == "30"
    assert made["over the cap"] == "10"
    assert made["kept"] == str(value["corpora"][0]["kept"])
    assert next(row for row in rows if row[0] == "all")[1] == ""
    assert "| length | source too short | 7 | 3.72 |" in text
    assert "You may use this text." in text


def test_foreign_text_does_not_break_out_of_the_page():
    sample = [["~~~~", "# no heading"], ["a | b", "x" * 5000]]
    warning = {
        "filter": "custom", "keep": "filters: {custom: []}",
        "corpora": [{"label": "A|B.en-fr", "dropped": 2, "read": 2, "samples": sample}],
    }  # fmt: skip
    value = data(warnings={"pairs": 0, "least": 0, "filters": [warning]})
    value["corpora"][0] |= {
        "label": "A|B.en-fr", "corpus": "A|B", "licence": {"declared": None, "text": None},
        "dropped": [{"filter": "custom", "reason": "a | reason", "pairs": 2, "samples": sample}],
        "kept": 0, "mean_pieces": {"source": None, "target": None},
    }  # fmt: skip
    lines = markdown(value).splitlines()
    fences = [number for number, line in enumerate(lines) if line == "~~~~~"]
    assert len(fences) == 4
    first, second = [number for number, line in enumerate(lines) if "# no heading" in line]
    assert fences[0] < first < fences[1] < fences[2] < second < fences[3]
    assert max(map(len, lines)) < 600
    assert {line.count("|") - line.count("\\|") for line in lines if re.match(r"\| (corpus|A|all)", line)} == {12}


def test_warnings_stand_first_with_three_samples_a_corpus(stages):
    folder, (made, own) = stages
    sources = [dataclasses.replace(made, warn_share=0.03), own]  # 7 of its 188 rows are too short
    value = write(folder, sources)
    kept = value["total"]["kept"]
    (entry,) = value["warnings"]["filters"]
    assert (value["warnings"]["pairs"], value["warnings"]["least"]) == (kept, data_warnings.PAIRS)
    assert (entry["filter"], entry["keep"]) == ("length", "filters: {length: {min: 1}}")
    (corpus,) = entry["corpora"]
    assert (corpus["label"], corpus["dropped"], corpus["read"]) == ("Made.en-fr", 7, len(ARCHIVE))
    assert len(corpus["samples"]) == 3 and {tuple(row) for row in corpus["samples"]} <= set(SHORT)
    text = (folder / "data.md").read_text(encoding="utf-8")
    warnings = text[: text.index("| corpus |")]
    assert f"**Warning**: {kept:,} pairs are few to train on (mix.warn_pairs is {data_warnings.PAIRS:,}): " in warnings
    assert "**Warning**: the length filter dropped 4% of Made.en-fr; to keep such pairs, write " in warnings
    assert len(re.findall(r"^Made.en-fr: one \| un \d$", warnings, flags=re.M)) == 3

    write(folder, [made, own], "quiet", warn_pairs=kept)
    assert "Warning" not in (folder / "quiet.md").read_text(encoding="utf-8")


# ----------------------------------------------------------------------------------------------------- what goes wrong


def refused(folder: Path, sources: list[CorpusSource]) -> str:
    with pytest.raises(DataError) as caught:
        write(folder, sources)
    assert not (folder / "data.json").exists() and not (folder / "data.md").exists()
    return str(caught.value)


@pytest.mark.parametrize(
    ("file", "key", "stage"),
    [
        ("filter/Made.en-fr.json", "seen", "filter"),
        ("filter/Made.en-fr.json", "kept", "filter"),
        ("dedupe/Made.en-fr.json", "duplicates", "dedupe"),
        ("dedupe/Own.en-fr.json", "kept", "dedupe"),
    ],
)
def test_reports_of_different_runs(stages, file, key, stage):
    folder, sources = stages
    path = folder / "pairs" / file
    value = read_json(path)
    write_json(path, {**value, key: value[key] + 1})
    text = refused(folder, sources)
    assert f"pairs enter {stage}" in text
    assert file.partition("/")[2].removesuffix(".json") in text


def test_a_mixture_that_is_not_the_store(stages):
    folder, sources = stages
    value = read_json(folder / "pairs/mix.json")
    value["corpora"][0]["kept"] += 1
    value["corpora"][0]["heldout_neighbours"] -= 1
    write_json(folder / "pairs/mix.json", value)
    assert "pairs enter the store" in refused(folder, sources)


def test_a_store_or_a_mixture_of_other_corpora(stages):
    folder, sources = stages
    assert "its corpora are not those of the model" in refused(folder, sources[::-1])
    value = read_json(folder / "pairs/mix.json")
    value["corpora"].reverse()
    write_json(folder / "pairs/mix.json", value)
    assert "mix.json: its corpora are not those of the model" in refused(folder, sources)


def test_a_report_that_is_missing(stages):
    folder, sources = stages
    (folder / "pairs/filter/Own.en-fr.dropped.tsv").unlink()
    assert "Own.en-fr.dropped.tsv: cannot be read: No such file" in refused(folder, sources)
