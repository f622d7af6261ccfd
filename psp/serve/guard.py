"""Who may ask. The server has no password, so what a browser lets other sites' pages do must not reach the model.

- *DNS rebinding*: a page of evil.example, whose name is made to point to 127.0.0.1 once it is loaded, is of the same
  origin as this server to the browser, but asks for the host evil.example. So requests by an unknown name are refused.
  An address (127.0.0.1, [::1], 192.168.0.7) cannot be made to point elsewhere, and is accepted.
- *Requests from other sites*: a browser sends them, with their ``Origin``, and only keeps the answer from the page.
  They are refused before any work; nothing is ever allowed by CORS.
- *Frames, sniffing, scripts*: the headers below; the page's own script and style are allowed by their hashes.
"""

from __future__ import annotations

import ipaddress
import logging
import re
import traceback
from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger(__name__)

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",  # where the page has not set its own
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_HOST = re.compile(r"(?:\[(?P<six>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(?::[0-9]+)?")


class Guard:
    """An ASGI application around another: refuses strangers (403), adds the headers, logs what is a bug.

    Args:
        inner: the application.
        hosts: names by which it may be asked for beside ``localhost`` and any address; case does not matter.
    """

    def __init__(self, inner: ASGIApp, hosts: Collection[str] = ()) -> None:
        self._inner = inner
        self._hosts = {"localhost", *(host.lower() for host in hosts)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(Headers(scope=scope))
        if refusal is not None:
            await JSONResponse({"error": refusal}, 403)(scope, receive, send_with_headers)
            return
        try:
            await self._inner(scope, receive, send_with_headers)
        except ClientDisconnect:
            pass  # nobody is there to be told
        except Exception:  # it has been answered with status 500
            log.error("this is a bug in psp; please report it:\n%s", traceback.format_exc())

    def _refusal(self, headers: Headers) -> str | None:
        host = headers.get("host", "").lower()
        match = _HOST.fullmatch(host)
        if match is None or not (_is_address(match["six"] or match["name"]) or match["name"] in self._hosts):
            name = repr(match["name"] if match else host)[:200]
            return f"this server does not go by the name {name}; use its address, or start it with --allow-host"
        origin = headers.get("origin")
        if origin is not None and origin.lower().partition("://")[2] != host:
            return f"a page of {origin[:200]!r} may not use this server"
        return None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
