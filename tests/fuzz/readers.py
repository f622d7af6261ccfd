"""Every reader of files from others, with whole files to change.

A reader is a function that writes what is whole into a folder and returns how it is read, and the files that are
changed. A file may have a shape: what is inside of a container is changed as often as the container. What is read is
either refused or has the reader's properties, by assertions: numbers are finite, texts are Unicode within the limits,
files lie in their folder, and what is written and read again is the same.
"""

from __future__ import annotations

import argparse
import bz2
import contextlib
import gzip
import hashlib
import io
import itertools
import json
import lzma
import math
import shutil
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np

from psp.core import files
from psp.corpora.rows import BadRow, Row
from psp.evaluation.testsets import StsSet
from psp.models.word_vectors import WordVectors
from tests.conftest import SENTENCES, train_sentencepiece
from tests.fuzz.mutate import mutate

#: Makes a changed file of a whole one, of a generator and of other whole files.
Change = Callable[[bytes, Random, Sequence[bytes]], bytes]
PAIRS = "".join(f"the cat number {n} sleeps\tle chat numéro {n} dort\t0.{n}5\t-{n}.5\n" for n in range(9)).encode()


class Target(NamedTuple):
    """A file to change: where it is, and how; and what is done then, such as to write its hash where that stands."""

    path: Path
    change: Change = mutate
    then: Callable[[], None] | None = None


class Made(NamedTuple):
    """What a reader's function gives: how the folder is read, and what is changed in it."""

    read: Callable[[], object]
    targets: Sequence[Target]


def _columns(count: int) -> bytes:
    return b"".join(b"\t".join(line.split(b"\t")[:count]) + b"\n" for line in PAIRS.splitlines())


def _exhaust(rows: object) -> None:
    for _ in rows:  # type: ignore[attr-defined]
        pass


def zipped(member: str, method: int = zipfile.ZIP_DEFLATED) -> Change:
    """Change the member of a zip, or the zip."""

    def change(data: bytes, rng: Random, others: Sequence[bytes]) -> bytes:
        if rng.random() < 0.5:
            return mutate(data, rng, others)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        chosen = member if member in members else rng.choice(sorted(members))
        members[chosen] = mutate(members[chosen], rng)
        return pack(members, method)

    return change


def gzipped(data: bytes, rng: Random, others: Sequence[bytes]) -> bytes:
    """Change what is in a gzip file, or the file."""
    if rng.random() < 0.5:
        return mutate(data, rng, others)
    return gzip.compress(mutate(gzip.decompress(data), rng), 1)


def pack(members: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def _texts(*texts: str) -> None:
    """Texts of one line each, within the limits."""
    for one in texts:
        assert "\n" not in one and len(one.encode()) <= files.LINE_BYTES


def _rows(rows: Iterable[Row], tabs: bool) -> None:
    """Pairs of a corpus; whether a line of it may hold a tab, which becomes a space when it is filtered."""
    for row in rows:
        if not isinstance(row, BadRow):
            _texts(row[0], row[1])
            assert tabs or "\t" not in row[0] + row[1]
            assert all(map(math.isfinite, row[2:])) and len(row) < 5


def _finite(found: WordVectors) -> None:
    """Word vectors, a row for each word."""
    assert np.isfinite(found.vectors).all() and sorted(found.index.values()) == list(range(len(found.vectors)))


def _similar(data: StsSet, low: float, high: float) -> None:
    """A set of scored pairs."""
    assert 0 < len(data.a) == len(data.b) == len(data.gold) and np.isfinite(data.gold).all()
    assert low <= data.gold.min() and data.gold.max() <= high
    _texts(*data.a, *data.b)


def _corpus(kind: str, path: Path, corpus: str = "", names: tuple[str, ...] = ("", "")) -> Callable[[], None]:
    from psp.corpora import open_corpus

    return lambda: _rows(open_corpus(kind, path, corpus, names), tabs=kind in ("opus", "lines"))


def opus(folder: Path) -> Made:
    path = folder / "a.zip"
    sides = {
        f"Small.en-fr.{code}": b"".join(line.split(b"\t")[side] + b"\n" for line in PAIRS.splitlines())
        for side, code in enumerate(("en", "fr"))
    }
    path.write_bytes(pack({**sides, "LICENSE": b"MIT"}))
    return Made(_corpus("opus", path, "Small", ("en", "fr")), [Target(path, zipped(""))])


def _of_corpus(
    kind: str, name: str, content: bytes, names: tuple[str, ...] = ("", ""), change: Change = mutate
) -> Callable[[Path], Made]:
    """The reader of a corpus in one file."""

    def made(folder: Path) -> Made:
        (folder / name).write_bytes(content)
        return Made(_corpus(kind, folder / name, names=names), [Target(folder / name, change)])

    return made


def _of_lines(pack: Callable[[bytes], bytes], other: Callable[[bytes], bytes], *ends: str) -> Callable[[Path], Made]:
    """The reader of a corpus in two files of lines."""

    def made(folder: Path) -> Made:
        paths = [folder / f"a.{end}" for end in ends]
        paths[0].write_bytes(pack(b"the cat sleeps\nthe dog eats\n" * 4))
        paths[1].write_bytes(other(b"le chat dort\nle chien mange\n" * 4))
        return Made(_corpus("lines", paths[0], names=tuple(map(str, paths))), [Target(path) for path in paths])

    return made


_MEMBER = "para/para.txt"
_CSV = b'source;target;score\n"the; cat";le chat;0.5\n"a ""b""";"c\nd";1\n' * 3
_JSONL = b'{"t": {"en": "the cat", "fr": "l\\u00e9 chat"}, "s": 0.5}\n' * 5
CORPORA = {
    "paranmt": _of_corpus("paranmt", "p.zip", pack({_MEMBER: _columns(3)}), change=zipped(_MEMBER)),
    "bzip2": _of_corpus(
        "paranmt", "b.zip", pack({_MEMBER: PAIRS}, zipfile.ZIP_BZIP2), change=zipped(_MEMBER, zipfile.ZIP_LZMA)
    ),
    "tsv": _of_corpus("local", "a.tsv", _columns(2)),
    "gzip_file": _of_corpus("local", "a.tsv.gz", gzip.compress(_columns(3), mtime=0), change=gzipped),
    "translated": _of_corpus("translated", "t.tsv", PAIRS),
    "mined": _of_corpus("mined", "m.tsv", PAIRS),
    "text": _of_corpus("text", "a.txt", b"the cat sleeps\nthe dog eats\n" * 4),
    "lines": _of_lines(bytes, bytes, "en", "fr"),
    "packed_lines": _of_lines(lzma.compress, bz2.compress, "en.xz", "fr.bz2"),
    "csv": _of_corpus("csv", "a.csv", _CSV, ("", "source", "target", "score")),
    "jsonl": _of_corpus("jsonl", "a.jsonl", _JSONL, ("t.en", "t.fr", "s")),
}


def zstandard_file(folder: Path) -> Made:
    import zstandard

    path = folder / "a.tsv.zst"
    path.write_bytes(zstandard.ZstdCompressor().compress(_columns(3)))
    return Made(_corpus("local", path), [Target(path)])


def tmx(folder: Path) -> Made:
    path = folder / "a.tmx"
    sides = ('xml:lang="en-GB"', "the <ph>x</ph>cat &amp; dog"), ('lang="FR"', "le chat")
    unit = f"<tu>{''.join(f'<tuv {language}><seg>{text}</seg></tuv>' for language, text in sides)}</tu>"
    path.write_text(f'<?xml version="1.0"?><!DOCTYPE tmx><tmx version="1.4"><body>{unit * 5}</body></tmx>')
    return Made(_corpus("tmx", path, names=("en", "fr")), [Target(path)])


def table(folder: Path) -> Made:
    import pyarrow
    import pyarrow.parquet

    path = folder / "a.parquet"
    sides = {name: [f"the {name} number {n}" for n in range(9)] for name in ("source", "target")}
    pyarrow.parquet.write_table(pyarrow.table(sides), path)
    return Made(_corpus("parquet", path, names=("source", "target")), [Target(path)])


def arrow(folder: Path) -> Made:
    """A folder as the library datasets saves it."""
    import pyarrow

    path = folder / "saved/data-00000-of-00001.arrow"
    path.parent.mkdir()
    sides = pyarrow.table({name: [f"the {name} number {n}" for n in range(9)] for name in ("source", "target")})
    with pyarrow.OSFile(str(path), "wb") as file, pyarrow.ipc.new_stream(file, sides.schema) as stream:
        stream.write_table(sides)
    return Made(_corpus("parquet", path.parent, names=("source", "target")), [Target(path)])


def mixed_pairs(folder: Path) -> Made:
    from psp.pairs.pair_file import read_mixed

    path = folder / "mix.tsv"
    path.write_bytes(b"".join(line.rsplit(b"\t", 2)[0] + b"\t0\n" for line in PAIRS.splitlines()))
    return Made(lambda: _exhaust(read_mixed(path)), [Target(path)])


def heldout(folder: Path) -> Made:
    from psp.pairs.translator_heldout import read_heldout

    path = folder / "heldout.tsv"
    path.write_bytes(b"a b\tc d\tdevelopment/0\ne f\tg h\trest/1\n" * 3)
    return Made(lambda: read_heldout(path), [Target(path)])


def sts_archive(folder: Path) -> Made:
    from psp.evaluation.testsets import MissingSetError, StsSource

    path = folder / "STS.zip"
    sets = {"STS.input.images.txt": b"a cat\tthe cat\nb\tc\n", "STS.gs.images.txt": b"3\n1.5\n"}
    path.write_bytes(pack({f"STS/STS15-en-test/{name}": content for name, content in sets.items()}))

    def read() -> None:
        with StsSource(path) as source, contextlib.suppress(MissingSetError):  # it is skipped, and said to be
            _similar(source.semeval("2015", "images"), 0, 5)

    return Made(read, [Target(path, zipped(""))])


def sts_file(folder: Path) -> Made:
    from psp.evaluation.testsets import read_file

    path = folder / "sts.tsv"
    path.write_bytes(b"3.5\ta cat\tthe cat\n0\tb\tc\n" * 3)
    return Made(lambda: _similar(read_file(path), -math.inf, math.inf), [Target(path)])


def tatoeba(folder: Path) -> Made:
    from psp.evaluation.testsets import read_tatoeba

    one, two = folder / "fra", folder / "eng"
    one.write_bytes(b"le chat\nle chien\n" * 3)
    two.write_bytes(b"the cat\nthe dog\n" * 3)

    def read() -> None:
        sides = read_tatoeba(one, two)
        assert 0 < len(sides[0]) == len(sides[1])
        _texts(*sides[0], *sides[1])

    return Made(read, [Target(one), Target(two)])


def _task(entry: Mapping[str, object], files: Mapping[str, bytes]) -> Callable[[Path], Made]:
    """The reader of a task's files, which its entry names after an @."""

    def made(folder: Path) -> Made:
        from psp.evaluation import tasks

        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        filled = {key: str(folder / value[1:]) if str(value).startswith("@") else value for key, value in entry.items()}
        return Made(
            lambda: _exhaust(tasks.make(filled, "t").sentences()),
            [Target(folder / name) for name in files],
        )

    return made


_SICK = b"pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
_SICK += b"".join(b"%d\tA cat sleeps\tA dog eats\t%d.5\tNEUTRAL\n" % (n, n % 4 + 1) for n in range(6))
_SCORED = b"".join(b"%d\ta cat sleeps\tthe cat number %d sleeps\n" % (n % 2, n) for n in range(8))
_TREC = b"".join(b"%s:x What is number %d ?\n" % (b"NUM" if n % 2 else b"LOC", n) for n in range(12))
_FILMS = b"".join(b"film \xe9 number %d\n" % n for n in range(12))
_ASKED = [{"context": f"about {n}", "qas": [{"id": f"q{n}", "question": f"what of {n}"}]} for n in range(3)]
_MINING = {
    f"f/fr-en.training.{code}": "".join(f"{code}-{n}\tline {n}\n" for n in range(5)).encode() for code in ("fr", "en")
} | {"f/fr-en.training.gold": b"".join(b"fr-%d\ten-%d\n" % (n, n) for n in range(3))}
TASKS = {
    "task_similarity": _task({"task": "similarity", "layout": "sick", "path": "@s.txt"}, {"s.txt": _SICK}),
    "task_pairs": _task({"task": "pair_classification", "path": "@p.tsv"}, {"p.tsv": _SCORED}),
    "task_trec": _task(
        {"task": "classification", "layout": "trec", "path": "@t.label", "train": "@r.label"},
        {"t.label": _TREC, "r.label": _TREC},
    ),
    "task_polarity": _task(
        {"task": "classification", "layout": "polarity", "path": "@m", "encoding": "cp1252"},
        {"m.pos": _FILMS, "m.neg": _FILMS},
    ),
    "task_passages": _task(
        {"task": "passages", "questions": "@p.json", "passages": "@p.json"},
        {"p.json": json.dumps({"data": [{"paragraphs": _ASKED}]}).encode()},
    ),
    "task_words": _task(
        {"task": "word_similarity", "path": "@w.txt"},
        {"w.txt": b"".join(b"cat\tdog%d\t%d.25\n" % (n, n) for n in range(6))},
    ),
    "task_mining": _task({"task": "bitext_mining", "path": "@f", "languages": ["fr", "en"]}, _MINING),
}


def labels(folder: Path) -> Made:
    from psp.pairs.stats.annotation_form import read_form

    path = folder / "ann.tsv"
    path.write_bytes(b"id\tparaphrase\tfluency\nabcdef012345\t3\t2\nabcdef012346\t1\t3\n")
    return Made(lambda: read_form(path), [Target(path)])


def _vectors(name: str, content: bytes, change: Change = mutate) -> Callable[[Path], Made]:
    """The reader of a file of word vectors."""

    def made(folder: Path) -> Made:
        from psp.models.word_vectors import read_vectors

        (folder / name).write_bytes(content)
        return Made(lambda: _finite(read_vectors(folder / name)), [Target(folder / name, change)])

    return made


_ROWS = b"".join(b"word%d 0.5 -1.5 2e-3\n" % n for n in range(4))
_ROW = np.array([0.5, -1.5, 0.002], "<f4").tobytes()
VECTORS = {
    "vectors": _vectors("v.txt", b"4 3\n" + _ROWS),
    "vectors_binary": _vectors("v.bin", b"4 3\n" + b"".join(b"word%d " % n + _ROW + b"\n" for n in range(4))),
    "vectors_gzip": _vectors("v.txt.gz", gzip.compress(_ROWS, mtime=0), gzipped),
}


def store(folder: Path) -> Made:
    from psp.pairs.store import Store, write_store

    model = train_sentencepiece(folder / "sp.model")
    mixed, path = folder / "mix.tsv", folder / "store.h5"
    mixed.write_text("".join(f"{a}\t{b}\t0\n" for a, b in zip(SENTENCES[:20], SENTENCES[20:40], strict=True)))
    write_store(mixed, model, path, languages=["en", "fr"], corpora=["Small"])

    def read() -> None:
        with Store(path) as opened:
            block = opened.read(0, len(opened))
            for side in (block.source, block.target):
                assert len(side) == len(opened) and (np.diff(side.offsets) > 0).all()
                assert side.ids.min() >= 0 and side.ids.max() < opened.vocab_size

    return Made(read, [Target(path)])


def _trusting(data: bytes, rng: Random, others: Sequence[bytes]) -> bytes:
    """Change the values of a JSON file, so that more than the parser sees them."""
    if rng.random() < 0.4:
        return mutate(data, rng, others)
    value = json.loads(data)
    strange = (None, -1, 0, 1, 2.5, 1e308, 2**40, "x", "", "../x", [], {}, [1], {"a": 1}, True, "9" * 400, [[]])

    def changed(node: object) -> object:
        if isinstance(node, dict) and node and rng.random() < 0.8:
            key = rng.choice(sorted(node))
            if rng.random() < 0.15:
                return {name: one for name, one in node.items() if name != key}
            return {**node, key: changed(node[key])}
        if isinstance(node, list) and node and rng.random() < 0.6:
            place = rng.randrange(len(node))
            return [*node[:place], changed(node[place]), *node[place + 1 :]]
        return rng.choice(strange)

    return json.dumps(changed(value)).encode()


def _weights(data: bytes, rng: Random, others: Sequence[bytes]) -> bytes:
    """Change the header of safetensors as JSON, with a length that fits; or any byte."""
    if rng.random() < 0.5:
        return mutate(data, rng, others)
    size = int.from_bytes(data[:8], "little")
    header = _trusting(data[8 : 8 + size], rng, ())
    return len(header).to_bytes(8, "little") + header + data[8 + size :]


def _model(folder: Path, write: Callable[[Path], object]) -> Made:
    from psp.cli import model
    from psp.models import model_files
    from psp.models.combined import parts_of
    from psp.models.exports import export
    from psp.models.folder import load_model

    write(folder / "model")
    files = sorted(path for path in (folder / "model").rglob("*") if path.is_file() and path.name != "README.md")
    changes = {".json": _trusting, ".safetensors": _weights}

    places = itertools.count()

    def read() -> None:
        loaded = load_model(folder / "model", accelerate=False)
        vectors = loaded.encode(["the cat", "le chat dort"])
        assert np.isfinite(vectors).all() and vectors.shape == (2, loaded.dim)
        assert all(np.isfinite(part.weight).all() for part in parts_of(loaded))
        for file in model_files(folder / "model"):
            assert Path(file).resolve().is_relative_to((folder / "model").resolve())
        # What psp says of it, and what it writes of it, is true of it.
        with contextlib.redirect_stdout(io.StringIO()):
            model.run_info(argparse.Namespace(model=str(folder / "model"), json=True))
        out = folder / f"export{next(places)}"
        export("sentence-transformers", loaded, out, ["the cat"])
        again = load_model(out, accelerate=False).encode(["the cat", "le chat dort"])
        np.testing.assert_array_equal(again, vectors)
        shutil.rmtree(out)

    config = folder / "model/config.json"
    described = json.loads(config.read_bytes())

    def hashed(path: Path) -> Callable[[], None]:
        """Write the hash of a tokenizer's file into config.json, so that more than the hash is looked at."""
        plain = hashlib.sha256(path.read_bytes()).hexdigest()

        def write() -> None:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            config.write_text(json.dumps(described).replace(plain, digest))

        return write

    own = [path for path in files if path.suffix not in changes]

    def outside(data: bytes, rng: Random, others: Sequence[bytes]) -> bytes:
        """Let config.json name a tokenizer's file that is there, outside of the folder."""
        chosen = rng.choice(own)
        shutil.copy(chosen, folder / chosen.name)
        return data.replace(f'"{chosen.name}"'.encode(), f'"../{chosen.name}"'.encode())

    return Made(
        read,
        [Target(path, changes[path.suffix]) for path in files if path.suffix in changes]
        + [Target(config, outside)]
        + [Target(path) for path in own]
        + [Target(path, then=hashed(path)) for path in own * 3],
    )


def _table(rows: int, dim: int = 8) -> np.ndarray:
    return np.random.default_rng(1).standard_normal((rows, dim), dtype=np.float32)


def model(folder: Path) -> Made:
    from psp.models.folder import save_model
    from psp.text.sentencepiece_tokenizer import load_sentencepiece

    path = train_sentencepiece(folder / "sp.model")
    pieces = load_sentencepiece(path).get_piece_size()
    return _model(folder, lambda out: save_model(out, _table(pieces), path, {"languages": ["en"]}))


def model_int8(folder: Path) -> Made:
    from psp.models.folder import save_model
    from psp.models.table import EmbeddingMatrix
    from psp.text.sentencepiece_tokenizer import load_sentencepiece

    path = train_sentencepiece(folder / "sp.model")
    table = EmbeddingMatrix(_table(load_sentencepiece(path).get_piece_size())).converted("int8")
    return _model(folder, lambda out: save_model(out, table, path, {"languages": ["en"]}))


def _words() -> object:
    from psp.text.word_tokenizer import WordTokenizer

    return WordTokenizer([("the", 9), ("cat", 5), ("chat", 4), ("le", 3)])


def model_words(folder: Path) -> Made:
    from psp.models.folder import save_model

    tokenizer = _words()
    return _model(folder, lambda out: save_model(out, _table(len(tokenizer)), tokenizer, {"languages": ["en"]}))  # type: ignore[arg-type]


def model_lstm(folder: Path) -> Made:
    from psp.models.lstm import Direction, Lstm
    from psp.models.static import StaticModel
    from psp.models.table import EmbeddingMatrix

    rng = np.random.default_rng(1)
    shapes = (20, 8), (20, 5), (20,)
    one = [Direction(*(rng.standard_normal(shape, dtype=np.float32) for shape in shapes)) for _ in range(2)]
    tokenizer = _words()
    made = StaticModel(
        EmbeddingMatrix(_table(len(tokenizer))),
        tokenizer,
        {"languages": ["en"]},
        contextual=Lstm(one, "average", "mean"),
    )  # type: ignore[call-arg, arg-type]
    return _model(folder, made.save)


def model_combined(folder: Path) -> Made:
    from psp.models.combined import CombinedModel
    from psp.models.static import StaticModel
    from psp.models.table import EmbeddingMatrix

    tokenizer = _words()
    parts = [
        StaticModel(EmbeddingMatrix(_table(len(tokenizer), dim)), tokenizer, {"languages": ["en"]}) for dim in (4, 6)
    ]  # type: ignore[arg-type]
    return _model(folder, CombinedModel(parts, [1, 0.5]).save)


def model_zipped(folder: Path) -> Made:
    """A model from the web: what is unpacked lies in its folder, and is the model's."""
    from psp.models.folder import load_model, save_model
    from psp.models.zipped import unpack

    tokenizer = _words()
    save_model(folder / "model", _table(len(tokenizer)), tokenizer, {"languages": ["en"]})  # type: ignore[arg-type]
    packed, out = folder / "a.zip", folder / "unpacked"
    packed.write_bytes(pack({f"fr/{path.name}": path.read_bytes() for path in (folder / "model").iterdir()}))
    others = set(folder.rglob("*"))

    def read() -> None:
        try:
            unpack(packed, out)
            names = {str(path.relative_to(out)) for path in out.rglob("*")}
            assert names <= {"config.json", "model.safetensors", "README.md", "vocabulary.txt"}
            assert np.isfinite(load_model(out, accelerate=False).encode(["the cat"])).all()
        finally:
            shutil.rmtree(out, ignore_errors=True)
            assert set(folder.rglob("*")) == others

    def renamed(data: bytes, rng: Random, others: Sequence[bytes]) -> bytes:
        """Give a member another name, which may be a place outside."""
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        chosen = rng.choice(sorted(members))
        name = rng.choice(
            ["../x", "/tmp/x", "config.json", "a/b/config.json", "fr/", "../config.json", "x\\config.json"]
        )
        return pack({name if member == chosen else member: content for member, content in members.items()})

    return Made(read, [Target(packed, zipped("fr/config.json")), Target(packed, renamed)])


def published(folder: Path) -> Made:
    import torch

    from psp.models.published import read_checkpoint
    from psp.text.sentencepiece_tokenizer import load_sentencepiece

    path, file = train_sentencepiece(folder / "sp.model"), folder / "model.pt"
    processor = load_sentencepiece(path)
    pieces = [processor.id_to_piece(number) for number in range(3, processor.get_piece_size())]
    vocabulary = {piece: row for row, piece in enumerate([*pieces, "UUUNKKK"])}
    torch.save(
        {
            "state_dict": {"embedding.weight": torch.from_numpy(_table(len(vocabulary)))},
            "vocab": vocabulary, "vocab_fr": None, "args": argparse.Namespace(lower_case=1),
        },
        file,
    )  # fmt: skip

    def read() -> None:
        weight = read_checkpoint(file, path).weight
        assert np.isfinite(weight).all() and weight.shape == (processor.get_piece_size(), 8)

    return Made(read, [Target(file, zipped(""))])


def sentencepiece_model(folder: Path) -> Made:
    from psp.text.sentencepiece_tokenizer import SentencepieceTokenizer, load_sentencepiece

    path = train_sentencepiece(folder / "sp.model")

    def read() -> None:
        load_sentencepiece(path).encode(["the cat sleeps", ""])
        SentencepieceTokenizer(path)

    return Made(read, [Target(path)])


def config(folder: Path) -> Made:
    from psp.config.config import Config

    path = folder / "c.yaml"
    path.write_text(
        "corpora:\n  A: {version: v1, licence: MIT, filters: {length: {max: 50}}}\n  B: {kind: paranmt, version: v2}\n"
        "models:\n  fr: {languages: [en, fr], corpora: [A, {path: x.tsv, cap: 5}], train: {epochs: 2, dim: 8}}\n"
        "  en: {languages: [en], corpora: [B, {mined: en, through: fr, from: {model: fr}}], seeds: [1, 2],\n"
        "       variants: {a: {epochs: 3}}}\n"
        "translators: {t: {languages: [fr, en], from: {model: fr}, train: {steps: 5}}}\n"
        "evaluate: {tasks: {s: {task: similarity, layout: sick, path: x}}}\n"
    )
    return Made(lambda: Config.load([path]), [Target(path)])


def json_file(folder: Path) -> Made:
    from psp.core.files import read_json

    path = folder / "x.json"
    path.write_text(json.dumps({"format": 1, "a": [1, 2.5, None, {"b": "c"}]}))
    return Made(lambda: read_json(path), [Target(path)])


def cache(folder: Path) -> Made:
    from psp.models.embedding_cache import CachedEncoder
    from psp.models.registry import load_encoder

    path = folder / "v.txt"
    path.write_bytes(b"2 3\ncat 0.5 -1.5 2e-3\nthe 1 1 1\n")
    encoder = load_encoder(str(path))
    CachedEncoder(encoder, "x", folder / "cache", "v").embed(["the cat", "cat"])

    def read() -> None:
        found = CachedEncoder(encoder, "x", folder / "cache", "v").embed(["the cat", "cat"])
        assert np.isfinite(found).all() and found.shape == (2, 3)

    return Made(read, [Target(path) for path in sorted((folder / "cache/x").iterdir())])


def index(folder: Path) -> Made:
    from psp.inference.search.index import Index
    from psp.models.folder import load_model, save_model
    from psp.text.lines import LineFile

    tokenizer = _words()
    save_model(folder / "model", _table(len(tokenizer)), tokenizer, {"languages": ["en"]})  # type: ignore[arg-type]
    lines = folder / "lines.txt"
    lines.write_text("the cat\nle chat\nthe\n")
    loaded, corpus = load_model(folder / "model", accelerate=False), LineFile(lines)
    ways = {"index": "flat", "graph": "hnsw", "lists": "ivf"}
    for name, kind in ways.items():
        Index.build(loaded, corpus, kind=kind, folder=folder / name)

    (expected,) = Index.load(folder / "index", loaded, corpus).search(["cat"], 2)

    def read() -> None:
        for name in ways:
            (hits,) = Index.load(folder / name, loaded, corpus).search(["cat"], 2)
            assert hits == expected  # what is found is what was saved

    files = sorted(path for name in ways for path in (folder / name).iterdir())
    return Made(read, [Target(path, _trusting if path.suffix == ".json" else mutate) for path in files])


READERS: Mapping[str, Callable[[Path], Made]] = {
    **CORPORA, **TASKS, **VECTORS,
    **{
        function.__name__: function
        for function in (
            opus, zstandard_file, tmx, table, arrow, mixed_pairs, heldout, sts_archive, sts_file,
            tatoeba, labels, store, model, model_int8, model_words, model_lstm, model_combined, model_zipped, published,
            sentencepiece_model, config, json_file, cache, index,
        )
    },
}  # fmt: skip
