"""One of several processes that train a model together, started by torchrun for :mod:`psp.training.launch`."""

from __future__ import annotations

import logging
import os
import pickle
import sys
import threading
import traceback
from pathlib import Path

from psp.core import logs
from psp.core.errors import PspError
from psp.core.files import write_json


def main(job_file: Path) -> int:
    """Train the job of the file; a file beside it tells the launcher how it ended.

    Returns:
        0 where all processes end alike; otherwise torchrun must end the others.
    """
    rank = int(os.environ["RANK"])
    threading.Thread(target=_end_with_the_launcher, name="psp-launcher", daemon=True).start()
    state_file = job_file.with_name(f"rank-{rank}.json")
    write_json(state_file, {"end": None, "pid": os.getpid()})
    job, log = pickle.loads(job_file.read_bytes())
    if rank == 0:
        # Torchrun's messages, which nobody needs, go to the standard error that it gave us; our own go to the
        # launcher's, which is our standard output.
        os.dup2(1, 2)
    logs.start(log, logging.WARNING if rank else logging.INFO, process=rank)
    from psp.training.process_group import PartnerLost
    from psp.training.saving.checkpoint import Stopped

    end, message = "done", ""
    try:
        job.run()
    except PartnerLost as error:
        end, message = "lost", str(error)
    except Stopped as error:
        end, message = "stopped", str(error)
    except PspError as error:
        end, message = "error", str(error)
    except Exception:
        end, message = "bug", traceback.format_exc()
    write_json(state_file, {"end": end, "message": message})
    return 0 if end in ("done", "stopped") else 1


def _end_with_the_launcher() -> None:
    """Wait until the launcher's end of the pipe closes, as it does however the launcher ends; nothing else ends us."""
    while os.read(0, 1):
        pass
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
