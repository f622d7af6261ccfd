"""What the API accepts: JSON in UTF-8, of the right shape, within limits; else one clear sentence and a status."""

from __future__ import annotations

import itertools
import json
from typing import Any, NoReturn

from starlette.requests import Request

from psp.serve import Limits

#: A body that is too long is read on without being kept, so that the sender gets to see the answer; up to this factor.
PATIENCE = 8


class Refused(Exception):
    """A request that gets no result: the status, and a sentence for the person who sent it."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


async def read(request: Request, limits: Limits) -> dict[str, Any]:
    """The request's JSON object.

    Raises:
        Refused: 415, the body is not declared as JSON; 413, it is too long; 400, it is not JSON in UTF-8; 422, it is no
            object.
    """
    # Asked for strictly: a page of another site may send other types without the browser asking us first.
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(415, f"the body's type is {kind or 'not given'}; send Content-Type: application/json")
    body = await _body(request, limits)
    try:
        value = json.loads(body.decode(), parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise Refused(400, f"the body is not UTF-8, at byte {error.start}") from None
    except RecursionError:
        raise Refused(400, "the body is not JSON that can be read: lists in lists without an end") from None
    except ValueError as error:
        raise Refused(400, f"the body is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise Refused(422, f"the body is {_kind(value)}, not an object such as {{...}}")
    return value


async def _body(request: Request, limits: Limits) -> bytes:
    too_long = Refused(413, f"the body is longer than {limits.body_bytes:,} bytes; send less at a time")
    declared = int(request.headers.get("content-length", 0))  # the server has seen to it that it is a number
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
    """Refuse (422) a body without one of the keys ``needed``, or with one that is neither that nor ``optional``."""
    for key in needed:
        if key not in body:
            raise Refused(422, f"{key} is missing; this request takes {', '.join(needed + optional)}")
    for key in body:
        if key not in needed + optional:
            raise Refused(422, f"{key[:80]!r} is not a key of this request, which takes {', '.join(needed + optional)}")


def texts(value: Any, name: str, limits: Limits) -> list[str]:
    """A list of texts; refuses (422) what is none, and (413) too many texts, or too long ones."""
    if not isinstance(value, list):
        raise Refused(422, f"{name} is {_kind(value)}, not a list of strings")
    _check_number(len(value), name, limits)
    return [text(element, f"{name}[{index}]", limits) for index, element in enumerate(value)]


def pairs(value: Any, name: str, limits: Limits) -> list[tuple[str, str]]:
    """A list of pairs of texts; refuses as :func:`texts`."""
    if not isinstance(value, list):
        raise Refused(422, f"{name} is {_kind(value)}, not a list of pairs of strings")
    _check_number(2 * len(value), name, limits)
    return [pair(element, f"{name}[{index}]", limits) for index, element in enumerate(value)]


def pair(value: Any, name: str, limits: Limits) -> tuple[str, str]:
    """Two texts; refuses as :func:`texts`."""
    if not isinstance(value, list) or len(value) != 2:
        what = f"a list of {len(value)}" if isinstance(value, list) else _kind(value)
        raise Refused(422, f"{name} is {what}, not a list of two strings")
    left, right = (text(element, f"{name}[{side}]", limits) for side, element in enumerate(value))
    return left, right


def text(value: Any, name: str, limits: Limits) -> str:
    """One text; refuses (422) what is none, or no valid Unicode, and (413) what is too long."""
    if not isinstance(value, str):
        raise Refused(422, f"{name} is {_kind(value)}, not a string")
    try:
        size = len(value.encode())
    except UnicodeEncodeError as error:
        raise Refused(422, f"{name} is not valid Unicode: half a surrogate pair at character {error.start}") from None
    if size > limits.text_bytes:
        raise Refused(413, f"{name} has {size:,} bytes, and a text may have {limits.text_bytes:,}; split it")
    return value


def no_ids(value: Any, name: str) -> None:
    """Refuse (422) token ids, which clients of OpenAI's API may send in place of texts."""
    elements = value if isinstance(value, list) else []
    flat = itertools.chain.from_iterable(element if isinstance(element, list) else [element] for element in elements)
    if type(next(flat, None)) is int:
        raise Refused(
            422,
            f"{name} holds token ids; they are of OpenAI's vocabulary, not of this model's: send texts "
            "(LangChain: OpenAIEmbeddings(check_embedding_ctx_length=False))",
        )


def whole_number(value: Any, name: str, least: int, most: int | None = None) -> int:
    """A whole number from ``least`` to ``most``; refuses (422) anything else."""
    if type(value) is not int or value < least or (most is not None and value > most):
        what = f"{value:,}" if type(value) is int and abs(value) < 1e12 else _kind(value)
        raise Refused(422, f"{name} is {what}, not a whole number from {least}{'' if most is None else f' to {most}'}")
    return value


def _check_number(count: int, name: str, limits: Limits) -> None:
    if count > limits.texts:
        raise Refused(413, f"{name} holds {count:,} texts, and a request may hold {limits.texts:,}; send several")


def _kind(value: Any) -> str:
    kinds = {type(None): "null", bool: "true or false", str: "a string", list: "a list", dict: "an object"}
    return kinds.get(type(value), "a number")
