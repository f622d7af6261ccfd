"""``psp doctor``: check whether this installation has what it needs."""

from __future__ import annotations

import argparse
from typing import Any

from psp.cli.project import CONFIG, project, read_config
from psp.core.errors import ConfigError


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("doctor", run, "Check versions, disk, memory, threads, GPU, Slurm and the config; say what to fix.")
    project(added)
    added.add_argument("--network", action="store_true", help="also try each address in the config")


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    from psp.config.doctor import Finding, check

    findings, config = [], None
    if (options.folder / CONFIG).is_file() or options.configfile:
        try:
            config = read_config(options)
        except ConfigError as error:
            findings.append(Finding("config", str(error).removeprefix("config: "), "correct it", broken=True))
        except ImportError as error:
            mend = "run `pip install 'paraphrastic[workflow]'`"
            findings.append(Finding("config", f"not read: {error.name} is not installed", mend, broken=True))
    else:
        findings.append(Finding("config", f"none: {options.folder.absolute()} is not a checkout of psp"))
    for finding in findings:
        _show(finding)
    for finding in check(options.folder, config, network=options.network):
        findings.append(finding)
        _show(finding)
    if broken := sum(finding.broken for finding in findings):
        raise ConfigError(f"{broken} of the above must be fixed")


def _show(finding: Any) -> None:
    mend = f"; {finding.mend}" if finding.mend else ""
    print(f"{finding.state:6}  {finding.name}: {finding.text}{mend}", flush=True)
