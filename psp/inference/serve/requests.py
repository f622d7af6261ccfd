"""Validation of API requests: UTF-8 JSON of the right shape and within limits, or else a status and a clear error."""

from __future__ import annotations

import itertools
import json
from typing import Any, NoReturn

from starlette.requests import Request

from psp.inference.serve import ServeLimits

#: A body that is too long is read and discarded up to this factor, so that the client gets to see the response.
PATIENCE = 8


class Refused(Exception):
    """A rejected request: its status, and a sentence for the user."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status

    @property
    def headers(self) -> dict[str, str]:
        """Headers of the answer: the seconds after which to ask a busy server (503) again."""
        return {"Retry-After": "1"} if self.status == 503 else {}


async def read(request: Request, limits: ServeLimits) -> dict[str, Any]:
    """Read the request's JSON object.

    Raises:
        Refused: 415, the body is not declared as JSON; 413, it is too long; 400, it is not UTF-8 JSON; 422, it is not
            an object.
    """
    # Be strict: a browser lets other sites send other types without a preflight request.
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(415, f"the body's type is {kind or 'not given'}; send Content-Type: application/json")
    body = await _body(request, limits)
    try:
        value = json.loads(body.decode(), parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise Refused(400, f"the body is not UTF-8, at byte {error.start}") from None
    except RecursionError:
        raise Refused(400, "the body is not readable JSON: it is nested too deeply") from None
    except ValueError as error:
        raise Refused(400, f"the body is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise Refused(422, f"the body is {_kind(value)}, not an object such as {{...}}")
    return value


async def _body(request: Request, limits: ServeLimits) -> bytes:
    too_long = Refused(413, f"the body is longer than {limits.body_bytes:,} bytes; send less at a time")
    declared = int(request.headers.get("content-length", 0))  # the server has validated it
    if declared > PATIENCE * limits.body_bytes:
        raise too_long
    chunks, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size <= limits.body_bytes:
            chunks.append(chunk)
        elif size > PATIENCE * limits.body_bytes:
            break
    if size > limits.body_bytes:
        raise too_long
    return b"".join(chunks)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def check_keys(body: dict[str, Any], needed: tuple[str, ...], optional: tuple[str, ...] = ()) -> None:
    """Reject (422) a body that lacks a ``needed`` key, or has one that is neither needed nor ``optional``."""
    for key in needed:
        if key not in body:
            raise Refused(422, f"{key} is missing; this request takes {', '.join(needed + optional)}")
    for key in body:
        if key not in needed + optional:
            raise Refused(422, f"{key[:80]!r} is not a known key; this request takes {', '.join(needed + optional)}")


def texts(value: Any, name: str, limits: ServeLimits) -> list[str]:
    """Validate a list of texts; reject (422) anything else, and (413) too many texts, or too long ones."""
    if not isinstance(value, list):
        raise Refused(422, f"{name} is {_kind(value)}, not a list of strings")
    _check_number(len(value), name, limits)
    return [text(element, f"{name}[{index}]", limits) for index, element in enumerate(value)]


def pairs(value: Any, name: str, limits: ServeLimits) -> list[tuple[str, str]]:
    """Validate a list of pairs of texts; reject as :func:`texts`."""
    if not isinstance(value, list):
        raise Refused(422, f"{name} is {_kind(value)}, not a list of pairs of strings")
    _check_number(2 * len(value), name, limits)
    return [pair(element, f"{name}[{index}]", limits) for index, element in enumerate(value)]


def pair(value: Any, name: str, limits: ServeLimits) -> tuple[str, str]:
    """Validate two texts; reject as :func:`texts`."""
    if not isinstance(value, list) or len(value) != 2:
        what = f"a list of {len(value)}" if isinstance(value, list) else _kind(value)
        raise Refused(422, f"{name} is {what}, not a list of two strings")
    left, right = (text(element, f"{name}[{side}]", limits) for side, element in enumerate(value))
    return left, right


def text(value: Any, name: str, limits: ServeLimits) -> str:
    """Validate one text; reject (422) anything else or invalid Unicode, and (413) one that is too long."""
    if not isinstance(value, str):
        raise Refused(422, f"{name} is {_kind(value)}, not a string")
    try:
        size = len(value.encode())
    except UnicodeEncodeError as error:
        raise Refused(422, f"{name} is not valid Unicode: lone surrogate at character {error.start}") from None
    if size > limits.text_bytes:
        raise Refused(413, f"{name} has {size:,} bytes, but the limit is {limits.text_bytes:,} per text; split it")
    return value


def no_ids(value: Any, name: str) -> None:
    """Reject (422) token ids, which clients of OpenAI's API may send in place of texts."""
    elements = value if isinstance(value, list) else []
    flat = itertools.chain.from_iterable(element if isinstance(element, list) else [element] for element in elements)
    if type(next(flat, None)) is int:
        raise Refused(
            422,
            f"{name} holds token ids of OpenAI's vocabulary, which this model does not use; send texts "
            "(LangChain: OpenAIEmbeddings(check_embedding_ctx_length=False))",
        )


def whole_number(value: Any, name: str, least: int, most: int | None = None) -> int:
    """Validate an integer from ``least`` to ``most``; reject (422) anything else."""
    if type(value) is not int or value < least or (most is not None and value > most):
        what = f"{value:,}" if type(value) is int and abs(value) < 1e12 else _kind(value)
        allowed = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise Refused(422, f"{name} is {what}, not an integer {allowed}")
    return value


def _check_number(count: int, name: str, limits: ServeLimits) -> None:
    if count > limits.texts:
        raise Refused(413, f"{name} has {count:,} texts, but the limit is {limits.texts:,}; send several requests")


def _kind(value: Any) -> str:
    kinds = {type(None): "null", bool: "true or false", str: "a string", list: "a list", dict: "an object"}
    return kinds.get(type(value), "a number")
