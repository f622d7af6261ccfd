"""``psp search``: the lines of a corpus nearest to each query."""

from __future__ import annotations

import argparse
import itertools
import json
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psp.cli.common import (
    StandardOutput,
    approximate,
    check_positive,
    ending_well,
    index_kind,
    index_kinds,
    index_options,
    lines_of,
    stored_dtype,
    threads,
)
from psp.core.errors import ConfigError
from psp.inference.search import INDEXES
from psp.text.words import clean

if TYPE_CHECKING:
    from psp.inference.search.index import Index
    from psp.models.model import Model
    from psp.text.lines import LineFile

log = logging.getLogger(__name__)

#: Queries answered at a time; on a terminal, one.
BATCH = 1024


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("search", run, "Find the sentences of a corpus nearest to each query, by cosine.")
    added.formatter_class = argparse.RawDescriptionHelpFormatter
    added.epilog = (
        "Each sentence found is one tab-separated line: query, rank, cosine, line number in the corpus, sentence.\n"
        "Queries and corpus lines without any known piece match nothing.\n\nindex:\n" + index_kinds()
    )
    added.add_argument("model", metavar="MODEL", help="a model folder, such as results/fr/model")
    added.add_argument(
        "corpus", type=Path, metavar="CORPUS", help="sentences, one per line; plain, or .gz, .bz2, .xz, .zst"
    )
    added.add_argument("queries", nargs="?", type=Path, metavar="QUERIES", help="one per line (default: stdin)")
    added.add_argument("-k", type=int, default=10, metavar="N", help="sentences per query (default: 10)")
    added.add_argument("--json", action="store_true", help="print one JSON object per query")
    index_options(added)
    added.add_argument("--vectors", type=Path, metavar="FILE.npy", help="the corpus's vectors, from psp embed")
    folders = added.add_mutually_exclusive_group()
    folders.add_argument("--save-index", type=Path, metavar="FOLDER", help="save the index for later searches")
    folders.add_argument("--load-index", type=Path, metavar="FOLDER", help="use a saved index")
    threads(added)


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    _check(options)

    from psp.inference.search.neighbours import use_threads
    from psp.inference.search.on_disk import spare
    from psp.inference.streaming.unknown import percent
    from psp.models.model import load_model
    from psp.text.lines import LineFile

    use_threads(options.threads)
    out = StandardOutput()
    with ending_well():
        model = load_model(options.model, threads=options.threads)
        queries = lines_of(options.queries)  # report a missing file before embedding the corpus
        if options.memory is not None:
            spare(options.memory)
        index = _index(options, model, LineFile(options.corpus))
        if options.effort is not None and not INDEXES[index.searcher.name].approximate:
            raise ConfigError(f"--effort: search in this index is exact; make it with {approximate()}")
        if options.memory is not None:
            index.release()
        while batch := list(itertools.islice(queries, 1 if _asked_by_hand(options) else BATCH)):
            answers = index.search(batch, options.k, options.effort)
            shares = model.unknown_shares(batch).tolist()
            for query, hits, share in zip(batch, answers, shares, strict=True):
                if not hits:
                    log.warning("%r: the model knows none of its pieces, so nothing is found", query)
                elif share:
                    log.warning("%r: the model does not know %s of it", query, percent(share))
            text = "".join(map(_json if options.json else _table, batch, answers, shares))
            out.write(text.encode())


def _check(options: argparse.Namespace) -> None:
    check_positive(options)
    if options.load_index:
        for name in ("index", "float16", "int8", "vectors"):
            if getattr(options, name):
                raise ConfigError(f"--{name}: a saved index cannot be changed; leave out this or --load-index")
        return
    index = index_kind(options)
    if INDEXES[index].needs_folder and not options.save_index:
        raise ConfigError(f"--index {index}: its lists are on disk; add --save-index FOLDER")
    if options.memory is not None and not options.save_index:
        raise ConfigError("--memory: for an index on disk; add --save-index FOLDER, or name one with --load-index")


def _index(options: argparse.Namespace, model: Model, corpus: LineFile) -> Index:
    from psp.inference.search.index import Index

    if options.load_index:
        return Index.load(options.load_index, model, corpus)
    return Index.build(
        model,
        corpus,
        vectors=options.vectors,
        dtype=stored_dtype(options),
        kind=index_kind(options),
        folder=options.save_index,
    )


def _asked_by_hand(options: argparse.Namespace) -> bool:
    return options.queries is None and sys.stdin.isatty()


def _table(query: str, hits: list[Any], unknown: float) -> str:
    return "".join(
        f"{clean(query)}\t{rank}\t{hit.cosine:.4f}\t{hit.line}\t{clean(hit.text)}\n"
        for rank, hit in enumerate(hits, start=1)
    )


def _json(query: str, hits: list[Any], unknown: float) -> str:
    rows = [
        {"rank": rank, "cosine": round(hit.cosine, 6), "line": hit.line, "sentence": hit.text}
        for rank, hit in enumerate(hits, start=1)
    ]
    return json.dumps({"query": query, "unknown": round(unknown, 4), "found": rows}, ensure_ascii=False) + "\n"
