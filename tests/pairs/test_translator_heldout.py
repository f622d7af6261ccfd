"""What is held out by sentence."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from psp.core.errors import ConfigError, DataError
from psp.pairs.pair_file import read_mixed
from psp.pairs.translator_heldout import DEVELOPMENT, hold_out, read_heldout
from psp.text.keys import normalised_key

CORPORA = ["short", "long", "other"]
#: Few words, so that sentences stand in many rows, on both sides, with other case and punctuation.
TEXT = st.sampled_from(["a", "A!", "a b", "a, b.", "été", "ÉTÉ", "c d", "C D?", "e", "f", "g h", "...", "中", "中。"])
TEXT |= st.integers(0, 60).map(lambda number: f"n {number}")


@given(rows=st.lists(st.tuples(TEXT, TEXT, st.integers(0, 2)), min_size=120, max_size=300))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_pair_of_training_has_a_sentence_that_is_held_out(rows, tmp_path):
    mixed, out, heldout, report = (tmp_path / name for name in ("mix.tsv", "out.tsv", "held.tsv", "report.json"))
    mixed.write_text("".join(f"{source}\t{target}\t{index}\n" for source, target, index in rows), encoding="utf-8")
    try:
        summary = hold_out(mixed, out, heldout, report, corpora=CORPORA, sets={"short": 5, "rest": 7}, development=2)
    except DataError:
        return  # all the same few sentences: nothing is left
    left, sets = list(read_mixed(out)), read_heldout(heldout)
    held = [side for pairs in sets.values() for source, target, _ in pairs for side in (source, target)]
    keys = {normalised_key(side) for side in held}
    assert "" not in keys
    assert not [row for row in left if normalised_key(row[0]) in keys or normalised_key(row[1]) in keys]
    # Nor do two held-out pairs share a sentence; and all else is still there, in order.
    sides = [{normalised_key(side) for side in pair[:2]} for one in sets.values() for pair in one]
    assert sum(map(len, sides)) == len(set().union(*sides))
    lost = [row for row in rows if normalised_key(row[0]) in keys or normalised_key(row[1]) in keys]
    assert [(source, target, int(index)) for source, target, index in left] == [row for row in rows if row not in lost]
    # The counts say so, and each set has its own corpora.
    assert json.loads(report.read_text()) == summary
    assert sum(one["kept"] for one in summary["corpora"]) == len(left)
    assert summary["sets"] == {name: len(sets.get(name, ())) for name in ("short", "rest", DEVELOPMENT)}
    assert {index for _, _, index in sets.get("short", ())} <= {0}
    assert {index for _, _, index in sets.get("rest", ())} <= {1, 2}
    assert len(sets.get("short", ())) <= 5 and len(sets[DEVELOPMENT]) <= 2


def pairs(tmp_path, count):
    mixed = tmp_path / "mix.tsv"
    mixed.write_text("".join(f"source {number}\ttarget {number}\t{number % 2}\n" for number in range(count)))
    return mixed, tmp_path / "out.tsv", tmp_path / "held.tsv", tmp_path / "report.json"


def test_as_many_are_held_out_of_each_corpus_as_the_settings_say(tmp_path):
    summary = hold_out(*pairs(tmp_path, 1000), corpora=["one", "two"], sets={"one": 40, "rest": 200}, development=8)
    assert summary["sets"] == {"one": 40, "rest": 50, DEVELOPMENT: 8}  # at most a tenth of a corpus
    assert sum(one["kept"] for one in summary["corpora"]) == 1000 - 98


def test_too_few_pairs_and_an_unknown_corpus_are_errors_and_leave_no_file(tmp_path):
    files = pairs(tmp_path, 50)
    with pytest.raises(DataError, match=r"mix.tsv: holds 50 pairs, too few to train a translator on"):
        hold_out(*files, corpora=["one", "two"], sets={"rest": 5}, development=5)
    with pytest.raises(ConfigError, match=r"translator.heldout: Tatoeba is not a corpus .* there are one, two"):
        hold_out(*files, corpora=["one", "two"], sets={"Tatoeba": 5}, development=5)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mix.tsv"]
