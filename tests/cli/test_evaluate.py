"""``psp eval``: any encoder on test sets, without the workflow."""

from __future__ import annotations

import json
import shutil

import pytest

from psp.cli.main import main
from psp.evaluation.evaluate import evaluate
from psp.evaluation.scorers import EmbeddingScorer
from psp.models.folder import load_model
from tests.cli.conftest import refused
from tests.conftest import PAIRS

TASKS = """
evaluate:
  tasks:
    judged: {task: similarity, path: judged.tsv}
    mined: {task: tatoeba, sets: {fr: [side.fr, side.en]}}
models: {}
"""


@pytest.fixture
def folder(small_model, tmp_path, monkeypatch):
    """A model, sets in several layouts, and a config that names two of them."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(small_model, tmp_path / "model")
    english, french = zip(*PAIRS[:30], strict=True)
    (tmp_path / "judged.tsv").write_text(
        "".join(f"{n % 6}\t{one}\t{other}\n" for n, (one, other) in enumerate(PAIRS[:40])), "utf-8"
    )
    for code, lines in (("en", english), ("fr", french)):
        (tmp_path / f"side.{code}").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    (tmp_path / "tatoeba").mkdir()
    for code, lines in (("fra", french), ("eng", english)):
        (tmp_path / f"tatoeba/tatoeba.fra-eng.{code}").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    (tmp_path / "tasks.yaml").write_text(TASKS)
    return tmp_path


def test_a_model_is_scored_as_in_a_run(folder, capsys):
    options = ["--languages", "en", "fr", "--tatoeba", "tatoeba", "--tasks", "tasks.yaml", "--out", "out"]
    main(["eval", "model", *options, "--resamples", "100"])
    printed = capsys.readouterr().out
    assert "own set fra-eng (French)" in printed and "mined" in printed and "judged" in printed
    body = json.loads((folder / "out/eval.json").read_text())
    sides = (folder / "tatoeba/tatoeba.fra-eng.fra", folder / "tatoeba/tatoeba.fra-eng.eng")
    scorer = EmbeddingScorer(load_model(folder / "model"))
    expected = evaluate(scorer, languages=["en", "fr"], tatoeba={"fr": sides}, resamples=100, seed=1)
    assert {key: body[key] for key in expected} == expected
    main(["show", "out", "--all"])
    shown = capsys.readouterr().out
    assert all(line in shown for line in printed.splitlines())


def test_the_languages_are_the_models(folder, capsys):
    main(["eval", "model", "--tatoeba", "tatoeba", "--resamples", "100"])
    assert "own set fra-eng (French)" in capsys.readouterr().out


def test_systems_without_vectors_say_what_they_cannot_do(folder, capsys):
    (folder / "more.yaml").write_text("evaluate: {tasks: {topic: {task: classification, path: topics}}}\n")
    (folder / "topics").write_text("a one two\nb three four\n" * 20)
    main(["eval", "word-overlap", "--tasks", "tasks.yaml", "more.yaml", "--only", "topic", "judged"])
    printed = capsys.readouterr().out
    assert "topic, word-overlap: the system compares texts but has no vectors" in printed
    assert "mined" not in printed


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["model"], "no test set; give --sts, --tatoeba or --tasks"),
        (["absent", "--tasks", "tasks.yaml"], "absent: no such file or folder; write a file of word vectors, "),
        (["model", "--tasks", "judged.tsv"], "judged.tsv"),
        (["model", "--tasks", "empty.yaml"], "empty.yaml: has no tasks; write them under `evaluate: {tasks: ...}`"),
        (["model", "--tasks", "tasks.yaml", "--only", "mind"], "--only mind: no such task; did you mean mined?"),
        (["model", "--tasks", "lost.yaml"], "gone.tsv: no such file, but the task lost needs it"),
        (["model", "--tatoeba", "tatoeba", "--resamples", "10"], "--resamples must be 100 or more"),
        (["model", "--tatoeba", "nowhere", "--languages", "en", "fr"], "tatoeba.fra-eng.fra: cannot be read"),
        (["word-overlap", "--tatoeba", "tatoeba"], "nothing was scored (no set there is in en); give --languages"),
        (["model", "--tatoeba", "tatoeba", "--languages", "en", "zho"], "--languages: zho is not psp's code"),
        (["model", "--tatoeba", "nowhere"], "nowhere: has none of the model's Tatoeba sets, such as tatoeba.fra-eng"),
        (["untrained", "--tasks", "tasks.yaml"], "untrained has the subwords of a trained model"),
    ],
)
def test_bad_input_ends_in_one_line(folder, capsys, arguments, said):
    (folder / "empty.yaml").write_text("evaluate: {resamples: 100}\n")
    (folder / "lost.yaml").write_text("evaluate: {tasks: {lost: {task: similarity, path: gone.tsv}}}\n")
    assert said in refused(capsys, "eval", *arguments, "--out", "out")
    assert not (folder / "out").exists()


def test_a_users_own_transformer_is_scored_by_the_polish_protocol(tmp_path, monkeypatch, capsys):
    """The command of docs/guide/evaluate.md, on a tiny transformer and made-up sets in the published layouts."""
    pytest.importorskip(
        "sentence_transformers", reason="not installed (pip install 'paraphrastic[sentence-transformers]')"
    )
    from sentence_transformers import SentenceTransformer

    from tests.training.transformer.conftest import make_base, make_pairs

    monkeypatch.chdir(tmp_path)
    base = make_base(tmp_path / "base")
    SentenceTransformer(str(base), device="cpu").save(str(tmp_path / "encoder"))
    pairs = make_pairs(60)
    for start, part in enumerate(("train", "trial", "test_annotated")):
        some = pairs[20 * start : 20 * start + 20]
        rows = [
            f"{n}\t{a}\t{b if n % 2 else a}\t{0.5 + n % 5}\t{('NEUTRAL', 'ENTAILMENT')[n % 2]}\n"
            for n, (a, b) in enumerate(some)
        ]
        (tmp_path / f"CDS_{part}.txt").write_text(f"{'	'.join(HEAD)}\n{''.join(rows)}")
        name = {"train": "train", "trial": "dev", "test_annotated": "test"}[part]
        some[0] = pairs[0]
        (tmp_path / f"{name}.txt").write_text("".join(f"{n % 2} {a}\n" for n, (a, _) in enumerate(some)))
    (tmp_path / "polish.yaml").write_text(POLISH)
    main(["eval", "sentence-transformers:encoder", "--languages", "pl", "--tasks", "polish.yaml", "--out", "scores",
          "--resamples", "100", "--cache", "cache"])  # fmt: skip
    printed = capsys.readouterr().out
    for name, figure in (("cdsc-e", "accuracy"), ("cdsc-r", "spearman"), ("cr-h", "accuracy")):
        body = json.loads((tmp_path / f"scores/tasks/{name}.json").read_text())
        score = body["parts"]["all"]["figures"][figure]
        assert -100 <= score["value"] <= 100 and score["interval"] and name in printed
    assert body["parts"]["all"]["further"]["seeds"] == [1111]
    assert "cdsc-r: trained as published, though 4 of 20 scores are below 1" in printed
    assert "cr-h: scored as published, though 1 of its sentences are also in its own training part" in printed


HEAD = ("pair_ID", "sentence_A", "sentence_B", "relatedness_score", "entailment_judgment")
POLISH = """
evaluate:
  tasks:
    cdsc-e: {task: mlp_classification, layout: sick, path: ., seeds: [1111]}
    cdsc-r: {task: relatedness, layout: sick, path: ., seeds: [1111]}
    cr-h: {task: mlp_classification, path: ., seeds: [1111]}
"""
