"""Runs Snakemake in forks of one process that has it imported, which takes longer than most of what tests ask of it.

Its jobs' scripts are run so too, by script_server.py.

Each line of standard input asks for a run, in JSON: the ``folder`` to run in, a copy of the project with the ``psp`` to
import; the ``arguments`` of the command line; the ``environment``; the file that all ``output`` goes to. A line answers
with the run's exit status.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

# What a run imports beside psp.
import jsonschema  # noqa: F401
import numpy  # noqa: F401
import requests  # noqa: F401
import smart_open  # noqa: F401
from snakemake.cli import main
from snakemake.script import PythonScript
from snakemake_interface_executor_plugins.registry import ExecutorPluginRegistry
from snakemake_interface_report_plugins.registry import ReportPluginRegistry
from snakemake_interface_scheduler_plugins.registry import SchedulerPluginRegistry
from snakemake_interface_storage_plugins.registry import StoragePluginRegistry

# Each looks for its plugins once; that of loggers would find psp's.
for registry in (ExecutorPluginRegistry, ReportPluginRegistry, SchedulerPluginRegistry, StoragePluginRegistry):
    registry()

own = str(Path(__file__).with_name("script_server.py"))
address = f"{tempfile.mkdtemp()}/scripts"
scripts = subprocess.Popen([sys.executable, own, address], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)


def execute(script: PythonScript, path: str, edit: bool = False) -> None:
    """Run a job's script; in Snakemake's own words this is ``python SCRIPT``."""
    script._execute_cmd(
        "{python} -SE {own:q} {address:q} {path:q}",
        python=sys.executable, own=own, address=address, path=path, is_python_script=True,
    )  # fmt: skip


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
main()
