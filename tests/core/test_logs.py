import errno
import logging

import pytest

from psp.core.errors import DataError
from psp.core.logs import Progress, job, last_error


class Stopped(DataError):
    status = 143


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (DataError("is odd; mend it", "corpus.fr", 3), 1, "corpus.fr, line 3: is odd; mend it"),
        (Stopped("is odd"), 143, "is odd"),
        *((SystemExit(code), 1, "something called sys.exit() before the work was done") for code in (0, None)),
        (KeyboardInterrupt(), 130, "stopped by Ctrl-C or a signal"),
        # What the machine lacks is no bug.
        (MemoryError(), 1, "out of memory; on a cluster each new try of `--retries 2`"),
        (RuntimeError("[enforce fail at x.cpp] DefaultCPUAllocator: can't allocate memory"), 1, "out of memory; "),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), 1, "out of memory; "),
        (
            OSError(errno.ENOSPC, "No space left on device", "a.tsv"),
            1,
            "a.tsv: cannot be written: No space left on device",
        ),
        (
            OSError(errno.EROFS, "Read-only file system"),
            1,
            "a temporary file: cannot be written: Read-only file system",
        ),
    ],
)
def test_an_error_for_people_is_one_line_and_a_status(tmp_path, capsys, error, status, said):
    with pytest.raises(SystemExit) as caught, job(tmp_path / "logs/a.log"):
        raise error
    assert caught.value.code == status
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: {said}")
    assert last_error(tmp_path / "logs/a.log") == line.removeprefix("error: ")
    assert "Traceback" not in (tmp_path / "logs/a.log").read_text()


def test_a_log_that_cannot_be_written_is_a_line(tmp_path):
    (tmp_path / "logs").touch()
    with pytest.raises(SystemExit, match=r"error: .*logs/a\.log: cannot be written: "), job(tmp_path / "logs/a.log"):
        raise AssertionError("it must not begin")


def test_a_bug_keeps_its_traceback(tmp_path):
    log = tmp_path / "a.log"
    with pytest.raises(ZeroDivisionError), job(log):
        _ = 1 / 0
    assert "Traceback" in log.read_text()
    assert last_error(log) == f"this is a bug in psp (ZeroDivisionError: division by zero); please report it with {log}"


def test_progress_of_failed_work_does_not_claim_an_end(tmp_path):
    with pytest.raises(SystemExit), job(tmp_path / "a.log"), Progress("counting sheep", "sheep") as bar:
        bar.add(1)
        raise DataError("gone")
    assert "counting sheep" not in (tmp_path / "a.log").read_text()


def test_the_last_error_of_a_log(tmp_path):
    log = tmp_path / "a.log"
    assert last_error(log) is None
    with job(log):
        pass
    assert last_error(log) is None
    with pytest.raises(SystemExit), job(log):
        logging.getLogger("psp").error("was mended")
        raise DataError("is odd; mend it", "corpus.fr", 3)
    assert last_error(log) == "corpus.fr, line 3: is odd; mend it"


def test_of_several_processes_the_last_error_is_found_too(tmp_path):
    log = tmp_path / "a.log"
    log.write_text("process 1: 2026-11-22 09:00:00,123 ERROR psp: no room\nfor more\n")
    assert last_error(log) == "no room for more"
