"""What a failed run of the workflow says last: one line, what is wrong and what to do.

Snakemake tells an error in fifteen lines of its own. The Snakefile's functions therefore write down here what they
raise (they run in Snakemake's process), jobs have it in their logs, and of the commonest of Snakemake's errors there is
a sentence here.
"""

from __future__ import annotations

import re
from pathlib import Path

from psp.logs import last_error

LONGEST = 500  # characters of Snakemake's own words
#: Of our own errors within Snakemake's words for them, those that nobody has written down.
OURS = re.compile(
    r"^\s*(?:Psp|Config|Data|Download)Error: (.+?)\n(?:Wildcards:|Traceback:|\s*$)", re.DOTALL | re.MULTILINE
)
_told: list[str] = []

SENTENCES = {
    "LockException": (
        "another snakemake is at work in this folder. If there is none, one was killed: run `snakemake --unlock`, then "
        "the same command with --rerun-incomplete"
    ),
    "IncompleteFilesException": (
        "a run that was killed left files unfinished; give the same command with --rerun-incomplete"
    ),
}
STOPPED = "stopped, as asked by Ctrl-C or a signal; the same command goes on from here"


def tell(error: Exception) -> str:
    """Write down what ends this run, and give it back as text."""
    _told.append(str(error))
    return str(error)


def of_snakemake(exception: str, text: str) -> str:
    """What to say of an error that Snakemake reports before any job runs, or beside them.

    Args:
        exception: its class.
        text: what Snakemake says of it, of any length.
    """
    for said in reversed(_told):
        if said in text or exception == "InputFunctionException":
            return said
    if match := OURS.search(text):
        return " ".join(match[1].split())
    if exception in SENTENCES:
        return SENTENCES[exception]
    if exception == "MissingInputException" and (files := re.findall(r"affected files:\n((?:\s+.+\n?)+)", text)):
        missing = sorted({line.strip() for block in files for line in block.splitlines()} - {""})
        return f"{', '.join(missing)}: no such file, and no rule makes it; put it there, or correct its path"
    if exception == "MissingRuleException" and (match := re.search(r"No rule to produce (.+?)(?: \(if|\n|$)", text)):
        return f"{match[1].rstrip('.')}: nothing makes such a file; README.md names what can be asked for"
    if text.startswith("Traceback"):
        return text.rstrip().rpartition("\n")[2]
    # Its first line names the class and the place.
    return " ".join(" ".join(text.split("\n")[1:]).split())[:LONGEST] or text


def of_job(what: str, logs: list[str], signal: str | None, said: str | None) -> str:
    """What to say of a job that failed.

    Args:
        what: the job, for people.
        logs: its log files, its own first.
        signal: what it was killed by, where Snakemake knows.
        said: what the cluster says of it.
    """
    for log in logs:
        if (error := last_error(log)) is not None:
            return error
    how = f"was killed by {signal}" if signal else said or "ended without a word"
    if signal == "SIGKILL":
        how += " (by the system, if memory ran out)"
    there = [log for log in logs if Path(log).is_file()]
    return f"{what} {how}" + (f"; its log is {', '.join(there)}" if there else "")
