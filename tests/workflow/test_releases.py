"""An entry of the catalogue that stands for an OPUS corpus of another name, with another release for its pair."""

import json

import pytest

CONFIG = """
corpora:
  Second: {opus: PhrasebookExtra, version: v0, versions: {en-fr: v1}, licence: MIT}
models:
  two: {extends: demo, corpora: [Phrasebook, Second]}
"""
REPORT = "results/two/pairs/filter/Second.en-fr.json"


@pytest.mark.slow
def test_archive_and_its_members_have_the_name_that_opus_gives_them(project):
    (project.folder / "two.yaml").write_text(CONFIG)
    project.run(REPORT, configs=("config/demo.yaml", "tiny.yaml", "two.yaml"))
    report = json.loads((project.folder / REPORT).read_text())
    assert report["corpus"] == "Second" and report["kept"] > 100
    record = json.loads((project.folder / "results/downloads/opus/PhrasebookExtra/v1/en-fr.txt.zip.json").read_text())
    assert record["licence_declared"] == "MIT"
