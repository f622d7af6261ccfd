"""A real terminal (a pty) for programs, and what they drew on it."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_a_terminal(command, columns=100, **options):
    """Run a program whose standard error is a terminal of that width.

    Returns:
        Its status; all that it drew, a frame or line each, without colours and the like.
    """
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=its, **options)
    os.close(its)
    drawn = b""
    with os.fdopen(ours, "rb", buffering=0) as screen:
        try:
            while data := screen.read(4096):
                drawn += data
        except OSError:  # how Linux says that the other end is closed
            pass
    frames = re.split(r"[\r\n]+", ESCAPES.sub("", drawn.decode()))
    return process.wait(timeout=60), [frame.rstrip() for frame in frames if frame.strip()]
