"""A large corpus is processed by several jobs: through Snakemake, with the same bytes for any number of them."""

import json

import pytest

from psp.config.made_entries import KEPT
from psp.config.rates import DEDUPE_RATE, FILTER_RATE, MIX_RATE, RANK_RATE

FOLDER = "results/demo/pairs/filter"
#: The tests of each stage in tests/pairs try other numbers.
JOBS = 3
FILES = [f"pairs/filter/Phrasebook.en-fr.{name}" for name in ("tsv", "json", "dropped.tsv")]


@pytest.mark.slow
def test_shards_give_the_bytes_of_one_job(copy_of_finished):
    workflow, target = copy_of_finished, f"{FOLDER}/Phrasebook.en-fr.json"
    workflow.run("--notemp", "--force", target)
    whole, report = workflow.digests(*FILES), json.loads((workflow.folder / target).read_text())
    tiny = workflow.folder / "tiny.yaml"
    minutes = report["seen"] / FILTER_RATE / 60 / (JOBS - 0.5)
    tiny.write_text(
        f"{tiny.read_text()}    filters: {{job_minutes: {minutes}}}\n"
        f"corpora: {{Phrasebook: {{pairs: {{en-fr: {report['seen'] - 5}}}}}}}\n"
    )
    assert workflow.jobs(target) == {"filter": 1, "filter_shard": JOBS}
    workflow.run(target)
    assert workflow.digests(*FILES[1:]) == {name: whole[name] for name in FILES[1:]}
    assert not (workflow.folder / FOLDER / "Phrasebook.en-fr").exists()  # what shards made is gone
    assert workflow.planned(target) == set()
    workflow.run("--notemp", "--force", target)
    assert workflow.digests(*FILES) == whole


@pytest.mark.slow
def test_several_jobs_remove_the_duplicates_that_one_removes(copy_of_finished):
    workflow, label = copy_of_finished, "Phrasebook.en-fr"
    files, target = (
        [f"pairs/dedupe/{label}.{name}" for name in ("tsv", "json")],
        f"results/demo/pairs/dedupe/{label}.json",
    )
    workflow.run("--notemp", "--force", target)
    whole = workflow.digests(*files)
    minutes = KEPT * 10_000 / DEDUPE_RATE / 60 / (JOBS - 0.5)
    known = f"{{pairs: {{en-fr: 10_000}}, filters: {{job_minutes: {minutes}}}}}"
    tiny = workflow.folder / "tiny.yaml"
    tiny.write_text(f"{tiny.read_text()}corpora: {{Phrasebook: {known}}}\n")
    planned = workflow.jobs(target)
    assert (planned["dedupe_split"], planned["dedupe_shard"], planned["dedupe"]) == (JOBS, JOBS, 1)
    workflow.run(target)
    assert workflow.digests(files[1]) == {files[1]: whole[files[1]]}
    assert not (workflow.folder / f"results/demo/pairs/dedupe/{label}").exists()
    assert workflow.planned(target) == set()
    workflow.run("--notemp", "--force", target)
    assert workflow.digests(*files) == whole


@pytest.mark.slow
def test_several_jobs_keep_the_deciles_that_one_keeps(copy_of_finished):
    workflow, label = copy_of_finished, "Phrasebook.en-fr"
    files = [f"pairs/rank/{label}.{name}" for name in ("tsv", "json")]
    target = f"results/demo/{files[0]}"  # a scratch file that is asked for is kept
    tiny = workflow.folder / "tiny.yaml"
    tiny.write_text(f"{tiny.read_text()}    rank: {{by: length, deciles: [2, 9, 10]}}\n")
    of_one = tiny.read_text()
    planned = workflow.jobs(target)
    assert planned["rank"] == 1 and not planned.keys() & {"rank_values", "rank_part"}
    workflow.run(target)
    whole = workflow.digests(*files)
    minutes = KEPT * 10_000 / RANK_RATE["length"] / 60 / (JOBS - 0.5)
    known = f"{{pairs: {{en-fr: 10_000}}, filters: {{job_minutes: {minutes}}}}}"
    tiny.write_text(f"{of_one}corpora: {{Phrasebook: {known}}}\n")
    planned = workflow.jobs(target)
    assert [planned[rule] for rule in ("rank_values", "rank_part", "rank")] == [JOBS, JOBS, 1]
    for file in files:
        (workflow.folder / "results/demo" / file).unlink()
    workflow.run(target)
    assert workflow.digests(*files) == whole
    assert not (workflow.folder / f"results/demo/pairs/rank/{label}").exists()
    assert workflow.planned(target) == set()


def test_a_shard_that_there_is_not_is_an_error(project):
    result = project.run("--dry-run", f"{FOLDER}/Phrasebook.en-fr/1-of-3.tsv", check=False)
    assert result.returncode
    said = "error: filter of Phrasebook.en-fr has 1 jobs, not 3 (filters.job_minutes)"
    assert result.output.splitlines()[-1] == said


@pytest.mark.slow
def test_several_jobs_make_the_mixture_and_the_store_of_one(copy_of_finished):
    workflow, target = copy_of_finished, "results/demo/store.h5"
    files = ("store.h5", "pairs/mix.json", "pairs/heldout.tsv")
    before = workflow.digests(*files)
    tiny = workflow.folder / "tiny.yaml"
    # The corpora keep one job each: their own settings come first.
    known = "{pairs: {en-fr: 10_000}, filters: {job_minutes: 30}}"
    minutes = KEPT * 20_000 / MIX_RATE / 60 / (JOBS - 0.5)
    tiny.write_text(
        f"{tiny.read_text()}    filters: {{job_minutes: {minutes}}}\n"
        f"corpora: {{Phrasebook: {known}, PhrasebookExtra: {known}}}\n"
    )
    planned = workflow.jobs(target)
    assert [planned[f"mix_{step}"] for step in ("split", "sort", "part")] == [JOBS] * 3
    assert planned["mix"] == planned["store"] == 1 and planned["store_shard"] >= JOBS
    (workflow.folder / target).unlink()
    workflow.run(target)
    assert workflow.digests(*files) == before
    assert not [folder for folder in ("mix", "store") if (workflow.folder / "results/demo/pairs" / folder).exists()]
    assert workflow.planned(target) == set()


@pytest.mark.slow
def test_small_corpora_are_filtered_and_deduped_in_one_job_each_with_the_same_bytes(copy_of_finished):
    workflow = copy_of_finished
    labels = [path.stem for path in (workflow.folder / FOLDER).glob("*.en-fr.json")]
    assert len(labels) > 1
    files = [f"pairs/filter/{label}.{name}" for label in labels for name in ("tsv", "json", "dropped.tsv")]
    files += [f"pairs/dedupe/{label}.{name}" for label in labels for name in ("tsv", "json")]
    targets = [f"results/demo/pairs/dedupe/{label}.json" for label in labels]
    workflow.run("--notemp", "--forceall", *targets)
    apart = workflow.digests(*files)
    tiny = workflow.folder / "tiny.yaml"
    known = ", ".join(f"{label.rpartition('.')[0]}: {{pairs: {{en-fr: 1000}}}}" for label in labels)
    tiny.write_text(f"{tiny.read_text()}corpora: {{{known}}}\n")
    for file in files:
        (workflow.folder / "results/demo" / file).unlink()
    assert workflow.jobs(*targets) == {"filter_small_demo": 1, "dedupe_small_demo": 1}
    workflow.run("--notemp", *targets)
    assert workflow.digests(*files) == apart
    assert workflow.planned(*targets) == set()


TRANSLATOR = "results/translators/fr-en/pairs/mix.json"
TRANSFORMER = "results/tiny/pairs/mix.tsv"
MORE = """
translators:
  fr-en: {languages: [fr, en], from: {model: demo}, train: {steps: 1}}
models:
  tiny: {languages: [en, fr], corpora: [Phrasebook], encoder: {kind: transformer, base: base}}
"""


def test_jobs_share_the_pairs_of_a_transformer_and_of_a_translator_too(project):
    (project.folder / "more.yaml").write_text(
        f"{MORE}filters: {{job_minutes: 0.0001}}\ncorpora: {{Phrasebook: {{pairs: {{en-fr: 3000}}}}}}\n"
    )
    for target, rule in ((TRANSFORMER, "mix_text"), (TRANSLATOR, "mix_translator")):
        jobs = project.jobs("--", target, configs=("config/demo.yaml", "tiny.yaml", "more.yaml"))
        assert jobs[rule] == 1 and jobs["mix_split"] == jobs["mix_sort"] == jobs["mix_part"] > 1
        assert jobs["dedupe_split"] == jobs["dedupe_shard"] > 1 and jobs["filter_shard"] > 1
