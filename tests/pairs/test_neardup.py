"""Near-duplicates: against a plain reference, against known truth, with real faults."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from psp.core.errors import DataError, PspError
from psp.pairs import minhash, neardup, pair_file
from psp.pairs.neardup import SAME_KEY, SIMILAR, remove_near_duplicates
from psp.text.keys import normalised_key
from tests.conftest import write_mixed
from tests.pairs.conftest import on_a_full_disk, similarity

Row = tuple[str, str, int]


def run(rows: list[Row], folder: Path, **options):
    """The rows that stay, the report and the sample."""
    file = write_mixed(folder / "mix.tsv", rows)
    out, report, dropped = folder / "out.tsv", folder / "out.json", folder / "out.dropped.tsv"
    summary = remove_near_duplicates(file, out, report, dropped, **{"labels": ["A", "B"], "threshold": 0.8, **options})
    assert json.loads(report.read_text()) == summary
    kept = [line.split("\t") for line in out.read_text("utf-8").split("\n")[:-1]]
    sample = [tuple(line.split("\t")) for line in dropped.read_text("utf-8").split("\n")[:-1]]
    return [(source, target, int(index)) for source, target, index in kept], summary, sample


def reference(rows: list[Row], threshold: float, seed: int, window: int = neardup.WINDOW):
    """For each row None, or why it goes; by the definition, with all rows in memory."""
    count, width = minhash.divide(threshold)
    signatures = [
        minhash.signatures(minhash.shingles(f"{source}\t{target}\t0\n"), seed)[0].tolist() for source, target, _ in rows
    ]
    keys = [(normalised_key(source), normalised_key(target)) for source, target, _ in rows]
    fate: list[str | None] = [None] * len(rows)
    for row, key in enumerate(keys):
        if all(key) and key in keys[:row]:
            fate[row] = SAME_KEY
    judged = [row for row, key in enumerate(keys) if all(key) and fate[row] is None]
    for row in judged:
        for start in range(0, count * width, width):
            band = signatures[row][start : start + width]
            before = [other for other in judged if other < row and signatures[other][start : start + width] == band]
            for other in before[-window:]:
                equal = sum(a == b for a, b in zip(signatures[row], signatures[other], strict=True))
                if equal / minhash.SLOTS >= threshold:
                    fate[row] = SIMILAR
    return fate


WORDS = st.sampled_from(
    ["the old house", "house", "old", "A red car", "a red cart.", "-", "中文", "blue", "bluer", "!"]
)
SIDES = st.lists(WORDS, max_size=4).map(" ".join)


@settings(max_examples=20)
@given(
    rows=st.lists(st.tuples(SIDES, SIDES, st.integers(0, 1)), max_size=25),
    threshold=st.sampled_from([0.3, 0.5, 0.8, 1.0]),
    window=st.sampled_from([1, 2, 100]),
    seed=st.integers(0, 3),
)
@example(rows=[("aaaa", "b", 0), ("aaaaa", "b", 1)], threshold=1.0, window=1, seed=0)  # the same shingles
def test_equals_the_plain_reference_in_blocks_of_any_size(tmp_path_factory, rows, threshold, window, seed):
    folder = tmp_path_factory.mktemp("neardup")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neardup, "WINDOW", window)
        # The stage makes a seed of its own from the model's.
        patch.setattr(neardup.xxhash, "xxh3_64_intdigest", lambda _, seed: seed)
        results = []
        for block, hashed in ((10, 3), (50, 1), (1 << 20, 99)):
            patch.setattr(pair_file, "BLOCK_BYTES", block)
            patch.setattr(neardup, "_HASHED_ROWS", hashed)
            patch.setattr(neardup, "_COMPARED_ROWS", 1 + hashed)
            results.append(run(rows, folder, threshold=threshold, seed=seed))
    fate = reference(rows, threshold, seed, window)
    assert results == [results[0]] * 3
    kept, summary, sample = results[0]
    assert kept == [row for row, why in zip(rows, fate, strict=True) if why is None]
    for index, entry in enumerate(summary["corpora"]):
        mine = [why for row, why in zip(rows, fate, strict=True) if row[2] == index]
        assert entry == {
            "label": "AB"[index],
            "in": len(mine),
            "same_key": mine.count(SAME_KEY),
            "similar": mine.count(SIMILAR),
            "kept": mine.count(None),
        }
    assert summary["total"]["in"] == len(rows)
    assert [why for why, *_ in sample] == [SAME_KEY] * fate.count(SAME_KEY) + [SIMILAR] * fate.count(SIMILAR)


LETTERS = "abcdefghijklmnopqrstuvwxyz"


def generated(count: int, seed: int) -> list[Row]:
    """Pairs of made-up words, none like another."""
    choose = random.Random(seed)

    def side():
        return " ".join("".join(choose.choices(LETTERS, k=choose.randrange(3, 9))) for _ in range(14))

    return [(side(), side(), choose.randrange(2)) for _ in range(count)]


def edited(row: Row, edits: int, choose: random.Random) -> Row:
    sides = [list(text) for text in row[:2]]
    for _ in range(edits):
        side = choose.choice(sides)
        side[choose.randrange(len(side))] = choose.choice(LETTERS)
    return "".join(sides[0]), "".join(sides[1]), row[2]


def test_small_edits_are_found_and_large_ones_are_not(tmp_path):
    choose = random.Random(2)
    originals = generated(1500, 1)
    copies = [(edited(row, choose.randrange(1, 14), choose), row) for row in originals[:500]]
    marks = [
        ((f"«{source.title()}»", target.upper() + " !", index), None) for source, target, index in originals[500:700]
    ]
    rows = [*originals, *(copy for copy, _ in copies + marks)]
    kept, summary, sample = run(rows, tmp_path)
    staying = set(kept)
    assert staying >= set(originals)  # as rows: an unchanged copy is one of them
    assert not staying & {copy for copy, _ in marks}
    unchanged = [copy for copy, row in copies if copy == row]  # a letter put in its own place
    assert summary["total"]["same_key"] == len(marks) + len(unchanged)
    true = {copy: similarity(copy[:2], row[:2]) for copy, row in copies}
    near = [copy for copy, value in true.items() if 0.88 <= value < 1]  # three standard deviations of the estimate
    far = [copy for copy, value in true.items() if value <= 0.72]
    assert len(near) > 100 and len(far) > 50
    assert not staying & set(near)
    assert staying >= set(far)
    # The sample names the earlier pair and the estimate.
    originals_of = {copy[:2]: row[:2] for copy, row in copies}
    assert len(sample) == 200
    for why, estimate, *texts in sample:
        copy, earlier = tuple(texts[:2]), tuple(texts[2:])
        if why == SIMILAR:
            assert originals_of[copy] == earlier
            assert 0.8 <= float(estimate) <= 1 and abs(float(estimate) - similarity(copy, earlier)) < 0.12
        else:
            assert float(estimate) == 1 and tuple(map(normalised_key, copy)) == tuple(map(normalised_key, earlier))


def test_a_chain_of_small_edits_goes_but_for_its_first_row(tmp_path):
    choose = random.Random(4)
    rows = generated(1, 3)
    for _ in range(30):
        rows.append(edited(rows[-1], 2, choose))
    assert similarity(rows[0][:2], rows[-1][:2]) < 0.6  # the last is no near-duplicate of the only row that stays
    kept, _, _ = run(rows, tmp_path)
    assert kept == rows[:1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\tb\t0\na\tb\n", r"in\.tsv, line 2: 2 columns where a mixed pair has 3"),
        (b"a\tb\t0\nb\tb\t2\n", r"in\.tsv, line 2: the third column is '2', not the index of one of the 2 corpora"),
        (b"a\tb\tx\n", r"in\.tsv, line 1: the third column is 'x', not the index"),
        (None, r"in\.tsv: cannot be read: No such file"),
    ],
)
def test_a_bad_row_is_named_and_nothing_is_left(tmp_path, content, message):
    if content is not None:
        (tmp_path / "in.tsv").write_bytes(content)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(DataError, match=message):
        remove_near_duplicates(
            tmp_path / "in.tsv",
            tmp_path / "o",
            tmp_path / "r",
            tmp_path / "d",
            labels=["A", "B"],
            threshold=0.8,
        )
    assert sorted(tmp_path.iterdir()) == before


def test_without_rensa_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rensa", None)
    with pytest.raises(PspError, match=r"needs rensa: pip install 'paraphrastic\[data\]'"):
        run(generated(2, 1), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mix.tsv"]


@pytest.mark.parametrize("limit", [5_000, 100_000])  # while signatures are written; while the rows are
def test_a_full_disk_is_one_clear_error_and_leaves_nothing(tmp_path, limit):
    rows = generated(500, 1) if limit < 10_000 else [(f"{'x' * 500} {row}", f"y {row}", 0) for row in range(500)]
    write_mixed(tmp_path / "mix.tsv", rows)
    on_a_full_disk(
        tmp_path, limit, "remove_near_duplicates(Path('mix.tsv'), o, r, d, labels=['A', 'B'], threshold=0.8)"
    )
