"""A pair without English: no published set fits, so none is fetched, and the held-out pairs alone choose the model."""

import pytest

CONFIG = """
models:
  de-fr: {languages: [de, fr], corpora: [{path: pairs.tsv}]}
  es-fr: {languages: [es, fr], corpora: [{path: pairs.tsv}]}
"""


@pytest.mark.slow
def test_only_sets_in_the_models_languages_are_fetched(project):
    (project.folder / "others.yaml").write_text(CONFIG)
    (project.folder / "pairs.tsv").write_text("ein rotes Auto\tune voiture rouge\n")
    configs = ("config/demo.yaml", "others.yaml")
    jobs = project.jobs("results/de-fr/eval.json", configs=configs)
    assert jobs["download"] == 1  # language identification
    assert jobs["train"] == jobs["evaluate"] == 1
    assert project.jobs("results/es-fr/eval.json", configs=configs)["download"] == 2  # SemEval-2017's Spanish
