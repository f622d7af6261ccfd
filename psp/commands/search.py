"""``psp search``: the lines of a corpus that are nearest to each query."""

from __future__ import annotations

import argparse
import itertools
import json
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from psp.commands import StandardOutput, ending_well
from psp.errors import ConfigError, DataError
from psp.text import clean, read_lines

if TYPE_CHECKING:
    from psp.linefile import LineFile
    from psp.model import Model
    from psp.search import Index

log = logging.getLogger(__name__)

#: Queries that are read before they are answered; of a terminal one.
BATCH = 1024


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("search", run, "Find the sentences of a corpus that are nearest to each query, by cosine.")
    added.formatter_class = argparse.RawDescriptionHelpFormatter
    added.epilog = (
        "A line of output for each sentence found: query, rank, cosine, line in the corpus, sentence, with tabs\n"
        "between them. A query in which the model knows nothing finds nothing, and such a line is not found."
    )
    added.add_argument("model", metavar="MODEL", help="a model folder, such as results/fr/model")
    added.add_argument("corpus", type=Path, metavar="CORPUS", help="sentences, one a line")
    added.add_argument("queries", nargs="?", type=Path, metavar="QUERIES", help="one a line (default: standard input)")
    added.add_argument("-k", type=int, default=10, metavar="N", help="sentences for each query (default: 10)")
    added.add_argument("--json", action="store_true", help="a JSON object for each query")
    added.add_argument(
        "--index",
        choices=["flat", "hnsw"],
        help="flat: exact (default); hnsw: approximate, slow to make and fast to ask; save it",
    )
    added.add_argument(
        "--effort", type=int, metavar="N", help="of hnsw: more finds more, and takes longer (default: 128)"
    )
    added.add_argument("--float16", action="store_true", help="keep vectors in half the memory")
    added.add_argument("--vectors", type=Path, metavar="FILE.npy", help="what psp embed made of the corpus")
    folders = added.add_mutually_exclusive_group()
    folders.add_argument("--save-index", type=Path, metavar="FOLDER", help="make the index there, for later searches")
    folders.add_argument("--load-index", type=Path, metavar="FOLDER", help="use one that was saved")
    added.add_argument("--threads", type=int, default=os.cpu_count() or 1, metavar="N", help="default: all cores")


def run(options: argparse.Namespace) -> None:
    """Do it."""
    _check(options)

    from psp.linefile import LineFile
    from psp.model import load_model
    from psp.neighbours import use_threads
    from psp.search import EFFORT

    use_threads(options.threads)
    out = StandardOutput()
    with ending_well():
        model = load_model(options.model, threads=options.threads)
        queries = _queries(options.queries)  # a missing file is told before the corpus is embedded
        index = _index(options, model, LineFile(options.corpus))
        if options.effort is not None and index.graph is None:
            raise ConfigError("--effort: the index has no graph; make it with --index hnsw")
        while batch := list(itertools.islice(queries, 1 if _asked_by_hand(options) else BATCH)):
            found = index.search(batch, options.k, options.effort or EFFORT)
            for query, hits in zip(batch, found, strict=True):
                if not hits:
                    log.warning("%r: the model knows no word in it, so that it finds nothing", query)
            text = "".join(map(_json if options.json else _table, batch, found))
            out.write(text.encode())


def _check(options: argparse.Namespace) -> None:
    for name in ("k", "effort", "threads"):
        if getattr(options, name) is not None and getattr(options, name) < 1:
            raise ConfigError(f"{'-k' if name == 'k' else '--' + name} {getattr(options, name)}: write 1 or more")
    if options.load_index:
        for name in ("index", "float16", "vectors"):
            if getattr(options, name):
                raise ConfigError(f"--{name}: a saved index is as it was made; leave this out, or --load-index")
    elif options.effort is not None and options.index != "hnsw":
        raise ConfigError("--effort: of --index hnsw alone; the exact search looks at all lines")


def _index(options: argparse.Namespace, model: Model, corpus: LineFile) -> Index:
    from psp.search import Index

    if options.load_index:
        return Index.load(options.load_index, model, corpus)
    return Index.build(
        model,
        corpus,
        vectors=options.vectors,
        half=options.float16,
        graph=options.index == "hnsw",
        folder=options.save_index,
    )


def _queries(path: Path | None) -> Iterator[str]:
    if path is None:
        return read_lines(sys.stdin.buffer, "standard input")
    try:
        return _closed_after(path.open("rb"), path)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from None


def _closed_after(file: IO[bytes], path: Path) -> Iterator[str]:
    with file:
        yield from read_lines(file, path)


def _asked_by_hand(options: argparse.Namespace) -> bool:
    return options.queries is None and sys.stdin.isatty()


def _table(query: str, hits: list[Any]) -> str:
    return "".join(
        f"{clean(query)}\t{rank}\t{hit.cosine:.4f}\t{hit.line}\t{clean(hit.text)}\n"
        for rank, hit in enumerate(hits, start=1)
    )


def _json(query: str, hits: list[Any]) -> str:
    found = [
        {"rank": rank, "cosine": round(hit.cosine, 6), "line": hit.line, "sentence": hit.text}
        for rank, hit in enumerate(hits, start=1)
    ]
    return json.dumps({"query": query, "found": found}, ensure_ascii=False) + "\n"
