"""The page of one model."""

import dataclasses
import re

import pytest
import yaml

from psp.core.errors import DataError
from psp.core.files import read_json, write_json
from psp.report import page
from psp.report.report import view, without_paths, write
from psp.report.reported import ReportedScores
from psp.report.run import Run
from tests.conftest import as_published, parts
from tests.report.conftest import rewrite


def page_of(folder, **given):
    out = folder / "report.html"
    write(folder, out, **given)
    return out.read_text(encoding="utf-8").replace("\u00a0", " ")  # lines do not end within an interval


def test_the_page_is_one_file_that_loads_nothing_and_runs_no_script_but_its_own(results):
    text = page_of(results, config="models: {fr: {seed: 1}}\n")
    assert "default-src 'none'" in text and text.count("<script") == 1
    attributes = re.findall(r'<[^>]*\b(?:src|href|action|data)="([^"]*)"', text)
    assert set(attributes) <= {"data:,"} | {link for link in attributes if link.startswith("#")}
    assert {link[1:] for link in attributes if link.startswith("#")} <= set(re.findall(r'\bid="([^"]+)"', text))
    assert "url(http" not in text and "@import" not in text
    assert len(text) < 4e6


def test_the_same_results_give_the_same_bytes(results):
    assert page_of(results) == page_of(results)


def test_texts_of_corpora_are_shown_as_text(results):
    text = page_of(results)
    assert "<script>alert" not in text and "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "U+202E" in text and "\u202e" not in text and "\x00" not in text and "{{ 7 * 7 }}" in text
    assert "/home/me" not in text and "a local file, made.zip" in text


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("/home/me/my data/pairs.tsv", "/.../pairs.tsv"),
        ("file:///srv/opus/{corpus}/{pair}.txt.zip", "file:///.../{pair}.txt.zip"),
        ("https://a.org/b/c.zip", None),
        ("https://me:secret@a.org/b/c.zip", "https://a.org/b/c.zip"),
        ("${PSP_DATA}/eval/set.tsv", None),
        ("data/x.tsv", None),
    ],
)
def test_a_config_is_shown_without_absolute_paths(results, written, shown):
    config = {"models": {"fr": {"corpora": [{"path": written}], "seed": 1}}}
    assert without_paths(config)["models"]["fr"] == {"corpora": [{"path": shown or written}], "seed": 1}
    text = page_of(results, config=yaml.safe_dump(config))
    assert (shown or written) in text and (shown is None or written not in text)


def test_scores_and_differences_are_those_of_the_files(results):
    text = page_of(results)
    evaluation, compared = (read_json(results / f"{name}.json") for name in ("eval", "compare"))
    found = parts(evaluation, "files")["graded"]["figures"]["pearson"]
    low, high = found["interval"]
    assert f"{found['value']:.1f} [{low:.1f}, {high:.1f}]" in text
    lost = compared["differences"]["word-overlap"]["files/graded"]["difference"]
    assert f"{lost:+.1f}".replace("-", "−") in text
    for direction in ("fra-eng", "eng-fra"):
        assert f"{parts(evaluation, 'tatoeba')[direction]['figures']['error']['value']:.1f} [" in text
    lost = compared["tasks"]["judged"]["word-overlap"]["graded"]["pearson"]
    low, high = lost["interval"]
    assert f"{lost['difference']:+.1f} [{low:+.1f}, {high:+.1f}]".replace("-", "−") in text
    assert ">minus fr<" in text
    assert ">610 (−90)<" in text  # 700 pairs were read, and one filter drops 90
    rewrite(results / "compare.json", tasks={})
    assert ">minus fr<" not in page_of(results)


def test_a_run_that_is_incomplete_says_what_is_missing_and_how_it_is_made(results):
    (results / "examples.json").unlink()
    text = page_of(results)
    assert "train/train.json is missing" in text
    assert "snakemake --cores 2 -- results/fr/examples.json" in text
    assert 'id="examples"' not in text and 'href="#examples"' not in text


def test_data_alone_makes_a_page(results):
    for name in ("eval.json", "compare.json", "examples.json", "store.h5"):
        (results / name).unlink()
    text = page_of(results)
    assert "It has not been evaluated yet." in text and "pairs left after each stage" in text


def test_the_page_opens_with_what_the_model_is_and_how_it_is_loaded(results):
    text = page_of(results)
    assert "<h1>English-French sentence embeddings</h1>" in text
    size = sum(path.stat().st_size for path in (results / "model").iterdir() if path.name != "README.md")
    assert f"<dt>Size</dt><dd>{size / 1e6:.1f} MB <small>32 dimensions</small>" in text
    assert "<dt>Training pairs</dt><dd>600 <small>of 1 corpus</small>" in text
    assert "psp.load_model(&#34;results/fr/model&#34;)" in text or 'psp.load_model("results/fr/model")' in text


def test_other_trained_systems_stand_before_the_untrained_and_their_absence_is_told(results):
    text = page_of(results)
    assert text.index(">other<") < text.index(">word-overlap<") and "No other trained system" not in text
    compared = read_json(results / "compare.json")
    for key in ("systems", "differences"):
        del compared[key]["other"]
    write_json(results / "compare.json", compared)
    assert "No other trained system was scored on these sets" in page_of(results)


def test_quoted_figures_are_marked_and_only_those_of_tests_that_the_model_has(results):
    def one(name, **figures):
        return ReportedScores(name, figures, "A paper", "2022", "a protocol")

    reported = [one("theirs", **{"tatoeba/fra": 5.4}), one("another", **{"tatoeba/deu": 1.0, "sts": 70.0})]
    evaluation = read_json(results / "eval.json")
    assert view(Run.load(results), reported=reported)["quoted"] is None  # its sentences are not Tatoeba's
    write_json(results / "eval.json", as_published(evaluation))
    found = view(Run.load(results), reported=reported)["quoted"]
    assert [[str(cell) for cell in row] for row in found.rows[1:]] == [["theirs (1)", "5.4"]]
    assert found.notes[1:] == ["(1) A paper; 2022. a protocol"]


def test_names_with_spaces_and_quotes(results):
    folder = results.rename(results.with_name('a "model" <b>\'s'))
    for name in ("eval", "compare", "examples", "data"):
        rewrite(folder / f"{name}.json", model=folder.name)
    text = page_of(folder)
    assert [text[at - 60 : at + 40] for at in range(len(text)) if text.startswith("<b>", at)] == []
    assert "a &quot;model&quot; &lt;b&gt;&#x27;s" in text


def test_nothing_is_left_of_a_page_that_fails(results):
    write_json(results / "examples.json", {"format": 2})
    with pytest.raises(DataError, match="examples"):
        page_of(results)
    assert not [path for path in results.iterdir() if "report" in path.name]


@pytest.mark.parametrize(("megabatch", "grows"), [([1, 1, 1], False), ([1, 2, 3], True)])
def test_mega_batches_are_spoken_of_only_where_they_grow(results, tmp_path, megabatch, grows):
    run = Run.load(results)
    metrics = {"pairs": [1, 2, 3], "megabatch": megabatch, "loss": [3.0, 2.0, 1.0]}
    run = dataclasses.replace(run, metrics=metrics, found={**run.found, "train": {"best": None, "development": []}})
    assert ("rises where mega-batches grow" in page.render("report.html", **view(run))) == grows
