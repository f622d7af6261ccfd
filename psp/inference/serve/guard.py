"""Access control. The server has no password, so pages of other sites must not reach the model through the browser.

- *DNS rebinding*: a page of evil.example whose name is later pointed to 127.0.0.1 has the same origin as this server in
  the browser's eyes, but sends ``Host: evil.example``. Unknown host names are therefore rejected. IP addresses
  (127.0.0.1, [::1], 192.168.0.7) cannot be rebound, and are accepted.
- *Cross-site requests*: a browser sends them, with their ``Origin``, and only hides the response from the page. They
  are rejected before any work; CORS never allows anything.
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
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",  # unless the page sets its own
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_HOST = re.compile(r"(?:\[(?P<six>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(?::[0-9]+)?")


class Guard:
    """ASGI middleware that rejects other sites (403), adds the headers, and logs bugs.

    Args:
        inner: the application.
        hosts: accepted host names besides ``localhost`` and IP addresses, in any case.
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
            pass  # nobody is left to answer
        except Exception:  # already answered with status 500
            log.error("this is a bug in psp; please report it:\n%s", traceback.format_exc())

    def _refusal(self, headers: Headers) -> str | None:
        host = headers.get("host", "").lower()
        match = _HOST.fullmatch(host)
        if match is None or not (_is_address(match["six"] or match["name"]) or match["name"] in self._hosts):
            name = repr(match["name"] if match else host)[:200]
            return f"unknown host name {name}; use the server's address, or start it with --allow-host"
        origin = headers.get("origin")
        if origin is not None and origin.lower().partition("://")[2] != host:
            return f"pages of {origin[:200]!r} may not use this server; open the server's own page"
        return None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
