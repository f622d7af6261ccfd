"""Commands that search in vectors: ``psp search`` and ``psp mine``."""

from __future__ import annotations

import argparse
import itertools
import json
import logging
import math
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psp.cli import (
    StandardOutput,
    ending_well,
    lines_of,
    model_argument,
    positive,
    threads,
)
from psp.core.errors import ConfigError
from psp.inference.search import CHOICES, INDEXES
from psp.text.words import clean

if TYPE_CHECKING:
    from psp.models.text_model import TextModel

log = logging.getLogger(__name__)

#: Queries answered at a time; on a terminal, one.
BATCH = 1024


def _index_options(command: argparse.ArgumentParser) -> None:
    """Add ``--index``, ``--effort``, ``--float16``, ``--int8`` and ``--memory``, of commands that search in vectors."""
    command.add_argument("--index", choices=list(INDEXES), help="how neighbours are found (default: flat)")
    command.add_argument(
        "--effort",
        type=positive,
        metavar="N",
        help="of hnsw and ivf: higher is more accurate and slower (default: 128; 64 lists of ivf)",
    )
    stored = command.add_mutually_exclusive_group()
    stored.add_argument("--float16", action="store_true", help="store vectors in half the space")
    stored.add_argument(
        "--int8", action="store_true", help="store vectors in a quarter of the space; cosines change by 0.01"
    )
    command.add_argument(
        "--memory",
        metavar="SIZE",
        type=_memory_size,
        help="memory to stay within, such as 2G; vectors are then read from disk",
    )


def _described(choices: Mapping[str, str]) -> str:
    return "".join(f"  {name}: {description}\n" for name, description in choices.items())


def _index_kind(options: argparse.Namespace) -> str:
    """Return how neighbours are found.

    Raises:
        ConfigError: other options do not go with it.
    """
    name = options.index or "flat"
    if options.effort is not None and name == "flat":
        raise ConfigError("--effort: only for --index hnsw or ivf; exact search compares all sentences")
    if options.memory is not None and name == "hnsw":
        raise ConfigError("--memory: hnsw holds all sentences in memory; write --index ivf")
    return str(name)


def _memory_size(text: str) -> int:
    """Read a size such as 512M or 2G; for argparse."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([MGT])B?", text.strip().upper())
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r}: write a number with M or G, such as 2G")
    return int(float(match[1]) * 2 ** (10 * "KMGT".index(match[2]) + 10))


def _stored_dtype(options: argparse.Namespace) -> str:
    """The dtype that ``--float16`` or ``--int8`` names."""
    return "float16" if options.float16 else "int8" if options.int8 else "float32"


def add_search(added: argparse.ArgumentParser) -> None:
    """Add the arguments of ``psp search``."""
    added.formatter_class = argparse.RawDescriptionHelpFormatter
    added.epilog = (
        "Each sentence found is one tab-separated line: query, rank, cosine, line number in the corpus, sentence.\n"
        "Of --passages: query, rank, score, id, best sentence; the score is the mean of the passage's cosine and\n"
        "that sentence's. Queries and lines without any known piece match nothing.\n\nindex:\n" + _described(INDEXES)
    )
    model_argument(added)
    added.add_argument(
        "corpus", type=Path, metavar="CORPUS", help="sentences, one per line; plain, or .gz, .bz2, .xz, .zst"
    )
    added.add_argument("queries", nargs="?", type=Path, metavar="QUERIES", help="one per line (default: stdin)")
    added.add_argument("-k", type=positive, default=10, metavar="N", help="sentences per query (default: 10)")
    added.add_argument("--json", action="store_true", help="print one JSON object per query")
    added.add_argument("--passages", action="store_true", help="lines of CORPUS are id, tab, text of several sentences")
    _index_options(added)
    added.add_argument("--vectors", type=Path, metavar="FILE.npy", help="the corpus's vectors, from psp embed")
    folders = added.add_mutually_exclusive_group()
    folders.add_argument("--save-index", type=Path, metavar="FOLDER", help="save the index for later searches")
    folders.add_argument("--load-index", type=Path, metavar="FOLDER", help="use a saved index")
    threads(added)


def run_search(options: argparse.Namespace) -> None:
    """Run ``psp search``."""
    _check(options)

    from psp.inference.search.neighbours import use_threads
    from psp.inference.search.on_disk import spare
    from psp.inference.streaming import percent
    from psp.models.folder import load_model

    use_threads(options.threads)
    out = StandardOutput()
    with ending_well():
        model = load_model(options.model, threads=options.threads)
        queries = lines_of(options.queries)  # report a missing file before embedding the corpus
        if options.memory is not None:
            spare(options.memory)
        answer = (_passages if options.passages else _lines)(options, model)
        while batch := list(itertools.islice(queries, 1 if _asked_by_hand(options) else BATCH)):
            answers = answer(batch)
            shares = model.unknown_shares(batch).tolist()
            for query, hits, share in zip(batch, answers, shares, strict=True):
                if not hits:
                    log.warning("%r: the model knows none of its pieces, so nothing is found", query)
                elif share:
                    log.warning("%r: the model does not know %s of it", query, percent(share))
            text = "".join(map(_json if options.json else _table, batch, answers, shares))
            out.write(text.encode())


def _passages(options: argparse.Namespace, model: TextModel) -> Callable[[list[str]], list[list[Any]]]:
    from psp.inference.search.passages import PassageIndex
    from psp.text.lines import LineFile

    index = PassageIndex(model, LineFile(options.corpus), _stored_dtype(options))
    return lambda queries: index.search(queries, options.k)


def _check(options: argparse.Namespace) -> None:
    if options.passages:
        for name in ("index", "effort", "memory", "vectors", "save_index", "load_index"):
            if getattr(options, name) is not None:
                raise ConfigError(
                    f"--{name.replace('_', '-')}: not with --passages, whose search is exact and in memory"
                )
        return
    if options.load_index:
        for name in ("index", "float16", "int8", "vectors"):
            if getattr(options, name):
                raise ConfigError(f"--{name}: a saved index cannot be changed; leave out this or --load-index")
        return
    index = _index_kind(options)
    if index == "ivf" and not options.save_index:
        raise ConfigError("--index ivf: its lists are on disk; add --save-index FOLDER")
    if options.memory is not None and not options.save_index:
        raise ConfigError("--memory: for an index on disk; add --save-index FOLDER, or name one with --load-index")


def _lines(options: argparse.Namespace, model: TextModel) -> Callable[[list[str]], list[list[Any]]]:
    from psp.inference.search.index import Index
    from psp.text.lines import LineFile

    corpus = LineFile(options.corpus)
    if options.load_index:
        index = Index.load(options.load_index, model, corpus)
    else:
        index = Index.build(
            model,
            corpus,
            vectors=options.vectors,
            dtype=_stored_dtype(options),
            kind=_index_kind(options),
            folder=options.save_index,
        )
    if options.effort is not None and index.searcher.name == "flat":
        raise ConfigError("--effort: search in this index is exact; make it with --index hnsw or ivf")
    if options.memory is not None:
        index.release()
    return lambda queries: index.search(queries, options.k, options.effort)


def _asked_by_hand(options: argparse.Namespace) -> bool:
    return options.queries is None and sys.stdin.isatty()


def _table(query: str, hits: list[Any], unknown: float) -> str:
    rows = ((rank, *_fields(hit).values()) for rank, hit in enumerate(hits, start=1))
    return "".join(
        f"{clean(query)}\t{rank}\t{cosine:.4f}\t{clean(str(name))}\t{clean(sentence)}\n"
        for rank, cosine, name, sentence, *_ in rows
    )


def _json(query: str, hits: list[Any], unknown: float) -> str:
    rows = [{"rank": rank, **_fields(hit)} for rank, hit in enumerate(hits, start=1)]
    return json.dumps({"query": query, "unknown": round(unknown, 4), "found": rows}, ensure_ascii=False) + "\n"


def _fields(hit: Any) -> dict[str, Any]:
    """What is printed of a line or a passage: its cosine or score, its number or id, a sentence, the passage."""
    text = "passage" if "id" in hit._fields else "sentence"
    return {
        text if name == "text" else name: round(value, 6) if isinstance(value, float) else value
        for name, value in hit._asdict().items()
    }


def add_mine(added: argparse.ArgumentParser) -> None:
    """Add the arguments of ``psp mine``."""
    added.set_defaults(level=logging.INFO)  # it may take hours: log progress where there is no terminal for a bar
    added.formatter_class = argparse.RawDescriptionHelpFormatter
    added.epilog = f"pairs:\n{_described(CHOICES)}index:\n{_described(INDEXES)}"
    model_argument(added)
    added.add_argument(
        "source", type=Path, metavar="SOURCE", help="sentences in one language, one per line, plain or compressed"
    )
    added.add_argument("target", type=Path, metavar="TARGET", help="sentences in the other")
    added.add_argument(
        "--out", required=True, type=Path, metavar="FILE", help="tab-separated output: source, target, margin"
    )
    added.add_argument(
        "--threshold",
        type=float,
        metavar="X",
        help="lowest margin to keep (default: 1.25 for ratio, 0.1 for distance, 0.5 for absolute)",
    )
    added.add_argument("-k", type=positive, default=4, metavar="N", help="neighbours per sentence (default: 4)")
    added.add_argument(
        "--margin",
        choices=["ratio", "distance", "absolute"],
        default="ratio",
        help="cosine divided by the neighbours' mean (ratio, default), minus it (distance), or alone (absolute)",
    )
    added.add_argument("--pairs", choices=list(CHOICES), default="max", help="which candidates become pairs")
    _index_options(added)
    threads(added)


def run_mine(options: argparse.Namespace) -> None:
    """Run ``psp mine``."""
    index = _index_kind(options)
    if options.threshold is not None and not math.isfinite(options.threshold):
        raise ConfigError(f"--threshold {options.threshold}: write a number, such as 1.25")

    from psp.inference.search.bitext import THRESHOLDS, mine_files
    from psp.inference.search.neighbours import use_threads
    from psp.models.folder import load_model

    use_threads(options.threads)
    with ending_well():
        counts = mine_files(
            load_model(options.model, threads=options.threads),
            options.source,
            options.target,
            options.out,
            dtype=_stored_dtype(options),
            k=options.k,
            margin=options.margin,
            choose=options.pairs,
            threshold=THRESHOLDS[options.margin] if options.threshold is None else options.threshold,
            index=index,
            effort=options.effort,
            memory=options.memory,
        )
    print(
        f"{options.out}: {counts.pairs:,} pairs from {counts.sources:,} and {counts.targets:,} distinct sentences "
        f"({counts.source_lines:,} and {counts.target_lines:,} lines)"
    )
