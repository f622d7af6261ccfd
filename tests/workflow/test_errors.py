"""Bad input ends a run with one clear line, a status that is not 0, and nothing half-written."""

import zipfile

import pytest

from tests.config.test_plan import NEW_LANGUAGES

EVAL = "results/demo/eval.json"
ARCHIVE = "results/downloads/opus/Phrasebook/v1/en-fr.txt.zip"


def failure(workflow, *arguments, **options):
    result = workflow.run(*arguments, check=False, **options)
    assert result.returncode != 0
    assert "Traceback" not in result.output, result.output
    # Whatever Snakemake has to say of it, the last line is ours.
    assert result.output.splitlines()[-1].startswith("error: "), result.output
    for words in ("Exception", "no backup found", "Exiting because a job"):
        assert words not in result.output, result.output
    return result.output


@pytest.mark.slow
def test_every_model_of_the_config_can_be_planned(project):
    names = ("ar", "de", "en", "es", "fr", "ru", "tr", "zh")
    jobs = project.jobs(*(f"results/{name}/eval.json" for name in names), configs=())
    assert {jobs[rule] for rule in ("mix", "subword", "store", "train", "evaluate")} == {len(names)}
    assert jobs["download"] > jobs["filter"] > len(names)
    corpora = "[OpenSubtitles, GlobalVoices, Europarl]"
    more = "".join(f"  {name}: {{languages: [en, {name}], corpora: {corpora}}}\n" for name in NEW_LANGUAGES)
    (project.folder / "more.yaml").write_text(f"models:\n{more}")
    jobs = project.jobs(*(f"results/{name}/eval.json" for name in NEW_LANGUAGES), configs=("more.yaml",))
    assert jobs["filter"] == 3 * jobs["train"] == 3 * len(NEW_LANGUAGES)


@pytest.mark.slow
def test_the_sample_can_be_planned_from_a_relative_mirror(project, monkeypatch):
    (project.folder / "mirror").mkdir()
    monkeypatch.setenv("PSP_DATA", "mirror")
    names = ("ar", "de", "en", "fr", "fr-notatoeba", "tr", "zh")
    jobs = project.jobs(*(f"results/{name}/eval.json" for name in names), configs=("config/sample.yaml",))
    assert jobs["train"] == jobs["evaluate"] == len(names)


@pytest.mark.parametrize(
    ("config", "target", "words"),
    [
        ("{}", "results/frr/eval.json", "frr is not a model of the config; did you mean fr?"),
        ("train: {epohcs: 3}", EVAL, "config: train.epohcs is not a key; did you mean epochs?"),
        ("train: {epochs: 3}\nmix: {}\ntrain: {dim: 8}", EVAL, "tiny.yaml: train is given twice in one mapping, on li"),
        ("models: {demo: {evaluate: {files: {mine: my.tsv}}}}", EVAL, "my.tsv: no such file, but models.demo"),
    ],
)
def test_what_is_wrong_is_one_line_before_anything_runs(project, config, target, words):
    (project.folder / "tiny.yaml").write_text(config)
    output = failure(project, target)
    assert f"error: {words}" in output.splitlines()[-1]
    assert len(output.splitlines()) < 8  # not the whole schema
    assert not (project.folder / "results").exists()


@pytest.mark.slow
def test_what_is_wrong_is_one_line_when_the_graph_is_being_built(project):
    output = failure(project, "--dry-run", "results/demo/evil.json")
    assert "error: results/demo/evil.json: no rule makes this file" in output
    (project.folder / "tiny.yaml").write_text("models: {demo: {development: {sts: my/dev.tsv}}}")
    # The command line names no target.
    project.edit("rules/common.smk", "targets.check(CONFIG, sys.argv[1:])", "targets.check(CONFIG, [])")
    output = failure(project, "--dry-run", EVAL)
    assert "my/dev.tsv: no such file, but models.demo" in output.splitlines()[-1]
    # Other models have corpora that are not allowed, but nobody asks for them.
    (project.folder / "tiny.yaml").write_text("licences: {allow: [MIT]}\n")
    assert "evaluate" in project.planned(EVAL)


@pytest.mark.slow
def test_what_a_person_should_know_of_a_config_is_said_once(project):
    project.add("  qq: {languages: [en, qq], corpora: [{path: my.tsv}]}\n")
    (project.folder / "my.tsv").touch()
    # A job, whose process reads the config again.
    targets = "results/phrasebook/truth.json", "results/qq/pairs/filter/my.en-qq.tsv"
    output = project.run("--until", "phrasebook", "--", *targets).output
    (told,) = [line for line in output.splitlines() if "tiny.yaml extends existing models" in line]
    assert "demo (languages, corpora, filters.length.min, development.sts," in told
    assert output.count("qq is not a language code that psp knows") == 1


def put(workflow, data):
    path = workflow.folder / ARCHIVE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def archive(tmp_path, english, french):
    path = tmp_path / "made.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("Phrasebook.en-fr.en", english)
        file.writestr("Phrasebook.en-fr.fr", french)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("cut", ["en-fr.txt.zip"]),
        pytest.param("bytes", ["line 2", "UTF-8"], marks=pytest.mark.slow),
        pytest.param("empty", ["no pairs are left to train on", "Phrasebook.en-fr 0"], marks=pytest.mark.slow),
    ],
)
def test_bad_archives(project, tmp_path, name, words):
    good = archive(tmp_path, "one two three\n" * 500, "un deux trois\n" * 500)
    put(
        project,
        {
            "cut": good[: len(good) // 2],
            "bytes": archive(tmp_path, b"a b c\n" + b"a \xff c\n" * 101, "a b c\n" * 102),
            "empty": archive(tmp_path, "one\n" * 9, "un\n" * 9),
        }[name],
    )
    (project.folder / "tiny.yaml").write_text(
        "filters: {language: {enabled: false}, decontaminate: {enabled: false}}\n"  # they need files that take seconds
        "models: {demo: {corpora: [Phrasebook]}}\n"
    )
    output = failure(project, "results/demo/pairs/mix.json")
    for word in words:
        assert word in output.splitlines()[-1], output
    left = [path for path in (project.folder / "results/demo/pairs").rglob("*") if path.name.startswith(".")]
    assert left == []
    assert not (project.folder / "results/demo/pairs/mix.json").exists()
