"""``psp search``: the index of a corpus, saved and loaded, against cosines computed one by one."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from psp.cli.main import main
from psp.core.errors import DataError
from psp.inference.search.index import Index
from psp.inference.search.neighbours import use_threads
from psp.inference.search.vectors import embed
from psp.inference.vectorfile import vector_file
from psp.models.static import StaticModel
from psp.text.lines import LineFile
from tests.conftest import SENTENCES, odd_text, on_a_full_disk, write_model

pytest.importorskip("faiss", reason="faiss is not installed (the extra search)")

PSP_SEARCH = [sys.executable, "-c", "from psp.cli.main import main; main()", "search"]
ROUNDING = {"float32": 1e-6, "float16": 2e-3, "int8": 2e-2}
SAYS_NOTHING = ["", "  ", "日本", "🙂 🙂", "\u200b"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a model, its table drawn at random, and a corpus with copies and lines that say nothing."""
    made = tmp_path_factory.mktemp("search")
    write_model(made, 16)
    lines = [*SENTENCES[:150], "", "THE CAT\teats", "日本 🙂", SENTENCES[3], "the cat eats\r", " ", SENTENCES[3]]
    (made / "corpus.txt").write_text("\n".join(lines) + "\n", newline="")
    return made


@pytest.fixture(scope="module")
def model(folder):
    return StaticModel.load(folder / "model")


@pytest.fixture
def corpus(folder):
    return LineFile(folder / "corpus.txt")


def plain(model, lines, query, k):
    """(cosine, line) of the k nearest lines; those that say nothing are not near to anything."""
    vectors = model.embed_raw_text([query, *lines]).astype(np.float64)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)
    cosines = vectors[1:] @ vectors[0]
    numbers = [number for number, line in enumerate(lines) if line not in {*SAYS_NOTHING, "日本 🙂"}]
    ranked = sorted(numbers, key=lambda number: (-round(cosines[number], 6), number))
    return [(cosines[number], number + 1) for number in ranked[:k]]


def same(hits, expected, corpus):
    assert [hit.line for hit in hits] == [line for _, line in expected]
    np.testing.assert_allclose([hit.cosine for hit in hits], [cosine for cosine, _ in expected], atol=1e-6)
    assert [hit.text for hit in hits] == [corpus[line - 1] for _, line in expected]


def test_the_nearest_lines_are_those_of_a_plain_search(model, corpus):
    lines = [corpus[number] for number in range(len(corpus))]
    queries = [*SENTENCES[100:130], "the dog", *SAYS_NOTHING, "une pomme dans le jardin"]
    found = Index.build(model, corpus).search(queries, 7)
    assert len(found) == len(queries)
    for query, hits in zip(queries, found, strict=True):
        same(hits, plain(model, lines, query, 7) if query not in SAYS_NOTHING else [], corpus)
    first = found[queries.index(SENTENCES[100])][0]
    assert (first.line, first.text) == (101, SENTENCES[100]) and first.cosine == pytest.approx(1)


def test_copies_come_in_the_order_of_their_lines_and_blank_lines_never(model, corpus):
    hits = Index.build(model, corpus).search([SENTENCES[3]], 10_000)[0]
    assert [hit.line for hit in hits[:3]] == [4, 154, 157]
    assert len(hits) == 157 - 3 and {151, 153, 156}.isdisjoint(hit.line for hit in hits)


def test_a_graph_finds_all_of_many_copies(model, tmp_path):
    (tmp_path / "corpus.txt").write_text("the cat eats bread\n" * 200)
    index = Index.build(model, LineFile(tmp_path / "corpus.txt"), kind="hnsw")
    assert [hit.line for hit in index.search(["the cat"], 1000)[0]] == list(range(1, 201))


@given(texts=st.lists(odd_text, min_size=1, max_size=30))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_may_be_searched_and_asked_for(model, tmp_path, texts):
    (tmp_path / "odd.txt").write_bytes("".join(f"{text}\n" for text in texts).replace("\r\n", "\n").encode())
    corpus = LineFile(tmp_path / "odd.txt")
    vectors, kept = embed(model, texts)
    assert len(vectors) == len(kept)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    try:
        index = Index.build(model, corpus)
    except DataError as error:
        assert "no line has a piece known to the model" in str(error)
        return
    for hits in index.search(texts, 3):
        assert [hit.cosine for hit in hits] == sorted((hit.cosine for hit in hits), reverse=True)
        assert all(hit.text == corpus[hit.line - 1] for hit in hits)


@pytest.mark.parametrize("kind", ["flat", "hnsw"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
def test_a_saved_index_finds_the_same(model, corpus, tmp_path, kind, dtype):
    use_threads(1)  # a graph is the same again on one thread alone
    made = Index.build(model, corpus, dtype=dtype, kind=kind)
    saved = Index.build(model, corpus, dtype=dtype, kind=kind, folder=tmp_path / "index")
    loaded = Index.load(tmp_path / "index", model, corpus)
    queries = SENTENCES[::7]
    expected = made.search(queries, 5, 8)
    assert saved.search(queries, 5, 8) == loaded.search(queries, 5, 8) == expected
    exact = Index.build(model, corpus).search(queries, 5)
    if kind == "flat":
        assert [hits[0].line for hits in expected] == [hits[0].line for hits in exact]
    for hits, right in zip(expected, exact, strict=True):
        if kind == "flat":
            np.testing.assert_allclose(
                [hit.cosine for hit in hits], [hit.cosine for hit in right], atol=ROUNDING[dtype]
            )
    assert loaded.searcher.rows.dtype == dtype


def test_an_index_of_another_model_or_corpus_is_refused(model, corpus, folder, tmp_path):
    Index.build(model, corpus, folder=tmp_path / "index")
    assert Index.load(tmp_path / "index", StaticModel.load(folder / "model"), LineFile(folder / "corpus.txt"))
    table = model.weight.copy()
    table[-1, -1] += 0.001
    for other in (
        StaticModel(table, folder / "sp.model", model.config),
        StaticModel(model.weight, folder / "sp.model", model.config | {"lower_case": False}),
        model.quantized("float16"),
        model.quantized(dim=8),
    ):
        assert other.identity() != model.identity()
        with pytest.raises(DataError, match=r"index: is the index of another model; make it again with --save-index"):
            Index.load(tmp_path / "index", other, corpus)
    (tmp_path / "other.txt").write_text((folder / "corpus.txt").read_text() + "one more\n")
    with pytest.raises(DataError, match=r"index: is the index of another corpus than .*other.txt; make it again"):
        Index.load(tmp_path / "index", model, LineFile(tmp_path / "other.txt"))


def test_a_damaged_index_is_refused(model, corpus, tmp_path):
    Index.build(model, corpus, kind="hnsw", folder=tmp_path / "good")
    changes = {
        "vectors.bin": ("vectors.bin", lambda data: data[:-4], "vectors.bin: .*damaged; make the index again"),
        "nan": ("vectors.bin", lambda data: b"\0\0\xc0\x7f" + data[4:], "vectors.bin: .*damaged; make the index again"),
        "lines.npy": ("lines.npy", lambda data: data[:-8], "lines.npy: .*damaged; make the index again"),
        "a link": ("graph.faiss", lambda data: data[:-40] + bytes(4) + data[-36:], "graph.faiss: .*damaged; make the"),
        "old": ("index.json", lambda data: data.replace(b"sha256", b"sha255"), "index.json: lists no checksums"),
        "graph": ("graph.faiss", lambda data: data[:300], "graph.faiss: missing, truncated or damaged"),
        "json": ("index.json", lambda data: data[:-5], "index.json: not JSON"),
        "format": ("index.json", lambda data: data.replace(b"t\": 1", b"t\": 2"), "has format 2, but this psp reads 1"),
        "kind": ("index.json", lambda data: data.replace(b"psp-index", b"psp"), "not an index of psp search"),
        "dtype": ("index.json", lambda data: data.replace(b"float32", b"float99"), "damaged .*float99"),
    }  # fmt: skip
    for name, (file, change, message) in changes.items():
        bad = shutil.copytree(tmp_path / "good", tmp_path / name)
        (bad / file).write_bytes(change((bad / file).read_bytes()))
        with pytest.raises(DataError, match=message):
            Index.load(bad, model, corpus)
    for file in ("vectors.bin", "lines.npy", "graph.faiss", "index.json"):
        bad = shutil.copytree(tmp_path / "good", tmp_path / f"without {file}")
        (bad / file).unlink()
        with pytest.raises(DataError):
            Index.load(bad, model, corpus)
        os.mkfifo(bad / file)
        with pytest.raises(DataError, match=f"{file}: (is a pipe|missing)"):
            Index.load(bad, model, corpus)
    os.mkfifo(tmp_path / "pipe.npy")
    with pytest.raises(DataError, match=r"pipe.npy: is a pipe or a device"):
        Index.build(model, corpus, vectors=tmp_path / "pipe.npy")
    with pytest.raises(DataError, match="no such folder; make it with --save-index"):
        Index.load(tmp_path / "nowhere", model, corpus)
    with pytest.raises(DataError, match="already exists"):
        Index.build(model, corpus, folder=tmp_path / "good")


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_vectors_that_were_made_before(model, corpus, tmp_path, dtype):
    lines = [corpus[number] for number in range(len(corpus))]
    vectors = model.embed_raw_text(lines).astype(dtype)
    np.save(tmp_path / "v.npy", vectors)
    expected, found = (
        Index.build(model, corpus, vectors=path).search(SENTENCES[:20], 4) for path in (None, tmp_path / "v.npy")
    )
    for hits, right in zip(found, expected, strict=True):
        if dtype is np.float32:
            assert hits == right
        np.testing.assert_allclose([hit.cosine for hit in hits], [hit.cosine for hit in right], atol=2e-3)
    for bad, message in (
        (vectors[:-1], r"v.npy: has 156 vectors of 16 dimensions, but .*corpus.txt has 157 lines"),
        (vectors[:, :-1], r"157 vectors of 15 dimensions, .* and the model 16"),
        (vectors[::-1], r"does not hold this model's vectors of .*corpus.txt; make it again with psp embed"),
        (np.zeros_like(vectors), r"does not hold this model's vectors"),
        (vectors.astype(int), r"not a matrix of floats"),
    ):
        np.save(tmp_path / "v.npy", bad)
        with pytest.raises(DataError, match=message):
            Index.build(model, corpus, vectors=tmp_path / "v.npy")
    for bad in (np.nan, np.inf):
        changed = vectors.copy()
        changed[100, 3] = bad  # not among the lines that are compared
        np.save(tmp_path / "v.npy", changed)
        with pytest.raises(DataError, match=r"v.npy: row 100 is not finite; make it again with psp embed"):
            Index.build(model, corpus, vectors=tmp_path / "v.npy")
    with vector_file(str(tmp_path / "v.npy"), "npy", 16, vectors.dtype.name) as writer:
        for part in (vectors[:100], vectors[100:]):
            writer.write(memoryview(part.tobytes()), b"")
    Index.build(model, corpus, vectors=tmp_path / "v.npy")
    data = bytearray((tmp_path / "v.npy").read_bytes())
    data[128 + 100 * vectors[0].nbytes] ^= 1
    (tmp_path / "v.npy").write_bytes(data)
    with pytest.raises(DataError, match=r"v.npy: not the rows that v.npy.json records; make both again"):
        Index.build(model, corpus, vectors=tmp_path / "v.npy")
    (tmp_path / "v.npy.json").unlink()
    (tmp_path / "v.npy").write_bytes(b"text\n")
    with pytest.raises(DataError, match=r"not a .npy file of vectors"):
        Index.build(model, corpus, vectors=tmp_path / "v.npy")
    with pytest.raises(DataError, match=r"w.npy: cannot be read: No such file"):
        Index.build(model, corpus, vectors=tmp_path / "w.npy")


# ---------------------------------------------------------------------------------------------------- the command line


def test_the_command_prints_a_line_for_each_sentence_found(folder, tmp_path, capsysbinary):
    (tmp_path / "q.txt").write_bytes("the cat\teats\r\n\n日本\na dog sees the river".encode())
    arguments = ["search", str(folder / "model"), str(folder / "corpus.txt"), str(tmp_path / "q.txt"), "--threads", "1"]
    main([*arguments, "-k", "2"])
    out, err = capsysbinary.readouterr()
    rows = [line.split("\t") for line in out.decode().removesuffix("\n").split("\n")]
    assert rows[:2] == [
        ["the cat eats", "1", "1.0000", "152", "THE CAT eats"],
        ["the cat eats", "2", "1.0000", "155", "the cat eats"],
    ]
    assert [row[:2] for row in rows[2:]] == [["a dog sees the river", "1"], ["a dog sees the river", "2"]]
    assert err.decode().splitlines() == [
        f"warning: {query!r}: the model knows none of its pieces, so nothing is found" for query in ("", "日本")
    ]
    main([*arguments, "-k", "1", "--json"])
    found = [json.loads(line) for line in capsysbinary.readouterr().out.decode().splitlines()]
    assert found[:3] == [
        {
            "query": "the cat\teats\r",
            "unknown": 0,
            "found": [{"rank": 1, "cosine": 1.0, "line": 152, "sentence": "THE CAT\teats"}],
        },
        {"query": "", "unknown": 0, "found": []},
        {"query": "日本", "unknown": 1, "found": []},
    ]


def test_queries_come_from_standard_input_and_an_index_is_kept(folder, tmp_path, capsysbinary, monkeypatch):
    queries = "".join(f"{line}\n" for line in SENTENCES[:3000])
    arguments = ["search", str(folder / "model"), str(folder / "corpus.txt"), "-k", "3", "--threads", "1"]
    printed = []
    for options in (
        [],
        ["--save-index", str(tmp_path / "index")],
        ["--load-index", str(tmp_path / "index")],
        ["--index", "hnsw", "--effort", "1000", "--save-index", str(tmp_path / "hnsw")],
        ["--load-index", str(tmp_path / "hnsw"), "--effort", "1000"],
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(queries.encode())))
        monkeypatch.setattr("psp.cli.search.BATCH", 100 + len(options))
        main([*arguments, *options])
        printed.append(capsysbinary.readouterr().out)
    assert printed[0].count(b"\n") == 3 * len(SENTENCES)
    assert printed[0] == printed[1] == printed[2]
    assert printed[3] == printed[4]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["missing.txt"], "missing.txt: cannot be read: No such file"),
        (["corpus.txt", "missing.txt"], "missing.txt: cannot be read: No such file"),
        (["empty.txt"], "empty.txt: is empty; write one sentence per line"),
        (["blank.txt"], "blank.txt: no line has a piece known to the model"),
        (["latin.txt"], "latin.txt, line 1: not UTF-8"),
        (["corpus.txt", "latin.txt"], "latin.txt, line 1: not UTF-8"),
        (["corpus.txt", "--effort", "3"], "--effort: only for --index hnsw"),
        (
            ["corpus.txt", "--load-index", "index", "--effort", "3"],
            "--effort: search in this index is exact; make it with",
        ),
        (["corpus.txt", "--load-index", "index", "--float16"], "--float16: a saved index cannot be changed"),
        (["corpus.txt", "--load-index", "index", "--index", "flat"], "--index: a saved index cannot be changed"),
        (["blank.txt", "--load-index", "index"], "index: is the index of another corpus than blank.txt"),
        (["corpus.txt", "--save-index", "index"], "index: already exists"),
        (["corpus.txt", "--save-index", "blank.txt/index"], "blank.txt/index: cannot be written"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_left(folder, tmp_path, monkeypatch, capsys, options, message):
    monkeypatch.chdir(tmp_path)
    shutil.copy(folder / "corpus.txt", "corpus.txt")
    (tmp_path / "empty.txt").touch()
    (tmp_path / "blank.txt").write_text("\n日本\n")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"the cat\n")))
    if "index" in options:
        Index.build(StaticModel.load(folder / "model"), LineFile("corpus.txt"), folder=tmp_path / "index")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(SystemExit) as ended:
        main(["search", str(folder / "model"), *options])
    assert ended.value.code == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1 and message in error
    assert sorted(tmp_path.iterdir()) == before


def test_a_full_disk_leaves_no_index(folder, tmp_path):
    said = on_a_full_disk(
        "search", folder / "model", folder / "corpus.txt", "--save-index", tmp_path / "index", text="the cat\n"
    )
    assert f"{tmp_path}/index" in said and "cannot be written" in said
    assert not list(tmp_path.iterdir())


def test_a_reader_that_has_enough_ends_it_quietly(folder):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        result = subprocess.run(
            [*PSP_SEARCH, folder / "model", folder / "corpus.txt"],
            input=b"the cat\n",
            stdout=closed,
            stderr=subprocess.PIPE,
            timeout=120,
        )  # fmt: skip
    assert (result.returncode, result.stderr) == (128 + signal.SIGPIPE, b"")


def test_a_query_at_a_terminal_is_answered_at_once(folder):
    pty = pytest.importorskip("pty", reason="there are no terminals here")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*PSP_SEARCH, folder / "model", folder / "corpus.txt", "-k", "1"],
        stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    os.close(theirs)
    with process:
        for query in ("the cat eats", "a dog"):
            os.write(ours, f"{query}\n".encode())
            assert process.stdout.readline().decode().startswith(f"{query}\t1\t")  # before there is an end
        os.write(ours, b"\x04")
        assert process.wait(60) == 0
        assert process.stdout.read() == b""
    os.close(ours)
