"""Runs Snakemake in forks of one process that has it imported, which takes longer than most of what tests ask of it.

Its jobs' scripts are run so too, by script_server.py at the socket that is the only argument.

Each line of standard input asks for a run, in JSON: the ``folder`` to run in, a copy of the project with the ``psp`` to
import; the ``arguments`` of the command line; the ``environment``; the file that all ``output`` goes to. A line answers
with the run's exit status.
"""

import atexit
import contextlib
import gc
import json
import marshal
import os
import sys
import tempfile
import threading
import traceback
from pathlib import Path

# What a run imports beside psp.
import argparse_dataclass  # noqa: F401
import h5py  # noqa: F401
import nbformat  # noqa: F401
import numpy  # noqa: F401
import platformdirs  # noqa: F401
import pydantic  # noqa: F401
import requests  # noqa: F401
import safetensors  # noqa: F401
import sentencepiece  # noqa: F401
import smart_open  # noqa: F401
import xxhash
from snakemake import api
from snakemake.cli import main
from snakemake.script import PythonScript
from snakemake_interface_executor_plugins.registry import ExecutorPluginRegistry
from snakemake_interface_report_plugins.registry import ReportPluginRegistry
from snakemake_interface_scheduler_plugins.registry import SchedulerPluginRegistry
from snakemake_interface_storage_plugins.registry import StoragePluginRegistry

# Each looks for its plugins once; that of loggers would find psp's.
for registry in (ExecutorPluginRegistry, ReportPluginRegistry, SchedulerPluginRegistry, StoragePluginRegistry):
    registry()

client, address = str(Path(__file__).with_name("script_client.py")), sys.argv[1]


def execute(script: PythonScript, path: str, edit: bool = False) -> None:
    """Run a job's script; in Snakemake's own words this is ``python SCRIPT``."""
    script._execute_cmd(
        "{python} -SE {client:q} {address:q} {path:q}",
        python=sys.executable, client=client, address=address, path=path, is_python_script=True,
    )  # fmt: skip


parsed = Path(tempfile.mkdtemp())
workflow = sys.modules[api.Workflow.__module__]  # which cannot be imported first
parse = workflow.parse


def parse_once(path, of, linemap, overwrite_shellcmd=None, rulecount=0):
    """Parse a file of rules as Snakemake does; of the same text only once, which is a fifth of a dry run's time."""
    here, text = asked["folder"], Path(path.get_path_or_uri(secret_free=True)).read_bytes()
    kept = parsed / xxhash.xxh3_128_hexdigest(text, rulecount)
    with contextlib.suppress(FileNotFoundError):
        code, lines, count = marshal.loads(kept.read_bytes())
        linemap |= lines
        return code.replace("<folder>", here), count
    code, count = parse(path, of, linemap, overwrite_shellcmd, rulecount)
    partial = kept.with_suffix(f".{os.getpid()}")
    partial.write_bytes(marshal.dumps((code.replace(here, "<folder>"), linemap, count)))
    partial.replace(kept)
    return code, count


workflow.parse = parse_once

gc.freeze()
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if child == 0:
        break
    sys.stdout.write(f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n")
    sys.stdout.flush()
else:
    sys.exit()

os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(os.open(asked["output"], os.O_WRONLY), 1)
os.dup2(1, 2)
os.chdir(asked["folder"])
os.environ.clear()
os.environ.update(asked["environment"])
assert "psp" not in sys.modules, "it must be imported from the copy"
sys.path.insert(0, asked["folder"])
PythonScript.execute_script = execute
sys.argv = ["snakemake", *asked["arguments"]]
status: object = 0
try:
    main()
except SystemExit as ending:
    status = ending.code
except BaseException:
    traceback.print_exc()
    status = 1
if isinstance(status, str):
    sys.stderr.write(f"{status}\n")
    status = 1
# As Python ends, but for clearing all that has been imported, which takes as long as the run.
threading._shutdown()
atexit._run_exitfuncs()
sys.stdout.flush()
sys.stderr.flush()
os._exit(int(status or 0))
