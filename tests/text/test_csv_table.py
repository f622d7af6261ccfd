"""The tables that training writes, read again: what was written comes back, and what is missing is named."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.text.csv_table import read_table

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(
    st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(finite, min_size=n, max_size=n), min_size=1)), st.randoms()
)
def test_columns_written_by_the_csv_module_come_back_in_any_order(tmp_path_factory, rows, random):
    path = tmp_path_factory.mktemp("table") / "metrics.csv"
    names = [f"column {number}" for number in range(len(rows[0]))]
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([names, *rows])
    wanted = random.sample(names, random.randint(1, len(names)))
    found = read_table(path, wanted)
    assert list(found) == wanted
    for name in wanted:
        assert found[name].dtype == np.float64
        assert found[name].tolist() == [row[names.index(name)] for row in rows]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"metrics\.csv, line 1: no column step, loss; train again"),
        ("step,lr\n1,2\n", r"line 1: no column loss; train again"),
        ("step,loss\n", r"line 1: a header without rows; train again"),
        ("step,loss\n1,2\n2\n", r"line 3: 1 cells, but 2 columns; train again"),
        ("step,loss\n1,2,3\n", r"line 2: 3 cells, but 2 columns; train again"),
        ("step,loss\n1,2\n2,x\n", r"line 3: loss is 'x', not a number; train again"),
        ("step,loss\n1,\n", r"line 2: loss is '', not a number; train again"),
        ("step,loss\n1,nan\n", r"line 2: loss is 'nan', not a number; train again"),
        ("step,loss\ninf,2\n", r"line 2: step is 'inf', not a number; train again"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, text, message):
    path = tmp_path / "metrics.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_table(path, ["step", "loss"])


def test_a_missing_file_asks_for_training_first(tmp_path):
    with pytest.raises(DataError, match=r"metrics\.csv: no such file; train first"):
        read_table(tmp_path / "metrics.csv", ["step"])


def test_a_cell_of_a_column_that_nobody_asked_for_may_be_anything(tmp_path):
    path = tmp_path / "dev.csv"
    path.write_text("step,kept\n1,no\n2,\n")
    assert read_table(path, ["step"])["step"].tolist() == [1, 2]
