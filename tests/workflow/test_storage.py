"""The demo's workflow with all files in an object store, as the Kubernetes profile has it, on an S3 server here."""

import json
import re
import socket
import subprocess
import sys
import time

import pytest

boto3 = pytest.importorskip("boto3", reason="boto3 is not installed (the extra kubernetes)")
pytest.importorskip("moto", reason="moto is not installed (the extra kubernetes-test)")

BUCKET, KEYS = "my-bucket", {"ACCESS_KEY": "one", "SECRET_KEY": "two"}
PLANNED = ("phrasebook", "download", "filter", "mix", "store", "train", "task", "evaluate")
#: Jobs run on this machine, since there is no Kubernetes; all else is as in the profile.
HERE = (
    "--executor", "local", "--cores", "2", "--retries", "0",
    "--shared-fs-usage", "persistence", "software-deployment", "sources", "source-cache", "storage-local-copies",
)  # fmt: skip
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def store():
    """The client of a server with an empty bucket."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    client = boto3.client(
        "s3",
        endpoint_url=f"http://127.0.0.1:{port}",
        region_name="us-east-1",
        aws_access_key_id=KEYS["ACCESS_KEY"],
        aws_secret_access_key=KEYS["SECRET_KEY"],
    )
    for _ in range(600):
        with socket.socket() as asked:
            if asked.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.1)
    client.create_bucket(Bucket=BUCKET)
    yield client
    server.kill()
    server.wait()


def run(project, store, *options):
    """Run the workflow by the profile, with the server's address in it."""
    profile = project.folder / "config/profiles/kubernetes/config.yaml"
    profile.write_text(profile.read_text().replace("https://s3.example.org", store.meta.endpoint_url))
    command = project.command(
        "--profile", "config/profiles/kubernetes", *options, "--", "results/demo/eval.json", cores=()
    )
    keys = {f"SNAKEMAKE_STORAGE_S3_{name}": value for name, value in KEYS.items()}
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.run(command, cwd=project.folder, env={**project.environment, **keys}, **pipe)


def test_a_run_has_the_scores_of_one_on_a_disk(project, finished, store):
    planned = run(project, store, "-n").stdout
    assert set(PLANNED) <= set(re.findall(r"^(\w+) +\d+$", planned, re.MULTILINE)), planned
    result = run(project, store, *HERE)
    assert result.returncode == 0, result.stdout
    made = json.loads(store.get_object(Bucket=BUCKET, Key="results/demo/eval.json")["Body"].read())
    assert made == json.loads((finished.folder / "results/demo/eval.json").read_text())
    assert not (project.folder / "results/demo/model").exists()
    assert "Nothing to be done" in run(project, store, "-n").stdout

    # A failed job's own words come last, though its log is an object.
    archive = "results/downloads/opus/Phrasebook/v1/en-fr.txt.zip"
    store.put_object(Bucket=BUCKET, Key=archive, Body=b"no archive")
    result = run(project, store, *HERE, "--forcerun", "filter")
    assert result.returncode != 0
    assert "en-fr.txt.zip: " in result.stdout.strip().splitlines()[-1], result.stdout
