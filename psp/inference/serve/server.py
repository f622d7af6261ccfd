"""The socket, the server process, and its shutdown."""

from __future__ import annotations

import errno
import os
import socket

import uvicorn
from starlette.types import ASGIApp

from psp.core.errors import ConfigError

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


def serve(application: ASGIApp, listener: socket.socket) -> None:
    """Serve until Ctrl-C or SIGTERM; finish the requests in progress, then let the signal take its usual effect."""
    config = uvicorn.Config(
        application,
        http="h11",  # always installed, and strict
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
