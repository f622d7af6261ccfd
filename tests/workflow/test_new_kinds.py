"""A tokenizer, a loss, a corpus and a filter that psp has not, each added by its own file, go through everything."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from psp.core.files import read_json
from psp.models.exports import FORMS

pytestmark = pytest.mark.slow  # a workflow of its own
HERE = Path(__file__).parent
#: What each kind takes: its file, where that goes, and the module that imports it, if kinds are not found in a folder;
#: and how the config declares it.
KINDS = {
    "kinds/bigram_tokenizer.py": ("psp/text/bigram_tokenizer.py", "psp/text/tokenizer_kinds.py"),
    "kinds/semicolons.py": ("psp/corpora/semicolons.py", None),
    "kinds/shouting.py": ("psp/pairs/filters/shouting.py", None),
    "../training/pairwise_sigmoid.py": ("pairwise_sigmoid.py", None),
}
SHOUTING = '''class ShoutingBlock(FilterBlock):
    """Text in capitals."""

    KEY: ClassVar[str] = "shouting"

    enabled: bool = setting(False, "drop a pair with a side in capitals", recipes={"code": True})
    min: int = setting(5, "characters from which on a side counts as shouted", ge=1, recipes={"paper": 7})
    sides: Literal["both", "source", "target"] = setting("both", "which sides are looked at")


'''
DECLARED = {
    "psp/config/blocks/filters.py": (
        ("class FiltersBlock(Block):", f"{SHOUTING}class FiltersBlock(Block):"),
        ("    custom: list[", "    shouting: ShoutingBlock = ShoutingBlock()\n    custom: list["),
    ),
    "psp/config/blocks/entries.py": (('"trigram", ', '"trigram", "bigram", '),),
    "psp/config/blocks/vocabulary.py": (
        (
            'PieceKind("word", ',
            'PieceKind("bigram", "bigrams", unspelled="they are short"),\n        PieceKind("word", ',
        ),
    ),
    "psp/config/blocks/corpora.py": (
        ("    tmx: Text", '    semicolons: Text = optional("lines `source;target`")\n    tmx: Text'),
        (
            '        CorpusKind("mined"',
            '        CorpusKind("semicolons", ("semicolons",), called="a file of columns, `semicolons`"),\n'
            '        CorpusKind("mined"',
        ),
    ),
}
MODEL = """
models:
  new:
    languages: [en, fr]
    corpora: [{semicolons: mine.csv, licence: MIT}]
    encoder: bigram
    filters: {shouting: {enabled: true}}
    vocabulary: {size: 400}
    train: {epochs: 2, dim: 16, objective: "pairwise_sigmoid:PairwiseSigmoid", batch_size: 64}
    development: {sts: null, heldout: 100}
    evaluate:
      sts: false
      tatoeba: false
      files: {phrasebook: results/phrasebook/sts/phrasebook-test.tsv}
      resamples: 100
    quantize: {dims: [8]}
"""
FILES = ("eval.json", "data.json", "card.md", "quantized.json", "learning_curve.png", "report.html")
#: Why an export cannot hold such a model, for those that cannot.
REFUSED = {"static-embedding": "there is none of the kind bigram"}


@pytest.fixture(scope="module")
def made(finished, once):
    """A copy of psp with the three kinds, and a model of them, made by the workflow."""

    def make(folder):
        work = finished.copy(folder)
        for source, (target, importer) in KINDS.items():
            shutil.copy(HERE / source, folder / target)
            if importer:
                module = folder / importer
                package = ".".join(Path(target).parent.parts)
                added = f"from {package} import {Path(target).stem}"
                module.write_text(module.read_text() + f"\n{added}  # noqa: E402, F401\n")
        for name, changes in DECLARED.items():
            text = (folder / name).read_text()
            for old, new in changes:
                assert old in text
                text = text.replace(old, new, 1)
            (folder / name).write_text(text)
        archive = folder / "results/phrasebook/opus/Phrasebook/v1/moses/en-fr.txt.zip"
        with zipfile.ZipFile(archive) as bitext:
            sides = [bitext.read(f"Phrasebook.en-fr.{side}").decode().splitlines() for side in ("en", "fr")]
        rows = [*zip(*sides, strict=True), ("HELLO THERE YOU", "bonjour à vous"), ("No, no.", "NON !")]
        (folder / "mine.csv").write_text("".join(f"{a};{b}\n" for a, b in rows if ";" not in a))
        (folder / "new.yaml").write_text(MODEL)
        work.run(*(f"results/new/{file}" for file in FILES), configs=CONFIGS)

    return once("new kinds", make)


CONFIGS = ("config/demo.yaml", "tiny.yaml", "new.yaml")


def psp(work, *arguments, check=True):
    """Run a command of the copy."""
    done = work.psp(*arguments)
    assert not check or done.returncode == 0, done.stderr
    return done


def python(work, *arguments, check=True):
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, cwd=work.folder, env=work.environment, capture_output=True, text=True, check=False)
    assert not check or done.returncode == 0, done.stderr
    return done


def test_the_plan_counts_its_pairs(made):
    said = psp(made, "plan", "new", "--configfile", *CONFIGS).stdout
    assert re.search(r"mine\.csv +[\d.]+ +[\d,]+ +your file, pairs counted", said)
    assert "hours on 2 cores" in said


def test_the_workflow_makes_it_and_every_page_shows_it(made):
    folder = made.folder / "results/new"
    assert "phrasebook" in psp(made, "show", "results/new").stdout
    assert "mine.csv" in (folder / "data.md").read_text()
    assert "character bigrams" in (folder / "card.md").read_text()
    assert "bigram" in (folder / "report.html").read_text()
    assert not made.planned("results/new/eval.json", configs=CONFIGS)


def test_the_filter_drops_pairs_and_has_its_settings(made):
    (path,) = (made.folder / "results/new/pairs/filter").glob("*.json")
    report = read_json(path)
    assert report["dropped"]["shouting"] == 2
    assert report["filters"]["shouting"] == {"min": 5, "sides": "both", "enabled": True}
    settings = psp(made, "settings", "filters.shouting").stdout
    assert "min: 5" in settings and "characters from which on a side counts as shouted" in settings
    (made.folder / "wrong.yaml").write_text("filters: {shouting: {min: 0}}\n")
    said = psp(made, "plan", "new", "--configfile", *CONFIGS, "wrong.yaml", check=False).stderr
    assert "filters.shouting.min is 0, but must be at least 1 (characters from which on a side counts" in said


def test_the_model_is_known_as_what_it_is(made):
    assert "bigram" in psp(made, "info", "results/new/model").stdout


def test_its_speed_is_measured(made, tmp_path):
    code = (
        "import sys; from pathlib import Path; from psp.evaluation.speed.measure import measure_speed; "
        "model, store, out = map(Path, sys.argv[1:]); "
        "measure_speed(model, store, out, sentences=200, repeats=1, own=['psp float32, numba'], peers=[])"
    )
    python(made, "-c", code, "results/new/model", "results/new/store.h5", tmp_path / "speed.json")
    found = read_json(tmp_path / "speed.json")
    assert {(one["name"], one["agreement"]) for one in found["systems"]} == {
        ("psp float32, NumPy", 1), ("psp float32, numba", 1)
    }  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_export_works_or_gives_its_reason(made, form, tmp_path):
    out = tmp_path / "out"
    done = psp(made, "export", form, "results/new/model", out, check=False)
    if form in REFUSED:
        assert done.returncode == 1 and REFUSED[form] in done.stderr
        assert not out.exists()
    else:
        assert done.returncode == 0, done.stderr
        assert out.exists()
