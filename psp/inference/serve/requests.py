"""The bodies of API requests: JSON of the right shape and within the limits, or else a status and a sentence."""

from __future__ import annotations

import asyncio
import itertools
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError, ValidationInfo
from pydantic_core import PydanticCustomError, from_json
from starlette.requests import Request

from psp.inference.serve import ServeLimits

#: A body that is too long is read and discarded up to this factor, so that the client gets to see the response.
PATIENCE = 8
#: A whole body may take this many times as long as a part of an answer.
BODY_WAITS = 3
MOST_FOUND = 10
TOO_LARGE = "too_large"


class Refused(Exception):
    """A rejected request: its status, and a sentence for the user."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status

    @property
    def headers(self) -> dict[str, str]:
        """Headers of the answer: when to ask a busy server (503) again; and that nobody waits for a late body (408)."""
        return {503: {"Retry-After": "1"}, 408: {"Connection": "close"}}.get(self.status, {})


def _short(text: str, info: ValidationInfo[ServeLimits]) -> str:
    if (size := len(text.encode())) > info.context.text_bytes:
        message = f"has {size:,} bytes, but the limit is {info.context.text_bytes:,} per text; split it"
        raise PydanticCustomError(TOO_LARGE, message)
    return text


def _few(value: Any, info: ValidationInfo[ServeLimits]) -> Any:
    """Check the number of texts before each of them is looked at; a pair is two."""
    count = sum(2 if isinstance(one, list) else 1 for one in value) if isinstance(value, list) else 0
    if count > info.context.texts:
        message = f"has {count:,} texts, but the limit is {info.context.texts:,}; send several requests"
        raise PydanticCustomError(TOO_LARGE, message)
    return value


def _no_ids(value: Any) -> Any:
    """Clients of OpenAI's API may send one string; and ids of its vocabulary in place of texts, which are refused."""
    elements = value if isinstance(value, list) else []
    flat = itertools.chain.from_iterable(one if isinstance(one, list) else [one] for one in elements)
    if type(next(flat, None)) is int:
        raise PydanticCustomError(
            "ids",
            "holds token ids of OpenAI's vocabulary, which this model does not use; send texts "
            "(LangChain: OpenAIEmbeddings(check_embedding_ctx_length=False))",
        )
    return [value] if isinstance(value, str) else value


Text = Annotated[str, AfterValidator(_short)]
Texts = Annotated[list[Text], BeforeValidator(_few)]
Pair = tuple[Text, Text]


class EmbedBody(BaseModel):
    texts: Texts


class ScoreBody(BaseModel):
    pairs: Annotated[list[Pair], BeforeValidator(_few)]


class ExplainBody(BaseModel):
    pair: Pair


class SearchBody(BaseModel):
    query: Text
    sentences: Texts
    k: int = Field(MOST_FOUND, ge=1, strict=True)


class EmbeddingsBody(BaseModel, extra="allow"):
    input: Annotated[Texts, BeforeValidator(_no_ids)]
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = Field(None, ge=1, strict=True)


Body = TypeVar("Body", bound=BaseModel)


async def read(request: Request, kind: type[Body], limits: ServeLimits) -> Body:
    """Read and check a request's JSON object.

    Raises:
        Refused: 415, the body is not declared as JSON; 408, it takes too long; 413, it or a part of it is too large;
            400, it is not UTF-8 JSON; 422, it is not such an object.
    """
    # Be strict: a browser lets other sites send other types without a preflight request.
    declared = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if declared != "application/json":
        raise Refused(415, f"the body's type is {declared or 'not given'}; send Content-Type: application/json")
    try:
        async with asyncio.timeout(BODY_WAITS * limits.wait):
            body = await _body(request, limits)
    except TimeoutError:
        raise Refused(
            408, f"the body took longer than {BODY_WAITS * limits.wait:g} seconds; send less at a time"
        ) from None
    try:
        value = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise Refused(400, f"the body is not JSON: {error}") from None
    takes = f"this request takes {', '.join(kind.model_fields)}"
    if not isinstance(value, dict):
        raise Refused(422, f"the body is not an object such as {{...}}; {takes}")
    if kind.model_config.get("extra") != "allow":
        for key in value:  # pydantic would make an error of each
            if key not in kind.model_fields:
                raise Refused(422, f"{key[:80]!r} is not a known key; {takes}")
    try:
        return kind.model_validate(value, context=limits)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        key, *places = first["loc"]
        where = f"{key}{''.join(f'[{place}]' for place in places)}"
        if first["type"] == "missing":
            raise Refused(422, f"{where} is missing; {takes}") from None
        message = first["msg"].replace("Input should be", "should be").replace("valid tuple", "list of two strings")
        raise Refused(413 if first["type"] == TOO_LARGE else 422, f"{where} {message}") from None


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
