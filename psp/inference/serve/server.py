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
from psp.inference.serve import Limits

#: Seconds for requests in progress to finish at shutdown.
GRACE = 2


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket; port 0 means any free port.

    Raises:
        ConfigError: this machine has no such address, or the port is in use or privileged.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server(address[:2], family=family)
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

    #: As :attr:`psp.inference.serve.Limits.wait`.
    wait: float
    #: How much longer the head of a request may take in all: one byte in time is progress, but would never end.
    HEAD = 3
    _watch: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._progress = self._begun = self.loop.time()
        self._watch = self.loop.call_later(self.wait, self._look)

    def data_received(self, data: bytes) -> None:
        self._progress = self.loop.time()
        super().data_received(data)

    def resume_writing(self) -> None:
        self._progress = self.loop.time()
        super().resume_writing()

    def on_response_complete(self) -> None:
        self._progress = self._begun = self.loop.time()  # the next request may begin
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
            too_long = self.conn.their_state is h11.IDLE and now - self._begun > self.HEAD * self.wait
            if too_long or now - self._progress >= self.wait:
                self.transport.abort()
                return
        else:
            self._progress = now
        self._watch = self.loop.call_later(self.wait / 4, self._look)


def serve(application: ASGIApp, listener: socket.socket, wait: float = Limits.wait) -> None:
    """Serve until Ctrl-C or SIGTERM; finish the requests in progress, then let the signal take its usual effect.

    Args:
        wait: as :attr:`psp.inference.serve.Limits.wait`.
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
