import errno
import logging

import pytest

from psp.core.errors import DataError
from psp.core.logs import Progress, job, last_error


@pytest.fixture(autouse=True)
def restore_logging():
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    yield
    root.handlers[:] = before
    root.setLevel(level)
    logging.captureWarnings(False)


def test_an_error_for_people_is_one_line_and_a_status(tmp_path, capsys):
    with pytest.raises(SystemExit) as caught, job(tmp_path / "logs/a.log"):
        raise DataError("is odd; mend it", "corpus.fr", 3)
    assert caught.value.code == 1
    assert capsys.readouterr().err == "error: corpus.fr, line 3: is odd; mend it\n"
    assert "is odd; mend it" in (tmp_path / "logs/a.log").read_text()


def test_an_error_may_have_a_status_of_its_own(tmp_path):
    error = DataError("is odd")
    error.status = 143
    with pytest.raises(SystemExit) as caught, job(tmp_path / "a.log"):
        raise error
    assert caught.value.code == 143


@pytest.mark.parametrize("code", [0, None])
def test_an_end_amid_the_work_is_no_success(tmp_path, capsys, code):
    with pytest.raises(SystemExit) as caught, job(tmp_path / "a.log"):
        raise SystemExit(code)
    assert caught.value.code == 1
    assert capsys.readouterr().err.startswith("error: something called sys.exit() before the work was done")


def test_ctrl_c_is_a_line_and_the_status_of_the_signal(tmp_path, capsys):
    with pytest.raises(SystemExit) as caught, job(tmp_path / "a.log"):
        raise KeyboardInterrupt
    assert caught.value.code == 130
    assert capsys.readouterr().err == "error: stopped by Ctrl-C or a signal\n"
    assert "Traceback" not in (tmp_path / "a.log").read_text()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "out of memory; on a cluster each new try of `--retries 2`"),
        (RuntimeError("[enforce fail at x.cpp] DefaultCPUAllocator: can't allocate memory"), "out of memory; "),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "out of memory; "),
        (
            OSError(errno.ENOSPC, "No space left on device", "a.tsv"),
            "a.tsv: cannot be written: No space left on device",
        ),
        (OSError(errno.EROFS, "Read-only file system"), "a temporary file: cannot be written: Read-only file system"),
    ],
)
def test_what_the_machine_lacks_is_no_bug(tmp_path, capsys, error, said):
    with pytest.raises(SystemExit) as caught, job(tmp_path / "a.log"):
        raise error
    assert caught.value.code == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: {said}")
    assert last_error(tmp_path / "a.log") == line.removeprefix("error: ")


def test_a_log_that_cannot_be_written_is_a_line(tmp_path):
    (tmp_path / "logs").touch()
    with pytest.raises(SystemExit, match=r"error: .*logs/a\.log: cannot be written: "), job(tmp_path / "logs/a.log"):
        raise AssertionError("it must not begin")


def test_a_bug_keeps_its_traceback(tmp_path):
    with pytest.raises(ZeroDivisionError), job(tmp_path / "a.log"):
        _ = 1 / 0
    log = (tmp_path / "a.log").read_text()
    assert "Traceback" in log
    assert "bug in psp" in log


def test_progress_ends_in_a_line_of_the_log(tmp_path):
    with job(tmp_path / "a.log"), Progress("counting sheep", "sheep", 300) as bar:
        bar.add(100)
        bar.add(200, black=1)
    log = (tmp_path / "a.log").read_text()
    assert "counting sheep: 300 sheep of 300 (100%)" in log
    assert "black 1" in log


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


def test_the_last_error_of_a_log_may_be_a_bug(tmp_path):
    log = tmp_path / "a.log"
    with pytest.raises(ZeroDivisionError), job(log):
        _ = 1 / 0
    assert last_error(log) == f"this is a bug in psp (ZeroDivisionError: division by zero); please report it with {log}"


def test_of_several_processes_the_last_error_is_found_too(tmp_path):
    log = tmp_path / "a.log"
    log.write_text("process 1: 2026-11-22 09:00:00,123 ERROR psp: no room\nfor more\n")
    assert last_error(log) == "no room for more"
