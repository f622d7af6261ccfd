"""The tables of stats.json."""

import pytest

from psp.pairs.stats.annotation_form import read_form, write_form
from psp.pairs.stats.run import DescribedCorpus, describe
from psp.report.stats import COLUMNS, as_markdown, as_text, write
from tests.conftest import PAIRS, write_pair_file


@pytest.fixture
def report(tmp_path):
    rows = [(f"{a} | ~~~ `x`", f"{a} indeed <b>", number / 200) for number, (a, _) in enumerate(PAIRS)]
    path = tmp_path / "scored.tsv"
    path.write_text("".join(f"{a}\t{b}\t{score}\n" for a, b, score in rows))
    corpora = [
        DescribedCorpus("Scored.en-en", ("en", "en"), path),
        DescribedCorpus("Small.en-fr", ("en", "fr"), write_pair_file(tmp_path / "bitext.tsv", PAIRS)),
    ]
    options = {"model": "m", "pairs": 100, "ranges": [0, 0.2, 0.4, 1], "samples": 2, "sheet": 5, "seed": 1}
    write_form(tmp_path / "sheet.tsv", describe(corpora, **options)[1])
    header, *lines = (tmp_path / "sheet.tsv").read_text().splitlines()
    sheets = []
    for name, label in (("ann", "1"), ("bob", "3")):
        filled = [f"{line.rstrip()}\t{label if place % 2 else 2}\t3" for place, line in enumerate(lines)]
        (tmp_path / f"{name}.tsv").write_text("\n".join([header, *filled]) + "\n")
        sheets.append(read_form(tmp_path / f"{name}.tsv"))
    return describe(corpora, **options, forms=sheets)[0]


def test_text_has_a_table_of_corpora_one_of_ranges_and_one_of_labels(report):
    text = as_text(report)
    header, rule, *rows = text.splitlines()
    assert header.split() == list(COLUMNS) and set(rule) == {"-", " "}
    assert [row.split()[0] for row in rows[:4]] == ["Scored.en-en", "en", "Small.en-fr", "fr"]
    histogram = report["corpora"][0]["histogram"]
    counted = f"{histogram['ranges'][0]['pairs']:,}"
    assert any(row.startswith("(0, 0.2]") and counted in row.split() for row in rows)
    assert any(row.startswith("up to 0 ") and "1" in row.split() for row in rows)  # the pair with a score of 0
    assert "ann and bob" in text and "kappa" in text
    labels = report["corpora"][0]["labels"]["ranges"][0]["paraphrase"]
    assert "/".join(str(a + b) for a, b in zip(*labels, strict=True)) in text
    assert "Small.en-fr: no overlap: the sides are in two languages" in text
    assert "Small.en-fr: no score or histogram: the pairs have no scores" in text
    assert max(map(len, as_text({**report, "corpora": report["corpora"][:1]}).splitlines()[:8])) < 140


def test_markdown_has_tables_and_fenced_samples(report, tmp_path):
    write(report, tmp_path / "stats.json", tmp_path / "stats.md")
    text = (tmp_path / "stats.md").read_text()
    assert text == as_markdown(report) and text.startswith("# Statistics of m\n\n| corpus | side |")
    assert text.count("\n~~~~\n") == 2 * 3  # three ranges; the texts have fences of three
    assert text.count("~~~\n") == text.count("~~~~\n") + 2  # and of bitext one block
    for one in report["corpora"][0]["histogram"]["ranges"]:
        for pair in one["samples"]:
            assert f"{pair['score']:.2f} | {pair['source']} | {pair['target']}\n" in text
