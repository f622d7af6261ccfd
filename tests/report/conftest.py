"""A model's results, as the workflow leaves them, of a small model and other systems beside it."""

from __future__ import annotations

import json
import shutil

import pytest

from psp.evaluation.compare import compare
from psp.evaluation.evaluate import evaluate_model, evaluate_system
from psp.evaluation.examples import examples_of_model
from psp.evaluation.system import scorer_of
from psp.evaluation.task import evaluate_model_task, evaluate_system_task
from tests.evaluation.conftest import made  # noqa: F401  (a fixture)

#: What corpora may hold: markup, a script, marks that turn the direction, half a surrogate pair, a null character.
HOSTILE = "<script>alert(1)</script> & \"'</td>\u202egnp.exe\ud800\x00 {{ 7 * 7 }}"


def data(model="fr", **other):
    """data.json of one corpus."""
    counts = {
        "deduplicated": {"duplicates": 7, "capped": 0},
        "mixed": {"duplicates": 0, "heldout": 3, "heldout_neighbours": 0},
        "near_duplicates": {},
        "kept": 600,
        "pieces": {"source": 3000, "target": 3000},
        "mean_pieces": {"source": 5.0, "target": 5.0},
    }
    corpus = {
        "label": "Made",
        "corpus": "Made",
        "languages": ["en", "fr"],
        "kind": "opus",
        "version": "v1",
        "source": {"address": "file:///home/me/secret/made.zip", "bytes": 9, "sha256": "a" * 64, "pinned": False},
        "licence": {"declared": None, "text": HOSTILE},
        "filters": {"length": {"enabled": True, "sides": "both", "tokens": "spaces", "min": 3, "max": 100}},
        "warn_share": 0.2,
        "read": 700,
        "dropped": [{"filter": "length", "reason": HOSTILE, "pairs": 90, "samples": [[HOSTILE, "court"]]}],
        **counts,
    }
    return {
        "format": 1,
        "model": model,
        "languages": ["en", "fr"],
        "recipe": "psp",
        "warnings": {"pairs": 600, "least": 5000, "filters": []},
        "corpora": [corpus],
        "total": {"read": 700, "dropped": 90, **counts},
        **other,
    }


def rewrite(path, **changes):
    """Change a JSON file's values."""
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.fixture(scope="session")
def _results(made, tmp_path_factory):  # noqa: F811
    folder = tmp_path_factory.mktemp("results") / "fr"
    shutil.copytree(made.model, folder / "model")
    shutil.copy(made.store, folder / "store.h5")
    own = folder / "eval.json", folder / "eval.safetensors"
    info = {"languages": ["en", "fr"]}
    evaluate_model(made.model, own[0], name="fr", resampled=own[1], **made.tests)
    beside = folder / "systems/word-overlap/eval.json", folder / "systems/word-overlap/eval.safetensors"
    evaluate_system(scorer_of("word-overlap"), beside[0], name="word-overlap", resampled=beside[1], **made.tests)
    graded = {"task": "similarity", "path": str(made.tests["files"]["graded"])}
    about = {"name": "judged", "resamples": 100, "seed": 1}
    evaluate_model_task(made.model, folder / "tasks/judged.json", graded, model="fr", **about)
    out = beside[0].parent / "tasks/judged.json"
    evaluate_system_task(scorer_of("word-overlap"), out, graded, model="word-overlap", **about)
    compare(own, {"word-overlap": beside, "other": own}, folder / "compare.json", name="fr", tasks=["judged"])
    sets = {key: made.tests[key] for key in ("files", "tatoeba")}
    examples_of_model(made.model, folder / "examples.json", name="fr", **info, **sets)
    (folder / "data.json").write_text(json.dumps(data()))  # half a surrogate pair can stand in JSON as an escape only
    return folder


@pytest.fixture
def results(_results, tmp_path):
    """A copy of results/fr with scores, another system, examples and data, and neither training nor speed."""
    return shutil.copytree(_results, tmp_path / "results/fr")
