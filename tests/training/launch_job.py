"""A job of the workflow without Snakemake: launch_job.py FILE, a pickle of a training and its log."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

from psp.core.logs import job
from psp.training.launch import train_in_processes

training, log = pickle.loads(Path(sys.argv[1]).read_bytes())
with job(log):
    train_in_processes(training, log)
