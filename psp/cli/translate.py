"""Commands that use a translator: ``psp translate`` and ``psp paraphrase``."""

from __future__ import annotations

import argparse
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psp.cli import lines, positive, text_argument, threads, write_lines
from psp.core.errors import ConfigError, DataError, from_extra

if TYPE_CHECKING:
    from psp.inference.translation import Translator

log = logging.getLogger(__name__)

#: Lines translated at a time, enough to sort them by length; and lines paraphrased at a time.
TRANSLATED, PARAPHRASED = 10_000, 1000


def _shared_arguments(command: argparse.ArgumentParser, translator: str, beam: int) -> None:
    """Add the translator, the text, where its translations go, and how they are searched for."""
    command.add_argument("translator", type=Path, metavar="TRANSLATOR", help=translator)
    text_argument(command, "cased text, one sentence a line")
    command.add_argument("--out", type=Path, metavar="FILE", help="file to write (default: standard output)")
    command.add_argument(
        "--beam", type=positive, default=beam, metavar="N", help="candidates per line (default: %(default)s)"
    )
    threads(command)


def _loaded(options: argparse.Namespace, **search: Any) -> Translator:
    """The translator, which searches with these settings, the others being those that it was trained with."""
    with from_extra("translate", "translators need ctranslate2"):
        from psp.inference.translation.load import load_translator, trained_settings

    if not options.translator.is_dir():
        raise DataError("no such folder; name that of a translator", options.translator)
    entry = {**trained_settings(options.translator), **search}
    return load_translator(entry, threads=options.threads, where=f"psp {options.run.__name__.removeprefix('run_')}")


def add_translate(added: argparse.ArgumentParser) -> None:
    """Add the arguments of ``psp translate``."""
    _shared_arguments(added, "results/translators/NAME/model, or any CTranslate2 model", beam=5)
    added.add_argument(
        "--sentencepiece", metavar="FILE", help="the translator's sentencepiece model, if it is not in its folder"
    )
    added.add_argument(
        "--target-sentencepiece", metavar="FILE", help="sentencepiece model of the translations, if they have another"
    )
    added.add_argument(
        "--scores",
        action="store_true",
        help="write a tab and the mean log-probability of a subword after each translation",
    )
    added.add_argument(
        "--compute-type", default="int8", metavar="TYPE", help="int8, float32, ... (default: %(default)s)"
    )


def run_translate(options: argparse.Namespace) -> None:
    """Run ``psp translate``."""
    from psp.core.logs import Progress

    names = ("beam", "compute_type", "sentencepiece", "target_sentencepiece")
    translator = _loaded(options, **{name: value for name in names if (value := getattr(options, name)) is not None})
    texts = lines(options.file)

    def translated() -> Iterator[str]:
        with Progress("translating", "sentences", len(texts)) as bar:
            for first in range(0, len(texts), TRANSLATED):
                block = texts[first : first + TRANSLATED]
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
        log.warning("sentences truncated to the longest that the translator takes: %d", translator.cut)


def add_paraphrase(added: argparse.ArgumentParser) -> None:
    """Add the arguments of ``psp paraphrase``."""
    _shared_arguments(
        added,
        "a translator from a language into itself: results/translators/NAME/model, or any CTranslate2 model",
        beam=10,
    )
    added.add_argument(
        "--encoder", required=True, metavar="MODEL", help="the encoder that compares meanings, such as results/en/model"
    )
    added.add_argument("-k", type=positive, default=1, metavar="N", help="paraphrases per line (default: %(default)s)")
    added.add_argument(
        "--scores",
        action="store_true",
        help="write JSON lines, with cosine, overlap and the translator's score of each",
    )
    added.add_argument(
        "--sampling", type=positive, metavar="N", help="draw candidates instead, each subword among the N most likely"
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


def run_paraphrase(options: argparse.Namespace) -> None:
    """Run ``psp paraphrase``."""
    if options.beam < options.k:
        raise ConfigError(f"-k {options.k}, but --beam {options.beam}: write --beam {options.k} or more")
    if options.references and not options.report:
        raise ConfigError("--references: for the report; add --report FILE")
    from psp.core.files import write_json
    from psp.core.logs import Progress

    with from_extra("translate", "translators need ctranslate2"):
        from psp.inference.translation.paraphrase import OVERLAP_WEIGHT, Paraphrase, measured, paraphrase
    from psp.models.registry import load_encoder

    weight = OVERLAP_WEIGHT if options.overlap_weight is None else options.overlap_weight
    search: dict[str, Any] = {"beam": options.beam}
    if options.sampling is not None:
        search = {
            "beam": 1, "sampling": options.sampling, "temperature": options.temperature, "seed": options.seed
        }  # fmt: skip
    translator = _loaded(options, **search)
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
            for first in range(0, len(texts), PARAPHRASED):
                block = texts[first : first + PARAPHRASED]
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
