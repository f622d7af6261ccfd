"""The demo as it is: what the README promises of it, and what the guide shows."""

import json
import os
import re
from pathlib import Path

import pytest

from psp.cli.main import main
from psp.models.scores import compared_metrics

pytestmark = pytest.mark.slow
GUIDE = Path(__file__).parents[2] / "docs/guide"
#: Sentences of docs/guide/use.md: the English ones, and the French ones in another order.
ENGLISH = ("a red car", "the cat eats bread", "where is the station?", "she bought a red car",
           "we are looking for a doctor")  # fmt: skip
FRENCH = ("où est la gare ?", "elle a acheté une voiture rouge", "le chat mange du pain", "nous cherchons un médecin",
          "une voiture rouge")  # fmt: skip


@pytest.fixture(scope="module")
def folder(request):
    """The results of a ``make demo`` that PSP_DEMO names, as CI has run it; else of a run of its own."""
    if "PSP_DEMO" in os.environ:
        return Path(os.environ["PSP_DEMO"])
    fresh, once = request.getfixturevalue("fresh"), request.getfixturevalue("once")

    def make(folder):
        made = [f"results/demo/{name}.json" for name in ("eval", "compare", "data", "speed")]
        fresh.copy(folder).run(*made, configs=("config/demo.yaml",))

    return once("demo", make).folder / "results/demo"


def test_the_demo_beats_all_that_needs_no_training(folder):
    systems = json.loads((folder / "compare.json").read_text())["systems"]
    scores = {name: compared_metrics(body) for name, body in systems.items()}
    pearson = {name: found["files/phrasebook"] for name, found in scores.items()}
    trained = pearson.pop("trained")
    assert len(pearson) == 3
    assert trained >= max(pearson.values()) + 10
    for direction in ("fra-eng", "eng-fra"):
        error = {name: found[f"tatoeba/{direction}"] for name, found in scores.items()}
        trained = error.pop("trained")
        assert trained <= min(error.values()) / 2


def shown(page):
    """The lines that a page of the guide ends with."""
    return re.findall(r"```text\n(.*?)```\n", (GUIDE / page).read_text(encoding="utf-8"), re.DOTALL)[-1].splitlines()


def form(lines):
    """Lines without what may differ in the last bits: figures, and the width of columns."""
    return [re.sub(r"-{2,}", "--", re.sub(r" +", " ", re.sub(r"[-+]?\d[\d.,]*", "0", line))) for line in lines]


@pytest.mark.parametrize(("page", "options"), [("first-model.md", []), ("evaluate.md", ["--all"])])
def test_the_guide_shows_what_psp_show_prints(folder, page, options, capsys):
    main(["show", str(folder), *options])
    printed = form(capsys.readouterr().out.replace(str(folder), "results/demo").splitlines())
    assert len(shown(page)) > 5
    assert [line for line in form(shown(page)) if line not in printed] == []


def test_the_guide_shows_what_is_found_and_mined(folder, tmp_path, capsys):
    pytest.importorskip("faiss", reason="faiss is not installed (the extra search)")
    files = {name: tmp_path / f"{name}.txt" for name in ("english", "french", "queries")}
    for name, lines in zip(files, (ENGLISH, FRENCH, ("a small car",)), strict=True):
        files[name].write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    model, mined = str(folder / "model"), tmp_path / "mined.tsv"
    main(["search", model, str(files["french"]), str(files["queries"]), "-k", "3"])
    main(["mine", model, str(files["english"]), str(files["french"]), "--out", str(mined)])
    found = [*capsys.readouterr().out.replace(f"{tmp_path}/", "").splitlines(), *mined.read_text().splitlines()]
    assert sorted(form(found)) == sorted(form(filter(None, shown("use.md"))))
