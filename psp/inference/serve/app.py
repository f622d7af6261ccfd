"""The endpoints: the page, the JSON API, and an OpenAI-compatible embeddings API."""

from __future__ import annotations

import asyncio
import base64
import dataclasses
import hashlib
import importlib.resources
import itertools
import json
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from http import HTTPStatus
from typing import Any, TypeVar

import numpy as np
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from psp.core import __version__
from psp.core.errors import PspError
from psp.inference.serve import ServeLimits
from psp.inference.serve.guard import Guard
from psp.inference.serve.pieces import explain
from psp.inference.serve.requests import (
    Body,
    EmbedBody,
    EmbeddingsBody,
    ExplainBody,
    Refused,
    ScoreBody,
    SearchBody,
    read,
)
from psp.models.combined import parts_of
from psp.models.cosines import fast_cosines, unit
from psp.models.text_model import TextModel

#: Vectors serialised at a time, to bound memory and the time that the GIL is held.
ROWS = 16

Result = TypeVar("Result")


def application(model: TextModel, name: str, limits: ServeLimits | None = None, hosts: Collection[str] = ()) -> ASGIApp:
    """Create the ASGI application.

    Args:
        model: the model.
        name: its name, as shown.
        limits: limits per request; default: ``Limits()``.
        hosts: as for :class:`psp.inference.serve.guard.Guard`.
    """
    api = _Api(model, name, limits or ServeLimits())
    routes = [
        Route("/", _page()),
        Route("/health", api.health),
        Route("/api/model", api.facts),
        Route("/api/embed", api.embed, methods=["POST"]),
        Route("/api/score", api.score, methods=["POST"]),
        Route("/api/explain", api.explain, methods=["POST"]),
        Route("/api/search", api.search, methods=["POST"]),
        Route("/v1/models", api.models),
        Route("/v1/embeddings", api.embeddings, methods=["POST"]),
    ]
    inner = Starlette(
        routes=routes,
        exception_handlers={
            HTTPException: _not_here,
            Refused: lambda request, error: _error(error.status, str(error), error.headers),
            PspError: lambda request, error: _error(500, str(error)),
            Exception: lambda request, error: _error(500, "this is a bug in psp; see the terminal in which it runs"),
        },
    )
    inner.router.redirect_slashes = False  # an unknown path is an error, not a redirect
    return Guard(inner, hosts)


def _page() -> Callable[[Request], Response]:
    page = importlib.resources.files("psp.inference.serve").joinpath("page.html").read_text(encoding="utf-8")
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src {_hash(page, 'script')}",
            f"style-src {_hash(page, 'style')}",
            "connect-src 'self'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
        ]
    )
    return lambda request: HTMLResponse(page, headers={"Content-Security-Policy": policy})


def _hash(page: str, element: str) -> str:
    (content,) = re.findall(rf"<{element}>(.*?)</{element}>", page, re.DOTALL)
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def _error(status: int, message: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": message}, status, headers)


def _not_here(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    path = request.url.path[:200]
    message = {
        404: f"there is nothing at {path}; the page is at /",
        405: f"{path} does not accept {request.method}; use {(error.headers or {}).get('Allow')}",
    }.get(error.status_code, HTTPStatus(error.status_code).phrase)
    return _error(error.status_code, message, dict(error.headers or {}))


class _Api:
    """The endpoints. Slow work runs in a worker thread, so that the server stays responsive."""

    def __init__(self, model: TextModel, name: str, limits: ServeLimits) -> None:
        self._model, self._name, self._limits = model, name, limits
        self._turn = asyncio.Lock()
        self._waiting = 0  # those that are being answered among them, until their answers have been read
        self._bytes = 0  # of vectors that are being read

    async def _read(self, request: Request, kind: type[Body]) -> Body:
        self._check_not_busy()  # before the body is read
        return await read(request, kind, self._limits)

    async def _run(self, work: Callable[..., Result], *arguments: Any) -> Result:
        result, release = await self._held(0, work, *arguments)
        release()
        return result

    async def _held(self, size: int, work: Callable[..., Result], *arguments: Any) -> tuple[Result, Callable[[], None]]:
        """:meth:`_run`, holding the result of ``size`` bytes until it has been read; then call what is returned."""
        self._check_not_busy()
        self._waiting += 1
        held = [0]

        def release() -> None:
            if held:
                self._waiting, self._bytes = self._waiting - 1, self._bytes - held.pop()

        try:
            # One at a time, so that memory is bounded by one request's vectors.
            async with self._turn:
                if size and self._bytes and self._bytes + size > self._limits.answer_bytes:
                    raise Refused(503, "others are still reading their vectors; ask again in a second")
                held[0], self._bytes = size, self._bytes + size
                return await run_in_threadpool(work, *arguments), release
        except BaseException:
            release()
            raise

    def _check_not_busy(self) -> None:
        if self._waiting >= self._limits.waiting:
            raise Refused(503, f"{self._waiting} requests are waiting already; ask again in a second")

    async def health(self, request: Request) -> Response:
        """GET /health: {status}; does not wait for other requests."""
        return JSONResponse({"status": "ok"})

    async def facts(self, request: Request) -> Response:
        """GET /api/model."""
        model, config = self._model, self._model.config
        parts = parts_of(model)
        cases = {bool(part.config.get("lower_case", False)) for part in parts}
        return JSONResponse(
            {
                "name": self._name,
                "languages": config.get("languages", []),
                "dim": model.dim,
                "vocab_size": sum(part.vocab_size for part in parts),
                "dtype": model.dtype,
                "bytes": model.nbytes,
                "lower_case": cases.pop() if len(cases) == 1 else None,
                "segment": {key: value for part in parts for key, value in (part.config.get("segment") or {}).items()},
                "recipe": config.get("recipe"),
                "psp_version": __version__,
                "limits": dataclasses.asdict(self._limits),
            }
        )

    async def embed(self, request: Request) -> Response:
        """POST /api/embed {texts}: {vectors, unknown}, the latter the share of each text that is unknown."""
        texts = (await self._read(request, EmbedBody)).texts
        (vectors, unknown, _), release = await self._held(4 * len(texts) * self._model.dim, self._embed, texts)
        entries = (f"[{numbers}]" for numbers in _as_text(vectors))
        return _Stream('{"vectors":[', entries, f'],"unknown":{unknown}}}', release, self._limits.wait)

    async def score(self, request: Request) -> Response:
        """POST /api/score {pairs}: {scores, unknown}, the latter two shares for each pair."""
        pairs = (await self._read(request, ScoreBody)).pairs
        vectors, unknown, _ = await self._run(self._embed, [text for pair in pairs for text in pair])
        scores = fast_cosines(vectors[::2], vectors[1::2]).tolist()
        shares = [list(both) for both in zip(unknown[::2], unknown[1::2], strict=True)]
        return JSONResponse({"scores": scores, "unknown": shares})

    async def explain(self, request: Request) -> Response:
        """POST /api/explain {pair}: {score, texts, unknown}; see :func:`psp.inference.serve.pieces.explain`."""
        pair = (await self._read(request, ExplainBody)).pair
        explained, (_, unknown, _) = await self._run(lambda: (explain(self._model, *pair), self._embed(pair)))
        return JSONResponse({**explained, "unknown": unknown})

    async def search(self, request: Request) -> Response:
        """POST /api/search {query, sentences, k}: {results, unknown}, best first, ties to the earlier sentence."""
        body = await self._read(request, SearchBody)
        vectors, (of_query, *unknown), _ = await self._run(self._embed, [body.query, *body.sentences])
        cosines = self._model.similarity(vectors[:1], vectors[1:])[0]
        results = [
            {"index": n, "sentence": body.sentences[n], "score": float(cosines[n]), "unknown": unknown[n]}
            for n in np.argsort(-cosines, kind="stable")[: body.k].tolist()
        ]
        return JSONResponse({"results": results, "unknown": of_query})

    async def models(self, request: Request) -> Response:
        """GET /v1/models: the one model."""
        return JSONResponse({"object": "list", "data": [{"id": self._name, "object": "model", "owned_by": "psp"}]})

    async def embeddings(self, request: Request) -> Response:
        """POST /v1/embeddings, compatible with OpenAI's API.

        Vectors have unit length, as its clients expect. Any model name is accepted, but this model answers, under its
        own name; unknown keys are ignored.
        """
        body = await self._read(request, EmbeddingsBody)
        dim = body.dimensions or self._model.dim
        if dim > self._model.dim:
            raise Refused(422, f"dimensions is {dim}, but the model has {self._model.dim}")

        def embed() -> tuple[np.ndarray, int]:
            vectors, _, pieces = self._embed(body.input)
            return unit(vectors[:, :dim]), pieces

        (vectors, pieces), release = await self._held(4 * len(body.input) * dim, embed)
        floats = body.encoding_format == "float"
        encoded = (f"[{numbers}]" for numbers in _as_text(vectors)) if floats else _as_base64(vectors)
        entries = (
            f'{{"object":"embedding","index":{index},"embedding":{vector}}}' for index, vector in enumerate(encoded)
        )
        usage = {"prompt_tokens": pieces, "total_tokens": pieces}
        tail = f'],"model":{json.dumps(self._name)},"usage":{json.dumps(usage)}}}'
        return _Stream('{"object":"list","data":[', entries, tail, release, self._limits.wait)

    def _embed(self, texts: Sequence[str]) -> tuple[np.ndarray, list[float], int]:
        """Vectors, the unknown share of each text, and the number of pieces; each text is tokenized once."""
        vectors, unknown, pieces = self._model.embed_counted(texts)
        if not np.isfinite(vectors).all():  # JSON has neither infinity nor NaN
            raise PspError("the model's embeddings are so large that their sum overflows; train or copy it again")
        return vectors, unknown.round(4).tolist(), pieces


class _Stream(StreamingResponse):
    """JSON, a few rows at a time, from a worker thread; ``release`` is called at its end, however it ends.

    A client that does not read a part of it in ``wait`` seconds is left.
    """

    def __init__(self, head: str, entries: Iterator[str], tail: str, release: Callable[[], None], wait: float) -> None:
        def parts() -> Iterator[str]:
            yield head
            comma = ""
            while some := list(itertools.islice(entries, ROWS)):
                yield comma + ",".join(some)
                comma = ","
            yield tail

        super().__init__(parts(), media_type="application/json")
        self._release, self._wait = release, wait

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_in_time(message: Message) -> None:
            async with asyncio.timeout(self._wait):
                await send(message)

        try:
            await super().__call__(scope, receive, send_in_time)
        except TimeoutError:
            raise ClientDisconnect from None
        finally:
            self._release()


def _as_text(vectors: np.ndarray) -> Iterator[str]:
    """Format each vector as comma-separated numbers; nine digits preserve a float32 exactly."""
    form = ",".join(["%.9g"] * vectors.shape[1])  # 4 times as fast as json.dumps, half the size
    return (form % tuple(vector.tolist()) for vector in vectors)


def _as_base64(vectors: np.ndarray) -> Iterator[str]:
    """Encode each vector, as little-endian float32, as a JSON string in base64."""
    return (f'"{base64.b64encode(vector.astype("<f4").tobytes()).decode()}"' for vector in vectors)
