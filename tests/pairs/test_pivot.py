"""Mining pairs through a shared side, against a plain reading of its definition."""

from __future__ import annotations

import itertools
import json
from collections import Counter, defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.core.errors import ConfigError, DataError
from psp.models.cosines import cosines
from psp.models.registry import load_encoder
from psp.pairs import pivot
from psp.pairs.pivot import Bitext, mine
from psp.text.keys import normalised_key


def write(folder, name, rows):
    path = folder / f"{name}.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8", newline="\n")
    return path


def mined(folder, corpora, **options):
    """The mined rows, and the report; ``corpora`` are lists of (shared, other) by name, or with a side beside it."""
    bitexts = []
    for name, rows in corpora.items():
        side = 0
        if isinstance(rows, tuple):
            rows, side = rows
        bitexts.append(Bitext(name, write(folder, name, rows), 0, side))
    defaults = {"languages": ("en", "en"), "through": "fr", "seed": 1}
    report = mine(bitexts, folder / "out.tsv", folder / "out.json", **{**defaults, **options})
    assert json.loads((folder / "out.json").read_text()) == report
    return [tuple(line.split("\t")) for line in (folder / "out.tsv").read_text().splitlines()], report


# Few words, in spellings with the same letters and digits, so that groups arise.
text = st.sampled_from(
    ["Oui.", "oui", "OUI !", "non", "Non?", "peut-être", "…", "l'été", "L’ÉTÉ", "un 1", "un 2", "a b"]
)
corpora = st.lists(st.lists(st.tuples(text, text), max_size=12), min_size=1, max_size=3).map(
    lambda lists: {f"c{number}": rows for number, rows in enumerate(lists)}
)


def groups_of(corpora):
    """For each key of the shared side: the other side's keys, with all spellings."""
    found = defaultdict(lambda: defaultdict(Counter))
    for rows in corpora.values():
        for shared, other in rows:
            if normalised_key(shared) and normalised_key(other):
                found[normalised_key(shared)][normalised_key(other)][other] += 1
    return {key: members for key, members in found.items() if len(members) > 1}


@given(corpora=corpora)
def test_cover_has_each_sentence_of_a_group_at_least_once(tmp_path_factory, corpora):
    rows, report = mined(tmp_path_factory.mktemp("x"), corpora, max_group=100)
    groups = groups_of(corpora)
    assert report["groups"] == len(groups) and report["sentences"] == sum(map(len, groups.values()))
    assert report["pairs"] == len(rows) == sum(-(-len(members) // 2) for members in groups.values())
    by_key = defaultdict(list)
    for source, target, shared, _ in rows:
        by_key[normalised_key(shared)] += [(normalised_key(source), normalised_key(target))]
    assert by_key.keys() == groups.keys()
    for key, pairs in by_key.items():
        assert {member for pair in pairs for member in pair} == groups[key].keys()
        assert all(one != other for one, other in pairs)
        for source, target, shared, names in rows:
            if normalised_key(shared) == key:
                for side in (source, target):
                    spellings = groups[key][normalised_key(side)]
                    assert spellings[side] == max(spellings.values())
                seen = {
                    n
                    for n, some in corpora.items()
                    for a, b in some
                    if normalised_key(a) == key and normalised_key(b) in map(normalised_key, (source, target))
                }
                assert set(names.split("+")) == seen


@given(corpora=corpora)
def test_all_has_every_pair_of_a_group(tmp_path_factory, corpora):
    rows, _ = mined(tmp_path_factory.mktemp("x"), corpora, pairs="all")
    found = Counter((normalised_key(c), frozenset(map(normalised_key, (a, b)))) for a, b, c, _ in rows)
    expected = {
        (key, frozenset(pair)) for key, members in groups_of(corpora).items()
        for pair in itertools.combinations(members, 2)
    }  # fmt: skip
    assert found.keys() <= expected and set(found.values()) <= {1}
    for key, members in groups_of(corpora).items():
        count = sum(1 for one, _ in found if one == key)
        assert count == min(len(members) * (len(members) - 1) // 2, pivot.MOST)


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    """A file of word vectors in two dimensions, in which some words are alike and `non` is like nothing."""
    path = tmp_path_factory.mktemp("vectors") / "vectors.txt"
    known = {"oui": "1 0", "peut-être": "1 1", "été": "0 1", "un": "1 0.2", "1": "0.1 1", "a": "-1 0.3"}
    path.write_text("".join(f"{word} {numbers}\n" for word, numbers in known.items()), encoding="utf-8")
    return path


@given(corpora=corpora, least=st.sampled_from([-1, 0.0, 0.5, 0.99]), how=st.sampled_from(["cover", "all"]))
def test_a_least_cosine_is_that_of_bitext_that_was_filtered_before(tmp_path_factory, vectors, corpora, least, how):
    """Only repeated translations are embedded, but what comes out is what a filter of all rows leaves."""
    encoder = load_encoder(str(vectors))

    def alike(row):
        return cosines(encoder.embed(row[:1]), encoder.embed(row[1:]))[0] >= least

    given = {"pairs": how, "encoder": str(vectors), "min_cosine": least}
    found, report = mined(tmp_path_factory.mktemp("x"), corpora, **given)
    kept = {name: [row for row in rows if alike(row)] for name, rows in corpora.items()}
    expected, plain = mined(tmp_path_factory.mktemp("x"), kept, pairs=how)
    assert found == expected
    assert {key: report[key] for key in ("groups", "sentences", "pairs", "by_corpus")} == {
        key: plain[key] for key in ("groups", "sentences", "pairs", "by_corpus")
    }
    compared = {
        row for rows in corpora.values() for row in rows
        if normalised_key(row[0]) in groups_of(corpora) and normalised_key(row[0])
    }  # fmt: skip
    assert report["translations"] == {"compared": len(compared), "kept": sum(map(alike, compared))}
    assert plain["translations"] is None


@given(corpora=corpora, random=st.randoms(use_true_random=False), shards=st.integers(1, 9))
def test_the_order_of_the_input_and_the_shards_change_nothing(tmp_path_factory, corpora, random, shards):
    first = mined(tmp_path_factory.mktemp("x"), corpora)
    names = list(corpora)
    random.shuffle(names)
    shuffled = {name: random.sample(corpora[name], len(corpora[name])) for name in names}
    assert mined(tmp_path_factory.mktemp("x"), shuffled, shards=shards) == first


@given(corpora=corpora)
def test_a_collision_of_hashes_joins_no_groups(tmp_path_factory, corpora):
    plain = mined(tmp_path_factory.mktemp("x"), corpora)[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pivot._Buckets, "_hash", lambda self, key: 7)
        same = mined(tmp_path_factory.mktemp("x"), corpora, shards=3)[0]
    assert sorted(same) == sorted(plain)


@given(german=st.lists(st.tuples(text, text), max_size=8), french=st.lists(st.tuples(text, text), max_size=8))
def test_two_languages_give_bitext(tmp_path_factory, german, french):
    rows, report = mined(
        tmp_path_factory.mktemp("x"), {"g": (german, 0), "f": (french, 1)}, languages=("de", "fr"), through="en"
    )
    sides = [defaultdict(set), defaultdict(set)]
    for side, pairs in zip(sides, (german, french), strict=True):
        for shared, other in pairs:
            if normalised_key(shared) and normalised_key(other):
                side[normalised_key(shared)].add(normalised_key(other))
    both = sides[0].keys() & sides[1].keys()
    assert len(rows) == report["pairs"] == sum(max(len(side[key]) for side in sides) for key in both)
    for number, side in enumerate(sides):
        found = defaultdict(set)
        for row in rows:
            found[normalised_key(row[2])].add(normalised_key(row[number]))
        assert found == {key: side[key] for key in both}


def test_large_groups_are_left_out_and_counted(tmp_path):
    rows = [("oui", f"yes {number}") for number in range(6)] + [("non", "no"), ("non", "nope")]
    found, report = mined(tmp_path, {"c": rows}, max_group=5)
    assert [row[2] for row in found] == ["non"]
    assert (report["too_large"], report["groups"], report["sizes"]) == (1, 1, {"2": 1, "6": 1})
    assert report["read"] == {"c": 8} and report["keys"] == 2
    assert report["sample"] == [{"source": found[0][0], "target": found[0][1], "shared": "non", "corpora": ["c"]}]


def test_scores_are_passed_over_and_wrong_input_is_told(tmp_path):
    path = tmp_path / "scored.tsv"
    path.write_text("oui\tyes\t0.5\noui\tyeah\t1\n")
    report = mine([Bitext("c", path, 0)], tmp_path / "out.tsv", None, languages=("en", "en"), through="fr", seed=1)
    assert report["pairs"] == 1
    path.write_text("oui\tyes\noui\n")
    with pytest.raises(DataError, match=r"scored.tsv.*2"):
        mine([Bitext("c", path, 0)], tmp_path / "new.tsv", None, languages=("en", "en"), through="fr", seed=1)
    assert not (tmp_path / "new.tsv").exists()
    with pytest.raises(ConfigError, match=r"pivot\.pairs"):
        mine([], tmp_path / "new.tsv", None, languages=("en", "en"), through="fr", seed=1, pairs="some")
