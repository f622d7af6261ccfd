"""Runs the scripts of Snakemake's jobs in forks of one process that has imported the libraries that they take.

A third and more of a small job's time is torch, SciPy and numba being imported. What belongs to the project is not:
each fork imports ``psp`` from the copy that its environment names.

``python script_server.py SOCKET`` serves; script_client.py asks it.
"""

import atexit
import functools
import gc
import os
import select
import signal
import socket
import sys
import threading
import traceback
import types
from pathlib import Path


def serve(address: str) -> None:
    """Answer until standard input ends."""
    # What jobs import beside psp.
    import statistics  # noqa: F401

    import fasttext  # noqa: F401
    import h5py  # noqa: F401
    import jinja2  # noqa: F401
    import matplotlib.figure  # noqa: F401
    import numpy
    import pydantic  # noqa: F401
    import safetensors  # noqa: F401
    import scipy.sparse
    import scipy.stats  # noqa: F401
    import sentencepiece  # noqa: F401
    import snakemake.io
    import snakemake.iocontainers
    import snakemake.script  # noqa: F401
    import torch  # noqa: F401
    import xxhash  # noqa: F401
    from numba import njit
    from py3langid import langid

    # numba's own functions and types, which it looks up before it loads its first loop. This one starts no threads.
    njit(lambda numbers: numbers[0])(numpy.zeros(1))
    # The n-grams of all languages, unpacked.
    langid._load_model_file = functools.cache(langid._load_model_file)
    langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE)

    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(16)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # those who answer are waited for by nobody
        while listener in select.select([listener, sys.stdin], [], [])[0]:
            client, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                answer(client)
            client.close()


def answer(client: socket.socket) -> None:
    """Run what one client asks for, in a process of its own."""
    size, files, *_ = socket.recv_fds(client, 4, 2)
    asked, length = b"", int.from_bytes(size, "big")
    while len(asked) < length:
        asked += client.recv(1 << 20)
    script = os.fork()
    if script == 0:
        client.close()
        path, folder, *variables = map(os.fsdecode, asked.split(b"\0"))
        run(path, folder, dict(zip(variables[::2], variables[1::2], strict=True)), files)
    client.send(bytes([min(abs(os.waitstatus_to_exitcode(os.waitpid(script, 0)[1])), 255)]))
    os._exit(0)


def run(path: str, folder: str, environment: dict[str, str], files: list[int]) -> None:
    """Become ``python SCRIPT``."""
    for number, file in enumerate([os.open(os.devnull, os.O_RDONLY), *files]):
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    assert "psp" not in sys.modules, "it must be imported from the copy"
    sys.argv = [path]
    paths = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    sys.path[:1] = [str(Path(path).parent), *paths]
    source = Path(path).read_text()
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__file__ = path
    status: object = 0
    try:
        exec(compile(source, path, "exec"), main.__dict__)
    except SystemExit as ending:
        status = ending.code
        if isinstance(status, str):
            sys.stderr.write(f"{status}\n")
    except BaseException:
        traceback.print_exc()
        status = 1
    # As Python ends, but for clearing all that has been imported, which takes a second.
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status if isinstance(status, int) else int(status is not None))


if __name__ == "__main__":
    serve(sys.argv[1])
