"""The last line of a failed run, of what Snakemake says in fifteen."""

import os
from pathlib import Path

import pytest

from psp.core import failures
from psp.core.errors import DataError
from psp.core.logs import job

MISSING_INPUT = """MissingInputException in rule evaluate in file "/x/rules/evaluate.smk", line 27:
Missing input files for rule evaluate:
    output: results/demo/eval.json
    wildcards: model=demo
    affected files:
        my/sts.tsv
        my/other.tsv"""
SKEW = (
    "WorkflowError:\nOutput results/b has older modification time (2026-11-23 22:24:55.323035) than input "
    "results/a.zip (2026-11-24 22:24:28.350852). This could indicate a clock skew problem in your network"
)
INPUT_FUNCTION = """InputFunctionException in rule filter in file "/x/rules/filter.smk", line 54:
Error:
  {error}
Wildcards:
  model=demo
  part=x
Traceback:
  File "/x/rules/filter.smk", line 49, in custom_code"""


@pytest.mark.parametrize(
    ("exception", "text", "words"),
    [
        ("MissingInputException", MISSING_INPUT, "my/other.tsv, my/sts.tsv: no such file, and no rule makes it"),
        ("ProtectedOutputException", MISSING_INPUT, "my/other.tsv, my/sts.tsv: cannot be written: read-only; make it"),
        ("MissingRuleException", "MissingRuleException:\nNo rule to produce a.json (if you use input functions ...).",
         "a.json: no rule makes this file"),
        ("LockException", "Error: Directory cannot be locked.\nPlease make sure", "snakemake --unlock"),
        ("IncompleteFilesException", "IncompleteFilesException:\nThe files below", "--rerun-incomplete"),
        ("WorkflowError", SKEW, "results/a.zip: dated in the future (2026-11-24 22:24), so the clock has been "),
        ("InputFunctionException", INPUT_FUNCTION.format(error="ConfigError: a: is odd"), "a: is odd"),
        ("ValueError", "Traceback (most recent call last):\n  File x\nValueError: no such thing\n", "ValueError: no"),
        ("FileNotFoundError", "Traceback\n  x\nFileNotFoundError: [Errno 2] No such file or directory: 'a.yaml'",
         "a.yaml: no such file; correct its path"),
        ("AmbiguousRuleException", "AmbiguousRuleException:\nRules a and b\n  are ambiguous", "Rules a and b are amb"),
    ],
)  # fmt: skip
def test_what_snakemake_says_becomes_a_line(exception, text, words):
    said = failures.of_snakemake(exception, text)
    assert words in said
    assert "\n" not in said
    assert not said.startswith("InputFunction")


def test_a_group_of_exceptions_is_the_last_one_s_line():
    """What Snakemake says where a storage fails, as recorded with snakemake 9.27."""
    group = (
        "ExceptionGroup in file x:\n  + Exception Group Traceback (most recent call last):\n"
        '  |   File "io.py", line 1, in exists\n'
        "  | snakemake_interface_common.exceptions.WorkflowError: Failed to check existence of s3://b/x\n  | {}\n"
    )
    told = failures.of_snakemake("ExceptionGroup", group.format("EndpointConnectionError: Could not connect"))
    assert told == "Could not connect"
    told = failures.of_snakemake("ExceptionGroup", group.format("NoCredentialsError: Unable to locate credentials"))
    assert "SNAKEMAKE_STORAGE_S3_ACCESS_KEY" in told and "\n" not in told


def test_of_a_job_its_log_tells(tmp_path):
    log = tmp_path / "a.log"
    with pytest.raises(SystemExit), job(log):
        raise DataError("is odd; mend it", "corpus.fr", 3)
    assert failures.of_job("Training fr", [str(log)], None, None) == "corpus.fr, line 3: is odd; mend it"


def test_a_job_that_said_nothing_has_a_line_too(tmp_path):
    log = tmp_path / "a.log"
    with job(log):
        pass
    killed = failures.of_job("Training fr", [str(log)], "SIGKILL", None)
    hint = "(perhaps out of memory: on a cluster each new try of `--retries 2` asks for more)"
    assert killed == f"Training fr was killed by SIGKILL {hint}; see its log {log}"
    assert failures.of_job("Training fr", [], None, "SLURM job 7 failed: TIMEOUT") == (
        "Training fr SLURM job 7 failed: TIMEOUT"
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_job_whose_log_did_not_fit_on_the_disk(tmp_path, capsys, monkeypatch):
    log = tmp_path / "a.log"
    log.symlink_to("/dev/full")
    with pytest.raises(SystemExit), job(log):
        raise DataError("is odd; mend it", "corpus.fr", 3)
    assert capsys.readouterr().err == "error: corpus.fr, line 3: is odd; mend it\n"  # and no traceback of logging's
    log.unlink()  # without an end to reading it
    log.touch()
    full = os.statvfs_result((4096, 4096, 9, 0, 0, 9, 9, 9, 0, 255))
    monkeypatch.setattr(failures.os, "statvfs", lambda path: full)
    assert failures.of_job("Training fr", [str(log)], None, None) == (
        f"{log}: cannot be written: its disk is full; free space and run the same command again"
    )
