"""A server under load: what it sustains, half of that for minutes, and twice as much.

    python benchmarks/load.py results/fr/model [--minutes 10] [--overload 2] [--clients 16]

The server runs on one core, the clients on another. Single sentences go to /api/embed over connections that stay open.
First more and more clients ask as fast as they are answered, until twice as many get no more answers: the highest rate.
Then requests are due at fixed times, whether or not earlier ones are answered, and a latency counts from when its
request was due. Statuses: 0 is a broken connection, -1 a request that no client came to within five seconds. At last
there are clients that send their request a byte every two seconds, and such that ask for a large answer and do not read
it, while the others ask at half of the rate.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SENTENCES = [f"the {size} {thing} near house number {n} is for sale" for n in range(50)
             for size, thing in (("small", "dog"), ("old", "car"), ("red", "boat"))]  # fmt: skip


class Client:
    """A connection to the server that stays open."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None

    async def ask(self, text: str) -> int:
        """Embed a sentence; the status, 0 if the connection broke."""
        try:
            if self.writer is None:
                self.reader, self.writer = await asyncio.open_connection(self.host, self.port)
            assert self.reader is not None
            body = json.dumps({"texts": [text]}).encode()
            head = "POST /api/embed HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            head += f"Content-Length: {len(body)}\r\n\r\n"
            self.writer.write(head.encode() + body)
            answer = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
            if "chunked" in answer:
                while size := int(await self.reader.readuntil(b"\r\n"), 16):
                    await self.reader.readexactly(size + 2)
                await self.reader.readexactly(2)
            else:
                found = re.search(r"content-length: (\d+)", answer)
                await self.reader.readexactly(int(found[1]) if found else 0)
            if "connection: close" in answer:
                self.close()
            return int(answer.split(" ", 2)[1])
        except (OSError, asyncio.IncompleteReadError):
            self.close()
            return 0

    def close(self) -> None:
        """Close the connection; the next question opens another."""
        if self.writer is not None:
            self.writer.close()
        self.reader = self.writer = None


async def as_fast_as_possible(clients: list[Client], seconds: float) -> float:
    """Requests a second."""
    end, done = time.monotonic() + seconds, 0

    async def one(client: Client, number: int) -> None:
        nonlocal done
        while time.monotonic() < end:
            assert await client.ask(SENTENCES[(number + done) % len(SENTENCES)]) == 200
            done += 1

    begun = time.monotonic()
    await asyncio.gather(*(one(client, number) for number, client in enumerate(clients)))
    return done / (time.monotonic() - begun)


async def highest_rate(host: str, port: int, most: int, seconds: float) -> tuple[float, int]:
    """Requests a second, and by how many clients: twice as many were answered less than 10% faster."""
    found, count = 0.0, 1
    while count <= most:
        clients = [Client(host, port) for _ in range(count)]
        rate = await as_fast_as_possible(clients, seconds)
        for client in clients:
            client.close()
        if rate < 1.1 * found:
            break
        found, count = rate, 2 * count
    return found, max(1, count // 2)


async def at_rate(clients: list[Client], rate: float, seconds: float, watch: Any) -> dict[str, Any]:
    """Requests that are due at fixed times; of those that no client is free for, the latency grows."""
    due: asyncio.Queue[float | None] = asyncio.Queue()
    latencies: list[float] = []
    statuses: dict[int, int] = {}

    async def one(client: Client) -> None:
        while (when := await due.get()) is not None:
            if time.monotonic() - when > 5:  # nobody waits longer
                statuses[-1] = statuses.get(-1, 0) + 1
                continue
            status = await client.ask(SENTENCES[int(when * 1000) % len(SENTENCES)])
            statuses[status] = statuses.get(status, 0) + 1
            if status == 200:
                latencies.append(time.monotonic() - when)

    tasks = [asyncio.create_task(one(client)) for client in clients]
    begun, sent = time.monotonic(), 0
    while (now := time.monotonic()) - begun < seconds:
        while sent < (now - begun) * rate:
            due.put_nowait(begun + sent / rate)
            sent += 1
        watch(now - begun)
        await asyncio.sleep(0.002)
    for _ in tasks:
        due.put_nowait(None)
    await asyncio.gather(*tasks)
    latencies.sort()
    told = {f"p{share}": 1000 * latencies[int(len(latencies) * share / 100)] for share in (50, 99)} if latencies else {}
    return {"sent": sent, "statuses": statuses, **told, "longest": 1000 * latencies[-1] if latencies else None}


async def send_slowly(host: str, port: int, until: float) -> None:
    """Send a request byte by byte, until the server leaves."""
    _, writer = await asyncio.open_connection(host, port)
    with contextlib.suppress(OSError):
        writer.write(b"POST /api/embed HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
        writer.write(b"Content-Length: 999\r\n\r\n")
        while time.monotonic() < until:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(2)
    writer.close()


async def read_slowly(host: str, port: int, until: float) -> str:
    """Ask for a large answer and do not read it; the status."""
    reader, writer = await asyncio.open_connection(host, port, limit=1024)
    writer.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    body = json.dumps({"texts": SENTENCES * 5}).encode()
    writer.write(b"POST /api/embed HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
    writer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    status = (await reader.readuntil(b"\r\n")).decode().split()[1]
    await asyncio.sleep(max(0, until - time.monotonic()))
    writer.close()
    return status


async def slow_clients(
    host: str, port: int, pid: int, rate: float, clients: list[Client], number: int
) -> dict[str, Any]:
    """What others see beside so many slow senders and as many slow readers."""
    begun = time.monotonic()
    slow = [
        asyncio.create_task(who(host, port, begun + 90)) for who in (send_slowly, read_slowly) for _ in range(number)
    ]
    held = {}

    def watch(passed: float) -> None:
        if (second := int(passed)) % 10 == 5 and second not in held:
            held[second] = round(memory(pid))

    beside = await at_rate(clients, rate, 60, watch)
    ended = await asyncio.gather(*slow, return_exceptions=True)
    statuses = collections.Counter(str(one) for one in ended[number:])
    return {"beside": beside, "MB after seconds": held, "readers": dict(statuses)}


def memory(pid: int) -> float:
    """Resident memory in MB."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


async def measure(options: argparse.Namespace, pid: int, host: str, port: int) -> None:
    await as_fast_as_possible([Client(host, port)], 5)  # warm
    highest, number = await highest_rate(host, port, options.crowd, options.capacity)
    print(f"highest rate: {highest:.0f} requests/s by {number} clients, {memory(pid):.0f} MB")
    clients = [Client(host, port) for _ in range(max(number, options.clients))]
    marks: dict[str, float] = {}

    def watch(passed: float) -> None:
        if passed >= 60:
            marks.setdefault("a minute", memory(pid))

    half = await at_rate(clients, highest / 2, 60 * options.minutes, watch)
    grown = memory(pid) / marks.get("a minute", memory(pid)) - 1
    print(f"half of it, {options.minutes:g} minutes: {half}; memory {100 * grown:+.1f}% after the first minute")
    # Many more clients, or the sixteen would wait for one another instead of being refused.
    crowd = [Client(host, port) for _ in range(options.crowd)]
    twice = await at_rate(crowd, 2 * highest, 60 * options.overload, lambda passed: None)
    print(f"twice as much, {options.overload:g} minutes, {options.crowd} clients: {twice}; {memory(pid):.0f} MB")
    for client in crowd:
        client.close()
    begun, seconds = time.monotonic(), None
    while seconds is None and time.monotonic() - begun < 60:
        after = await at_rate(clients, highest / 2, 1, lambda passed: None)
        if set(after["statuses"]) == {200} and after["p99"] < 100:
            seconds = time.monotonic() - begun
    print(f"back to normal after {seconds} s: {after}")
    slow = await slow_clients(host, port, pid, highest / 2, clients, options.slow)
    print(f"{options.slow} slow senders and {options.slow} slow readers: {json.dumps(slow)}; {memory(pid):.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--crowd", type=int, default=300)
    parser.add_argument("--capacity", type=float, default=10, metavar="SECONDS")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--slow", type=int, default=200, metavar="CLIENTS")
    parser.add_argument("--overload", type=float, default=2, metavar="MINUTES")
    options = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    command = [sys.executable, "-c", "from psp.cli.main import main; main()", "serve", options.model, "--port", "0"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, preexec_fn=lambda: os.sched_setaffinity(0, cores[:1])
    )
    try:
        assert process.stdout is not None
        found = re.search(r"http://([^:]+):(\d+)/", process.stdout.readline())
        assert found is not None
        if len(cores) > 1:
            os.sched_setaffinity(0, cores[1:])
        asyncio.run(measure(options, process.pid, found[1], int(found[2])))
        assert process.poll() is None, "the server has ended"
    finally:
        process.kill()


if __name__ == "__main__":
    main()
