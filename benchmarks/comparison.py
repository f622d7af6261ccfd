"""Models beside other systems, with the differences and what others published, as Markdown.

    PSP_DATA=~/mirror python benchmarks/comparison.py --configfile config/sample.yaml --models fr multi --quoted fr

Snakemake makes each model's compare.json, with the systems that `compare.systems` names or `--systems`; what is there
already is not made again. Options that are not known here are Snakemake's. The seconds are those of the jobs that
scored each system, from Snakemake's benchmark files; `--quoted` names the models whose tables have quoted figures.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from psp.core.files import atomic_text, read_json, read_report
from psp.core.logs import job
from psp.core.machine import processor, usable_cores, versions
from psp.report.comparison import quoted
from psp.report.eval_table import table
from psp.report.reported import load


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", required=True, metavar="MODEL", help="models of the config")
    parser.add_argument("--configfile", nargs="+", default=[], metavar="FILE", help="as for snakemake")
    parser.add_argument("--systems", nargs="+", metavar="SYSTEM", help="instead of the config's compare.systems")
    parser.add_argument(
        "--quoted", nargs="*", default=[], metavar="MODEL", help="models with quoted figures beside them"
    )
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1, help="default: all")
    parser.add_argument("--folder", type=Path, default=Path(), help="where the Snakefile is (default: here)")
    parser.add_argument("--out", type=Path, help="a file for the tables, beside printing them")
    options, further = parser.parse_known_args()
    given = ["--config", f"compare={json.dumps({'systems': options.systems})}"] if options.systems else []
    config = ["--configfile", *options.configfile] if options.configfile else []
    targets = [f"results/{model}/compare.json" for model in options.models]
    command = [sys.executable, "-m", "snakemake", "--cores", str(options.cores), *config, *given, *further, "--"]
    if status := subprocess.run([*command, *targets], cwd=options.folder, check=False).returncode:
        raise SystemExit(status)
    with job():
        pages = [section(options.folder / f"results/{model}", model in options.quoted) for model in options.models]
        used = ", ".join(f"{name} {version}" for name, version in versions().items() if name in ("numpy", "torch"))
        text = "\n".join([*pages, f"{processor()}, {len(usable_cores())} cores; {used}.\n"])
        if options.out:
            with atomic_text(options.out) as file:
                file.write(text)
    print(text, end="")


def section(folder: Path, reported: bool) -> str:
    """A model's table and the seconds of its systems' jobs.

    Raises:
        DataError: compare.json is missing or of another format, or a quoted figure has no source.
    """
    result: dict[str, Any] = read_report(folder / "compare.json", 1)
    seconds = {path.stem: _seconds(path) for path in sorted((folder / "benchmarks/systems").glob("*.tsv"))}
    seconds = {"the model itself": _seconds(folder / "benchmarks/evaluate.tsv"), **seconds}
    said = ", ".join(f"{name} {value:.0f}" for name, value in seconds.items() if value is not None)
    evaluation = read_json(folder / "eval.json")
    shown = table(evaluation, result).write("markdown")
    others = quoted(evaluation, load()) if reported else None
    cited = f"\n{others.write('markdown')}" if others else ""
    return f"### {result['model']}\n\n{shown}- Seconds to score: {said}.\n{cited}"


def _seconds(path: Path) -> float | None:
    if not path.is_file():
        return None
    with path.open(newline="") as file:
        return float(next(csv.DictReader(file, delimiter="\t"))["s"])


if __name__ == "__main__":
    main()
