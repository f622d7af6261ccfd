"""The mixture of corpora, and the pairs held out of it, against a plain reference in memory."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.pairs import dedupe, pair_file
from psp.text.keys import normalised_key
from tests.pairs.conftest import SHARDS, pairs, reference, run_mix


def reference_mix(corpora, heldout_pairs, seed):
    rows = [(*row, str(index)) for index, corpus in enumerate(corpora) for row in corpus]
    unique = reference(rows, dedupe.seed_for(seed, "mix"))
    held, keys = [], set()
    for row in unique:
        mine = {normalised_key(row[0]), normalised_key(row[1])}
        if len(held) < min(heldout_pairs, len(unique) // 10) and "" not in mine and not mine & keys:
            held.append(row)
            keys |= mine
    kept = [row for row in unique if row not in held and not {normalised_key(text) for text in row[:2]} & keys]
    return unique, held, kept


@settings(max_examples=30)
@given(
    corpora=st.lists(pairs, min_size=1, max_size=3),
    heldout_pairs=st.integers(0, 5),
    seed=st.integers(0, 3),
    block=st.integers(1, 300),
)
def test_mix_equals_the_reference_for_any_buckets_and_blocks(tmp_path_factory, corpora, heldout_pairs, seed, block):
    folder = tmp_path_factory.mktemp("mix")
    unique, expected_heldout, expected = reference_mix(corpora, heldout_pairs, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_file, "BLOCK_BYTES", block)
        for shards in SHARDS:
            if not expected:
                with pytest.raises(DataError, match="no pairs are left to train on"):
                    run_mix(corpora, folder, heldout_pairs=heldout_pairs, seed=seed, shards=shards)
                assert sorted(path.name for path in folder.iterdir()) == [f"c{n}.tsv" for n in range(len(corpora))]
                continue
            kept, held, summary = run_mix(corpora, folder, heldout_pairs=heldout_pairs, seed=seed, shards=shards)
            assert held == expected_heldout
            assert kept == expected
            for index, (entry, corpus) in enumerate(zip(summary["corpora"], corpora, strict=True)):
                mine = [sum(row[2] == str(index) for row in rows) for rows in (unique, held, kept)]
                assert entry == {
                    "label": f"c{index}",
                    "in": len(corpus),
                    "duplicates": len(corpus) - mine[0],
                    "heldout": mine[1],
                    "heldout_neighbours": mine[0] - mine[1] - mine[2],
                    "kept": mine[2],
                }
            for name in ("in", "duplicates", "heldout", "heldout_neighbours", "kept"):
                assert summary["total"][name] == sum(entry[name] for entry in summary["corpora"])


@pytest.mark.parametrize("further", [("0.5",), ("0.5", "-0.25")])
def test_scores_are_left_out(tmp_path, further):
    plain = [[(f"a {number}", f"b {number}") for number in range(20)], [("c", "d")]]
    scored = [[(*row, *further) for row in plain[0]], plain[1]]
    assert run_mix(scored, tmp_path)[:2] == run_mix(plain, tmp_path)[:2]


def test_a_small_corpus_gives_a_tenth_and_says_so(tmp_path, caplog):
    rows = [(f"source {number}", f"target {number}") for number in range(100)]
    kept, held, summary = run_mix([rows], tmp_path, heldout_pairs=2000)
    assert (len(kept), len(held)) == (90, 10)
    assert summary["heldout_asked"] == 2000 and summary["total"]["heldout"] == 10
    assert "held out 10 pairs instead of 2,000" in caplog.text


def test_an_empty_mix_says_what_led_there(tmp_path):
    with pytest.raises(DataError, match=r"c0 0, c1 0.*see the counts") as error:
        run_mix([[], []], tmp_path)
    assert str(tmp_path) in str(error.value)
    with pytest.raises(DataError, match="no corpora"):
        run_mix([], tmp_path)
