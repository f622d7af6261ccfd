"""The socket, the process that serves, and its end."""

from __future__ import annotations

import errno
import os
import socket

import uvicorn
from starlette.types import ASGIApp

from psp.errors import ConfigError

#: Seconds that requests under way have to be answered once the server is asked to end.
GRACE = 2


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens at an address; port 0 is a free one.

    Raises:
        ConfigError: there is no such address here, or its port is taken or not for everyone.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server(address[:2], family=family)
    except (socket.gaierror, UnicodeError):
        raise ConfigError(f"--host {host}: no such host; write 127.0.0.1, or an address of this machine") from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            message = f"--port {port}: something listens there already; write another one, or 0 for one that is free"
        elif error.errno == errno.EACCES:
            message = f"--port {port}: not for everyone's programs; write one from 1024, or 0 for one that is free"
        else:
            message = (
                f"--host {host} --port {port}: {os.strerror(error.errno or 0)}; write --host 127.0.0.1, or another port"
            )
        raise ConfigError(message) from None


def serve(application: ASGIApp, listener: socket.socket) -> None:
    """Serve until Ctrl-C or SIGTERM: requests are ended, then the signal is handled as it would have been without."""
    config = uvicorn.Config(
        application,
        http="h11",  # always there, and strict
        loop="asyncio",
        ws="none",
        lifespan="off",
        log_config=None,  # ours
        log_level="critical",  # bugs are logged by the guard; of requests that are cut off nobody needs to hear
        access_log=False,
        proxy_headers=False,  # nobody's word is taken for who asks
        server_header=False,
        timeout_graceful_shutdown=GRACE,
    )
    uvicorn.Server(config).run(sockets=[listener])
