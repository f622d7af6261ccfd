"""``psp train``: train a model on prepared pairs, without the workflow."""

from __future__ import annotations

import argparse
import json
import logging
import os
from pathlib import Path
from typing import Any

from psp.core.errors import ConfigError


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("train", run, "Train a model on prepared pairs, without the workflow.")
    added.set_defaults(level=logging.INFO)  # it takes hours: log progress where there is no terminal for a bar
    added.add_argument(
        "pairs", type=Path, metavar="PAIRS", help="a store.h5, or text with tab-separated source and target per line"
    )
    added.add_argument("--sentencepiece", required=True, type=Path, metavar="MODEL", help="the sentencepiece model")
    added.add_argument("--out", required=True, type=Path, metavar="FOLDER", help="the model folder to write")
    added.add_argument("--train-dir", type=Path, metavar="FOLDER", help="folder for metrics (default: <out>-train)")
    added.add_argument("--languages", help="for text: the columns' languages (en,fr), or en for paraphrases")
    added.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="default: all cores")
    added.add_argument(
        "--set",
        nargs="+",
        action="extend",
        default=[],
        metavar="KEY=VALUE",
        help="settings of the config's train block",
    )
    added.add_argument(
        "--development",
        type=Path,
        metavar="FILE",
        help="held-out pairs for validation after each epoch; --set select=best keeps the best epoch",
    )
    added.add_argument(
        "--checkpoint",
        nargs="+",
        action="extend",
        default=[],
        metavar="KEY=VALUE",
        help="minutes, steps or keep, as in the config's train.checkpoint (default: every 10 minutes, keep two)",
    )
    added.add_argument("--force", action="store_true", help="replace an existing model and its metrics")


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    from psp.training.finished import check_unfinished
    from psp.training.settings import TrainSettings, When

    settings = TrainSettings.from_mapping(_settings("--set", options.set))  # before the slow imports
    checkpoints = When.from_mapping(_settings("--checkpoint", options.checkpoint))
    out: Path = options.out.absolute()
    train_dir = options.train_dir or out.with_name(f"{out.name}-train")
    for name, folder in (("--out", out), ("--train-dir", train_dir)):
        if folder.exists() and not folder.is_dir():
            raise ConfigError(f"{name} {folder}: is a file; name a folder")
    if not options.force:
        check_unfinished(out, train_dir)

    from psp.core.files import read_json
    from psp.core.fingerprint import fingerprint
    from psp.evaluation.development import Development
    from psp.models import card
    from psp.models.files import CONFIG
    from psp.training.loop import train

    development = Development.load(None, options.development) if options.development else None
    report = train(
        options.pairs,
        options.sentencepiece,
        out,
        train_dir,
        settings,
        development,
        threads=options.threads,
        model_config={
            "languages": _train_languages(options.pairs, options.languages),
            "lower_case": _lower_case(options.sentencepiece),
            "segment": {},
        },
        checkpoints=checkpoints,
        # Do not resume with other code or other validation data: the result would belong to neither.
        identity={
            "code": fingerprint("psp.training.loop", "psp.evaluation.development"),
            "development data": "" if development is None else development.sha256,
        },
        replace=options.force,
    )
    card.write(out, card.card(read_json(out / CONFIG)))
    best = report["best"]
    score = "" if best is None else f", validation score {best['score']:.2f} after {best['pairs']:,} pairs"
    print(f"{options.out}: trained on {report['pairs_seen']:,} pairs{score}; metrics are in {train_dir}")


def _settings(option: str, assignments: list[str]) -> dict[str, Any]:
    """Parse ``key=value`` as the config would; a value that is not JSON is a string."""
    settings = {}
    for assignment in assignments:
        key, equals, value = assignment.partition("=")
        if not (key and equals):
            raise ConfigError(f"{option} {assignment}: write key=value, such as epochs=5")
        try:
            settings[key] = json.loads(value)
        except json.JSONDecodeError:
            settings[key] = value
    return settings


def _train_languages(pairs: Path, asked: str | None) -> list[str]:
    from psp.pairs.store import Store
    from psp.pairs.text_pairs import is_store

    languages = asked.split(",") if asked else []
    if not all(language.isalpha() and language.islower() for language in languages):
        raise ConfigError(f"--languages {asked}: write comma-separated ISO 639-1 codes, such as en,fr")
    if not is_store(pairs):
        if not languages:
            raise ConfigError(
                f"{pairs} is text: write --languages en,fr, the source's first, or --languages en for paraphrases"
            )
        return languages
    with Store(pairs) as store:
        if asked and languages != store.languages:
            raise ConfigError(f"--languages {asked}: {pairs} holds {','.join(store.languages)}; leave it out")
        return store.languages


def _lower_case(sentencepiece_model: Path) -> bool:
    """Tell whether the model lower-cases its input: no piece has a capital, so the training text had none."""
    from psp.text.sentencepiece_tokenizer import SentencepieceTokenizer

    return all(piece == piece.lower() for piece in SentencepieceTokenizer(sentencepiece_model).pieces())
