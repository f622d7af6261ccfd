"""A job of the workflow without Snakemake: launch_job.py ARGUMENTS.json, those of ``train_in_processes``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from psp.core.logs import job
from psp.training.launch import train_in_processes

arguments = json.loads(Path(sys.argv[1]).read_text())
for key in ("store", "vocabulary", "out_dir", "train_dir", "heldout"):
    given = arguments[key]
    arguments[key] = Path(given) if isinstance(given, str) else [Path(one) for one in given]
with job(arguments["log"]):
    train_in_processes(**arguments)
