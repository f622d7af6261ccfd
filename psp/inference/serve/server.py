"""The socket, the server process, and its shutdown."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from psp.core.errors import ConfigError
from psp.inference.serve import ServeLimits

#: Seconds for requests in progress to finish at shutdown.
GRACE = 2


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket; port 0 means any free port.

    Raises:
        ConfigError: this machine has no such address, or the port is in use or privileged.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.create_server(address[:2], family=family)
        # asyncio does this only for sockets that name TCP as their protocol. Without it, the second packet of an answer
        # waits for the client to acknowledge the first, which it does 40 ms later: 22 requests a second over a
        # connection that stays open instead of 500 (one client, loopback).
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except (socket.gaierror, UnicodeError):
        raise ConfigError(f"--host {host}: no such host; use 127.0.0.1, or an address of this machine") from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            message = f"--port {port}: already in use; choose another port, or 0 for any free one"
        elif error.errno == errno.EACCES:
            message = f"--port {port}: a privileged port; choose one from 1024, or 0 for any free one"
        else:
            message = (
                f"--host {host} --port {port}: {os.strerror(error.errno or 0)}; use --host 127.0.0.1, or another port"
            )
        raise ConfigError(message) from None


class PatientProtocol(H11Protocol):
    """Closes connections whose client makes no progress; uvicorn waits for half a request for ever.

    h11 is always installed, and strict.
    """

    #: As :attr:`psp.inference.serve.ServeLimits.wait`.
    wait: float
    #: How much longer a request may take in all: one byte in time is progress, but would never end.
    WHOLE = 3
    #: Bytes a second beyond that time, of a request's body and of an answer that is read.
    RATE = 4096
    _watch: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._sent = _Counting(transport)
        super().connection_made(self._sent)  # type: ignore[arg-type]
        self._progress = self._begun = self.loop.time()
        self._received = 0
        self._paused: float | None = None
        self._watch = self.loop.call_later(self.wait, self._look)

    def data_received(self, data: bytes) -> None:
        self._progress = self.loop.time()
        self._received += len(data)
        super().data_received(data)

    def pause_writing(self) -> None:
        if self._paused is None:
            self._paused, self._sent.bytes = self.loop.time(), 0
        super().pause_writing()

    def resume_writing(self) -> None:
        self._progress = self.loop.time()
        super().resume_writing()

    def on_response_complete(self) -> None:
        self._progress = self._begun = self.loop.time()  # the next request may begin
        self._received, self._paused = 0, None
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._watch is not None:
            self._watch.cancel()
        super().connection_lost(exc)

    def _look(self) -> None:
        now = self.loop.time()
        # Only while it is the client's turn: an answer may take longer than that to make.
        sending = self.conn.their_state in (h11.IDLE, h11.SEND_BODY) and not self.flow.read_paused
        if self.flow.write_paused or sending:
            since, moved = self._begun, self._received if self.conn.their_state is h11.SEND_BODY else 0
            if self.flow.write_paused and self._paused is not None:
                since, moved = self._paused, self._sent.bytes - self.transport.get_write_buffer_size()
            too_long = now - since > self.WHOLE * self.wait + moved / self.RATE
            if too_long or now - self._progress >= self.wait:
                self.transport.abort()
                return
        else:
            self._progress = now
        self._watch = self.loop.call_later(self.wait / 4, self._look)


class _Counting:
    """A transport that counts the bytes written to it."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport, self.bytes = transport, 0

    def write(self, data: bytes) -> None:
        self.bytes += len(data)
        self._transport.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


def serve(application: ASGIApp, listener: socket.socket, wait: float = ServeLimits.wait) -> None:
    """Serve until Ctrl-C or SIGTERM; finish the requests in progress, then let the signal take its usual effect.

    Args:
        wait: as :attr:`psp.inference.serve.ServeLimits.wait`.
    """
    protocol: Any = type("Protocol", (PatientProtocol,), {"wait": wait})
    config = uvicorn.Config(
        application,
        http=protocol,
        loop="asyncio",
        ws="none",
        lifespan="off",
        log_config=None,  # ours
        log_level="critical",  # the guard logs bugs; aborted requests need no log
        access_log=False,
        proxy_headers=False,  # do not trust claims about the client
        server_header=False,
        timeout_graceful_shutdown=GRACE,
    )
    uvicorn.Server(config).run(sockets=[listener])
