"""``psp serve``: its API within this process, then the server as people start it."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import itertools
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import PSP, SENTENCES, odd_text, served, write_model

pytest.importorskip("starlette", reason="the page's server needs pip install 'paraphrastic[serve]'")
from starlette.testclient import TestClient

from psp.inference.serve import ServeLimits
from psp.inference.serve.app import application
from psp.inference.serve.server import listen, serve
from psp.models.folder import load_model
from psp.models.static import StaticModel

DIM = 12
HERE = "http://127.0.0.1:8000"
LIMITS = ServeLimits(body_bytes=20_000, texts=100, text_bytes=2_000)
texts = st.lists(odd_text, max_size=12)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served") / "fr"
    folder.mkdir()
    return write_model(folder)


@pytest.fixture(scope="module")
def model(folder):
    return load_model(folder)


@pytest.fixture(scope="module")
def client(model):
    with TestClient(application(model, "fr", LIMITS, ["Books.example"]), base_url=HERE) as client:
        yield client


def post(client, path, body, **headers):
    answer = client.post(path, json=body, headers=headers)
    return answer.status_code, answer.json()


# What is answered.


@given(texts=texts)
def test_vectors_are_those_of_the_model_to_the_last_bit(client, model, texts):
    status, answer = post(client, "/api/embed", {"texts": texts})
    assert status == 200
    vectors = np.array(answer["vectors"], np.float32).reshape(-1, DIM)
    assert np.array_equal(vectors, model.embed_raw_text(texts))


@given(pairs=st.lists(st.tuples(odd_text, odd_text), max_size=8))
def test_scores_are_those_of_the_model(client, model, pairs):
    assert post(client, "/api/score", {"pairs": pairs}) == (
        200,
        {
            "scores": model.score_raw_text(pairs),
            "unknown": [model.unknown_shares(pair).round(4).tolist() for pair in pairs],
        },
    )


@given(query=odd_text, sentences=texts, k=st.integers(1, 14))
def test_search_finds_the_nearest_and_of_equals_the_first(client, model, query, sentences, k):
    status, answer = post(client, "/api/search", {"query": query, "sentences": sentences, "k": k})
    assert status == 200
    found = answer["results"]
    cosines = model.score_raw_text([(query, sentence) for sentence in sentences])
    assert len(found) == min(k, len(sentences))
    assert [one["sentence"] for one in found] == [sentences[one["index"]] for one in found]
    np.testing.assert_allclose([one["score"] for one in found], sorted(cosines, reverse=True)[:k], atol=1e-6)
    np.testing.assert_allclose([one["score"] for one in found], [cosines[one["index"]] for one in found], atol=1e-6)
    assert all(a["score"] > b["score"] or a["index"] < b["index"] for a, b in itertools.pairwise(found))


@given(pair=st.tuples(odd_text, odd_text))
def test_the_pieces_shares_add_up_to_the_cosine(client, model, pair):
    status, answer = post(client, "/api/explain", {"pair": pair})
    assert status == 200
    assert answer["score"] == model.score_raw_text([pair])[0]
    for text, pieces in zip(pair, answer["texts"], strict=True):
        encoded = model.sentencepiece.encode(text.lower(), out_type=str)
        assert [piece["piece"] for piece in pieces] == encoded
        assert [piece["id"] for piece in pieces] == model.sentencepiece.encode(text.lower(), out_type=int)
        assert [piece["unknown"] for piece in pieces] == [piece["id"] == model.unknown_id for piece in pieces]
        assert abs(sum(piece["share"] for piece in pieces) - answer["score"]) < 1e-5
        known = [piece for piece in pieces if not piece["unknown"]]
        assert not known or all(piece["share"] == 0 for piece in pieces if piece["unknown"])


def test_a_share_is_the_part_that_the_mean_owes_to_the_piece(client, model):
    pair = ("the cat eats bread", "le chat mange du pain")
    shares = [piece["share"] for piece in post(client, "/api/explain", {"pair": pair})[1]["texts"][0]]
    ids, _ = model.ids(pair[:1])
    left, right = model.embed_raw_text(pair)
    expected = model.weight[ids] @ right / len(ids) / np.linalg.norm(left) / np.linalg.norm(right)
    np.testing.assert_allclose(shares, expected, atol=1e-6)


def test_pieces_that_an_imported_model_leaves_out_are_shown_as_unknown(model):
    excluded_ids = sorted(set(model.sentencepiece.encode("bread")))
    assert model.unknown_id not in excluded_ids
    config = {"lower_case": True, "left_out": excluded_ids, "unknown_alone": True}
    other = TestClient(application(StaticModel(model.weight, model.sentencepiece_model, config), "x"), base_url=HERE)
    first, second = post(other, "/api/explain", {"pair": ["bread river", "Bread"]})[1]["texts"]
    assert [piece["unknown"] for piece in first] == [piece["id"] in excluded_ids for piece in first]
    assert not all(piece["unknown"] for piece in first)
    assert all(piece["share"] == 0 for piece in first if piece["unknown"])
    # A text of nothing else: the unknown piece's vector stands for it.
    assert all(piece["unknown"] for piece in second)
    assert second[0]["share"]


def test_text_in_an_unknown_script_has_zeros_and_its_share_is_said(client):
    texts = ["собака спит", "今天天气很好"]
    assert post(client, "/api/embed", {"texts": texts})[1] == {"vectors": [[0] * DIM] * 2, "unknown": [1, 1]}
    assert post(client, "/api/score", {"pairs": [texts]})[1] == {"scores": [0], "unknown": [[1, 1]]}
    answer = post(client, "/api/explain", {"pair": texts})[1]
    assert (answer["score"], answer["unknown"]) == (0, [1, 1])
    assert all(piece["share"] == 0 for text in answer["texts"] for piece in text)
    answer = post(client, "/api/search", {"query": "The dog sleeps.", "sentences": [*texts, "the cat eats"]})[1]
    assert answer["results"][0]["sentence"] == "the cat eats" and answer["unknown"] < 1
    assert [found["unknown"] for found in answer["results"]] == [0, 1, 1]


def test_the_models_facts(client, model):
    facts = client.get("/api/model").json()
    pieces = model.sentencepiece.get_piece_size()
    expected = {"name": "fr", "languages": ["en", "fr"], "dim": DIM, "vocab_size": pieces, "bytes": pieces * DIM * 4}
    assert expected.items() <= facts.items()
    given = {"body_bytes": 20_000, "texts": 100, "text_bytes": 2_000}
    assert facts["limits"] == {**given, "wait": 10, "waiting": 64, "answer_bytes": 256 << 20}


@given(texts=st.lists(odd_text, min_size=1, max_size=8), dim=st.integers(1, DIM))
def test_clients_of_openais_api_get_vectors_of_length_one(client, model, texts, dim):
    body = {"input": texts, "model": "text-embedding-3-small", "dimensions": dim, "user": "x"}
    status, answer = post(client, "/v1/embeddings", body)
    assert (status, answer["object"], answer["model"]) == (200, "list", "fr")
    assert [(one["object"], one["index"]) for one in answer["data"]] == [("embedding", i) for i in range(len(texts))]
    vectors = np.array([one["embedding"] for one in answer["data"]], np.float32)
    assert np.array_equal(vectors, model.encode(texts, normalize_embeddings=True, truncate_dim=dim))
    status, answer = post(client, "/v1/embeddings", body | {"encoding_format": "base64"})
    decoded = [np.frombuffer(base64.b64decode(one["embedding"]), "<f4") for one in answer["data"]]
    assert np.array_equal(decoded, vectors)
    pieces = len(model.ids(texts)[0])
    assert answer["usage"] == {"prompt_tokens": pieces, "total_tokens": pieces}


def test_clients_of_openais_api_may_send_one_string_and_ask_for_the_models(client, model):
    (one,) = post(client, "/v1/embeddings", {"input": "bread", "model": "fr"})[1]["data"]
    np.testing.assert_allclose(one["embedding"], model.encode("bread", normalize_embeddings=True), atol=1e-7)
    assert [model["id"] for model in client.get("/v1/models").json()["data"]] == ["fr"]


@pytest.mark.parametrize("path", ["/api/embed", "/api/score", "/api/search", "/v1/embeddings"])
def test_a_text_is_tokenized_once(folder, monkeypatch, path):
    model, seen = load_model(folder), []
    read = model.tokenizer.raw_ids
    monkeypatch.setattr(
        model.tokenizer, "raw_ids", lambda texts, *some, **more: seen.extend(texts) or read(texts, *some, **more)
    )
    body = {"/api/embed": {"texts": ["a", "b"]}, "/api/score": {"pairs": [["a", "b"]]}}.get(path, {"input": ["a", "b"]})
    body = {"query": "a", "sentences": ["b"]} if path == "/api/search" else body
    assert post(TestClient(application(model, "fr"), base_url=HERE), path, body)[0] == 200
    assert seen == ["a", "b"]


# What is refused.

TOKEN_IDS = (
    "input holds token ids of OpenAI's vocabulary, which this model does not use; send texts "
    "(LangChain: OpenAIEmbeddings(check_embedding_ctx_length=False))"
)
REFUSED = [
    ("/api/embed", {}, 422, "texts is missing; this request takes texts"),
    ("/api/embed", {"texts": [], "text": 1}, 422, "'text' is not a known key; this request takes texts"),
    ("/api/embed", ["a"], 422, "the body is not an object such as {...}; this request takes texts"),
    ("/api/embed", {"texts": "a"}, 422, "texts should be a valid list"),
    ("/api/embed", {"texts": ["a", None]}, 422, "texts[1] should be a valid string"),
    ("/api/embed", {"texts": ["a"] * 101}, 413, "texts has 101 texts, but the limit is 100; send several requests"),
    ("/api/embed", {"texts": ["é" * 1001]}, 413, "texts[0] has 2,002 bytes, but the limit is 2,000 per text; split it"),
    ("/api/embed", {"texts": ["\ud800"]}, 400, "the body is not JSON: unexpected end of hex escape at line 1 column 19"),  # noqa: E501
    ("/api/score", {"pairs": ["ab"]}, 422, "pairs[0] should be a list of two strings"),
    ("/api/score", {"pairs": [["a", "b"], ["a"]]}, 422, "pairs[1][1] is missing; this request takes pairs"),
    ("/api/score", {"pairs": [["", ""]] * 51}, 413, "pairs has 102 texts, but the limit is 100; send several requests"),
    ("/api/explain", {"pair": ["a", True]}, 422, "pair[1] should be a valid string"),
    ("/api/search", {"query": "a"}, 422, "sentences is missing; this request takes query, sentences, k"),
    ("/api/search", {"query": "a", "sentences": [], "k": 0}, 422, "k should be greater than or equal to 1"),
    ("/api/search", {"query": "a", "sentences": [], "k": True}, 422, "k should be a valid integer"),
    ("/v1/embeddings", {"input": [1, 2]}, 422, TOKEN_IDS),
    ("/v1/embeddings", {"input": [[], [1, 2]]}, 422, TOKEN_IDS),
    ("/v1/embeddings", {"input": [["bread"]]}, 422, "input[0] should be a valid string"),
    ("/v1/embeddings", {"input": [True]}, 422, "input[0] should be a valid string"),
    ("/v1/embeddings", {"model": "x"}, 422, "input is missing; this request takes input, encoding_format, dimensions"),
    ("/v1/embeddings", {"input": "a", "dimensions": 13}, 422, "dimensions is 13, but the model has 12"),
    ("/v1/embeddings", {"input": "a", "encoding_format": []}, 422, "encoding_format should be 'float' or 'base64'"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "body", "status", "message"), REFUSED, ids=[entry[3][:50] for entry in REFUSED])
def test_what_is_wrong_with_a_request_is_said_in_a_sentence(client, path, body, status, message):
    answer = client.post(path, content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()) == (status, {"error": message})


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"", 400, "the body is not JSON: EOF while parsing a value at line 1 column 0"),
        (b'{"texts": [NaN]}', 400, "the body is not JSON: expected value at line 1 column 12"),
        (b'{"texts": ["\xff"]}', 400, "the body is not JSON: invalid unicode code point at line 1 column 13"),
        (b"[" * 15_000, 400, "the body is not JSON: recursion limit exceeded"),
        (b'{"texts": [' + b"9" * 5_000 + b"]}", 400, "the body is not JSON: number out of range"),
        (b" " * 20_001, 413, "the body is longer than 20,000 bytes; send less at a time"),
        (b" " * 200_000, 413, "the body is longer than 20,000 bytes; send less at a time"),
    ],
)
def test_a_body_that_cannot_be_read(client, body, status, message):
    for content in (body, iter([body[:7], body[7:]])):  # with its length declared, and without
        answer = client.post("/api/embed", content=content, headers={"Content-Type": "application/json"})
        assert answer.status_code == status
        assert answer.json()["error"].startswith(message)


def test_a_body_of_just_the_greatest_length(client):
    body = json.dumps({"texts": ["bread"]}).encode().ljust(20_000)
    answer = client.post("/api/embed", content=body, headers={"Content-Type": "Application/JSON; charset=utf-8"})
    assert answer.status_code == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None])
def test_only_json_is_taken(client, kind):
    # A browser sends the other types for any site's page without asking; JSON only after a request that is refused.
    answer = client.post("/api/embed", content=b'{"texts": []}', headers={"Content-Type": kind} if kind else {})
    expected = f"the body's type is {kind or 'not given'}; send Content-Type: application/json"
    assert (answer.status_code, answer.json()) == (415, {"error": expected})


@pytest.mark.parametrize("path", ["/api", "/api/embed/", "/page.html", "/../model.safetensors", "/%2e%2e/x", "/docs"])
def test_nothing_else_is_served(client, path):
    answer = client.get(path)
    assert answer.status_code == 404
    assert re.fullmatch(r"there is nothing at /\S*; the page is at /", answer.json()["error"])


def test_a_wrong_method(client):
    answer = client.get("/api/embed")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert answer.json() == {"error": "/api/embed does not accept GET; use POST"}


@pytest.mark.slow
@given(body=st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | odd_text, st.lists, max_leaves=6))
@settings(max_examples=60)
def test_whatever_json_is_sent_the_answer_is_json_and_no_failure(client, body):
    for path, key in (("embed", "texts"), ("score", "pairs"), ("explain", "pair"), ("search", "query")):
        for sent in (body, {key: body, "sentences": ["bread"]} if key == "query" else {key: body}):
            answer = client.post(f"/api/{path}", content=json.dumps(sent), headers={"Content-Type": "application/json"})
            assert answer.status_code in (200, 400, 422)
            assert ("error" in answer.json()) == (answer.status_code != 200)


def test_sums_beyond_all_numbers_are_an_error_and_never_nan(model):
    huge = StaticModel(np.full_like(model.weight, 3e38), model.sentencepiece_model)
    other = TestClient(application(huge, "huge"), base_url=HERE)
    for path, body in (
        ("/api/embed", {"texts": ["the cat"]}),
        ("/api/score", {"pairs": [["the cat", "bread"]]}),
        ("/api/explain", {"pair": ["the cat", "bread"]}),
        ("/api/search", {"query": "the cat", "sentences": ["bread"]}),
        ("/v1/embeddings", {"input": "the cat"}),
    ):
        with np.errstate(all="ignore"):
            status, answer = post(other, path, body)
        assert status == 500
        assert "so large that their sum overflows" in answer["error"]


def test_a_bug_is_told_in_the_terminal_and_the_server_goes_on(folder, monkeypatch, caplog):
    model = load_model(folder)
    monkeypatch.setattr(model, "embed_counted", lambda texts: 1 / 0)
    other = TestClient(application(model, "fr"), base_url=HERE)
    status, answer = post(other, "/api/score", {"pairs": []})
    assert (status, list(answer)) == (500, ["error"])
    assert "ZeroDivisionError" in caplog.text
    assert other.get("/api/model").status_code == 200


def test_a_busy_server_says_when_to_ask_again_and_what_embeds_nothing_is_answered(folder, monkeypatch):
    model, begun, go_on = load_model(folder), threading.Event(), threading.Event()
    embed = model.embed_counted

    def slow(texts):
        begun.set()
        assert go_on.wait(20)
        return embed(texts)

    monkeypatch.setattr(model, "embed_counted", slow)
    answers = []
    with TestClient(application(model, "fr", ServeLimits(waiting=2)), base_url=HERE) as client:

        def ask():
            answers.append(client.post("/api/embed", json={"texts": ["bread"]}))

        threads = [threading.Thread(target=ask) for _ in range(5)]
        for thread in threads:
            thread.start()
        assert begun.wait(20)
        while len(answers) < 3:
            time.sleep(0.01)
        assert {(answer.status_code, answer.headers["Retry-After"]) for answer in answers} == {(503, "1")}
        assert answers[0].json() == {"error": "2 requests are waiting already; ask again in a second"}
        assert client.get("/api/model").status_code == client.head("/health").status_code == 200
        health = client.get("/health")
        assert (health.status_code, health.json()) == (200, {"status": "ok"})
        go_on.set()
        for thread in threads:
            thread.join(20)
        assert sorted(answer.status_code for answer in answers) == [200, 200, 503, 503, 503]
        assert client.post("/api/embed", json={"texts": ["bread"]}).status_code == 200


async def ask_slowly(app, texts, go_on=None):
    """The status of an answer whose client reads on only when it may; without waiting, of one that is read at once."""
    body = json.dumps({"texts": texts}).encode()
    headers = [(b"host", b"localhost"), (b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    scope = {"type": "http", "method": "POST", "path": "/api/embed", "headers": headers, "query_string": b""}
    parts, statuses = [{"type": "http.request", "body": body}], []

    async def receive():
        return parts.pop() if parts else await asyncio.Event().wait()

    async def send(message):
        statuses.append(message.get("status"))
        if go_on is not None and message["type"] == "http.response.body":
            await go_on.wait()

    await app({**scope, "http_version": "1.1", "scheme": "http", "raw_path": b"/api/embed"}, receive, send)
    return statuses[0]


@pytest.mark.parametrize("limits", [ServeLimits(waiting=1), ServeLimits(answer_bytes=100)])
def test_an_answer_counts_until_it_is_read(model, limits):
    async def talk():
        app, go_on = application(model, "fr", limits), asyncio.Event()
        reading = asyncio.create_task(ask_slowly(app, ["bread"] * 3, go_on))
        gone = asyncio.create_task(ask_slowly(app, ["bread"] * 3, asyncio.Event()))
        await asyncio.sleep(0.3)
        refused = await ask_slowly(app, ["bread"])
        go_on.set()
        first = await reading
        gone.cancel()  # whoever leaves is counted no more
        await asyncio.wait([gone])
        return first, refused, await ask_slowly(app, ["bread"] * 3)

    assert asyncio.run(talk()) == (200, 503, 200)


def test_packets_do_not_wait_for_one_another():
    with listen("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()) as client:
        accepted, _ = listener.accept()
        with accepted, client:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_many_at_once_get_what_is_theirs(client, model):
    answers = {}

    def ask(number):
        texts = SENTENCES[number : number + 40]
        answers[number] = (texts, post(client, "/api/embed", {"texts": texts})[1]["vectors"])

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 12
    for texts, vectors in answers.values():
        assert np.array_equal(np.array(vectors, np.float32), model.embed_raw_text(texts))


# Who may ask.


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1:8000",
        "127.0.0.1",
        "localhost:9000",
        "LOCALHOST",
        "[::1]:8000",
        "192.168.0.7:8000",
        "books.EXAMPLE:80",
    ],
)
def test_addresses_and_known_names_may_be_asked_for(client, host):
    assert client.get("/", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example@localhost",
     "localhost:80@evil.example", "xbooks.example", "", "localhost:x", "[::1", "2130706433", "::1"],
)  # fmt: skip
def test_a_page_whose_name_was_made_to_point_here_gets_nothing(client, host):
    for answer in (
        client.get("/api/model", headers={"Host": host}),
        client.get("/", headers={"Host": host}),
        client.post("/api/embed", json={"texts": ["bread"]}, headers={"Host": host}),
    ):
        assert (answer.status_code, list(answer.json())) == (403, ["error"])
        assert "unknown host name" in answer.json()["error"]


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1:9000", "http://localhost:8000", "file://", ""]
)
def test_pages_of_other_origins_may_not_ask(client, origin):
    # By "no-cors" requests a browser would send these, and keep only the answer from the page.
    for answer in (
        client.post("/api/embed", json={"texts": ["bread"]}, headers={"Origin": origin}),
        client.options("/api/embed", headers={"Origin": origin, "Access-Control-Request-Method": "POST"}),
    ):
        assert answer.status_code == 403
        assert not [name for name in answer.headers if name.startswith("access-control")]
    assert post(client, "/api/embed", {"texts": []}, Origin="http://127.0.0.1:8000")[0] == 200


def test_every_answer_has_the_headers_that_keep_others_out(client):
    answers = [
        client.get("/"),
        client.get("/api/model"),
        client.get("/nothing"),
        client.get("/", headers={"Host": "evil.example"}),
        client.post("/api/embed", json={"texts": []}),
        client.post("/api/embed", json={}),
    ]
    for answer in answers:
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert "access-control-allow-origin" not in answer.headers


def test_the_page_asks_for_nothing_from_elsewhere(client):
    answer = client.get("/")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy
    for element in ("script", "style"):
        (content,) = re.findall(f"<{element}>(.*?)</{element}>", answer.text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{element}-src 'sha256-{digest}'" in policy
    # The one address is the name of SVG's language, in the icon.
    assert set(re.findall(r"https?://[^'\" ]+", answer.text)) == {"http://www.w3.org/2000/svg"}


# The server as a process.


@pytest.fixture(scope="module")
def server(folder):
    with served(folder, "--max-bytes", "3000", "--max-texts", "3", "--max-text-bytes", "9") as server:
        yield server


def test_the_command_serves_the_model(server, model):
    texts = ["bread", "du pain"]
    status, answer = server.ask("api/embed", {"texts": texts})
    assert status == 200
    assert np.array_equal(np.array(answer["vectors"], np.float32), model.embed_raw_text(texts))
    assert server.ask("api/model")[1]["name"] == "fr"
    assert server.ask("api/embed", {"texts": ["a"] * 4})[0] == 413
    assert server.ask("api/embed", {"texts": ["a" * 10]})[0] == 413
    assert server.ask("api/model", None, Host="evil.example")[0] == 403


def connected(server):
    host, port = server.address.removeprefix("http://").rstrip("/").split(":")
    return socket.create_connection((host, int(port)), timeout=20)


HEAD = b"POST /api/embed HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def spoken(server, *parts):
    """What a raw connection is answered: all of it, or as far as the server goes."""
    with connected(server) as connection:
        for part in parts:
            connection.sendall(part)
        answer = b""
        while chunk := connection.recv(65536):
            answer += chunk
            if b"}" in answer:
                break
        return answer


def test_a_body_without_an_end_is_not_kept(server):
    answer = spoken(server, HEAD + b"Transfer-Encoding: chunked\r\n\r\n", *[b"3e8\r\n" + b" " * 1000 + b"\r\n"] * 25)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"the body is longer than 3,000 bytes" in answer


def test_a_length_that_would_fill_the_memory_is_refused_at_once(server):
    assert spoken(server, HEAD + b"Content-Length: 99999999999\r\n\r\n").startswith(b"HTTP/1.1 413 ")


def test_what_is_no_http_and_who_hangs_up_do_no_harm(server):
    assert spoken(server, b"HELO\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    with connected(server) as connection:
        connection.sendall(HEAD + b"Content-Length: 99\r\n\r\n{")
    assert server.ask("api/model")[0] == 200
    assert server.process.poll() is None


def closed_after(server, *parts, every=0.0):
    """Seconds until the server closes a connection that sends these parts and nothing more; what it said before."""
    begun, said = time.monotonic(), b""
    with connected(server) as connection, contextlib.suppress(ConnectionError):
        for part in parts:
            connection.sendall(part)
            time.sleep(every)
        while chunk := connection.recv(65536):
            said += chunk
    return time.monotonic() - begun, said


@pytest.mark.slow  # it waits
def test_a_slow_body_ends_by_a_time_limit(folder):
    with served(folder, "--max-wait", "0.7") as server:
        seconds, said = closed_after(server, HEAD + b"Content-Length: 99\r\n\r\n{")
        assert 1.9 < seconds < 8 and said.startswith(b"HTTP/1.1 408 ")
        assert b"the body took longer than 2.1 seconds" in said
        # A byte now and then does not help. (Who still sends may not get to read the answer.)
        seconds, said = closed_after(server, HEAD + b"Content-Length: 99\r\n\r\n", *[b" "] * 90, every=0.1)
        assert 1.9 < seconds < 8
        body = json.dumps({"texts": ["bread"]}).encode()
        parts = [HEAD + f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()]
        seconds, said = closed_after(server, *parts, *[bytes([code]) for code in body], every=0.02)
        assert said.startswith(b"HTTP/1.1 200 ")
        assert server.ask("api/model")[0] == 200


@pytest.mark.slow
def test_who_does_not_read_the_answer_is_left(model):
    listener = listen("127.0.0.1", 0)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)  # its connections have that too
    served_here = (application(model, "fr", ServeLimits(wait=1), ["127.0.0.1"]), listener)
    threading.Thread(target=serve, args=served_here, daemon=True).start()
    body = json.dumps({"texts": ["bread"] * 10_000}).encode()
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(listener.getsockname())
        connection.settimeout(20)
        connection.sendall(HEAD + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        answer = b""
        time.sleep(3)
        with contextlib.suppress(ConnectionError):
            while chunk := connection.recv(65536):
                answer += chunk
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/api/embed"
    asked = urllib.request.Request(address, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=20) as whole:
        assert len(answer) < len(whole.read()) / 2


@pytest.mark.parametrize(
    ("number", "status", "who"),
    [(signal.SIGINT, 130, "Ctrl-C or a signal"), (signal.SIGTERM, 143, "SIGTERM")],
)
def test_a_signal_ends_it_with_one_line_and_its_status(folder, number, status, who):
    with served(folder) as server, connected(server) as idle:  # as browsers keep them
        idle.sendall(b"GET /api/model HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert idle.recv(100).startswith(b"HTTP/1.1 200 ")
        assert server.end(number) == (status, f"error: stopped by {who}\n")


@pytest.mark.slow
def test_a_request_without_an_end_does_not_keep_it_alive(folder):
    with served(folder) as server, connected(server) as connection:
        connection.sendall(HEAD + b"Content-Length: 99\r\n\r\n{")
        assert server.ask("api/model")[0] == 200
        assert server.end(signal.SIGTERM) == (143, "error: stopped by SIGTERM\n")


def failed(*arguments, before=""):
    command = [sys.executable, "-c", before + PSP[2], "serve", *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.count("\n") == 1
    return result.stderr


def test_a_port_that_is_taken(folder, server):
    port = server.address.rstrip("/").rpartition(":")[2]
    line = failed(folder, "--port", port)
    assert line == f"error: --port {port}: already in use; choose another port, or 0 for any free one\n"


def test_an_address_that_is_not_here(folder):
    assert failed(folder, "--host", "192.0.2.1").startswith("error: --host 192.0.2.1 --port 8000: Cannot assign")
    assert failed(folder, "--host", "no.such.host.invalid").startswith(
        "error: --host no.such.host.invalid: no such host"
    )


@pytest.mark.slow
def test_a_smaller_table(folder):
    with served(folder, "--table", "int8", "--dim", "5") as server:
        _, answer = server.ask("api/embed", {"texts": ["bread"]})
        expected = load_model(folder, dtype="int8", dim=5).embed_raw_text(["bread"])
        assert np.array_equal(np.array(answer["vectors"], np.float32), expected)
        facts = server.ask("api/model")[1]
        assert (facts["dtype"], facts["dim"]) == ("int8", 5)
    assert failed(folder, "--port", "0", "--dim", "13").startswith("error: --dim 13: ")


@pytest.mark.parametrize("package", ["starlette", "uvicorn", "pydantic"])
def test_without_the_extra_its_name_is_told(folder, package):
    line = failed(folder, before=f"import sys; sys.modules[{package!r}] = None\n")
    assert line == "error: psp serve needs three packages: pip install 'paraphrastic[serve]'\n"


def test_whoever_serves_to_others_is_warned(folder):
    with served(folder, "--host", "0.0.0.0", "--allow-host", "books.example") as server:
        port = server.address.rstrip("/").rpartition(":")[2]
        assert server.address == f"http://{socket.gethostname()}:{port}/"
        there = server._replace(address=f"http://127.0.0.1:{port}/")
        for host in (socket.gethostname(), "books.example:80", "127.0.0.1"):
            assert there.ask("api/model", None, Host=host)[0] == 200
        assert there.ask("api/model", None, Host="evil.example")[0] == 403
        _, stderr = server.end(signal.SIGTERM)
        assert stderr.startswith("warning: --host 0.0.0.0: anyone who can reach this machine can use the model")
