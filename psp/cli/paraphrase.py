"""``psp paraphrase``: paraphrase sentences with a translator from a language into itself."""

from __future__ import annotations

import argparse
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from psp.cli.common import check_positive, lines, threads, write_lines
from psp.core.errors import ConfigError, DataError

log = logging.getLogger(__name__)

#: Sentences that are translated at a time.
BLOCK = 1000


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("paraphrase", run, "Paraphrase sentences, one per line, with a translator of paraphrases.")
    added.add_argument(
        "translator",
        type=Path,
        metavar="TRANSLATOR",
        help="a translator from a language into itself: results/translators/NAME/model, or any CTranslate2 model",
    )
    added.add_argument("file", type=Path, nargs="?", metavar="FILE", help="cased text; default: standard input")
    added.add_argument(
        "--encoder", required=True, metavar="MODEL", help="the encoder that compares meanings, such as results/en/model"
    )
    added.add_argument("-k", type=int, default=1, metavar="N", help="paraphrases per line (default: %(default)s)")
    added.add_argument("--out", type=Path, metavar="FILE", help="file to write (default: standard output)")
    added.add_argument(
        "--scores",
        action="store_true",
        help="write JSON lines, with cosine, overlap and the translator's score of each",
    )
    added.add_argument("--beam", type=int, default=10, metavar="N", help="candidates per line (default: %(default)s)")
    added.add_argument(
        "--sampling", type=int, metavar="N", help="draw candidates instead, each subword among the N most likely"
    )
    added.add_argument(
        "--temperature", type=float, default=1.0, metavar="T", help="for sampling (default: %(default)s)"
    )
    added.add_argument("--seed", type=int, default=1, metavar="N", help="sampling seed (default: %(default)s)")
    added.add_argument(
        "--overlap-weight",
        type=float,
        metavar="W",
        help="order candidates by cosine minus W times the share of common word trigrams (default: 0.2)",
    )
    added.add_argument(
        "--canonical",
        action="store_true",
        help="take candidates in the translator's order, even the line itself, for example to correct spelling",
    )
    added.add_argument(
        "--references", type=Path, metavar="FILE", help="a reference paraphrase of each line, for chrF in the report"
    )
    added.add_argument(
        "--report",
        type=Path,
        metavar="FILE",
        help="write the mean cosine and overlap, and the share unchanged, as JSON",
    )
    threads(added)


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    check_positive(options)
    if options.beam < options.k:
        raise ConfigError(f"-k {options.k}, but --beam {options.beam}: write --beam {options.k} or more")
    if options.references and not options.report:
        raise ConfigError("--references: for the report; add --report FILE")
    if not options.translator.is_dir():
        raise DataError("no such folder; name that of a translator", options.translator)
    from psp.core.files import write_json
    from psp.core.progress import Progress
    from psp.inference.translation.load import load_translator, trained_settings
    from psp.inference.translation.paraphrase import OVERLAP_WEIGHT, Paraphrase, measured, paraphrase
    from psp.models.registry import load_encoder

    weight = OVERLAP_WEIGHT if options.overlap_weight is None else options.overlap_weight
    search: dict[str, Any] = {"beam": options.beam}
    if options.sampling is not None:
        search = {
            "beam": 1, "sampling": options.sampling, "temperature": options.temperature, "seed": options.seed
        }  # fmt: skip
    translator = load_translator(
        {**trained_settings(options.translator), **search}, threads=options.threads, where="psp paraphrase"
    )
    encoder = load_encoder(options.encoder)
    texts = lines(options.file)
    references = lines(options.references) if options.references else None
    if references is not None and len(references) != len(texts):
        raise DataError(
            f"{len(references):,} lines for {len(texts):,} sentences; write one for each", options.references
        )
    paraphrases: list[list[Paraphrase]] = []

    def written() -> Iterator[str]:
        with Progress("paraphrasing", "sentences", len(texts)) as bar:
            for first in range(0, len(texts), BLOCK):
                block = texts[first : first + BLOCK]
                rows = paraphrase(
                    block, translator, encoder, k=options.k, candidates=options.beam, overlap_weight=weight,
                    canonical=options.canonical,
                )  # fmt: skip
                paraphrases.extend(rows)
                for text, row in zip(block, rows, strict=True):
                    yield _line(text, row, options.scores)
                bar.add(len(block))

    write_lines(written(), options.out)
    report = measured(texts, paraphrases, references)
    if options.report:
        write_json(options.report, {"format": 1, **report})
    if options.out is not None:
        best = report["best"]
        quality = f", cosine {best['cosine']:.3f}, overlap {best['overlap']:.3f}" if best["paraphrases"] else ""
        print(f"{options.out}: paraphrases of {best['paraphrases']:,} of {report['sentences']:,} sentences{quality}")
    if report["none"]:
        log.warning("sentences without a paraphrase, since all candidates are copies: %d", report["none"])
    if translator.cut:
        log.warning("sentences truncated to the longest that the translator takes: %d", translator.cut)


def _line(text: str, row: list[Any], scores: bool) -> str:
    if not scores:
        return "\t".join(one.text for one in row) + "\n"
    rated = [
        {"text": one.text, "cosine": round(one.cosine, 4), "overlap": round(one.overlap, 4), "score": one.score}
        for one in row
    ]
    return json.dumps({"source": text, "paraphrases": rated}, ensure_ascii=False) + "\n"
