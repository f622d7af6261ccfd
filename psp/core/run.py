"""The run of Snakemake that a job belongs to, and whether it is still active.

If only Snakemake is killed, a job that has begun continues, and the next run waits for it. But a job that has not begun
yet, on a slow machine, must not begin: it would write beside the next run's job, or over its results.
"""

from __future__ import annotations

import contextlib
import os
import socket
from pathlib import Path

from psp.core.errors import PspError

VARIABLE = "PSP_RUN"
#: In the folder of a run: the main process that has its lock, as in the variable.
OWNER = Path(".snakemake/psp-run")


def of_this_process() -> str:
    """The value of the variable for the jobs of a run whose main process this is."""
    return f"{socket.gethostname()} {os.getpid()} {born(os.getpid())[1]}"


def own(*, certainly: bool = True) -> None:
    """Record that the folder belongs to this run; if that is not certain, only if no other active run has it."""
    if certainly or owner()[0] is None:
        with contextlib.suppress(OSError):  # Snakemake says what is wrong with the folder
            OWNER.parent.mkdir(exist_ok=True)
            OWNER.write_text(of_this_process())


def owner() -> tuple[str | None, bool]:
    """The run recorded for this folder, in words, if it may be active; and whether that is certain."""
    try:
        host, pid, began = OWNER.read_text().split(" ")
    except (OSError, ValueError):
        return None, False
    if host != socket.gethostname():
        return f"process {pid} on {host}", False
    alive = pid.isdecimal() and int(pid) != os.getpid() and _now(int(pid)) == (True, began)
    return (f"process {pid}", True) if alive else (None, True)


def check() -> None:
    """Check that this job's run is still active, as far as its own machine can tell.

    Raises:
        PspError: it was killed.
    """
    host, pid, began = (os.environ.get(VARIABLE, "").split(" ") + [""] * 3)[:3]
    if host == socket.gethostname() and pid.isdecimal() and (True, began) != _now(int(pid)):
        raise PspError("the run that this job belongs to has been killed; start Snakemake again")


def born(pid: int) -> tuple[bool, int | None]:
    """Return whether a process exists, and when it was started if the system reports it (Linux)."""
    try:
        # The program's name, in parentheses, may contain anything.
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return fields[0] not in (b"Z", b"X"), int(fields[19])
    except (OSError, IndexError, ValueError):
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False, None
    except PermissionError:
        pass
    return True, None


def _now(pid: int) -> tuple[bool, str]:
    there, began = born(pid)
    return there, str(began)
