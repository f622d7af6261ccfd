"""Snakemake's screen output (``--logger psp``, set by profiles/default/config.yaml).

On a terminal it shows the running jobs, each with rate, time left and metrics such as the loss, which jobs write into
status files beside their logs (:mod:`psp.core.status`); their output appears above. Without a terminal, Snakemake's own
lines remain, with a report on the running jobs every minute. The last line of a failed run says what is wrong and what
to do (:mod:`psp.core.failures`); Snakemake's long messages go to its own log, and to the screen with ``--verbose``.

It is not based on snakemake-logger-plugin-rich 0.5, which has bars per rule rather than per job, prints the whole log
of a failed job, ends with Snakemake's exceptions, and is overwritten by the jobs' output.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.settings import LogHandlerSettingsBase

from psp.core import failures, screen, status

if TYPE_CHECKING:
    from rich.console import RenderableType

#: Messages not worth showing above a live screen.
HUSHED = re.compile(
    r"Assuming unrestricted shared|host: |Building DAG|Using shell|Provided (cores|resources|remote nodes)|"
    r"Rules claiming more threads|Select jobs|Execute \d+ jobs|Removing temporary output|Complete log|Elapsed time|"
    r"Finished jobid|None$"
)
#: Messages that accompany a job's own error.
BESIDE = re.compile(
    r"Cannot restore |Removing output files of failed job|Exiting because a job execution failed|"
    r"Shutting down, this might|.*At least one job did not complete successfully|Terminating processes on user request",
    re.DOTALL,
)
KILLED = re.compile(r"died with <Signals\.(\w+):")


@dataclass
class LogHandlerSettings(LogHandlerSettingsBase):
    """Command-line options."""

    every: int = field(
        default=60,
        metadata={"help": "Seconds between reports on running jobs, without a terminal", "type": int},
    )


def _here(log: str) -> str:
    """Where a log is on this machine, if it is to go to an object store and Snakemake names its place there."""
    match = re.fullmatch(r"(\w+)://(.+?)(?: \([\w ]+\))?", log)
    return f".snakemake/storage/{match[1]}/{match[2]}" if match else log


@dataclass
class Job:
    """A job that is running, or waiting on a cluster."""

    what: str
    logs: list[str]
    since: float
    outputs: bool  # a job without outputs is only a target, such as `all`
    begun: bool = False

    def row(self) -> screen.ScreenRow:
        """Return its line on the screen, ignoring a status file left by an earlier run."""
        there = status.read(Path(self.logs[0] + status.SUFFIX)) if self.logs else None
        if there is not None and there.state() == "dead":
            there = None
        self.begun |= there is not None
        return screen.ScreenRow(self.what, there, self.since, self.begun)


class LogHandler(LogHandlerBase):
    """Handles Snakemake's log records, which come from a separate thread; closed at the end of the run."""

    has_filter = has_formatter = writes_to_file = needs_rulegraph = False  # use Snakemake's own
    writes_to_stream = True

    settings: LogHandlerSettings

    def __post_init__(self) -> None:
        self._jobs: dict[int, Job] = {}
        self._failed: dict[int, str] = {}
        self._killed_by: str | None = None
        self._error: str | None = None  # from Snakemake itself
        self._own_log: str | None = None
        self._done, self._total = 0, 0
        self._began = time.time()
        self._lock = threading.Lock()
        self._over = threading.Event()
        names = {str(getattr(kind, "name", kind)).lower() for kind in self.common_settings.quiet or ()}
        self._silent = "all" in names
        number = 1 if self.common_settings.stdout else 2
        self._terminal: _Terminal | None = None
        live = not self.common_settings.dryrun and not names & {"all", "progress"}
        if live and os.isatty(number) and os.environ.get("TERM") != "dumb":
            self._terminal = _Terminal(number, self._draw)
        self._stream: IO[str] = sys.stdout if self.common_settings.stdout else sys.stderr
        self._reporter = threading.Thread(target=self._report, name="psp-reporter", daemon=True)

    # Records hidden by --quiet are not printed, but we need to see them.
    def filter(self, record: logging.LogRecord) -> bool:
        record.wanted = bool(super().filter(record))
        return True

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._take(record)
        except Exception:
            self.handleError(record)

    def _take(self, record: Any) -> None:
        event = getattr(record, "event", None)
        if self.common_settings.dryrun:
            if event == LogEvent.ERROR:
                self._take_error(record)
            elif not BESIDE.match(record.getMessage()):
                self._print(record)
            return
        with self._lock:
            if event == LogEvent.RUN_INFO:
                self._total = record.stats["total"]
            elif event == LogEvent.JOB_INFO:
                self._failed.pop(record.jobid, None)
                what = record.rule_msg or " ".join([record.rule_name, *map(str, record.wildcards.values())])
                self._jobs[record.jobid] = Job(
                    what, [_here(log) for log in record.log or ()], time.time(), bool(record.output)
                )
            elif event == LogEvent.PROGRESS:
                self._done, self._total = record.done, record.total
            ended = None
            if event == LogEvent.JOB_FINISHED:
                ended = self._jobs.pop(record.job_id, None)
            elif event == LogEvent.JOB_ERROR:
                ended = self._jobs.pop(record.jobid, None) or Job(record.rule_name, [], time.time(), True)
                logs = list(dict.fromkeys([*ended.logs, *map(_here, record.log)]))
                self._failed[record.jobid] = failures.of_job(ended.what, logs, self._killed_by, record.rule_msg)
                self._killed_by = None
        if event == LogEvent.RUN_INFO:
            if self._terminal is not None:
                self._terminal.start()
            elif not self._silent:
                self._reporter.start()
        if event == LogEvent.ERROR:
            self._take_error(record)
        elif event == LogEvent.JOB_ERROR and ended is not None and not self.common_settings.verbose:
            shown = f"; see its log {ended.logs[0]}" if ended.logs else ""
            self._say(f"failed after {status.clock(time.time() - ended.since)}: {ended.what}{shown}", "red")
            if self.common_settings.show_failed_logs:
                self._print(record)
        elif event == LogEvent.JOB_FINISHED and self._terminal is not None:
            if ended is not None and ended.outputs and record.wanted:
                self._say(f"{status.clock(time.time() - ended.since)}  {ended.what}", "green")
        else:
            self._take_other(record, event)

    def _take_error(self, record: Any) -> None:
        """Keep an exception's one-line explanation for the end; with --verbose also print Snakemake's message."""
        text = record.getMessage()
        if (match := KILLED.search(text)) is not None:
            self._killed_by = match[1]
        of_a_job = record.exception == "RuleException" and "CalledProcessError" in text
        if not of_a_job and not BESIDE.match(text):
            self._error = failures.of_snakemake(record.exception, text)
        if self.common_settings.verbose:
            self._print(record)

    def _take_other(self, record: Any, event: str | None) -> None:
        text = record.getMessage()
        if event is None and text.startswith("Terminating processes on user request"):
            self._error = failures.STOPPED
        if text.startswith("Complete log"):
            self._own_log = text.partition(": ")[2]
            if self._failed or self._error:  # printed at the end
                return
        if not self.common_settings.verbose:
            if BESIDE.match(text):
                return
            no_news = HUSHED.match(text) if event is None else event != LogEvent.SHELLCMD
            if self._terminal is not None and no_news and record.levelno < logging.WARNING:
                return
        self._print(record)

    def _print(self, record: Any) -> None:
        if record.wanted and (text := self.format(record)):
            self._say(text, "red" if record.levelno >= logging.ERROR else "")

    def _say(self, text: str, style: str = "") -> None:
        if self._silent and not self.common_settings.dryrun:
            return
        if self._terminal is not None:
            self._terminal.say(text, "" if self.common_settings.nocolor else style)
        else:
            with contextlib.suppress(BrokenPipeError):
                print(text, file=self._stream, flush=True)

    def _rows(self) -> list[screen.ScreenRow]:
        with self._lock:
            jobs = [job for job in self._jobs.values() if job.outputs]
        return [job.row() for job in jobs]

    def _draw(self, columns: int, height: int) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        head = f"{self._done} of {self._total} jobs done, {status.clock(time.time() - self._began)}"
        return Group(Text(head, style="bold"), screen.table(self._rows(), columns, max(height - 2, 1)))

    def _report(self) -> None:
        """Without a terminal, report the jobs' progress every minute."""
        while not self._over.wait(self.settings.every):
            for line in screen.lines([row for row in self._rows() if row.status is not None]):
                self._say(f"{time.strftime('%H:%M:%S')} {line}")

    def close(self) -> None:
        """Restore the terminal; print errors last."""
        if self._over.is_set():
            super().close()
            return
        self._over.set()
        if self._terminal is not None:
            self._terminal.stop()
            self._terminal = None
        said = list(self._failed.values())
        if self._error is not None:
            said = [self._error] if self._error == failures.STOPPED else [*said, self._error]
        with contextlib.suppress(OSError):
            if said and self._own_log and not self._silent:
                print(f"Snakemake's log: {self._own_log}", file=self._stream)
            for line in dict.fromkeys(said):
                print(f"error: {line}", file=self._stream, flush=True)
            if not said and self._total and self._total == self._done and not self._silent:
                took = status.clock(time.time() - self._began)
                print(f"{self._total} jobs done in {took}", file=self._stream, flush=True)
        super().close()


class _Terminal:
    """A live region at the bottom of the terminal. Output of this process and its jobs is piped to the lines above.

    The pipe exists from the start: records come from another thread, and the first jobs do not wait for it.
    """

    def __init__(self, number: int, draw: Callable[[int, int], RenderableType]) -> None:
        from rich.console import Console
        from rich.live import Live

        self._file = os.fdopen(os.dup(number), "w", encoding="utf-8", errors="replace")
        self._console = Console(file=self._file, force_terminal=True, highlight=False)
        self._live = Live(
            get_renderable=lambda: draw(*self._console.size),
            console=self._console,
            refresh_per_second=2,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._saved = {number: os.dup(number) for number in (1, 2) if os.isatty(number)}
        reading, writing = os.pipe()
        for number in self._saved:
            os.dup2(writing, number)
        os.close(writing)
        self._copier = threading.Thread(target=self._copy, args=(reading,), name="psp-screen", daemon=True)
        self._copier.start()

    def start(self) -> None:
        """Show the live region."""
        self._live.start()

    def say(self, text: str, style: str = "") -> None:
        """Print lines above the live region."""
        from rich.text import Text

        self._console.print(Text.from_ansi(text, style=style), soft_wrap=True)

    def _copy(self, reading: int) -> None:
        rest = b""
        while data := os.read(reading, 1 << 16):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self.say(line.decode(errors="replace"))
        if rest:
            self.say(rest.decode(errors="replace"))
        os.close(reading)

    def stop(self) -> None:
        """Remove the live region, after all output has reached the terminal."""
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        for number, saved in self._saved.items():
            os.dup2(saved, number)
            os.close(saved)
        self._copier.join(timeout=1)  # a job that outlives us keeps the pipe open
        self._live.stop()
