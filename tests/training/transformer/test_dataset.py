"""Pair files as datasets: the same texts, in their own case, and what is wrong with a line."""

import pytest

from psp.core.errors import DataError

pytest.importorskip("datasets", reason="not installed (pip install 'paraphrastic[transformer]')")

from psp.training.transformer.dataset import read_dataset, write_dataset


@pytest.mark.parametrize("third", ["", "\t3"])
def test_a_dataset_has_the_texts_of_the_file(tmp_path, third):
    lines = [f"Ein Satz {number}\tA Sentence “{number}”{third}\n" for number in range(5000)]
    (tmp_path / "pairs.tsv").write_text("".join(lines))
    assert write_dataset(tmp_path / "pairs.tsv", tmp_path / "pairs.arrow") == (5000, 0)
    found = read_dataset(tmp_path / "pairs.arrow")
    assert found.column_names == ["source", "target"] and len(found) == 5000
    assert found[4999] == {"source": "Ein Satz 4999", "target": "A Sentence “4999”"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\tb\nc\n", "2: 1 columns"),
        ("a\tb\n \tc\n", "2: a side without text"),
        ("a\tb\n", "1 pairs; training needs two or more"),
        ("", "0 pairs"),
    ],
)
def test_a_malformed_file_is_named(tmp_path, text, said):
    (tmp_path / "pairs.tsv").write_text(text)
    with pytest.raises(DataError, match=said):
        write_dataset(tmp_path / "pairs.tsv", tmp_path / "pairs.arrow")
    assert not (tmp_path / "pairs.arrow").exists()
