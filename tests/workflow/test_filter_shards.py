"""A large corpus is filtered by several jobs: through Snakemake, with the same bytes for any number of them."""

import json

import pytest

from psp.config.rates import FILTER_RATE

FOLDER = "results/demo/pairs/filter"
FILES = [f"pairs/filter/Phrasebook.en-fr.{name}" for name in ("tsv", "json", "dropped.tsv")]


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [2, 7])
def test_shards_give_the_bytes_of_one_job(copy_of_finished, jobs):
    workflow, target = copy_of_finished, f"{FOLDER}/Phrasebook.en-fr.json"
    workflow.run("--notemp", "--force", target)
    whole, report = workflow.digests(*FILES), json.loads((workflow.folder / target).read_text())
    tiny = workflow.folder / "tiny.yaml"
    minutes = report["seen"] / FILTER_RATE / 60 / (jobs - 0.5)
    tiny.write_text(
        f"{tiny.read_text()}    filters: {{job_minutes: {minutes}}}\n"
        f"corpora: {{Phrasebook: {{pairs: {{en-fr: {report['seen'] - 5}}}}}}}\n"
    )
    assert workflow.jobs(target) == {"filter": 1, "filter_shard": jobs}
    workflow.run(target)
    assert workflow.digests(*FILES[1:]) == {name: whole[name] for name in FILES[1:]}
    assert not (workflow.folder / FOLDER / "Phrasebook.en-fr").exists()  # what shards made is gone
    assert workflow.planned(target) == set()
    workflow.run("--notemp", "--force", target)
    assert workflow.digests(*FILES) == whole


def test_a_shard_that_there_is_not_is_an_error(project):
    result = project.run("--dry-run", f"{FOLDER}/Phrasebook.en-fr/1-of-3.tsv", check=False)
    assert result.returncode
    assert "filtered by 1 jobs, not by 3" in result.output
