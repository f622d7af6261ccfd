import errno
import json
import os
import pwd
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from psp.core.errors import DataError
from psp.core.files import (
    atomic,
    atomic_text,
    folder_beside,
    new_folder,
    open_regular,
    read_bytes,
    read_json,
    read_report,
    sha256,
    user_cache,
    write_json,
)


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "made/out.txt"
    with atomic_text(path) as file:
        file.write("a\n")
        assert not path.exists()
    assert path.read_bytes() == b"a\n"
    with pytest.raises(RuntimeError), atomic_text(path) as file:
        file.write("half")
        raise RuntimeError
    assert path.read_bytes() == b"a\n"
    assert [entry.name for entry in path.parent.iterdir()] == ["out.txt"]


def test_a_full_disk_is_one_clear_error(tmp_path):
    code = f"""
import resource
from psp.core.files import atomic_text
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from psp.core.errors import DataError
try:
    with atomic_text({str(tmp_path / "out.txt")!r}) as file:
        file.write("x" * 1_000_000)
except DataError as error:
    print(error)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert os.strerror(errno.EFBIG) in result.stdout, result
    assert "free space" in result.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_the_block_reads_is_not_called_one_that_cannot_be_written(tmp_path):
    (tmp_path / "read").mkdir()
    with (
        pytest.raises(DataError, match=r"read: cannot be opened: Is a directory$"),
        atomic_text(tmp_path / "made/out.txt"),
    ):
        (tmp_path / "read").open("rb")
    assert list((tmp_path / "made").iterdir()) == []


def test_a_folder_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "made/folder"
    with new_folder(path) as temporary:
        (temporary / "a").mkdir()
        assert not path.exists()
    assert [entry.name for entry in path.iterdir()] == ["a"]
    with pytest.raises(DataError, match="folder: already exists"), new_folder(path):
        pass
    other = path.with_name("other")
    with pytest.raises(RuntimeError), new_folder(other) as temporary:
        (temporary / "half").write_text("half")
        raise RuntimeError
    with pytest.raises(DataError, match="other: cannot be written: No space left"), new_folder(other) as temporary:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    (path / "file").touch()
    with pytest.raises(DataError, match="cannot be written"), new_folder(path / "file/folder"):
        pass
    assert [entry.name for entry in path.parent.iterdir()] == ["folder"]


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path):
    path = tmp_path / "out.txt"
    code = f"""
from psp.core.files import atomic
import time
with atomic({str(path)!r}) as temporary:
    temporary.write_bytes(b"half")
    print("ready", flush=True)
    time.sleep(60)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    process.stdout.readline()
    assert len(list(tmp_path.iterdir())) == 1
    with atomic(path) as temporary:  # while it lives its file is left alone
        temporary.write_bytes(b"first")
    assert len(list(tmp_path.iterdir())) == 2
    process.send_signal(signal.SIGKILL)
    process.wait()
    time.sleep(0.01)
    with atomic(path) as temporary:
        temporary.write_bytes(b"second")
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.txt"]
    assert path.read_bytes() == b"second"


def test_the_folder_of_a_killed_process_is_removed_by_the_next(tmp_path):
    code = f"""
import os, signal
from psp.core.files import new_folder
with new_folder({str(tmp_path / "out")!r}) as temporary:
    (temporary / "half").write_bytes(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 1
    with new_folder(tmp_path / "out"):
        pass
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_cannot_be_written_to(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be written"), atomic_text(tmp_path / "file/out.txt") as file:
        file.write("a")


def test_a_report_of_another_format_is_refused(tmp_path):
    path = tmp_path / "x.json"
    for value in ({"format": 3}, {"format": "1"}, {}, [1], None):
        write_json(path, value)
        with pytest.raises(DataError, match=r"x\.json: has format .*, but this psp reads 1 or 2; make it again"):
            read_report(path, 1, 2)
    write_json(path, {"format": 2})
    assert read_report(path, 1, 2) == {"format": 2}


def test_json(tmp_path):
    path = tmp_path / "x.json"
    write_json(path, {"b": 1, "a": "é"})
    assert json.loads(path.read_text(encoding="utf-8")) == {"b": 1, "a": "é"}
    assert read_json(path) == {"b": 1, "a": "é"}
    with pytest.raises(ValueError):
        write_json(path, float("nan"))
    assert read_json(path) == {"b": 1, "a": "é"}
    for damaged in (b"{", b"\xff", b"1" * 5000, b"[" * 100_000):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=r"x\.json: not JSON"):
            read_json(path)
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        read_json(tmp_path)
    with pytest.raises(DataError, match="no such file"):
        read_json(tmp_path / "y.json")


def test_sha256(tmp_path):
    (tmp_path / "abc").write_bytes(b"abc")
    assert sha256(tmp_path / "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_a_folder_beside_a_file_is_gone_in_the_end_and_those_of_dead_processes_at_its_start(tmp_path):
    host = socket.gethostname()
    dead, alive = tmp_path / f".out.{host}.4194304.tmp", tmp_path / f".out.{host}.1.tmp"
    other = tmp_path / f".other.{host}.4194304.tmp"
    for folder in (dead, alive, other):
        folder.mkdir()
    with pytest.raises(ZeroDivisionError), folder_beside(tmp_path / "out") as folder:
        assert folder.parent == tmp_path and folder.is_dir()
        (folder / "part").touch()
        assert not dead.exists()
        1 / 0  # noqa: B018
    assert sorted(tmp_path.iterdir()) == sorted([alive, other])


def test_pipes_and_devices_are_no_regular_files(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero"):
        for read in (open_regular, read_bytes, read_json, sha256):
            with pytest.raises(DataError, match=f"{path}: is a pipe or a device, where a regular file is needed"):
                read(path)


def test_an_empty_home_is_not_the_root_of_the_disk(monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_cache() == tmp_path / ".cache/psp"
    owner = Path(pwd.getpwuid(os.getuid()).pw_dir) / ".cache/psp"
    for empty in (lambda: monkeypatch.setenv("HOME", ""), lambda: monkeypatch.delenv("HOME")):
        empty()
        assert user_cache() == owner
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert user_cache() == tmp_path / "cache/psp"
