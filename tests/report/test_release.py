"""The publishing kit: the same bytes every time, and nothing unsaid."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest
import yaml
from huggingface_hub import ModelCard

from psp.core.errors import ConfigError, DataError
from psp.core.files import read_json, write_json
from psp.models import card, card_data, card_file, checksums
from psp.models.folder import load_model
from psp.models.zipped import unpack
from psp.report.release import licences, pack, release
from tests.models.conftest import folder, sentencepiece_model, table  # noqa: F401
from tests.models.test_card import EVALUATION, FIGURES, front
from tests.report.conftest import data

#: What a name, a release or a licence may hold: quotation marks, tags, table rows, marks of direction, YAML.
ODD = "a \"b\" 'c' | <script>alert(1)</script> \u202egnp.exe\u202c: {x} # - [y](http://z) `t` ~~~"


def corpus(name, licence="CC0-1.0", address="https://example.org/en-fr.txt.zip", text=None, version="v1"):
    (made,) = data()["corpora"]
    return made | {
        "label": f"{name}.en-fr",
        "corpus": name,
        "version": version,
        "source": made["source"] | {"address": address},
        "licence": {"declared": licence, "text": text},
        "dropped": [{"filter": "length", "reason": "too short", "pairs": 5, "samples": [["<b>", "\u202e"]]}],
        "kept": 980,
    }


def data_of(*corpora):
    return {
        "model": "fr",
        "languages": ["en", "fr"],
        "corpora": list(corpora),
        "total": {"read": 1000 * len(corpora), "kept": 980 * len(corpora)},
    }


DATA = data_of(corpus("Books"), corpus("News", licence="MIT", text="MIT"))
SCORES = EVALUATION | {"model": "fr"}


@pytest.fixture
def run(folder, tmp_path):  # noqa: F811
    """A model's folder, its scores and its data, as a run leaves them."""
    for name, value in (("eval.json", SCORES), ("data.json", DATA)):
        write_json(tmp_path / name, value)
    return {"model_dir": folder, "evaluation": tmp_path / "eval.json", "data": tmp_path / "data.json"}


def test_what_is_in_it(run, tmp_path):
    release(**run, out=tmp_path / "results/fr/release", repo="someone/fr")
    out = tmp_path / "results/fr/release"
    files = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    model = {"config.json", "model.safetensors", "sentencepiece.model"}
    kit = {"LICENSE.md"}
    results = {".eval_results/STS12.yaml", ".eval_results/STSBenchmark.yaml"}
    assert files == model | kit | results | {"README.md", "SHA256SUMS"}
    assert (load_model(out).embed_raw_text(["a"]) == load_model(run["model_dir"]).embed_raw_text(["a"])).all()
    text = (out / "README.md").read_text()
    assert card_file.is_generated(text) and 'psp.load_model("hf://someone/fr")' in text
    assert front(text) | {"model-index": 0} == {
        "language": ["en", "fr"],
        "license": "other",
        "license_name": "CC0-1.0 AND MIT",
        "license_link": "LICENSE.md",
        "library_name": "psp",
        "pipeline_tag": "sentence-similarity",
        "tags": list(card.TAGS),
        "datasets": ["Books", "News"],
        "metrics": ["pearsonr", "spearmanr", "error_rate"],
        "model-index": 0,
    }
    assert front(text)["model-index"][0]["name"] == "fr"
    # As the Hub's own library reads it.
    read = ModelCard(text).data
    assert (read.model_name, read.license_name, len(read.eval_results)) == ("fr", "CC0-1.0 AND MIT", 9)
    for name in kit | {"SHA256SUMS"}:
        assert f"- `{name}`: " in text
    (entry,) = yaml.safe_load((out / ".eval_results/STS12.yaml").read_text())
    assert entry["value"] == 64.5 and entry["dataset"]["id"] == "mteb/sts12-sts"
    # Every file but the card, which people edit, can be checked by anybody.
    assert set(checksums.check(out)) == files - {"README.md", "SHA256SUMS"}
    if shutil.which("sha256sum"):
        subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=out, check=True, capture_output=True)


def test_the_same_run_gives_the_same_bytes(run, tmp_path):
    for name in ("first", "second"):
        release(**run, out=tmp_path / name)
        os.utime(run["model_dir"] / "config.json", (0, 0))
    for path in (tmp_path / "first").rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (tmp_path / "second" / path.relative_to(tmp_path / "first")).read_bytes()


def test_a_corpus_without_a_licence_is_said_with_its_text():
    data = data_of(corpus("Books"), corpus("Quran", licence=None, text="for <b>non-commercial</b> use"))
    assert "Licence: not declared." in licences(data) and "~~~\nfor <b>" in licences(data)


def test_no_text_breaks_a_file(run, tmp_path):
    own = corpus("mine", licence=ODD, address=f"/home/me/{ODD}.tsv", text=f"{ODD}\n---\n~~~~\n\ud800", version=ODD)
    web = corpus("web", address='https://me:secret@example.org/a b"<x>|`_/en-fr.zip?q=1')
    data = data_of(corpus(ODD, licence=None, version=None), own, web)
    write_json(tmp_path / "data.json", json.loads(json.dumps(data).replace("\\ud800", "?")))
    write_json(tmp_path / "eval.json", SCORES | {"files": {ODD: FIGURES}})
    release(**run, out=tmp_path / "out")
    for path in (tmp_path / "out").rglob("*"):
        if path.suffix in (".md", ".json", ".yaml"):
            text = path.read_text("utf-8")
            assert "\u202e" not in text and "/home/me" not in text and "secret" not in text, path
    text = (tmp_path / "out/README.md").read_text()
    assert front(text)["license"] == "other" and "<script" not in text.split("---\n", 2)[2]
    rows = card_data.corpora(text)
    assert [row["pairs"] for row in rows] == ["980"] * 3 and "<script>" in rows[0]["corpus"]
    assert rows[2]["source"] == "https://example.org/a%20b%22%3Cx%3E%7C%60_/en-fr.zip?q=1"
    fences = [line for line in (tmp_path / "out/LICENSE.md").read_text().split("\n") if line.startswith("~~~")]
    assert fences == ["~~~~~", "~~~~", "~~~~~"]
    assert licences(data).encode()  # with halves of surrogate pairs, which JSON can name


def test_an_incomplete_run_says_what_is_missing(run, tmp_path):
    run["evaluation"].unlink()
    (run["model_dir"] / "config.json").unlink()
    with pytest.raises(
        DataError, match=r"out: cannot be made.* incomplete: there is no \S+config.json, no \S+eval.json;"
    ):
        release(**run, out=tmp_path / "out")
    with pytest.raises(DataError, match=r"no \S+report\.html"):
        release(**run, out=tmp_path / "out", report=tmp_path / "report.html")
    assert not (tmp_path / "out").exists()


def test_a_model_without_one_of_its_files_and_scores_of_another_model(run, tmp_path):
    with pytest.raises(DataError, match="already exists"):
        release(**run, out=tmp_path)
    write_json(run["evaluation"], SCORES | {"model": "de"})
    with pytest.raises(DataError, match=r"is of de, but .* of fr"):
        release(**run, out=tmp_path / "out")
    write_json(run["evaluation"], SCORES)
    (run["model_dir"] / "sentencepiece.model").unlink()
    with pytest.raises(DataError, match=r"sentencepiece\.model: no such file, but its config\.json names it"):
        release(**run, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_report_goes_along(run, tmp_path):
    (tmp_path / "report.html").write_text("<p>hello")
    release(**run, out=tmp_path / "out", report=tmp_path / "report.html")
    assert (tmp_path / "out/report.html").read_text() == "<p>hello"
    assert "report.html" in checksums.check(tmp_path / "out")
    assert "- `report.html`: " in (tmp_path / "out/README.md").read_text()


def test_an_edited_card_is_taken_as_it_is(run, tmp_path, caplog):
    (run["model_dir"] / "README.md").write_text("My own words\n")
    release(**run, out=tmp_path / "out")
    assert (tmp_path / "out/README.md").read_text() == "My own words\n"
    assert "was edited by hand" in caplog.text
    # One that psp wrote is not.
    (run["model_dir"] / "README.md").write_text(card.card(read_json(run["model_dir"] / "config.json")))
    release(**run, out=tmp_path / "again")
    assert "## Scores" in (tmp_path / "again/README.md").read_text()


@pytest.fixture
def quantized(run, tmp_path):
    dim = read_json(run["model_dir"] / "config.json")["dim"]
    scores = {key: value for key, value in SCORES.items() if key not in ("model", "train")}
    sts = {"parts": {"average": SCORES["tasks"]["sts"]["parts"]["average"]}}
    scores["tasks"] = SCORES["tasks"] | {"sts": sts}
    smaller = [{"dtype": "int8", "dim": dim, "scores": scores}, {"dtype": "float32", "dim": 8, "scores": scores}]
    write_json(tmp_path / "quantized.json", {"model": "fr", "whole": {"dim": dim}, "smaller": smaller})
    return run | {"evaluation": tmp_path / "quantized.json"}


def test_a_smaller_form(quantized, tmp_path):
    release(**quantized, out=tmp_path / "out", form="int8", repo="someone/fr")
    text = (tmp_path / "out/README.md").read_text()
    config = read_json(tmp_path / "out/config.json")
    assert config["quantized_from"] == {"dtype": "float32", "dim": config["dim"]} and config["dtype"] == "int8"
    assert front(text)["base_model"] == "someone/fr" and front(text)["base_model_relation"] == "quantized"
    assert front(text)["model-index"][0]["name"] == "fr-int8" and "hf://someone/fr-int8" in text
    assert "It was made from [someone/fr](https://huggingface.co/someone/fr), with 12 dimensions" in text
    # Fewer dimensions are no other numbers; and without a place on the Hub there is none to name.
    release(**quantized, out=tmp_path / "less", form="float32-8", repo="someone/fr")
    assert "base_model_relation" not in front((tmp_path / "less/README.md").read_text())
    release(**quantized, out=tmp_path / "nowhere", form="int8")
    assert "base_model" not in front((tmp_path / "nowhere/README.md").read_text())


def test_a_form_that_was_not_evaluated(quantized, tmp_path):
    with pytest.raises(ConfigError, match=r"float16: .*has no scores of it, but of int8-12, float32-8; add it"):
        release(**quantized, out=tmp_path / "out", form="float16")
    with pytest.raises(ConfigError, match="not a form of a model"):
        release(**quantized, out=tmp_path / "out", form="int2")
    assert not (tmp_path / "out").exists()


def test_packed_as_one_file(run, tmp_path):
    release(**run, out=tmp_path / "release")
    (tmp_path / "release/notes.txt").write_text("mine")
    digests = {pack(tmp_path / "release", tmp_path / f"{name}.zip", "fr") for name in ("one", "two")}
    line = (tmp_path / "one.zip.sha256").read_text()
    assert len(digests) == 1 and line == f"{digests.pop()}  one.zip\n"
    unpack(tmp_path / "one.zip", tmp_path / "unpacked")
    texts = ["the cat eats bread"]
    assert (load_model(tmp_path / "unpacked").encode(texts) == load_model(run["model_dir"]).encode(texts)).all()
    shutil.unpack_archive(tmp_path / "one.zip", tmp_path / "whole")
    assert checksums.check(tmp_path / "whole/fr") == checksums.check(tmp_path / "release")
    assert (tmp_path / "whole/fr/README.md").exists() and not (tmp_path / "whole/fr/notes.txt").exists()
    (tmp_path / "release/config.json").write_text("{}")
    with pytest.raises(DataError, match="was changed since"):
        pack(tmp_path / "release", tmp_path / "three.zip", "fr")
    assert not (tmp_path / "three.zip").exists()
