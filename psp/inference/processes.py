"""Process chunks in this process or in several, with results in the order of the lines.

Workers are forked, for three reasons: they share what the parent has loaded, even if it is not memory-mapped (an
embedding matrix quantized on loading); they start in milliseconds; and the shared memory for text and vectors needs no
name, so nothing is left behind however a process ends. The parent must therefore have no running threads when it forks:
load the model with one thread, and start the progress bar afterwards.

Text and results pass through slots of one shared memory block; only a few numbers go through a socket. Each worker
holds one end of one socket and no others, so that a process that dies, for whatever reason, is an end of file to the
process waiting for it: the parent then fails with an error, and workers exit when the parent is gone.
"""

from __future__ import annotations

import contextlib
import mmap
import multiprocessing
import signal
import traceback
from collections import deque
from collections.abc import Iterator
from multiprocessing.connection import wait

from psp.core.errors import PspError
from psp.inference.streaming import TEXT_BYTES, Chunk, Chunker, ChunkSource, Done, Work, alone, given_of

#: Chunks queued per worker, so that it need not wait for the parent between chunks.
DEPTH = 2
#: Slots per worker: its queued chunks, and one whose result waits for an earlier chunk's.
PLACES = 3


@contextlib.contextmanager
def in_order(source: ChunkSource, work: Work, *, jobs: int, rows: int, room: int) -> Iterator[Iterator[Done]]:
    """Yield an iterator over the processed chunks of a source, in order; the workers end with the block.

    Chunks do not depend on the number of processes.

    Args:
        source: the lines.
        work: applied to each chunk.
        jobs: number of worker processes; 1: work in this process.
        rows: maximum lines of a chunk.
        room: bytes for the result of a chunk.

    Raises:
        DataError: the source cannot be read.
        PspError: the error returned by ``work``, after the results before it; or a worker was killed.
        RuntimeError: a bug in ``work``, with its traceback.
    """
    if jobs == 1:
        yield alone(source, work, rows, room)
        return
    workers = _Workers(work, jobs, room)
    try:
        workers.start()
        yield workers.run(source, Chunker(rows, name=source.name))
    finally:
        workers.end()


class _Workers:
    def __init__(self, work: Work, jobs: int, room: int) -> None:
        self._work, self._room = work, room
        places = PLACES * jobs
        self._memory = memoryview(mmap.mmap(-1, places * (TEXT_BYTES + room)))  # shared, and without a name
        self._free = list(range(places))  # the last one used is taken first, so the others may never use memory
        context = multiprocessing.get_context("fork")
        pairs = [context.Pipe() for _ in range(jobs)]
        self._ours = [ours for ours, _ in pairs]
        self._theirs = [theirs for _, theirs in pairs]
        self._processes = [
            context.Process(target=self._serve, args=(number,), name=f"psp {number + 1}", daemon=True)
            for number in range(jobs)
        ]
        self._busy: list[deque[tuple[int, int, Chunk]]] = [deque() for _ in range(jobs)]  # number, place, chunk

    def start(self) -> None:
        # A signal that arrives before a process has set its handler would cause a traceback.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        try:
            for process in self._processes:
                process.start()
        except OSError as error:
            raise PspError(f"{len(self._processes)} processes: {error.strerror}; use fewer --jobs") from None
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for theirs in self._theirs:
            theirs.close()

    def end(self) -> None:
        """Close the sockets and kill the workers."""
        for ours, process in zip(self._ours, self._processes, strict=True):
            ours.close()
            if process.pid is not None:
                process.kill()  # it holds nothing that needs cleaning up
                process.join()

    def run(self, source: ChunkSource, chunker: Chunker) -> Iterator[Done]:
        waiting: deque[Chunk] = deque()  # read but not yet given to a worker
        finished: dict[int, tuple[Chunk, int, int | bytes, PspError | None]] = {}
        given = yielded = 0
        ended = False
        while True:
            while waiting and (worker := self._idle(len(waiting[0].text))) is not None:
                self._give(worker, given, waiting.popleft())
                given += 1
            if yielded in finished:
                chunk, place, made, error = finished.pop(yielded)
                yield from given_of(chunk, made, self._place(place)[1])
                if error is not None:
                    raise error
                self._free.append(place)
                yielded += 1
                continue
            if ended and not waiting and given == yielded:
                return
            reading = not ended and not waiting
            ready = self._wait(source if reading else None)
            for worker, ours in enumerate(self._ours):
                if ours in ready:
                    made, error = self._take(worker)
                    number, place, chunk = self._busy[worker].popleft()
                    finished[number] = (chunk, place, made, error)
            if source in ready:
                data = source.read()
                waiting.extend(chunker.feed(data) if data else chunker.end())
                ended = not data

    def _wait(self, source: ChunkSource | None) -> list[object]:
        """Wait until a worker has a message (or has died, even if idle), or the source can be read."""
        if source is None:
            return list(wait(self._ours))
        if source.fileno() is None:  # in memory
            return [*wait(self._ours, 0), source]
        return list(wait([*self._ours, source]))  # type: ignore[list-item]

    def _idle(self, size: int) -> int | None:
        """Return the least busy worker, if it can take a chunk of that many bytes now."""
        if not self._free:
            return None
        worker = min(range(len(self._busy)), key=lambda number: len(self._busy[number]))
        # A chunk too large for a slot goes through the socket, so only to an idle worker, which is listening.
        most = DEPTH if size <= TEXT_BYTES else 1
        return worker if len(self._busy[worker]) < most else None

    def _place(self, place: int) -> tuple[memoryview, memoryview]:
        """Return a slot's buffers for a chunk's text and its result."""
        start = place * (TEXT_BYTES + self._room)
        return self._memory[start : start + TEXT_BYTES], self._memory[start + TEXT_BYTES :][: self._room]

    def _give(self, worker: int, number: int, chunk: Chunk) -> None:
        place = self._free.pop()
        size = len(chunk.text)
        try:
            if size <= TEXT_BYTES:
                self._place(place)[0][:size] = chunk.text
            self._ours[worker].send((place, size, chunk.first, chunk.rows))
            if size > TEXT_BYTES:
                self._ours[worker].send_bytes(chunk.text)
        except ConnectionError:
            raise self._lost(worker) from None
        self._busy[worker].append((number, place, chunk))

    def _take(self, worker: int) -> tuple[int | bytes, PspError | None]:
        try:
            made, error = self._ours[worker].recv()
            if made is None:
                made = self._ours[worker].recv_bytes()
        except (EOFError, ConnectionError):
            raise self._lost(worker) from None
        if isinstance(error, str):
            raise RuntimeError(f"in a worker process:\n{error}")
        return made, error

    def _lost(self, worker: int) -> PspError:
        process = self._processes[worker]
        process.join()
        code = process.exitcode or 0
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"
        return PspError(
            f"process {worker + 1} of {len(self._processes)} {how}; the input is fine: run it again, with fewer --jobs "
            "if memory ran out"
        )

    def _serve(self, own: int) -> None:
        """Run a worker until end of file on its socket."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends Ctrl-C to all; the parent ends the workers
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
        for number, (ours, theirs) in enumerate(zip(self._ours, self._theirs, strict=True)):
            ours.close()
            if number != own:
                theirs.close()
        socket = self._theirs[own]
        with contextlib.suppress(EOFError, ConnectionError):
            while True:
                place, size, first, rows = socket.recv()
                text, room = self._place(place)
                chunk = Chunk(bytes(text[:size]) if size <= TEXT_BYTES else socket.recv_bytes(), first, rows)
                made: int | bytes = 0
                error: PspError | str | None
                try:
                    made, error = self._work(chunk, room)
                except PspError as raised:
                    error = raised
                except Exception:
                    error = traceback.format_exc()
                socket.send((made if isinstance(made, int) else None, error))
                if not isinstance(made, int):
                    socket.send_bytes(made)
