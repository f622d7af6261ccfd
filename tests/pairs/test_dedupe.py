"""Deduplication and cap against a plain reference in memory, for any number of buckets and size of blocks."""

from __future__ import annotations

import json
import random
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.pairs import dedupe, pair_file
from psp.pairs.mix import mix
from tests.pairs.conftest import SHARDS, order, pairs, read, reference, run_mix, side, write


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


def write_scored(path: Path, rows: list[tuple[str, str, float]]) -> Path:
    path.write_bytes("".join(f"{source}\t{target}\t{score!r}\n" for source, target, score in rows).encode())
    return path


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
@given(rows=scored, cap=st.one_of(st.none(), st.integers(1, 10)), block=st.integers(1, 50))
def test_the_copy_with_the_highest_score_stays_for_any_buckets_and_blocks(tmp_path_factory, rows, cap, block):
    folder = tmp_path_factory.mktemp("scored")
    unique = highest(rows, dedupe.seed_for(1, "corpus C"))
    expected = unique if cap is None else unique[:cap]
    write_scored(folder / "in.tsv", rows)
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


def test_scores_decide_nothing_else_and_are_left_out_of_the_mixture(tmp_path):
    rows = [(f"source {number % 50}", f"target {number % 40}", number / 1000) for number in range(500)]
    plain = [(source, target) for source, target, _ in rows]
    kept, _ = run_dedupe(plain, tmp_path)
    for shards in (1, 2, 7):
        write_scored(tmp_path / "in.tsv", rows)
        dedupe.dedupe_corpus(
            tmp_path / "in.tsv", tmp_path / "s.tsv", tmp_path / "r.json", corpus="C", cap=None, seed=1, shards=shards
        )
        assert [row[:2] for row in read(tmp_path / "s.tsv")] == kept
        inputs = [("a", tmp_path / "s.tsv"), ("b", write(tmp_path / "b.tsv", [("source 0", "target 0"), ("x", "y")]))]
        mix(inputs, tmp_path / "m.tsv", tmp_path / "h.tsv", tmp_path / "m.json", heldout_pairs=0, seed=1, shards=shards)
        mixed = read(tmp_path / "m.tsv")
        assert set(mixed) == {(*row, "0") for row in kept} | {("x", "y", "1")}
        assert mixed == run_mix([kept, [("source 0", "target 0"), ("x", "y")]], tmp_path)[0]


@pytest.mark.parametrize("score", ["high", "nan", "inf", ""])
def test_a_score_that_is_no_number_names_its_line(tmp_path, score):
    (tmp_path / "in.tsv").write_text(f"a\tb\t0.5\nc\td\t{score}\n")
    with pytest.raises(DataError, match=r"in\.tsv, line 2: the score .* is not a finite number"):
        dedupe.dedupe_corpus(
            tmp_path / "in.tsv", tmp_path / "out.tsv", tmp_path / "r.json", corpus="C", cap=None, seed=1
        )
    (tmp_path / "in.tsv").write_text("a\tb\t0.5\nc\td\n")
    with pytest.raises(DataError, match=r"in\.tsv, line 2: 2 columns where a pair has 3"):
        dedupe.dedupe_corpus(
            tmp_path / "in.tsv", tmp_path / "out.tsv", tmp_path / "r.json", corpus="C", cap=None, seed=1
        )
    assert not (tmp_path / "out.tsv").exists()


def test_the_first_of_pairs_that_differ_in_case_stays_as_it_is(tmp_path):
    rows = [("Hello", "Salut"), ("hello", "salut"), ("HELLO", "SALUT"), ("hello", "bonjour")]
    kept, counts = run_dedupe(rows, tmp_path)
    assert sorted(kept) == [("Hello", "Salut"), ("hello", "bonjour")]
    assert counts["duplicates"] == 2


def test_a_duplicate_of_the_source_alone_is_no_duplicate(tmp_path):
    kept, _ = run_dedupe([("a b", "c"), ("a", "b c"), ("a", "b"), ("c", "a b")], tmp_path)
    assert len(kept) == 4


def test_odd_characters_survive(tmp_path):
    rows = [
        ("a\u2028b", "c\u0085d"),
        ("a\rb", "c\r"),
        ("\0", "x\0y"),
        ("\u2029\u200b", "\x0b\x0c\x1c"),
        ("\ufeffa", "😀"),
    ]
    kept, _ = run_dedupe(rows, tmp_path)
    assert sorted(kept) == sorted(rows)


def test_a_last_line_without_line_feed_counts(tmp_path):
    (tmp_path / "in.tsv").write_bytes(b"a\tb\nc\td")
    out = tmp_path / "out.tsv"
    counts = dedupe.dedupe_corpus(tmp_path / "in.tsv", out, tmp_path / "r.json", corpus="C", cap=None, seed=1)
    assert counts["seen"] == 2
    assert sorted(read(out)) == [("a", "b"), ("c", "d")]


def test_the_cap_is_a_fair_choice_that_the_order_of_rows_does_not_change(tmp_path):
    rows = [(f"source {number}", f"target {number}") for number in range(4000)]
    kept, _ = run_dedupe(rows, tmp_path, cap=1000)
    shuffled = random.Random(5).sample(rows, len(rows))
    assert run_dedupe(shuffled, tmp_path, cap=1000)[0] == kept
    # of each quarter 250 are expected, with a standard deviation of 12
    quarters = [sum(row in set(kept) for row in rows[start : start + 1000]) for start in range(0, 4000, 1000)]
    assert all(190 < quarter < 310 for quarter in quarters)
    assert [row for row in rows if row in set(kept)] != kept  # shuffled, too
    for other in ({"corpus": "D"}, {"seed": 2}):
        overlap = len(set(kept) & set(run_dedupe(rows, tmp_path, cap=1000, **other)[0]))
        assert 190 < overlap < 310


def test_an_empty_corpus_gives_an_empty_file(tmp_path):
    kept, counts = run_dedupe([], tmp_path)
    assert kept == []
    assert counts["seen"] == counts["kept"] == 0


def test_a_hash_collision_costs_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(dedupe, "_hashes", lambda keys, seed: b"\x80" * 16 * len(list(keys)))
    rows = [("a", "b"), ("c", "d"), ("a", "b"), ("e", "f")]
    assert run_dedupe(rows, tmp_path)[0] == [("a", "b"), ("c", "d"), ("e", "f")]


# --- faults -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (b"a\tb\n" * 1000 + b"only one\n", 1001, "1 columns where a pair has 2"),
        (b"a\tb\na\tb\tc\n" + b"a\n", 2, "3 columns where a pair has 2"),
        (b"a\tb\n\n", 2, "1 columns where a pair has 2"),
        (b"a\tb\n" * 1000 + b"a\t\xff\n", 1001, "not UTF-8"),
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


def test_a_missing_input_is_named(tmp_path):
    with pytest.raises(DataError, match=r"none\.tsv: cannot be read: No such file"):
        dedupe.dedupe_corpus(tmp_path / "none.tsv", tmp_path / "o", tmp_path / "r", corpus="C", cap=None, seed=1)
    assert list(tmp_path.iterdir()) == []


def run_child(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


FULL_DISK = """
import resource, sys
from pathlib import Path
from psp.pairs import dedupe
from psp.pairs.mix import mix
from psp.core.errors import DataError
folder = Path(sys.argv[1])
# No file may grow past this size: writing fails as on a full disk, with another error number.
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
try:
    if sys.argv[3] == "mix":
        inputs = [("C", folder / "in.tsv")]
        mix(inputs, folder / "o", folder / "h", folder / "r", heldout_pairs=9, seed=1, shards=4)
    else:
        dedupe.dedupe_corpus(folder / "in.tsv", folder / "o", folder / "r", corpus="C", cap=None, seed=1, shards=4)
except DataError as error:
    print(error)
"""


@pytest.mark.parametrize("stage", ["dedupe", "mix"])
@pytest.mark.parametrize("limit", [10_000, 100_000])  # fails while dividing rows; while writing the sorted rows
def test_a_full_disk_is_one_clear_error_and_leaves_nothing(tmp_path, stage, limit):
    write(tmp_path / "in.tsv", [(f"source {number}", f"target {number}") for number in range(8_000)])  # 230 kB
    child = run_child(FULL_DISK, tmp_path, limit, stage)
    assert "cannot be written: File too large; free space" in child.stdout, child.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["in.tsv"]


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
