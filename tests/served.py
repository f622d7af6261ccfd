"""``psp serve`` as a process of its own, for the tests of its API and of its page."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

PSP = [sys.executable, "-c", "from psp.cli import main; main()"]


class Server(NamedTuple):
    """A server that answers at ``address``, such as http://127.0.0.1:41234/."""

    process: subprocess.Popen[str]
    address: str

    def ask(self, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """The status and the JSON that answer a GET, or a POST of ``body``."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"} | headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def end(self, number: int) -> tuple[int, str]:
        """Send a signal; the status with which the server ends, and what it wrote to stderr."""
        self.process.send_signal(number)
        _, stderr = self.process.communicate(timeout=30)
        return self.process.returncode, stderr


@contextlib.contextmanager
def served(model: Path, *options: str) -> Iterator[Server]:
    """Start ``psp serve`` at a free port, and wait for its line."""
    process = subprocess.Popen(
        [*PSP, "serve", str(model), "--port", "0", *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        match = re.search(r" is at (http://\S+/) until Ctrl-C\n$", line)
        if match is None:
            process.kill()
            raise AssertionError(line + process.communicate()[1])
        yield Server(process, match[1])
    finally:
        process.kill()
        process.communicate()
