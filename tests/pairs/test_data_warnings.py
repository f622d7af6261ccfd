"""What drops much of a corpus, and a model with few pairs, are told in the same words wherever they are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from psp.cli.main import main
from psp.config.blocks.filters import FiltersBlock
from psp.config.blocks.mixing import MixBlock
from psp.core.files import write_json
from psp.pairs import data_warnings, filters
from psp.pairs.data_warnings import dropped_much, few, sentence

ALL = {name: {} for name in filters.names()} | {"decontaminate": {"mode": "side"}}


def report(seen: int, dropped: dict[str, int], ran: dict[str, Any] = ALL) -> dict[str, Any]:
    kept = seen - sum(dropped.values())
    assert kept >= 0
    return {"filters": ran, "seen": seen, "kept": kept, "dropped": dropped}


def test_a_line_a_filter_names_the_corpora_by_share_and_what_to_write() -> None:
    reports = {f"C{share}.en-fr": report(100, {"length: source too short": share}) for share in (25, 90, 30, 40, 50)}
    reports["L.en-fr"] = report(1000, {"language: target": 900})
    language, length = dropped_much(reports, {})
    assert sentence(language, "fr") == (
        "the language filter dropped 90% of L.en-fr; to keep such pairs, write `filters: {language: {enabled: false}}` "
        "under models.fr, or under corpora.<name> for one corpus"
    )
    assert "dropped 90% of C90.en-fr, 50% of C50.en-fr, 40% of C40.en-fr, 30% of C30.en-fr and much of 1 more;" in (
        sentence(length, "fr")
    )
    assert "`filters: {length: {min: 1}}`" in sentence(length, "fr")


def test_each_corpus_may_have_a_share_of_its_own() -> None:
    reports = {name: report(100, {"identical": 30}) for name in ("A", "B", "C")}
    (entry,) = dropped_much(reports, {"A": 0.3, "B": 0.29})
    assert [corpus["label"] for corpus in entry["corpora"]] == ["B", "C"]


@pytest.mark.parametrize(
    ("reason", "ran", "keep"),
    [
        ("length: source too long", ALL, "filters: {length: {enabled: false}}"),
        ("length: average too short", ALL, "filters: {length: {min: 1}}"),
        ("custom: a question", ALL, "filters: {custom: []}"),
        ("decontaminate: tatoeba", ALL, "filters: {decontaminate: {mode: pair}}"),
        ("decontaminate: tatoeba", {"decontaminate": {"mode": "pair"}}, "filters: {decontaminate: {enabled: false}}"),
        *((f"{name}: why", ALL, f"filters: {{{name}: {{enabled: false}}}}") for name in ("language", "score", "ratio")),
    ],
)
def test_what_to_write_is_a_config(reason: str, ran: dict[str, Any], keep: str) -> None:
    (entry,) = dropped_much({"A": report(10, {reason: 9}, ran)}, {})
    assert entry["keep"] == keep
    block = yaml.safe_load(keep)["filters"]
    known = FiltersBlock.defaults()
    for name, settings in block.items():
        assert name in known
        assert settings == [] or set(settings) <= set(known[name])


REASONS = st.sampled_from(["length: source too short", "length: target too long", "language: x", "identical", "empty"])


@example({"length: source too short": 15, "length: target too long": 5, "empty": 30}, 50, data_warnings.SHARE)
@given(
    st.dictionaries(REASONS, st.integers(1, 50)),
    st.integers(0, 200),
    st.floats(0, 1),
)
def test_a_filter_is_named_where_its_reasons_together_are_more_than_the_share(
    dropped: dict[str, int], kept: int, share: float
) -> None:
    seen = kept + sum(dropped.values())
    rows = {"A": {reason: [[f"{reason} {number}", "b"] for number in range(9)] for reason in dropped}}
    found = {
        entry["filter"]: entry["corpora"][0] for entry in dropped_much({"A": report(seen, dropped)}, {"A": share}, rows)
    }
    for judge in ("length", "language", "identical"):
        own = {reason: count for reason, count in dropped.items() if reason.partition(":")[0] == judge}
        assert (judge in found) == (sum(own.values()) > share * seen and bool(own))
        if judge in found:
            samples = found[judge]["samples"]
            assert len(samples) == 3
            assert {row[0].rpartition(" ")[0] for row in samples} == set(own)  # each of its reasons is seen


def test_the_log_says_it_and_the_screen_too_where_nothing_is_left(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="psp"):
        for count in (20, 21, 100):
            data_warnings.log_dropped("A.en-fr", report(100, {"language: source": count}), 0.2, "fr")
    assert [(record.levelname, record.message.partition(";")[0]) for record in caplog.records] == [
        ("INFO", "the language filter dropped 21% of A.en-fr"),
        ("WARNING", "the language filter dropped 100% of A.en-fr"),
    ]


def test_few_pairs_are_said() -> None:
    assert few(5000, 5000) is None and few(0, 0) is None
    assert few(4999, 5000) and "4,999 pairs" in few(4999, 5000)


def test_the_defaults_are_the_configs() -> None:
    assert FiltersBlock.default("warn_share") == data_warnings.SHARE
    assert MixBlock.default("warn_pairs") == data_warnings.PAIRS


@pytest.fixture
def evaluated(tmp_path: Path) -> Path:
    """results/fr as the workflow leaves it, with an evaluation without test sets."""
    folder = tmp_path / "fr"
    dropped = folder / "pairs/filter/A.en-fr.dropped.tsv"
    dropped.parent.mkdir(parents=True)
    dropped.write_text("".join(f"length: source too short\tyes {n}\toui \x1b[31m{n}\n" for n in range(9)))
    write_json(
        folder / "eval.json",
        {
            "format": 1,
            "model": "fr",
            "data": {
                "filter": [report(100, {"length: source too short": 40})],
                "mix": {"corpora": [{"label": "A.en-fr"}], "total": {"kept": 60}},
            },
            "conditions": {"resamples": 100},
            **{part: {} for part in ("sts", "semeval2017", "stsb", "tatoeba", "files")},
            "skipped": [],
        },
    )
    return folder


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_psp_show_says_them_with_samples(evaluated: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["show", str(evaluated), "--all", "--format", form])
    shown = capsys.readouterr().out
    assert "60 pairs are few to train on" in shown
    assert "the length filter dropped 40% of A.en-fr" in shown
    assert shown.count("A.en-fr: yes ") == 3
    assert "\x1b" not in shown  # a corpus gives the terminal no orders
    assert shown.index("few to train on") < shown.index("no scores")


def test_psp_show_takes_the_limits_of_data_json(evaluated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    limits = {"warnings": {"least": 60}, "corpora": [{"label": "A.en-fr", "warn_share": 0.4}]}
    write_json(evaluated / "data.json", limits)
    main(["show", str(evaluated), "--all"])
    assert "warning" not in capsys.readouterr().out
