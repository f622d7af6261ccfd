"""A lexicon against plain dictionaries, however its counting is divided and its pairs are ordered."""

from __future__ import annotations

import itertools
import random
import tempfile
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from psp.config.blocks.mixing import LexiconBlock
from psp.core.errors import ConfigError, DataError
from psp.pairs.lexicon import build
from psp.pairs.lexicon.build import PairCounts, make_lexicon
from psp.pairs.lexicon.sentences import SentenceSource
from tests.pairs.conftest import ODD
from tests.pairs.lexicon.reference import plain_lexicon

DEFAULTS: dict[str, Any] = LexiconBlock().as_dict()
#: At once, and a few words at a time.
WHOLE: dict[str, int] = {}
PARTS = {"most_products": 9, "most_in_memory": 2}

word = st.sampled_from(["a", "b", "c", "d", "e", "E", "don't", "3", "!", ",", "été", "ßs"])
side = st.lists(word, min_size=1, max_size=7).map(" ".join)
odd = st.text(st.sampled_from(ODD.replace("\r", "")), min_size=1, max_size=6).map(str.strip).filter(bool)
sentence = side | odd.map(lambda text: text.replace("\t", " ").replace("\n", " "))
rows = st.lists(st.tuples(sentence, sentence), min_size=1, max_size=12)


def made(
    folder: Path, given: list[tuple[str, ...]], *, paraphrases: bool = True, asked: Any = (), files: int = 1,
    sizes: dict[str, int] | None = None, **settings: Any,
) -> tuple[list[str], dict[str, Any], PairCounts]:  # fmt: skip
    sources = []
    for number in range(files):
        path = folder / f"{number}.tsv"
        path.write_bytes("".join("\t".join(map(str, row)) + "\n" for row in given[number::files]).encode())
        sources.append(SentenceSource(path.stem, path))
    out = folder / "lexicon.tsv"
    summary, found = make_lexicon(
        sources, out, paraphrases=paraphrases, settings=DEFAULTS | settings, asked=asked, **(sizes or {})
    )
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        [*(source.path.name for source in sources), out.name]
    )
    lines = out.read_bytes().decode().split("\n")
    assert lines.pop() == ""
    return lines, summary, found


@hypothesis.settings(max_examples=15)
@hypothesis.given(rows, st.booleans(), st.integers(1, 3), st.integers(0, 2), st.sampled_from([None, 4]), st.integers())
def test_it_is_that_of_plain_dictionaries(given, paraphrases, min_count, stop_top, within_length, seed):
    """At once or in parts, of one file or three, in any order of pairs: the same bytes, and the same counts."""
    settings = {"min_count": min_count, "stop_top": stop_top, "within_length": within_length}
    expected, plain = plain_lexicon(given, paraphrases=paraphrases, settings=DEFAULTS | settings)
    asked = list(itertools.product(["a", "e", "3", "nowhere"], ["a", "b", "été"]))
    for sizes, files, shuffled in ((WHOLE, 1, False), (PARTS, 3, True)):
        order = random.Random(seed).sample(given, len(given)) if shuffled else given
        with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
            patch.setattr(build, "MOST_WRITTEN", 2 if sizes else build.MOST_WRITTEN)
            wanted = {"paraphrases": paraphrases, "files": min(files, len(given)), **settings}
            try:
                lines, summary, found = made(Path(folder), order, asked=asked, sizes=sizes, **wanted)
            except (ConfigError, DataError):
                assert len(expected) == 1  # nothing but a header
                continue
        assert lines == expected
        assert (summary["pairs"], summary["entries"]) == (plain.pairs, len(expected) - 1)
        counts = [plain.across[pair] for pair in asked]
        # A word that is left out as one of the most frequent counts as unknown.
        assert found.joint.across.tolist() == counts
        for smoothing in (0.1, 2.0):
            known = found.known.tolist()
            for values, of in (
                (found.cross(smoothing), lambda u, v, a=smoothing: plain.cross(u, v, a)),
                *([(found.adjusted(smoothing), lambda u, v, a=smoothing: plain.cross(u, v, a) - plain.within(u, v, a))]
                  if paraphrases else []),
            ):  # fmt: skip
                assert values == pytest.approx(
                    [of(u, v) if one else 0 for (u, v), one in zip(asked, known, strict=True)], abs=1e-9
                )


#: Two words that replace each other, two that stand together, a name on both sides.
ROWS = [
    *[("the big dog barks", "the large dog barks")] * 4,
    *[("a large cat sleeps", "a big cat sleeps")] * 3,
    *[("bob runs home now", "bob walks home now")] * 3,
]


def test_what_replaces_comes_before_what_stands_beside(tmp_path):
    lines, _, found = made(tmp_path, ROWS, min_count=3, asked=[("big", "large"), ("large", "big"), ("dog", "dog")])
    entries = {tuple(line.split("\t")[:2]): line.split("\t")[2:] for line in lines[1:]}
    assert lines[1].startswith("big\tlarge\t7\t")
    assert float(entries["home", "now"][0]) == 6 and ("now", "home") not in entries
    assert float(entries["big", "large"][2]) > float(entries["bob", "home"][2])
    assert not any(u == v for u, v in entries)
    assert found.joint.across.tolist() == [7, 7, 8] and found.joint.within is not None
    assert found.joint.within.tolist() == [[0, 0, 4], [0, 0, 4]]
    # By hand: n = 10 pairs; big and large are in 7 of the 20 sentences each, and never in the same.
    assert found.cross(0)[0] == pytest.approx(np.log(7 * 20 / (7 * 7)))
    assert found.adjusted(0)[0] == found.cross(0)[0]


def test_a_rare_word_that_is_asked_for_is_counted_but_not_listed(tmp_path):
    rows = [*ROWS, ("a rare Gnu", "an odd wildebeest")]
    plain, *_ = made(tmp_path, rows, min_count=3)
    lines, _, found = made(tmp_path, rows, min_count=3, asked=[("gnu", "Wildebeest"), ("gnu", "absent")])
    assert lines == plain and found.known.tolist() == [True, False]
    assert found.joint.across.tolist() == [1, 0] and found.cross(0.1)[1] == 0
    assert found.cross(0.1)[0] == pytest.approx(np.log((1 + 0.1) / (1 / 22 + 0.1)))


def refused(error: type[Exception], folder: Path, given: list[tuple[str, ...]], **settings: Any) -> str:
    with pytest.raises(error) as raised:
        made(folder, given, **settings)
    assert [path.name for path in folder.iterdir()] == ["0.tsv"]  # nothing half-written
    return str(raised.value)


def test_what_cannot_be_is_said_in_a_line(tmp_path):
    scored = [("a b c d", "a b c d", "0.2"), ("a b", "a b", "0.9")]
    assert "min_count is 9, but no word occurs so often" in refused(ConfigError, tmp_path, ROWS[:2], min_count=9)
    said = refused(ConfigError, tmp_path, ROWS[:4], min_count=4, stop_top=30)
    assert "no word beyond the 30 most frequent occurs so often" in said
    apart = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
    said = refused(ConfigError, tmp_path, apart, min_count=2)
    assert "min_count is 2, but no two words occur together that often in the 4 pairs within the limits" in said
    assert "has no scores" in refused(DataError, tmp_path, ROWS, min_score=0.35)
    said = refused(DataError, tmp_path, scored, min_score=0.5, within_length=1, min_count=1)
    assert (
        "none of its 2 pairs is within the limits: 1 score below min_score, 0.5, 1 have a side of more words than "
        in said
    )
    assert "no pairs" in refused(DataError, tmp_path, [])
    bad = [("a b", "c", "good")]
    assert "0.tsv, line 1: the score 'good' is not a finite number" in refused(DataError, tmp_path, bad, min_score=0.5)
    assert "line 2: 3 columns" in refused(DataError, tmp_path, [("a", "b"), ("a", "b", "1")])
    assert "line 1: a side without text" in refused(DataError, tmp_path, [("a", " ")])
    lines, summary, _ = made(tmp_path, scored, min_score=0.5, min_count=1)  # one pair, of two words
    assert summary["corpora"] == [{"label": "0", "read": 2, "low_score": 1, "too_long": 0, "kept": 1}]
    assert [line.split("\t")[:3] for line in lines[1:]] == [["a", "b", "2"]]
