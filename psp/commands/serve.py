"""``psp serve``: a page to try a model."""

from __future__ import annotations

import argparse
import ipaddress
import logging
import socket
from pathlib import Path
from typing import Any

from psp.commands import ending_well
from psp.errors import ConfigError, PspError
from psp.modelfolder import model_name
from psp.serve import Limits

log = logging.getLogger(__name__)


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("serve", run, "Serve a page to try a model, and a small JSON API, on this machine.")
    added.add_argument("model", metavar="MODEL", help="a model folder, such as results/fr/model, or hf://USER/NAME")
    added.add_argument("--table", choices=["float32", "float16", "int8"], help="use the table so (default: as saved)")
    added.add_argument("--dim", type=int, metavar="N", help="the first N dimensions (default: all)")
    added.add_argument("--host", default="127.0.0.1", help="the address to listen at (default: this machine's own)")
    added.add_argument("--port", type=_port, default=8000, help="default: 8000; 0: one that is free")
    added.add_argument(
        "--allow-host",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME",
        help="a name by which browsers may ask for it, beside localhost, --host and addresses",
    )
    for option, of, default in (
        ("--max-bytes", "request", Limits.body_bytes),
        ("--max-texts", "request", Limits.texts),
        ("--max-text-bytes", "text", Limits.text_bytes),
    ):
        added.add_argument(option, type=_count, default=default, metavar="N", help=f"of a {of} (default: {default:,})")


def run(options: argparse.Namespace) -> None:
    """Do it, until Ctrl-C or SIGTERM."""
    try:
        from psp.serve.app import application
        from psp.serve.server import listen, serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn"):
            raise
        raise PspError("psp serve needs two packages: pip install 'psp[serve]'") from None
    from psp.model import load_model

    # The socket comes before the model: that a port is taken is told at once.
    with ending_well(), listen(options.host, options.port) as listener:
        try:
            model = load_model(options.model, dtype=options.table, dim=options.dim)
        except ValueError as error:
            raise ConfigError(f"--table and --dim: {error}") from None
        local = _is_loopback(listener.getsockname()[0])
        names = [options.host, *options.allow_host, *([] if local else [socket.gethostname()])]
        name = _name(options.model)
        limits = Limits(options.max_bytes, options.max_texts, options.max_text_bytes)
        if not local:
            log.warning("--host %s: whoever can reach this machine can use the model, without a password", options.host)
        print(f"{name} is at {_address(listener, options.host)} until Ctrl-C", flush=True)
        serve(application(model, name, limits, names), listener)


def _name(model: str) -> str:
    """What people call it: ``fr`` of results/fr/model, ``user/name`` of hf://user/name@revision."""
    if model.startswith("hf://"):
        return model.removeprefix("hf://").partition("@")[0]
    return model_name(Path(model))


def _address(listener: socket.socket, host: str) -> str:
    bound, port = listener.getsockname()[:2]
    if ipaddress.ip_address(bound.partition("%")[0]).is_unspecified:  # all addresses: by the machine's name
        host = socket.gethostname()
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def _is_loopback(address: str) -> bool:
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


def _port(text: str) -> int:
    number = int(text)
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"{text} is not a port; write one from 1024 to 65535, or 0")
    return number


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 1")
    return number
