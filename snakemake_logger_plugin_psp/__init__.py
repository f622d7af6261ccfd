"""The last line of a failed run (``--logger psp``, set by profiles/default/config.yaml).

Snakemake's own lines are printed as they are, but for its long messages about errors, which go to its log, and to the
screen with ``--verbose``. In their place each failed job has one line at the end, which says what is wrong and what to
do (:mod:`psp.core.failures`).
"""

from __future__ import annotations

import contextlib
import logging
import re
import sys
from typing import IO, Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from psp.core import failures

#: Messages that accompany a job's own error.
BESIDE = re.compile(
    r"Cannot restore |Removing output files of failed job|Exiting because a job execution failed|"
    r"Shutting down, this might|.*At least one job did not complete successfully|Terminating processes on user request",
    re.DOTALL,
)
KILLED = re.compile(r"died with <Signals\.(\w+):")


def _here(log: str) -> str:
    """Where a log is on this machine, if it is to go to an object store and Snakemake names its place there."""
    match = re.fullmatch(r"(\w+)://(.+?)(?: \([\w ]+\))?", log)
    return f".snakemake/storage/{match[1]}/{match[2]}" if match else log


class LogHandler(LogHandlerBase):
    """Handles Snakemake's log records, which come from a separate thread; closed at the end of the run."""

    has_filter = has_formatter = writes_to_file = needs_rulegraph = False  # use Snakemake's own
    writes_to_stream = True

    def __post_init__(self) -> None:
        self._jobs: dict[int, tuple[str, list[str]]] = {}  # what each does, its log files
        self._failed: dict[int, str] = {}
        self._killed_by: str | None = None
        self._error: str | None = None  # from Snakemake itself
        self._own_log: str | None = None
        self._closed = False
        self._stream: IO[str] = sys.stdout if self.common_settings.stdout else sys.stderr

    # Records hidden by --quiet are not printed, but we need to see them.
    def filter(self, record: logging.LogRecord) -> bool:
        record.wanted = bool(super().filter(record))
        return True

    def emit(self, record: logging.LogRecord) -> None:
        try:
            if not self._take(record) or self.common_settings.verbose:
                self._print(record)
        except Exception:
            self.handleError(record)

    def _take(self, record: Any) -> bool:
        """Note what a record says of jobs and errors; return whether that is told at the end instead."""
        event, text = getattr(record, "event", None), record.getMessage()
        if event == LogEvent.JOB_INFO:
            self._failed.pop(record.jobid, None)
            what = record.rule_msg or " ".join([record.rule_name, *map(str, record.wildcards.values())])
            self._jobs[record.jobid] = what, [_here(log) for log in record.log or ()]
        elif event == LogEvent.JOB_ERROR:
            what, logs = self._jobs.get(record.jobid, (record.rule_name, []))
            logs = list(dict.fromkeys([*logs, *map(_here, record.log)]))
            self._failed[record.jobid] = failures.of_job(what, logs, self._killed_by, record.rule_msg)
            self._killed_by = None
            self._say(f"failed: {what}" + (f"; see its log {logs[0]}" if logs else ""))
            return not self.common_settings.show_failed_logs
        elif event == LogEvent.ERROR:
            if (match := KILLED.search(text)) is not None:
                self._killed_by = match[1]
            of_a_job = record.exception == "RuleException" and "CalledProcessError" in text
            if not of_a_job and not BESIDE.match(text):
                self._error = failures.of_snakemake(record.exception, text)
            return True
        elif event is None and text.startswith("Terminating processes on user request"):
            self._error = failures.STOPPED
        elif text.startswith("Complete log"):
            self._own_log = text.partition(": ")[2]
            return bool(self._failed or self._error)
        return BESIDE.match(text) is not None

    def _print(self, record: Any) -> None:
        text = self.format(record)  # "None" of records that Snakemake has no text for
        if record.wanted and text and text != "None":
            self._say(text)

    def _say(self, text: str) -> None:
        with contextlib.suppress(OSError):  # nobody reads it, or the disk is full
            print(text, file=self._stream, flush=True)

    def close(self) -> None:
        """Print errors, the last thing that a run prints."""
        if not self._closed:
            self._closed = True
            told = list(self._failed.values())
            if self._error is not None:
                told = [self._error] if self._error == failures.STOPPED else [*told, self._error]
            if told and self._own_log:
                self._say(f"Snakemake's log: {self._own_log}")
            for line in dict.fromkeys(told):
                self._say(f"error: {line}")
        super().close()
