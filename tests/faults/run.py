"""Inject faults into runs of the workflow, and say of each whether it was survived.

    python -m tests.faults.run [--quick] [--only kills] [--workloads small demo] [--cores 2]

A line for each; the status is 1 if one was not survived. ``--quick`` does a few of each on the small demo.
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.faults.project import CORES, WORKLOADS, Bench

FAULTS = (
    "kills", "full_disk", "read_only", "two_runs", "edited_config", "clock", "locks", "terminated", "memory",
)  # fmt: skip
INSIDE = "PSP_FAULTS_MOUNTS"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few of each, on the small demo")
    parser.add_argument("--only", nargs="+", choices=FAULTS, default=FAULTS)
    parser.add_argument("--workloads", nargs="+", choices=WORKLOADS, default=("small", "demo", "fr-small", "fr"))
    parser.add_argument("--cores", type=int, default=CORES)
    options = parser.parse_args()
    mounts = own_mounts()
    bad = 0
    with tempfile.TemporaryDirectory(prefix="psp-faults-") as scratch:
        bench = Bench(Path(scratch), options.quick, options.cores, tuple(options.workloads), mounts)
        for fault in options.only:
            begun = time.monotonic()
            for result in importlib.import_module(f"tests.faults.{fault}").check(bench):
                print(f"{result.line(fault)} ({time.monotonic() - begun:.0f} s)", flush=True)
                bad += result.problem is not None
                begun = time.monotonic()
    sys.exit(f"{bad} not held" if bad else 0)


def own_mounts() -> bool:
    """Go on in a mount namespace of our own, where that is permitted; whether it is."""
    if INSIDE in os.environ:
        return True
    for how in (["unshare", "--mount"], ["unshare", "--map-root-user", "--mount"]):
        try:
            there = subprocess.run([*how, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True)
        except FileNotFoundError:
            return False
        if there.returncode == 0:
            os.environ[INSIDE] = "1"
            os.execvp(how[0], [*how, sys.executable, "-m", "tests.faults.run", *sys.argv[1:]])
    return False


if __name__ == "__main__":
    main()
