"""Each finding is reported past its threshold, and not before."""

import copy

import pytest

from psp.pairs.inspect.findings import LIMITS, find


def side(language="en", **own):
    labels = {"label": language, "texts": 500, "own": 0.98, "found": [{"name": language, "share": 0.98}]}
    found = {"language": language, "labels": labels, "vowelled": None, "repeated": 0.0}
    return {**found, **own}


REPORT = {
    "warn_pairs": 100,
    "corpora": [
        {
            "label": "Own.en-ar", "rows": 1000, "bad_rows": 0, "empty": 0, "sampled": 1000, "kept": 0.9,
            "duplicates": 0.0, "sides": [side(), side("ar", vowelled=0.0)], "warn_share": 0.2, "samples": [],
            "tests": [{"set": "STS", "sentences": 1000, "found": 0, "pairs": 0, "removed": False}],
            "filters": [{"name": "length", "on": True, "taken": 0.1, "samples": [],
                         "reasons": [{"name": "length: source too short", "share": 0.1}]}],
            "pairs": {
                "copies": 0.0, "numbers": {"pairs": 100, "same": 0.95},
                "ratios": {"pairs": 900, "usual": 0.5, "beyond": 0.001, "samples": []},
                "blocks": {"count": 19, "off": 0, "moves": {"-1": 5}, "run": {"line": 4, "lines": 50}, "samples": []},
                "words": {"pairs": 1000, "own": 0.98, "doubtful": 0.04, "before": 0.05, "after": 0.05, "worst": []},
                "similarity": {"encoder": "x", "pairs": 100, "own": [0.5] * 5, "exchanged": [0.1] * 5, "alike": 0.1},
            },
        }
    ],
}  # fmt: skip


def changed(*changes):
    report = copy.deepcopy(REPORT)
    for place, value in changes:
        *above, last = place.split(".")
        inside = report["corpora"][0]
        for key in above:
            inside = inside[int(key) if key.isdigit() else key]
        inside[int(last) if last.isdigit() else last] = value
    return report


def test_a_sound_corpus_has_no_findings():
    assert find(REPORT) == []


@pytest.mark.parametrize(
    ("kind", "changes", "said"),
    [
        ("words", [("pairs.words.doubtful", "past")], "in 25% of the pairs"),
        ("beside", [("pairs.words.after", "past")], "the line after far better"),
        ("ratio", [("pairs.ratios.beyond", "past")], "`filters: {ratio: {characters: 6}}`"),
        ("numbers", [("pairs.numbers.same", "1 - past")], "have different ones"),
        ("copies", [("pairs.copies", "past")], "are copies"),
        ("similarity", [("pairs.similarity.alike", "past")], "median cosine 0.50"),
        ("duplicates", [("duplicates", "past")], "of 1,000 are left"),
        ("language", [("sides.1.labels.own", "1 - past")], "for ar (Arabic)"),
        ("vowels", [("sides.1.vowelled", "past")], "written with vowel marks"),
    ],
)
def test_a_finding_is_reported_past_its_threshold_and_on_enough_pairs(kind, changes, said):
    most = LIMITS[kind].most
    for value, expected in ((most, []), (most + 0.001, [kind])):
        place, form = changes[0]
        report = changed((place, 1 - value if form == "1 - past" else value))
        if value != most or form == "past":  # 1 - (1 - x) need not be x
            assert [one["kind"] for one in find(report)] == expected
    (found,) = find(report)
    assert said in found["text"]
    assert found["corpus"] == "Own.en-ar" and found["value"] == pytest.approx(most + 0.001)
    assert found["limit"] == most
    few = {"words": "pairs.words.pairs", "beside": "pairs.words.pairs", "ratio": "pairs.ratios.pairs",
           "numbers": "pairs.numbers.pairs", "similarity": "pairs.similarity.pairs", "copies": "sampled",
           "language": "sides.1.labels.texts", "vowels": "sampled", "duplicates": "rows"}[kind]  # fmt: skip
    few_report = changed(
        (place, found["value"] if form == "past" else 1 - found["value"]), (few, LIMITS[kind].least - 1)
    )
    few_report["warn_pairs"] = 0
    assert find(few_report) == []


def test_blocks_need_twenty_and_name_the_stretch():
    assert find(changed(("pairs.blocks.off", 5))) == []  # 19 are too few
    (found,) = find(changed(("pairs.blocks.off", 5), ("pairs.blocks.count", 20)))
    assert found["kind"] == "blocks" and "by 1 line;" in found["text"] and "50 lines from line 4 on" in found["text"]


def test_a_filter_is_named_past_the_configs_share_if_it_is_on():
    assert [one["kind"] for one in find(changed(("filters.0.taken", 0.21)))] == ["filter"]
    assert find(changed(("filters.0.taken", 0.2))) == []
    assert find(changed(("filters.0.taken", 0.9), ("filters.0.on", False))) == []
    assert find(changed(("filters.0.taken", None))) == []


def test_a_language_without_a_label_is_named_once():
    unknown = {"label": None, "texts": 80, "own": None, "found": [{"name": "pl", "share": 0.97}]}
    report = changed(("sides.1", side("csb", labels=unknown)))
    report["corpora"].append({**copy.deepcopy(report["corpora"][0]), "label": "More.en-csb"})
    report["corpora"].append(changed(("sides.1", side("xh", labels=unknown)))["corpora"][0])  # which py3langid knows
    (found,) = find(report)
    assert found["kind"] == "label" and found["corpus"] is None and found["value"] is None
    assert "knows csb (Kashubian)" in found["text"] and "lid.176 takes them for pl (Polish) (97%)" in found["text"]


def test_only_sets_whose_sentences_stay_are_told():
    assert [one["kind"] for one in find(changed(("tests.0.found", 1)))] == ["tests"]
    (found,) = find(changed(("tests.0.found", 20)))
    assert found["kind"] == "tests" and "2.0% of STS" in found["text"]
    assert find(changed(("tests.0.found", 20), ("tests.0.removed", True))) == []


def test_few_pairs_are_told_by_what_filters_and_duplicates_leave():
    report = changed(("kept", 0.1))
    assert find({**report, "warn_pairs": 100}) == []
    (found,) = find({**report, "warn_pairs": 101})
    assert found["kind"] == "pairs" and found["value"] == 100


def test_a_language_that_the_filter_keeps_is_not_asked_about():
    badly = {
        "label": "sw",
        "texts": 500,
        "own": 0.66,
        "found": [{"name": "sw", "share": 0.66}, {"name": "en", "share": 0.092}],
    }
    judge = {"name": "language", "on": True, "taken": 0.01, "samples": [], "reasons": []}
    report = changed(("sides.1", side("sw", labels=badly)), ("filters", [judge]))
    assert find(report) == []
    (found,) = find(changed(("sides.1", side("sw", labels=badly)), ("filters", [{**judge, "on": False}])))
    assert (
        "takes 66% of the longer target texts for sw (Swahili), and the others for en (English) (9.2%): is"
        in found["text"]
    )


def test_exchanged_columns_are_called_so():
    def labels(own, other):
        return {"label": own, "texts": 500, "own": 0.01, "found": [{"name": other, "share": 0.97}]}

    judge = {
        "name": "language",
        "on": True,
        "taken": 0.99,
        "samples": [],
        "reasons": [{"name": "language", "share": 0.99}],
    }
    sides = [side("en", labels=labels("en", "ar")), side("ar", vowelled=0.0, labels=labels("ar", "en"))]
    (found,) = find(changed(("sides", sides), ("filters", [judge])))
    assert found["kind"] == "language" and found["text"].startswith("source and target look swapped: ")
    assert "`languages: [ar, en]`" in found["text"]
