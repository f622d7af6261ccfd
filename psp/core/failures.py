"""The last line of a failed workflow run: what is wrong and what to do.

Snakemake reports an error in about fifteen lines. The line that matters is found among them if a function of a rule has
raised an error of psp; failed jobs have it in their logs; and Snakemake's commonest errors are reworded here.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from psp.core import run
from psp.core.errors import closest
from psp.core.logs import last_error

LONGEST = 500  # characters quoted from Snakemake's message
#: Matches our own errors within Snakemake's message.
OURS = re.compile(
    r"^\s*(?:Psp|Config|Data|Download)Error: (.+?)\n(?:Wildcards:|Traceback:|\s*$)", re.DOTALL | re.MULTILINE
)

#: What is wrong with the files that Snakemake lists.
AFFECTED = {
    "MissingInputException": "no such file, and no rule makes it; add it, or correct its path",
    "ProtectedOutputException": "cannot be written: read-only; make it and its folder writable, and run again",
}
#: What a killed run leaves locked in its folder.
LOCKS = Path(".snakemake/locks")
#: Snakemake rejects outputs that are older than their inputs.
OLDER = re.compile(r"older modification time .*? than input (\S+) \((\d{4}-\d\d-\d\d \d\d:\d\d)")
STOPPED = "stopped by Ctrl-C or a signal; the same command resumes from here"


#: The outputs of all rules, with wildcards such as ``{model}``.
outputs: list[str] = []


def _made(file: str) -> list[str]:
    """The existing outputs of the file's model."""
    name = file.removeprefix("results/").partition("/")[0]
    files = (re.sub(r"\{model(,[^}]*)?\}", name, output) for output in outputs)
    return sorted({output for output in files if "{" not in output})


def locked() -> str:
    """Explain Snakemake's lock. Two runs in one folder would both fail, so a folder in use is not unlocked."""
    other, known = run.owner()
    if other is not None and known:
        return f"another snakemake, {other}, is running in this folder; wait for it, or stop it with Ctrl-C or `kill`"
    doubt = f"another snakemake, {other}, may be running in this folder. If not, it" if other else "a run here"
    return f"{doubt} was killed: run `snakemake --unlock`, then the same command with --rerun-incomplete"


def of_snakemake(exception: str, text: str) -> str:
    """Reword an error of Snakemake itself rather than of a job.

    Args:
        exception: its class.
        text: Snakemake's message, of any length.
    """
    if match := OURS.search(text):
        return " ".join(match[1].split())
    if exception == "LockException":
        return locked()
    if exception == "IncompleteFilesException":
        if any(LOCKS.glob("*")):  # told at once, and not when files are incomplete no longer
            return locked()
        return "a killed run left incomplete files; run the same command with --rerun-incomplete"
    if exception in AFFECTED and (files := re.findall(r"affected files:\n((?:\s+.+\n?)+)", text)):
        affected = sorted({line.strip() for block in files for line in block.splitlines()} - {""})
        return f"{', '.join(affected)}: {AFFECTED[exception]}"
    if exception == "MissingRuleException" and (match := re.search(r"No rule to produce (.+?)(?: \(if|\n|$)", text)):
        file = match[1].rstrip(".")
        return (
            f"{file}: no rule makes this file{closest(file, _made(file))}; docs/guide/running.md lists what can be made"
        )
    if match := OLDER.search(text):
        return (
            f"{match[1]}: dated in the future ({match[2]}), so the clock has been set back; correct it, or run "
            "`find results -newermt now -exec touch -d now {} +`, and then the same command"
        )
    if "NoCredentialsError" in text:
        return (
            "the object store's keys are missing: set the environment variables SNAKEMAKE_STORAGE_S3_ACCESS_KEY and "
            "SNAKEMAKE_STORAGE_S3_SECRET_KEY"
        )
    if raised := re.findall(r"^\s*\| (?:[\w.]+\.)?(?:\w*(?:Error|Exception)): (.+)$", text, re.MULTILINE):
        return str(raised[-1])  # a group of exceptions, one for each file that was asked for; the last has the cause
    if text.startswith("Traceback"):
        last = text.rstrip().rpartition("\n")[2]
        absent = re.fullmatch(r"FileNotFoundError: \[Errno 2\] .*: '(.+)'", last)  # such as a --configfile
        return f"{absent[1]}: no such file; correct its path" if absent else last
    # The first line names the exception's class and location.
    return " ".join(" ".join(text.split("\n")[1:]).split())[:LONGEST] or text


def of_job(what: str, logs: list[str], signal: str | None, message: str | None) -> str:
    """Describe a failed job in one line.

    Args:
        what: the job, as shown to the user.
        logs: its log files, its own first.
        signal: the signal that killed it, if Snakemake knows.
        message: what the cluster reports about it.
    """
    for log in logs:
        if (error := last_error(log)) is not None:
            return error
    for log in logs:
        if _is_full(log):  # so the error is not in it, but above
            return f"{log}: cannot be written: its disk is full; free space and run the same command again"
    how = f"was killed by {signal}" if signal else message or "failed without a message"
    if signal == "SIGKILL":
        how += " (perhaps out of memory: on a cluster each new try of `--retries 2` asks for more)"
    there = [log for log in logs if Path(log).is_file()]
    mend = "; the same command resumes from here" if signal == "SIGTERM" else ""
    return f"{what} {how}" + (f"; see its log {', '.join(there)}" if there else "") + mend


def _is_full(log: str) -> bool:
    try:
        return os.statvfs(Path(log).parent).f_bavail == 0
    except OSError:
        return False
