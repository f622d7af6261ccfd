"""Deduplication and cap against a plain reference in memory, for any number of buckets and size of blocks."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.pairs import dedupe, pair_file
from psp.pairs.mix import mix
from tests.pairs.conftest import SHARDS, on_a_full_disk, order, pairs, read, reference, run_child, side, write


def run_dedupe(rows: list[tuple[str, str]], folder: Path, **settings_: object) -> tuple[list[tuple[str, ...]], dict]:
    arguments = {"corpus": "C", "cap": None, "seed": 1, **settings_}
    out, report = folder / "out.tsv", folder / "out.json"
    summary = dedupe.dedupe_corpus(write(folder / "in.tsv", rows), out, report, **arguments)
    assert json.loads(report.read_text()) == summary
    return read(out), summary


# --- one corpus ---------------------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(rows=pairs, cap=st.one_of(st.none(), st.integers(1, 10)), seed=st.integers(0, 3), block=st.integers(1, 50))
def test_dedupe_equals_the_reference_for_any_buckets_and_blocks(tmp_path_factory, rows, cap, seed, block):
    folder = tmp_path_factory.mktemp("dedupe")
    unique = reference(rows, dedupe.seed_for(seed, "corpus C"))
    expected = unique if cap is None else unique[:cap]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_file, "BLOCK_BYTES", block)
        for shards in SHARDS:
            kept, counts = run_dedupe(rows, folder, cap=cap, seed=seed, shards=shards)
            assert kept == expected
            assert counts == {
                "format": 1,
                "corpus": "C",
                "seen": len(rows),
                "duplicates": len(rows) - len(unique),
                "capped": len(unique) - len(expected),
                "kept": len(expected),
            }


def highest(rows: list[tuple[str, str, float]], seed: int) -> list[tuple[str, ...]]:
    """The plain reference: of each pair the row with the highest score, of those the first."""
    best: dict[tuple[str, str], tuple[str, str, float]] = {}
    for row in rows:
        held = best.setdefault((row[0].lower(), row[1].lower()), row)
        if row[2] > held[2]:
            best[row[0].lower(), row[1].lower()] = row
    ordered = sorted(best.values(), key=lambda row: order(row, seed))
    return [(source, target, repr(score)) for source, target, score in ordered]


scored = st.lists(
    st.tuples(side, side, st.sampled_from([0.1, 0.25, 1e-07, -3.0, 1.0, 0.30000000000000004])), max_size=40
)


@settings(max_examples=30)
@given(
    rows=scored,
    cap=st.one_of(st.none(), st.integers(1, 10)),
    block=st.integers(1, 50),
    translation=st.sampled_from([(), ("-1.5",)]),
)
@example(rows=[("a", "b", 0.5), ("A", "b", 0.5)], cap=None, block=50, translation=())
@example(rows=[("a", "b", 0.25), ("A", "b", 1.0), ("a", "B", 0.1)], cap=None, block=50, translation=())
def test_the_copy_with_the_highest_score_stays_for_any_buckets_and_blocks(
    tmp_path_factory, rows, cap, block, translation
):
    """Translation scores are left out."""
    folder = tmp_path_factory.mktemp("scored")
    unique = highest(rows, dedupe.seed_for(1, "corpus C"))
    expected = unique if cap is None else unique[:cap]
    write(folder / "in.tsv", [(*sides, repr(score), *translation) for *sides, score in rows])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_file, "BLOCK_BYTES", block)
        for shards in SHARDS:
            out = folder / "out.tsv"
            counts = dedupe.dedupe_corpus(
                folder / "in.tsv", out, folder / "r.json", corpus="C", cap=cap, seed=1, shards=shards
            )
            assert read(out) == expected
            assert counts["duplicates"] == len(rows) - len(unique)
            assert counts["capped"] == len(unique) - len(expected)


def test_a_hash_collision_costs_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(dedupe, "_hashes", lambda keys, seed: b"\x80" * 16 * len(list(keys)))
    rows = [("a", "b"), ("c", "d"), ("a", "b"), ("e", "f")]
    assert run_dedupe(rows, tmp_path)[0] == [("a", "b"), ("c", "d"), ("e", "f")]


# --- faults -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (b"a\tb\n" * 1000 + b"only one\n", 1001, "1 columns where a pair has 2"),
        (b"a\tb\t1\n" + b"a\tb\thigh\n", 2, "the score 'high' is not a finite number"),
        (b"a\tb\n" * 77 + "é\té".encode()[:-1], 78, "not UTF-8"),
    ],
)
def test_a_bad_row_is_named(tmp_path, monkeypatch, content, line, message):
    monkeypatch.setattr(pair_file, "BLOCK_BYTES", 64)
    bad = tmp_path / "bad.tsv"
    bad.write_bytes(content)
    with pytest.raises(DataError, match=message) as error:
        dedupe.dedupe_corpus(bad, tmp_path / "o", tmp_path / "r", corpus="C", cap=None, seed=1)
    assert f"{bad}, line {line}:" in str(error.value)
    with pytest.raises(DataError, match=message):
        mix([("C", bad)], tmp_path / "o", tmp_path / "h", tmp_path / "r", heldout_pairs=0, seed=1)
    assert list(tmp_path.iterdir()) == [bad]


WORK = {
    "dedupe": "dedupe_corpus(Path('in.tsv'), o, r, corpus='C', cap=None, seed=1, shards=4)",
    "mix": "mix([('C', Path('in.tsv'))], o, d, r, heldout_pairs=9, seed=1, shards=4)",
}


@pytest.mark.parametrize("stage", WORK)
@pytest.mark.parametrize("limit", [10_000, 100_000])  # fails while dividing rows; while writing the sorted rows
def test_a_full_disk_is_one_clear_error_and_leaves_nothing(tmp_path, stage, limit):
    write(tmp_path / "in.tsv", [(f"source {number}", f"target {number}") for number in range(8_000)])  # 230 kB
    on_a_full_disk(tmp_path, limit, WORK[stage])


KILLED = """
import os, signal, sys
from pathlib import Path
from psp.pairs import dedupe
from psp.pairs.mix import mix
from psp.pairs import pair_file
pair_file.BLOCK_BYTES = 1000
calls = iter(range(5))
real = dedupe._hashes
def hashes(keys, seed):
    if next(calls) == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(keys, seed)
dedupe._hashes = hashes
folder = Path(sys.argv[1])
dedupe.dedupe_corpus(folder / "in.tsv", folder / "out.tsv", folder / "out.json", corpus="C", cap=None, seed=1)
"""


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path):
    rows = [(f"source {number}", f"target {number}") for number in range(1000)]
    write(tmp_path / "in.tsv", rows)
    assert run_child(KILLED, tmp_path).returncode == -9
    assert not (tmp_path / "out.tsv").exists()
    left = {path.name for path in tmp_path.iterdir()} - {"in.tsv"}
    assert any(name.endswith(".tmp") for name in left)
    alive = tmp_path / f".out.tsv.{socket.gethostname()}.1.tmp"  # process 1 lives, its folder is not ours to remove
    alive.mkdir()
    kept, _ = run_dedupe(rows, tmp_path)
    assert len(kept) == 1000
    assert {path.name for path in tmp_path.iterdir()} == {"in.tsv", "out.tsv", "out.json", alive.name}


MEMORY = """
import sys
from pathlib import Path
from psp.pairs import dedupe
from psp.pairs.mix import mix
from psp.pairs import pair_file
pair_file.BLOCK_BYTES = 1 << 18
dedupe.BUCKET_BYTES = 1 << 20
folder, rows, distinct = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
with (folder / "in.tsv").open("w") as file:
    for row in range(rows):
        file.write(f"the source sentence number {row % distinct}\\tthe sentence aimed at, number {row % distinct}\\n")
dedupe.dedupe_corpus(folder / "in.tsv", folder / "d.tsv", folder / "d.json", corpus="C", cap=None, seed=1)
# two inputs, of which the second is all duplicates
inputs = [("C", folder / "d.tsv"), ("D", folder / "in.tsv")]
mix(inputs, folder / "m.tsv", folder / "h.tsv", folder / "m.json", heldout_pairs=100, seed=1)
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc to measure a process's peak memory")
def test_memory_does_not_grow_with_the_corpus(tmp_path):
    def peak(rows: int, distinct: int) -> float:
        child = run_child(MEMORY, tmp_path, rows, distinct)
        assert child.returncode == 0, child.stderr
        return int(child.stdout) / 1024

    small = peak(50_000, 50_000)  # 3.6 MB
    assert peak(400_000, 400_000) - small < 10  # MB, of a corpus that grew by 25
    assert peak(400_000, 3) - small < 10  # one bucket gets nearly all rows
