"""Process chunks in several processes, with results in the order of the lines.

Workers are forked: they share what the parent has loaded, even if it is not memory-mapped (an embedding matrix
quantized on loading), and start in milliseconds. The parent must therefore have no running threads when it forks: load
the model with one thread, and start the progress bar afterwards. Text and vectors pass in memory that all share: what
goes through the pool's pipes is so small that nobody waits to write there when a worker ends.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import mmap
import multiprocessing
import select
import signal
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from psp.core.errors import PspError
from psp.inference.streaming import TEXT_BYTES, Chunk, Chunker, ChunkSource, Done, Work, given_of

#: Chunks for each worker that wait, are worked on, or have a result that waits for an earlier chunk's.
PLACES = 3


@contextlib.contextmanager
def in_order(source: ChunkSource, work: Work, *, jobs: int, rows: int, room: int) -> Iterator[Iterator[Done]]:
    """Yield an iterator over the processed chunks of a source, in order; the workers end with the block.

    Chunks do not depend on the number of processes.

    Args:
        source: the lines.
        work: applied to each chunk.
        jobs: number of worker processes.
        rows: maximum lines of a chunk.
        room: bytes for the result of a chunk.

    Raises:
        DataError: the source cannot be read.
        PspError: the error returned by ``work``, after the results before it; or a worker was killed.
    """
    places = [memoryview(mmap.mmap(-1, TEXT_BYTES + room)) for _ in range(PLACES * jobs)]  # shared, without names
    before = multiprocessing.active_children()
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("fork"), _begin, (work, places))
    try:
        # A signal that arrives before a process has set its handler would cause a traceback.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        try:
            pool.submit(int)  # starts all of them
        except OSError as error:
            raise PspError(f"{jobs} processes: {error.strerror}; use fewer --jobs") from None
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        yield _results(pool, places, _read(source, rows))
    finally:
        for process in multiprocessing.active_children():
            if process not in before:
                process.kill()  # it holds nothing that needs cleaning up
                process.join()
        pool.shutdown()


def _results(pool: ProcessPoolExecutor, places: list[memoryview], read: Iterator[Chunk | None]) -> Iterator[Done]:
    waiting: deque[tuple[Chunk, int, Future[tuple[int | bytes, PspError | None]]]] = deque()
    free = list(range(len(places)))  # the last one used is taken first, so the others may never use memory
    for chunk in itertools.chain(read, [None]):
        while waiting and (chunk is None or not free or waiting[0][2].done()):
            first, place, future = waiting.popleft()
            with _none_lost():
                made, error = future.result()
            yield from given_of(first, made, places[place][TEXT_BYTES:])
            if error is not None:
                raise error
            free.append(place)
        if chunk is not None:
            place, size = free.pop(), len(chunk.text)
            if size <= TEXT_BYTES:
                places[place][:size] = chunk.text
            given = chunk._replace(text=b"") if size <= TEXT_BYTES else chunk  # a longer line goes through the pipe
            with _none_lost():
                waiting.append((chunk, place, pool.submit(_run, given, size, place)))


def _read(source: ChunkSource, rows: int) -> Iterator[Chunk | None]:
    """The chunks of a source; None before it has to be waited for."""
    chunker, number = Chunker(rows, name=source.name), source.fileno()
    while True:
        if number is not None and not select.select([number], [], [], 0)[0]:
            yield None
        if not (data := source.read()):
            break
        yield from chunker.feed(data)
    yield from chunker.end()


@contextlib.contextmanager
def _none_lost() -> Iterator[None]:
    try:
        yield
    except BrokenProcessPool:
        raise PspError(
            "a worker process was killed; the input is fine: run it again, with fewer --jobs if memory ran out"
        ) from None


_work: Work
_places: list[memoryview]


def _begin(work: Work, places: list[memoryview]) -> None:
    global _work, _places
    _work, _places = work, places
    with contextlib.suppress(AttributeError):  # prctl is Linux's; whoever is killed leaves no worker behind
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends Ctrl-C to all; the parent ends the workers
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})


def _run(chunk: Chunk, size: int, place: int) -> tuple[int | bytes, PspError | None]:
    memory = _places[place]
    try:
        return _work(chunk if chunk.text else chunk._replace(text=bytes(memory[:size])), memory[TEXT_BYTES:])
    except PspError as error:
        return 0, error
