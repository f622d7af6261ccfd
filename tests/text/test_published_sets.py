"""Which sets are the published ones."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from psp.evaluation import testsets
from psp.text.languages import TATOEBA
from psp.text.published_sets import checksum, is_published, own_name, published, same_domain
from tests.conftest import as_published

LINES = st.lists(st.text(st.characters(blacklist_categories=["Cs"]), min_size=1).map(str.strip), min_size=1, max_size=4)


def test_the_table_has_the_real_sets(psp_data):
    found = {}
    with testsets.StsSource(psp_data / "eval/sts") as source:
        for name, data in testsets.scored_sets(source, frozenset(["en", "ar", "es", "tr"])):
            key = re.sub(r"^STS (\d+) ", r"sts/\1/", name).replace("SemEval-2017 ", "semeval2017/")
            found[key.replace("STS Benchmark ", "stsb/")] = checksum(data.a, data.b, data.gold)
    for iso3 in set(TATOEBA.values()):
        sides = (psp_data / f"eval/tatoeba/v1/tatoeba.{iso3}-eng.{side}" for side in (iso3, "eng"))
        found[f"tatoeba/{iso3}"] = checksum(*testsets.read_tatoeba(*sides))
    assert found == published() and len(found) == 25 + 7 + 2 + 112


@given(LINES, LINES)
def test_line_ends_and_the_way_a_number_is_written_are_no_difference(a, b):
    assert checksum(a, b, [4.0]) == checksum([f"{one} \r" for one in a], [f"\t{one}" for one in b], [float("4.000")])


@given(LINES, LINES, st.data())
def test_another_sentence_order_or_score_is_one(a, b, data):
    at = data.draw(st.integers(0, len(a) - 1))
    other = [*a[:at], a[at] + "x", *a[at + 1 :]]
    before = checksum(a, b, [4.0])
    assert checksum(other, b, [4.0]) != before != checksum(a, b, [4.2])
    assert (checksum(a[::-1], b) == checksum(a, b)) == (a[::-1] == a)


def test_a_figure_is_over_the_published_sets_only_with_all_of_them():
    body = as_published(
        {"tasks": {"sts": {"parts": {"2012": 0, "2013": 0}}, "tatoeba": {"parts": {"fra": 0, "deu": 0}}}}
    )
    for figure in ("sts/2012", "sts/2013/spearman", "tatoeba/fra-eng", "tatoeba/eng-fra", "tatoeba/fra", "tatoeba"):
        assert is_published(body, figure) and own_name(body, figure) is None, figure
    assert not is_published(body, "sts") and own_name(body, "sts") is None  # years are missing, none is another
    del body["sets"]["sts/2013/SMT"]
    assert not is_published(body, "sts/2013") and is_published(body, "sts/2013/spearman")
    body["sets"]["tatoeba/fra"] = "0" * 16
    assert (own_name(body, "tatoeba/fra-eng"), own_name(body, "tatoeba")) == ("own set fra-eng", "own sets")
    assert not is_published(body, "tatoeba") and is_published(body, "tatoeba/deu")
    # Before checksums were kept: named as it was, and nothing stands beside it.
    assert own_name({}, "tatoeba/fra") is None and not is_published({}, "tatoeba/fra")


def test_a_model_trained_on_tatoebas_own_domain_says_so():
    def said(label, kept=9, **other):
        body = {"tasks": {"tatoeba": {"parts": {"fra": 0}}}, "model": "fr"}
        data = {"mix": {"corpora": [{"label": "XNLI.en-fr", "kept": 5}, {"label": label, "kept": kept}]}}
        return same_domain(as_published(body) | {"data": data} | other)

    assert "trained on TatoebaAnki, " in said("TatoebaAnki.en-fr") and "were not removed" in said("Tatoeba.en-fr")
    assert "(the test sets' sentences were removed)" in said("Tatoeba.en-fr", decontaminated={"enabled": True})
    assert said("tatoeba-challenge.en-fr") is said("Europarl.en-fr") is said("Tatoeba.en-fr", kept=0) is None
    assert said("Tatoeba.en-fr", tasks={}) is said("Tatoeba.en-fr", sets={"tatoeba/fra": "0" * 16}) is None
    assert same_domain({"tatoeba": {}}) is None
