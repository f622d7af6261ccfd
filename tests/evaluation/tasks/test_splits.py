"""Sets that are published in three parts: their files, columns, and what test and training part share."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.evaluation.tasks import splits
from psp.evaluation.tasks.splits import Items
from psp.text.keys import normalised_key
from tests.evaluation.tasks.conftest import write

HEAD = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"
texts = st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=6)


def items(*rows: tuple[str, ...]) -> Items:
    return Items(list(rows), ["x"] * len(rows), list(range(1, len(rows) + 1)), Path("part"))


def test_lines_of_label_and_text_are_read_as_they_are(tmp_path: Path) -> None:
    path = write(tmp_path / "train.txt", ['3 Zażółć , " gęślą "  jaźń .', "0 b"], end="\r\n")
    found = splits.read_items(path, "plain")
    assert found.texts == [('Zażółć , " gęślą "  jaźń .',), ("b",)] and found.labels == ["3", "0"]
    assert found.lines == [1, 2]


def test_sick_has_labels_and_scores(tmp_path: Path) -> None:
    path = write(tmp_path / "train.txt", [HEAD, "1\ta b\tc\t4.5\tENTAILMENT", "2\td\te\t1\tNEUTRAL"], end="\r\n")
    found = splits.read_items(path, "sick")
    assert (found.texts, found.labels) == ([("a b", "c"), ("d", "e")], ["ENTAILMENT", "NEUTRAL"])
    assert splits.read_items(path, "sick", scores=True).labels == ["4.5", "1"]
    assert found.lines == [2, 3]


def test_files_of_a_set_with_any_name(tmp_path: Path) -> None:
    folder = tmp_path / "CDS"
    expected = [folder / name for name in ("CDS_train.txt", "CDS_trial.txt", "CDS_test_annotated.txt")]
    assert splits.part_files(folder, "sick") == expected
    other = [write(folder / f"SICK_{part}.txt", [HEAD]) for part in ("train", "trial", "test_annotated")]
    assert splits.part_files(folder, "sick") == other
    write(folder / "CDS_train.txt", [HEAD])
    with pytest.raises(DataError, match=r"CDS: holds CDS_train\.txt and SICK_train\.txt; put each set in its own"):
        splits.part_files(folder, "sick")
    assert splits.part_files(folder, "pairs") == [folder / f"{part}.tsv" for part in splits.PARTS]


@settings(max_examples=40)
@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=8), st.lists(st.tuples(texts, texts), min_size=1))
def test_what_stands_in_training_is_counted_as_by_hand(
    train: list[tuple[str, str]], test: list[tuple[str, str]]
) -> None:
    def key(text: str) -> str:
        return normalised_key(text)

    known = {key(text) for pair in train for text in pair} - {""}
    pairs = [{key(a), key(b)} for a, b in train]
    assert splits.also_in_training(items(*train), items(*test)) == {
        "sentences_in_train": len({key(text) for pair in test for text in pair} & known),
        "pairs_in_train": sum({key(a), key(b)} in pairs for a, b in test),
    }
    alone = splits.also_in_training(items(*[(a,) for a, _ in train]), items(*[(a,) for a, _ in test]))
    assert alone == {"sentences_in_train": len({key(a) for a, _ in test} & {key(a) for a, _ in train} - {""})}


@pytest.mark.parametrize(
    ("layout", "rows", "said"),
    [
        ("plain", ["1 a", "2"], "line 2: no `label text` separated by a space"),
        ("ppc", ["sentence_A\tsentence_B", "a\tb"], "line 1: the header has no column 'label'"),
        ("ppc", ["sentence_A\tsentence_B\tlabel", "a\t \t1"], "line 2: an empty sentence"),
        ("sick", [HEAD], "has only a header"),
        ("pairs", ["1\ta"], "line 1: 2 columns instead of 3"),
    ],
)
def test_bad_files_are_told_in_one_line(tmp_path: Path, layout: str, rows: list[str], said: str) -> None:
    with pytest.raises(DataError, match=said):
        splits.read_items(write(tmp_path / "part", rows), layout)


def test_the_polish_sets_as_published(psp_data: Path) -> None:
    folder = psp_data / "eval/polish/downstream"
    for name, layout, sizes in (
        ("PPC", "ppc", (5000, 1000, 1000)),
        ("WCCRS_HOTELS", "plain", (12435, 1555, 1554)),
        ("CDS", "sick", (8000, 1000, 1000)),
        ("SICK", "sick", (4439, 495, 4906)),
    ):
        parts = [splits.read_items(path, layout) for path in splits.part_files(folder / name, layout)]
        assert tuple(len(part.texts) for part in parts) == sizes
        assert len(splits.numbered(parts)[0]) == (4 if layout == "plain" else 3)
    assert splits.also_in_training(parts[0], parts[2]) == {"sentences_in_train": 3659, "pairs_in_train": 63}
