"""Sheets for annotators: written, filled, saved by spreadsheet programs, read; and the agreement of their labels."""

import csv
import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.pairs.stats.annotation_form import (
    COLUMNS,
    LABELS,
    AnnotationForm,
    counts,
    kappa,
    read_form,
    write_form,
)
from psp.pairs.stats.sample import Pair, pair_id

PAIRS = [
    Pair('"Yes," he said.', "he said yes", 0.9),
    Pair("- a dash", "=SUM(1)", 0.1),
    Pair("naïve", 'a "quoted" word', 0.5),
    Pair("carriage\rreturn", "next\u2028line", 0.3),
]


def filled(path, out, labels, *, dialect="excel-tab", encoding="utf-8-sig", **options):
    """Fill a sheet as a spreadsheet program would save it."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, delimiter="\t")
    with out.open("w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, dialect, **options)
        writer.writerow(header)
        writer.writerows([*row[:3], *labels.get(row[0], ("", ""))] for row in rows)
    return out


def test_no_cell_is_taken_for_a_formula(tmp_path):
    write_form(tmp_path / "sheet.tsv", PAIRS)
    with (tmp_path / "sheet.tsv").open(newline="") as file:
        cells = {cell for row in csv.reader(file, delimiter="\t") for cell in row}
    assert {"'- a dash", "'=SUM(1)", "carriage return", "next line"} <= cells


def test_a_sheet_hides_the_score_and_mixes_the_ranges(tmp_path):
    pairs = [Pair(f"source {n}", f"target {n}", n / 100) for n in range(100)]
    write_form(tmp_path / "sheet.tsv", pairs)
    with (tmp_path / "sheet.tsv").open(newline="") as file:
        rows = list(csv.reader(file, delimiter="\t"))
    assert tuple(rows[0]) == COLUMNS == ("id", "reference", "translation", "paraphrase", "fluency")
    order = [int(row[1].split()[1]) for row in rows[1:]]
    assert sorted(order) == list(range(100)) and all(row[3:] == ["", ""] for row in rows[1:])
    moved = sum(abs(place - number) for place, number in enumerate(order)) / 100
    assert 20 < moved < 45  # 33 in a random order, 0 in that of scores
    write_form(tmp_path / "again.tsv", pairs[::-1])
    assert (tmp_path / "again.tsv").read_bytes() == (tmp_path / "sheet.tsv").read_bytes()


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\0"), min_size=1, max_size=12)


@example([(pair.source, pair.target) for pair in PAIRS], "utf-8", csv.QUOTE_ALL)
@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5, unique=True),
    st.sampled_from(["utf-8", "utf-8-sig"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_any_text_comes_back_from_a_spreadsheet_program(tmp_path_factory, texts, encoding, quoting):
    path = tmp_path_factory.getbasetemp() / "any.tsv"
    pairs = {pair_id(one, other): Pair(one, other) for one, other in texts}
    assert write_form(path, [*pairs.values(), Pair(*texts[0])]) == len(pairs)
    labels = {key: (n % 3 + 1, 3) for n, key in enumerate(pairs)}
    out = filled(path, path.with_name("filled.tsv"), labels, encoding=encoding, quoting=quoting)
    assert read_form(out).labels == labels


def write(path, *rows, header="id\treference\ttranslation\tparaphrase\tfluency"):
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["p1\ta\tb\t1\t3", "p2\tc\td\t4\t1"], r"s.tsv, line 3: a label is '4'; write 1, 2 or 3, or nothing"),
        (["p1\ta\tb\t1\t0"], r"s.tsv, line 2: a label is '0'"),
        (["p1\ta\tb\tgood\t"], r"s.tsv, line 2: a label is 'good'"),
        (["p1\ta\tb\t1\t3", "p1\ta\tb\t1\t3"], r"s.tsv, line 3: the id p1 is missing or twice"),
        (["\ta\tb\t1\t3"], r"s.tsv, line 2: the id  is missing or twice"),
        (["p1\ta\tb\t\t", ""], r"s.tsv: no row has a label"),
        ([], r"s.tsv: no row has a label"),
        (['p1\t"a\tb\t1\t1'], r"s.tsv: not a table in UTF-8 with tabs"),
    ],
)
def test_bad_sheets(tmp_path, rows, message):
    with pytest.raises(DataError, match=message):
        read_form(write(tmp_path / "s.tsv", *rows))


def test_a_sheet_saved_in_another_format(tmp_path):
    path = write(tmp_path / "s.tsv", "p1,a,b,1,1", header="id,reference,translation,paraphrase,fluency")
    with pytest.raises(DataError, match=r"s.tsv, line 1: no column id or paraphrase or fluency; save the form as text"):
        read_form(path)
    path.write_bytes("id\treference\ttranslation\tparaphrase\tfluency\np1\té\tb\t1\t1\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"s.tsv: not a table in UTF-8"):
        read_form(path)
    path.write_bytes(b"")
    with pytest.raises(DataError, match=r"line 1: no column"):
        read_form(path)
    with pytest.raises(DataError, match="No such file"):
        read_form(tmp_path / "none.tsv")


def test_kappa_of_an_example():
    # Agreement 3/4; by chance 1/2 * 1/4 + 1/4 * 1/2 + 1/4 * 1/4 = 5/16.
    assert kappa([(1, 1), (1, 2), (2, 2), (3, 3)]) == pytest.approx((12 - 5) / (16 - 5))
    assert kappa([(1, 2), (2, 1)]) == -1 and kappa([(1, 1), (3, 3)]) == 1
    assert kappa([]) is None and kappa([(2, 2), (2, 2)]) is None


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=40))
def test_kappa_is_scikit_learns(labels):
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed (the extra train)")
    first, second = zip(*labels, strict=True)
    found = kappa(labels)
    if len({*first, *second}) == 1:
        assert found is None  # scikit-learn: nan, and a warning
    else:
        assert found == pytest.approx(metrics.cohen_kappa_score(first, second, labels=LABELS), abs=1e-12)


def test_labels_by_range_and_agreement(tmp_path):
    source = random.Random(1)
    ranges = {f"p{n}": n % 2 for n in range(40)}
    paths = []
    for name in ("ann", "bob", "eve"):
        rows = [f"p{n}\t\t\t{source.choice('123')}\t{'' if name == 'eve' else 3}" for n in range(30)]
        paths.append(write(tmp_path / f"{name}.tsv", *rows, "p99\t\t\t1\t1"))
    sheets = list(map(read_form, paths))
    found = counts(sheets, ranges, 3)
    assert found["annotators"] == ["ann", "bob", "eve"]
    for number, one in enumerate(found["ranges"]):
        for place, sheet in enumerate(sheets):
            labels = [row[0] for key, row in sheet.labels.items() if ranges.get(key) == number]
            assert one["paraphrase"][place] == [labels.count(label) for label in LABELS]
    assert found["ranges"][0]["fluency"] == [[0, 0, 15], [0, 0, 15], [0, 0, 0]]
    assert [one["annotators"] for one in found["agreement"]] == [["ann", "bob"], ["ann", "eve"], ["bob", "eve"]]
    first = found["agreement"][0]
    both = [(sheets[0].labels[f"p{n}"][0], sheets[1].labels[f"p{n}"][0]) for n in range(30)]
    assert first["paraphrase"]["agree"] == sum(a == b for a, b in both) / 30
    assert first["paraphrase"]["kappa"] == kappa(both)
    assert first["fluency"] == {"pairs": 30, "agree": 1.0, "kappa": None}
    assert found["agreement"][1]["fluency"] == {"pairs": 0, "agree": None, "kappa": None}


def test_annotators_with_sheets_of_one_name_are_told_apart(tmp_path):
    sheets = [AnnotationForm(tmp_path / folder / "labels.tsv", {}) for folder in ("ann", "bob")]
    assert len(set(counts(sheets, {}, 1)["annotators"])) == 2
