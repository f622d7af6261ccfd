"""``psp serve``: a web page to try a model."""

from __future__ import annotations

import argparse
import importlib.util
import ipaddress
import logging
import socket
from pathlib import Path

from psp.cli import ending_well, model_argument, positive, shape_arguments, shaped
from psp.core.errors import PspError
from psp.inference.serve import ServeLimits

log = logging.getLogger(__name__)


def add_serve(added: argparse.ArgumentParser) -> None:
    """Add the arguments of ``psp serve``."""
    model_argument(added)
    shape_arguments(added)
    added.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine only)")
    added.add_argument("--port", type=_port, default=8000, help="default: 8000; 0: any free port")
    added.add_argument(
        "--allow-host",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME",
        help="host names that browsers may use, besides localhost, --host and IP addresses",
    )
    for option, of, default in (
        ("--max-bytes", "request", ServeLimits.body_bytes),
        ("--max-texts", "request", ServeLimits.texts),
        ("--max-text-bytes", "text", ServeLimits.text_bytes),
        ("--max-waiting", "server, of waiting requests; further ones are refused with status 503", ServeLimits.waiting),
    ):
        added.add_argument(
            option, type=positive, default=default, metavar="N", help=f"limit per {of} (default: {default:,})"
        )
    added.add_argument(
        "--max-wait",
        type=_seconds,
        default=ServeLimits.wait,
        metavar="SECONDS",
        help="time to read a part of an answer; a body may take three times that (default: %(default)g)",
    )


def run_serve(options: argparse.Namespace) -> None:
    """Run ``psp serve`` until Ctrl-C or SIGTERM."""
    try:
        from psp.inference.serve.app import application
        from psp.inference.serve.server import listen, serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn", "pydantic", "pydantic_core"):
            raise
        raise PspError("psp serve needs three packages: pip install 'paraphrastic[serve]'") from None
    from psp.models.folder import load_model

    # Open the socket before loading the model, so that a port in use is reported at once.
    with ending_well(), listen(options.host, options.port) as listener:
        # From the start, or a request would wait while numba is imported, and ten seconds if it compiles.
        compiled = True if importlib.util.find_spec("numba") else None
        model = shaped(load_model(options.model, accelerate=compiled), options)
        model.encode(["warm"])
        local = _is_loopback(listener.getsockname()[0])
        names = [options.host, *options.allow_host, *([] if local else [socket.gethostname()])]
        name = _name(options.model)
        limits = ServeLimits(
            options.max_bytes, options.max_texts, options.max_text_bytes, options.max_wait, options.max_waiting
        )
        if not local:
            log.warning(
                "--host %s: anyone who can reach this machine can use the model, without password", options.host
            )
        print(f"{name} is at {_address(listener, options.host)} until Ctrl-C", flush=True)
        serve(application(model, name, limits, names), listener)


def _name(model: str) -> str:
    """Return the name to show: ``fr`` for results/fr/model or .../fr.zip, ``user/name`` for hf://user/name@revision."""
    if model.startswith("hf://"):
        return model.removeprefix("hf://").partition("@")[0]
    if model.startswith(("https://", "http://")):
        return Path(model.partition("#")[0]).stem
    from psp.models.folder import model_name

    return model_name(Path(model))


def _address(listener: socket.socket, host: str) -> str:
    bound, port = listener.getsockname()[:2]
    if ipaddress.ip_address(bound.partition("%")[0]).is_unspecified:  # listens on all addresses: use the machine's name
        host = socket.gethostname()
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def _is_loopback(address: str) -> bool:
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


def _port(text: str) -> int:
    number = int(text)
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"{text} is not a port; use 1024 to 65535, or 0")
    return number


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 < number < 1e6:
        raise argparse.ArgumentTypeError(f"{text} is not a waiting time; write a number of seconds, such as 10")
    return number
