"""What a command line asks for is checked before anything else is done: one error that says what to write."""

from __future__ import annotations

from pathlib import Path

import pytest

from psp.config import targets
from psp.config.blocks.overlay import merge
from psp.config.config import Config
from psp.core.errors import ConfigError
from tests.config.test_config import CORPORA

EVAL = "results/fr/eval.json"
OURS = "results/translators/ours/translator.json"
THEIRS = "results/translators/theirs/translator.json"
LENGTHS = {"own": {"task": "similarity", "path": "mine.tsv"}}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def config(fr: dict | None = None, **top) -> Config:
    entry = merge({"languages": ["en", "fr"], "corpora": ["Europarl"]}, fr or {})
    both = {"fr": entry, "zh": {"languages": ["en", "zh"], "corpora": ["News"]}}
    return Config({"corpora": CORPORA, "models": both, **top})


def refusal(*arguments: str, **given) -> str:
    Path("few.tsv").write_text("one two\tun deux\n" * 1000)
    with pytest.raises(ConfigError) as caught:
        targets.check(config(**given), arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_targets_are_told_from_other_arguments():
    arguments = ["--cores", "2", "results/zh/eval.json", "results/report.html", "results/fr/variants/a/1/eval.json"]
    assert targets.under_results(arguments) == [("fr", "variants/a/1/eval.json"), ("zh", "eval.json")]
    assert [model.name for model in targets.models(config(), arguments)] == ["fr", "zh"]
    assert [model.name for model in targets.models(config(), ["--cores", "2"])] == ["fr", "zh"]
    assert targets.models(config(), ["results/downloads/sts/STS.zip"]) == []
    targets.check(config(), arguments[:3])


TRANSLATORS = {
    "ours": {"languages": ["en", "fr"], "corpora": [{"path": "gone.tsv"}]},
    "theirs": {"languages": ["en", "fr"], "ctranslate2": "there"},
}


@pytest.mark.parametrize(
    ("target", "given", "words"),
    [
        ("results/report.html", {}, "names none; write e.g. `report: {models: [fr, zh]}`"),
        ("results/frr/eval.json", {}, "frr is not a model of the config; did you mean fr?"),
        (EVAL, {"fr": {"corpora": ["Europarll"]}}, "did you mean Europarl?"),
        (EVAL, {"licences": {"allow": ["MIT"]}}, "Europarl"),
        (EVAL, {"fr": {"corpora": [{"path": "a {model}.tsv"}]}}, "corpora: a {model}.tsv: Snakemake takes {model}"),
        (EVAL, {"fr": {"corpora": [{"source": "a", "target": "{x,y}"}]}}, "rename the file, e.g. `mv '{x,y}' _x,y_`"),
        (EVAL, {"fr": {"development": {"sts": "{x}.tsv"}}}, "models.fr.development.sts: {x}.tsv: Snakemake takes"),
        (EVAL, {"fr": {"evaluate": {"tasks": {"a": {"task": "similarity", "path": "{x}"}}}}}, "tasks.a.path: {x}"),
        (EVAL, {"fr": {"teacher": {"encoder": "{x}", "languages": ["en"]}}}, "models.fr.teacher.encoder: {x}"),
        (EVAL, {"fr": {"corpora": [{"path": "a.tsv"}]}}, "a.tsv: no such file, but models.fr.corpora"),
        (EVAL, {"sources": {"opus": {"mirrors": ["https://x.org/{corpse}"]}}}, "sources.opus.mirrors"),
        (EVAL, {"fr": {"filters": {"custom": ["nowhere:keep"]}}}, "there is no module nowhere"),
        (EVAL, {"fr": {"evaluate": {"files": {"mine": "a"}}}}, "but models.fr.evaluate.files.mine names"),
        (EVAL, {"fr": {"development": {"sts": "a"}}}, "a: no such file, but models.fr.development.sts"),
        (EVAL, {"fr": {"teacher": {"encoder": "a/b", "languages": ["en"]}}}, "but models.fr.teacher.encoder names it"),
        (EVAL, {"fr": {"train": {"init_encoder": "a/b"}}}, "but models.fr.train.init_encoder"),
        ("results/fr/variants/scale=3/1/eval.json", {"fr": {"variants": {"grid": {"scale": [1, 2]}}}}, "scale=3"),
        ("results/fr/stats.json", {"fr": {"stats": {"labels": ["a"]}}}, "a: no such file, but models.fr.stats"),
        ("results/fr/lexicon.tsv", {"fr": {"lexicon": {"languages": ["en", "en"]}}}, "no pairs of en and en; it has"),
        ("results/fr/store.h5", {"fr": {"encoder": {"kind": "transformer", "base": "a/b"}}}, "fr is a transformer, wh"),
        ("results/fr/systems/other/eval.json", {}, "other"),
        ("results/fr/tasks/own.json", {"fr": {"evaluate": {"tasks": LENGTHS}}}, "mine.tsv: no such file, but"),
        ("results/fr/tasks/owl.json", {"fr": {"evaluate": {"tasks": LENGTHS}}}, "owl"),
        ("results/fr/variants/other/1/eval.json", {}, "other"),
        ("results/translators/ours/eval.json", {"translators": TRANSLATORS}, "a translator has model/"),
        (OURS, {"translators": TRANSLATORS}, "gone.tsv: no such file, but"),
        (THEIRS, {"translators": TRANSLATORS}, "is there already, and not trained"),
        ("results/translators/our/translator.json", {"translators": TRANSLATORS}, "did you mean ours?"),
    ],
)  # fmt: skip
def test_what_cannot_be_made_is_told(target, given, words):
    assert words in refusal(target, **given)


def test_offline_names_every_missing_file():
    told = refusal(EVAL, offline=True)
    assert told.startswith("offline, and ") and told.endswith("; add them or run once without offline")
    for name in ("opus/Europarl/v8/en-fr.txt.zip", "sts/STS.zip", "tatoeba/v1/tatoeba.fra-eng.eng"):
        assert f"results/downloads/{name}" in told


def test_files_that_the_workflow_makes_need_not_be_there():
    made = {"evaluate": {"files": {"mine": "results/zh/pairs/heldout.tsv"}}, "corpora": [{"path": "results/zh/a.tsv"}]}
    targets.check(config(made), ["results/fr/eval.json"])


def test_what_other_models_lack_is_nothing_to_this_one():
    targets.check(config({"corpora": [{"path": "gone.tsv"}]}), ["results/zh/eval.json"])
