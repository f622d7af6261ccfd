"""Read changed files, and count what comes of it: an error of ours, none, or one that is not ours.

    python -m tests.fuzz.run [READER ...] [--seconds 20] [--inputs N] [--seed 1] [--out fuzz.json] [--keep folder]

Each reader has a process of its own, which a crash may end. What is not ours, what takes more than five seconds and
what takes more than a gigabyte is kept with its traceback, each place in the code once; the status is 1 then.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import mmap
import multiprocessing
import os
import resource
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from random import Random
from typing import Any

HANG, MEMORY = 5.0, 1 << 30
#: Address space of a process: more than a reader may take, for torch and compiled code.
MOST = 16 << 30


class Hang(BaseException):
    """A reader takes too long; no reader may catch it."""


def worker(
    name: str, seed: int, seconds: float, inputs: int | None, keep: Path, shared: mmap.mmap, answer: Any
) -> None:
    """Read changed files until the time is over; the number of the input stands in ``shared``."""
    import logging

    from psp.core.errors import PspError
    from tests.fuzz.readers import READERS

    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    with contextlib.suppress(ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST))
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)

    def too_long(number: int, frame: Any) -> None:
        raise Hang

    signal.signal(signal.SIGALRM, too_long)
    counts = {"inputs": 0, "accepted": 0, "refused": 0}
    found: dict[str, str] = {}
    base = Path("/dev/shm") if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=base, prefix="psp-fuzz-") as scratch:
        folder = Path(scratch)
        made = READERS[name](folder)
        made.read()  # what is whole is read
        whole = {target.path: target.path.read_bytes() for target in made.targets}
        others = list(whole.values())
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        end = time.monotonic() + seconds
        while time.monotonic() < end and (inputs is None or counts["inputs"] < inputs):
            number = counts["inputs"]
            rng = Random(f"{seed} {name} {number}")
            target = rng.choice(made.targets)
            changed = target.change(whole[target.path], rng, others)
            shared[:8] = struct.pack("<Q", number)
            target.path.write_bytes(changed)
            if target.then is not None:
                target.then()
            counts["inputs"] += 1
            place = None
            try:
                signal.setitimer(signal.ITIMER_REAL, HANG)
                made.read()
                counts["accepted"] += 1
            except PspError:
                counts["refused"] += 1
            except (Hang, Exception) as error:
                frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/psp/" in frame.filename]
                line = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
                place = f"{type(error).__name__} at {line}"
                told = traceback.format_exc()
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            if after - before > MEMORY / 1024:
                place, told = f"{(after - before) >> 10} MB", "memory"
                before = after
            if place is not None and place not in found:
                found[place] = f"input {number} of seed {seed}, {target.path.name}\n{told}"
                saved = keep / f"{name}.{len(found)}.{target.path.name}"
                saved.write_bytes(changed)
                saved.with_name(f"{saved.name}.txt").write_text(found[place])
            for path in [target.path] if target.then is None else whole:
                path.write_bytes(whole[path])
    answer.send({**counts, "found": found})


def fuzz(name: str, seed: int, seconds: float, inputs: int | None, keep: Path) -> dict[str, Any]:
    """Run a reader's process, and another after each crash of it."""
    total: dict[str, Any] = {"inputs": 0, "accepted": 0, "refused": 0, "found": {}}
    context = multiprocessing.get_context("spawn")
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0.5 and (inputs is None or total["inputs"] < inputs):
        path = keep / f"{name}.place"
        path.write_bytes(bytes(8))
        ours, theirs = context.Pipe(False)
        process = context.Process(target=_mapped, args=(name, seed, left, inputs, keep, path, theirs))
        process.start()
        theirs.close()
        answer = None
        try:
            last, since = b"", time.monotonic()
            while process.is_alive() and not ours.poll(1):
                now = path.read_bytes()
                if now != last:
                    last, since = now, time.monotonic()
                elif time.monotonic() - since > 60:  # not even the alarm gets through
                    process.kill()
            if ours.poll():
                answer = ours.recv()
        except EOFError:
            pass
        process.join(10)
        process.kill()
        number = struct.unpack("<Q", path.read_bytes())[0]
        path.unlink()
        if answer is None:
            total["inputs"] += number + 1
            total["found"][f"the process ended with {process.exitcode}"] = f"input {number} of seed {seed}"
            seed += 1_000_003
            continue
        for key in ("inputs", "accepted", "refused"):
            total[key] += answer[key]
        total["found"] |= answer["found"]
        break
    return total


def _mapped(name: str, seed: int, seconds: float, inputs: int | None, keep: Path, path: Path, answer: Any) -> None:
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 8) as shared:
        worker(name, seed, seconds, inputs, keep, shared, answer)


def main() -> None:
    """Run the readers one after another, and print a line for each."""
    from tests.fuzz.readers import READERS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("readers", nargs="*", metavar="READER", help=f"default: all of {', '.join(READERS)}")
    parser.add_argument("--seconds", type=float, default=20, help="for each reader (default: %(default)g)")
    parser.add_argument("--inputs", type=int, help="for each reader at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="counts by reader, as JSON")
    parser.add_argument("--keep", type=Path, default=Path("fuzz"), help="folder for what is found (default: fuzz)")
    options = parser.parse_args()
    options.keep.mkdir(parents=True, exist_ok=True)
    results: dict[str, Any] = {}
    for name in options.readers or READERS:
        begun = time.monotonic()
        result = results[name] = fuzz(name, options.seed, options.seconds, options.inputs, options.keep)
        rate = result["inputs"] / (time.monotonic() - begun)
        print(
            f"{name:20} {result['inputs']:9,} inputs, {result['accepted']:8,} read, {result['refused']:9,} refused, "
            f"{len(result['found'])} found, {rate:7,.0f}/s",
            flush=True,
        )
        for place, told in result["found"].items():
            print(f"    {place}: {told.splitlines()[0]}", flush=True)
    total = sum(result["inputs"] for result in results.values())
    found = sum(len(result["found"]) for result in results.values())
    print(f"{total:,} inputs, {found} found")
    if options.out is not None:
        options.out.write_text(json.dumps({"seed": options.seed, "readers": results}, indent=2) + "\n")
    if not found:
        shutil.rmtree(options.keep, ignore_errors=True)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
