"""Which jobs a finished run had to wait for, and where it waited for nothing: the chain that ended last.

    snakemake --cores 2 --notemp --configfile config/sample.yaml -- results/fr/eval.json
    python benchmarks/critical_path.py results/fr/eval.json

Read from Snakemake's own notes in .snakemake/metadata, which it removes with temporary files, hence --notemp. Before
each job stands how long after the last of its inputs it began: Snakemake's own time, or a wait for a core.
"""

from __future__ import annotations

import argparse
import base64
import json
from pathlib import Path
from typing import NamedTuple


class Job(NamedTuple):
    rule: str
    began: float
    ended: float
    log: str
    inputs: tuple[str, ...]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", help="a file that the run has made")
    parser.add_argument("--folder", type=Path, default=Path(), help="where the run was (default: here)")
    options = parser.parse_args()
    jobs = read(options.folder / ".snakemake/metadata")
    if options.target not in jobs:
        raise SystemExit(f"error: {options.target}: no job of Snakemake's has made it here; run it with --notemp")
    path = chain(jobs, options.target)
    began, ended = min(job.began for job in jobs.values()), jobs[options.target].ended
    lengths = {job.log: job.ended - job.began for job in jobs.values()}
    busy = sum(lengths.values())
    print(f"{ended - began:.1f} s from the first job's begin, {busy:.1f} s of jobs; the chain that ended last:")
    last = began
    for job in path:
        print(f"{job.began - last:7.1f} s after, {job.ended - job.began:7.1f} s  {job.rule}")
        last = job.ended
    print(f"{sum(job.ended - job.began for job in path):7.1f} s of jobs in the chain")


def read(folder: Path) -> dict[str, Job]:
    """By each file, the job that made it."""
    jobs = {}
    for path in folder.rglob("*"):
        if path.is_file():
            note = json.loads(path.read_bytes())
            name = base64.b64decode("".join(path.relative_to(folder).parts).replace("@", "")).decode()
            jobs[name] = Job(note["rule"], note["starttime"], note["endtime"], note["log"][0], tuple(note["input"]))
    return jobs


def chain(jobs: dict[str, Job], target: str) -> list[Job]:
    """The job that made it, before it the one that made the last of its inputs, and so on."""
    path = [jobs[target]]
    while made := [jobs[name] for name in path[-1].inputs if name in jobs]:
        path.append(max(made, key=lambda job: job.ended))
    return path[::-1]


if __name__ == "__main__":
    main()
