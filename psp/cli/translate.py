"""``psp translate``: translate a file with a translator."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from psp.cli.common import check_positive, lines, threads, write_lines
from psp.core.errors import ConfigError, DataError

log = logging.getLogger(__name__)

#: Lines translated at a time, enough to sort them by length.
BLOCK = 10_000


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("translate", run, "Translate sentences, one per line, with a translator.")
    added.add_argument(
        "translator",
        type=Path,
        metavar="TRANSLATOR",
        help="results/translators/NAME/model, or any CTranslate2 model",
    )
    added.add_argument("file", type=Path, nargs="?", metavar="FILE", help="cased text; default: standard input")
    added.add_argument("--out", type=Path, metavar="FILE", help="file to write (default: standard output)")
    added.add_argument(
        "--sentencepiece", metavar="FILE", help="the translator's sentencepiece model, if it is not in its folder"
    )
    added.add_argument(
        "--target-sentencepiece", metavar="FILE", help="sentencepiece model of the translations, if they have another"
    )
    added.add_argument("--beam", type=int, default=5, metavar="N", help="candidates per line (default: %(default)s)")
    added.add_argument(
        "--scores",
        action="store_true",
        help="write a tab and the mean log-probability of a subword after each translation",
    )
    added.add_argument(
        "--compute-type", default="int8", metavar="TYPE", help="int8, float32, ... (default: %(default)s)"
    )
    threads(added)


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    check_positive(options)
    if options.beam < 1:
        raise ConfigError(f"--beam {options.beam}: write 1 or more")
    from psp.config.blocks.translator import SearchBlock
    from psp.core.progress import Progress
    from psp.inference.translation.load import load_translator, trained_settings

    given = {"beam": options.beam, "compute_type": options.compute_type}
    for key in ("sentencepiece", "target_sentencepiece"):
        if getattr(options, key) is not None:
            given[key] = getattr(options, key)
    if not options.translator.is_dir():
        raise DataError("no such folder; name that of a translator", options.translator)
    entry = {**trained_settings(options.translator), **given}
    translator = load_translator(entry, threads=options.threads, where="psp translate")
    texts = lines(options.file)

    def translated() -> Iterator[str]:
        with Progress("translating", "sentences", len(texts)) as bar:
            for first in range(0, len(texts), BLOCK):
                block = texts[first : first + BLOCK]
                for (best, *_), text in zip(translator.translate(block), block, strict=True):
                    score = "" if best.score is None else f"{best.score:.4f}"
                    yield f"{best.text}\t{score}\n" if options.scores else f"{best.text}\n"
                    if text.strip() and not best.text:
                        log.warning("no translation of %r", text[:80])
                bar.add(len(block))

    write_lines(translated(), options.out)
    if options.out is not None:
        print(f"{options.out}: {len(texts):,} translations")
    if translator.cut:
        log.warning(
            "sentences cut after %d subwords: %d", entry.get("max_tokens", SearchBlock().max_tokens), translator.cut
        )
