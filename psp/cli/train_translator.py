"""``psp train-translator``: train a translator on files of pairs, without the workflow."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path
from typing import Any

from psp.cli.common import assigned, assignments, training_folders, training_options
from psp.core.errors import ConfigError, DataError


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("train-translator", run, "Train a small translator on files of pairs, without the workflow.")
    added.set_defaults(level=logging.INFO)
    added.add_argument(
        "pairs",
        type=Path,
        nargs="+",
        metavar="PAIRS",
        help="text with tab-separated source and target per line, cased. Filter it first: this command does not",
    )
    added.add_argument("--languages", required=True, nargs=2, metavar=("SOURCE", "TARGET"), help="such as fr en")
    training_options(added, "translator's")
    added.add_argument(
        "--seed", type=int, default=1, help="seed of the weights and of the order of pairs (default: %(default)s)"
    )
    assignments(added, "--set", "settings of `train` in a config's `translators`, such as minutes=60")
    added.add_argument("--force", action="store_true", help="replace an existing translator")


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    from psp.training.translator.settings import BEFORE, TranslatorSettings

    given = assigned("--set", options.set)
    before = {key: given.pop(key, setting.default) for key, setting in BEFORE.items() if key != "threads"}
    for key, value in before.items():
        if not (BEFORE[key].allows(value) or (key == "heldout" and _is_counts(value))):
            raise ConfigError(f"--set {key}: {value!r} is not allowed; allowed is {BEFORE[key].allowed}")
    settings = TranslatorSettings.from_mapping(given)
    source, target = options.languages
    out, train_dir = training_folders(options)
    for file in options.pairs:
        if not file.is_file():
            raise DataError("no such file", file)

    from psp.config.corpus_entries import file_name
    from psp.core.versions import VERSION
    from psp.pairs.mix import mix
    from psp.pairs.subword import train_subword
    from psp.pairs.translator_heldout import hold_out
    from psp.training.finished import check_unfinished
    from psp.training.translator import REPORT, export, train_translator

    export.library()
    if not options.force:
        check_unfinished(out, train_dir)
    corpora = [file_name(str(file)) for file in options.pairs]
    if repeated := next((name for name in corpora if corpora.count(name) > 1), None):
        raise ConfigError(f"two files are named {repeated}; rename one, since scores are by corpus")
    mixed, pairs, heldout = (train_dir / f"{name}.tsv" for name in ("mix", "pairs", "heldout"))
    mix(
        list(zip(corpora, options.pairs, strict=True)),
        mixed,
        train_dir / "none.tsv",
        train_dir / "mix.json",
        heldout_pairs=0,
        seed=options.seed,
    )
    (train_dir / "none.tsv").unlink()
    hold_out(
        mixed,
        pairs,
        heldout,
        train_dir / "heldout.json",
        corpora=corpora,
        sets=before["heldout"],
        development=before["development"],
    )
    mixed.unlink()
    vocabulary = before["sentencepiece"] and Path(before["sentencepiece"])
    if vocabulary is None:
        vocabulary = train_dir / "sentencepiece.model"
        train_subword(
            pairs,
            vocabulary,
            vocab_size=before["vocab_size"],
            character_coverage=before["character_coverage"],
            threads=1,
            seed=options.seed,
            report=train_dir / "sentencepiece.json",
        )
    report = train_translator(
        pairs,
        heldout,
        vocabulary,
        out,
        train_dir / REPORT,
        train_dir,
        settings,
        languages=(source, target),
        corpora=corpora,
        threads=options.threads,
        seed=options.seed,
        identity={"version": VERSION["translator"]},
    )
    for file in (pairs, heldout):
        file.unlink()
    print(
        f"{options.out}: trained for {report['steps']:,} steps on {report['pairs_seen']:,} pairs, "
        f"{report['target_tokens_per_second']:,.0f} target subwords/s; best on development pairs at step "
        f"{report['best']['step']:,}"
    )
    for name, scores in report["sets"].items():
        exact, small = scores["float32"], scores["int8"]
        print(
            f"{name}: {scores['pairs']:,} pairs, BLEU {small['bleu']:.1f} (float32 {exact['bleu']:.1f}, lower-cased "
            f"{small['lower_bleu']:.1f}), chrF {small['chrf']:.1f}; {small['copies']:,} copies, {small['empty']:,} "
            f"empty, {small['overlong']:,} overlong"
        )
    print(f"by sacrebleu: {report['signatures']['bleu']}; the rest is in {train_dir / REPORT}")


def _is_counts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(one, int) and one >= 0 for one in value.values())
