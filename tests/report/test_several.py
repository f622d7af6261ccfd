"""A page of several models."""

import shutil

import pytest

from psp.core.errors import DataError
from psp.core.files import read_json
from psp.report import report, several
from psp.report.run import Run
from psp.report.several import write
from tests.conftest import as_published
from tests.report.conftest import rewrite


@pytest.fixture
def two(results):
    other = shutil.copytree(results, results.with_name("de"))
    for name in ("eval", "compare", "examples", "data"):
        rewrite(other / f"{name}.json", model="de")
    return [results, other]


def test_models_stand_side_by_side_with_links_to_their_own_pages(two):
    report.write(two[0], two[0] / "report.html")
    out = two[0].parent / "report.html"
    write(two, out)
    text = out.read_text()
    assert '<a href="fr/report.html">fr</a>' in text and '<a href="de' not in text
    assert text.count("embeds English and French") == 2
    assert "train/train.json" in text  # what is missing
    write(two, out)
    assert out.read_text() == text


def test_models_of_one_name_are_told_apart(two, tmp_path):
    same = shutil.copytree(two[0], tmp_path / "elsewhere/fr")
    write([two[0], same], tmp_path / "page.html")
    assert f"fr ({same})" in (tmp_path / "page.html").read_text()


def test_a_folder_given_twice_is_refused(two, tmp_path):
    with pytest.raises(DataError, match="given twice"):
        write([two[0], two[0].parent / "de/../fr"], tmp_path / "page.html")


def test_scores_on_other_sentences_stand_in_a_column_of_their_own_and_in_no_picture(two):
    def view():
        return several.view([Run.load(folder) for folder in two], two[0].parent / "report.html")

    same = view()
    assert "own set fra" in same["table"].head and same["errors"] and same["alone"] == []
    rewrite(two[1] / "eval.json", **as_published(read_json(two[1] / "eval.json")))
    found = view()
    assert "own set fra (fr)" in found["table"].head and "French" in found["table"].head
    assert "own set, English → French (fr)" in found["alone"]
    assert "de" in found["errors"] and "own set" not in found["errors"]
