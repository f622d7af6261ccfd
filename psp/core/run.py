"""The run of Snakemake that a job belongs to, and whether it still lasts.

If Snakemake alone is killed, a job that has begun goes on, and the next run waits for it. But one that has not begun,
because the machine was slow, must not: it would write beside the next run's job, or over its results.
"""

from __future__ import annotations

import os
import socket

from psp.core.errors import PspError
from psp.core.status import born

VARIABLE = "PSP_RUN"


def of_this_process() -> str:
    """The value of the variable for the jobs of a run whose main process this is."""
    return f"{socket.gethostname()} {os.getpid()} {born(os.getpid())[1]}"


def check() -> None:
    """Check that the run that this job belongs to still lasts, as far as can be known: on its own machine.

    Raises:
        PspError: it was killed.
    """
    host, pid, began = (os.environ.get(VARIABLE, "").split(" ") + [""] * 3)[:3]
    if host == socket.gethostname() and pid.isdecimal() and (True, began) != _now(int(pid)):
        raise PspError("the run that this job belongs to has been killed; start Snakemake again")


def _now(pid: int) -> tuple[bool, str]:
    there, began = born(pid)
    return there, str(began)
