"""``psp train``: train a model on prepared pairs, without the workflow.

Its encoder is a mean of subwords, words or trigrams, or an LSTM over words or subwords. What needs more
than pairs and a vocabulary is left to the workflow: transformers, teachers, encoders trained together.
"""

from __future__ import annotations

import argparse
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psp.cli.common import assigned, assignments, training_folders, training_options
from psp.core.errors import ConfigError, closest

if TYPE_CHECKING:
    from psp.text.tokenizer import Tokenizer

#: The kinds of encoder that the command does not train.
_OTHERS = ("transformer", "teacher", "concat", "add", "joint")
_WORKFLOW = "only by the workflow: write it into a config; see docs/training.md and docs/transformers.md"


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("train", run, "Train a model on prepared pairs, without the workflow.")
    added.set_defaults(level=logging.INFO)  # it takes hours: log progress where there is no terminal for a bar
    added.add_argument(
        "pairs", type=Path, metavar="PAIRS", help="a store.h5, or text with tab-separated source and target per line"
    )
    added.add_argument(
        "--encoder",
        metavar="KIND",
        help="an encoder, named as in a config, such as word or lstm (default: subword, or what --vocabulary holds)",
    )
    added.add_argument("--sentencepiece", type=Path, metavar="MODEL", help="the sentencepiece model, for subwords")
    added.add_argument(
        "--vocabulary",
        type=Path,
        metavar="FILE",
        help="the vocabulary.txt of words or trigrams (default: collected from the text)",
    )
    assignments(
        added,
        "--collect",
        "size, min_count or split of the vocabulary to collect from text, as in the config's vocabulary block",
    )
    assignments(
        added,
        "--lstm",
        "settings of an LSTM, as in the config's lstm block; it reads words, or subwords with --sentencepiece",
    )
    added.add_argument("--init-from", type=Path, metavar="FOLDER", help="a model: start from its embeddings")
    added.add_argument(
        "--init-vectors", type=Path, metavar="FILE", help="word vectors in text format: start from those of known words"
    )
    added.add_argument(
        "--init-encoder",
        metavar="NAME",
        help="start from an encoder's vectors of the pieces, as in the config",
    )
    training_options(added, "model")
    added.add_argument("--languages", help="for text: the columns' languages (en,fr), or en for paraphrases")
    assignments(added, "--set", "settings of the config's train block")
    added.add_argument(
        "--development",
        type=Path,
        metavar="FILE",
        help="held-out pairs for validation after each epoch; --set select=best keeps the best epoch",
    )
    assignments(
        added,
        "--checkpoint",
        "minutes, steps or keep, as in the config's train.checkpoint (default: every 10 minutes, keep two)",
    )
    added.add_argument("--force", action="store_true", help="replace an existing model and its metrics")


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    from psp.training.finished import check_unfinished
    from psp.training.settings import CheckpointSchedule, TrainSettings

    kind, tokens = _encoder(options)
    given = assigned("--set", options.set)
    if "teacher" in given:
        raise ConfigError(f"--set teacher: a teacher's vectors are made {_WORKFLOW}")
    if tokens.unspelled:
        given.setdefault("init_spelling", 0)
    settings = TrainSettings.from_mapping(given)  # before the slow imports
    encoder = _lstm(kind, options.lstm)
    collect = _collected(options.collect)
    checkpoints = CheckpointSchedule.from_mapping(assigned("--checkpoint", options.checkpoint))
    out, train_dir = training_folders(options)
    if not options.force:
        check_unfinished(out, train_dir)

    from psp.core.files import read_json
    from psp.core.versions import VERSION
    from psp.evaluation.development import Development
    from psp.models import card, card_file
    from psp.models.files import CONFIG
    from psp.training.loop import Training

    development = Development.load(None, options.development) if options.development else None
    vocabulary = options.sentencepiece or options.vocabulary or _collect(options.pairs, tokens.kind, collect, train_dir)
    started = _piece_vectors(options.init_encoder, vocabulary, train_dir) if options.init_encoder else None
    report = Training(
        options.pairs,
        vocabulary,
        out,
        train_dir,
        settings,
        development,
        threads=options.threads,
        model_config={
            "languages": _train_languages(options.pairs, options.languages),
            "lower_case": _lower_case(vocabulary),
            "segment": {},
        },
        init_from=options.init_from,
        init_vectors=options.init_vectors,
        piece_vectors=started,
        checkpoints=checkpoints,
        encoder=encoder,
        # Do not resume with other code: the result would belong to neither.
        identity={"version": VERSION["train"]},
        replace=options.force,
    ).run()
    card_file.write(out, card.card(read_json(out / CONFIG)))
    best = report["best"]
    score = "" if best is None else f", validation score {best['score']:.2f} after {best['pairs']:,} pairs"
    print(f"{options.out}: trained on {report['pairs_seen']:,} pairs{score}; metrics are in {train_dir}")


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


def _lower_case(vocabulary: Path) -> bool:
    """Tell whether the model lower-cases its input: no piece has a capital, so the training text had none."""
    from psp.text.tokenizer_kinds import as_tokenizer

    return all(piece == piece.lower() for piece in as_tokenizer(vocabulary).pieces())


def _encoder(options: argparse.Namespace) -> tuple[str, type[Tokenizer]]:
    """The kinds of encoder and tokenizer, checked against the given vocabulary."""
    from psp.text.tokenizer_kinds import COLLECTED, TOKENIZERS, kinds, named, of_kind, on_disk, those
    from psp.text.vocabulary import kind_of
    from psp.training.encoders.kinds import with_settings

    kind, vocabulary, lstm = options.encoder, options.vocabulary, options.encoder in with_settings()
    known = (*kinds(), *with_settings())
    if options.sentencepiece and vocabulary:
        raise ConfigError("--sentencepiece and --vocabulary: a model has one vocabulary; leave out one of them")
    if kind is not None and kind not in known:
        why = f"a {kind} is trained {_WORKFLOW}" if kind in _OTHERS else f"write one of {', '.join(known)}"
        raise ConfigError(f"--encoder {kind}: {why}")
    if vocabulary is not None and not vocabulary.is_file():
        raise ConfigError(f"--vocabulary {vocabulary}: no such file; leave it out to collect one from the text")
    held = None if vocabulary is None else kind_of(vocabulary)
    if vocabulary is not None and held is None:
        raise ConfigError(f"--vocabulary {vocabulary}: holds no {COLLECTED}; write --sentencepiece for subwords")
    if held is not None:
        tokens = on_disk(held, vocabulary)
    elif options.sentencepiece or not kind:
        tokens = TOKENIZERS[0]
    else:
        tokens = of_kind(those(lambda one: one.is_words)[0] if lstm else kind)
    if kind in kinds() and kind != tokens.kind:
        file = "--sentencepiece" if options.sentencepiece else f"--vocabulary {vocabulary}"
        raise ConfigError(
            f"--encoder {kind}: {file} holds {tokens.pieces_called}; name a vocabulary of "
            f"{of_kind(kind).pieces_called}, or another encoder"
        )
    if lstm and not tokens.read_in_order:
        raise ConfigError(
            f"--encoder {kind}: an LSTM reads words or subwords, and {vocabulary} holds {tokens.pieces_called}"
        )
    if not tokens.collected and not options.sentencepiece:
        others = named(lambda one: one.collected, lambda one: one.kind)
        raise ConfigError(f"--sentencepiece: is missing; name the model, or write --encoder {others} without it")
    if options.lstm and not lstm:
        raise ConfigError("--lstm: is for --encoder lstm and blstm; leave it out")
    if options.collect and (options.sentencepiece or vocabulary):
        raise ConfigError("--collect: is for a vocabulary collected from text; leave it out")
    if options.init_from and options.init_vectors:
        raise ConfigError("--init-from and --init-vectors: training can start from one only; leave out the other")
    if options.init_encoder and tokens.unspelled:
        raise ConfigError(f"--init-encoder: an encoder cannot embed these pieces: {tokens.unspelled}")
    if options.init_vectors and not tokens.is_words:
        raise ConfigError(
            f"--init-vectors: are vectors of words, and this model reads {tokens.pieces_called}; leave it out"
        )
    from psp.pairs.text_pairs import is_store

    if not (options.sentencepiece or vocabulary) and is_store(options.pairs):
        raise ConfigError(
            f"{options.pairs} holds ids of a vocabulary: name its file with --vocabulary; the workflow writes it "
            "beside the store, as vocabulary.txt"
        )
    return kind or tokens.kind, tokens


def _piece_vectors(encoder: str, vocabulary: Path, folder: Path) -> Path:
    """The file of an encoder's vectors of the vocabulary's pieces, which are kept by their text for later runs."""
    from psp.models.embedding_cache import cached, default_folder
    from psp.text.tokenizer_kinds import as_tokenizer
    from psp.training.piece_vectors import embed_pieces

    out = folder / "piece_vectors.safetensors"
    embed_pieces(as_tokenizer(vocabulary), cached(encoder, default_folder()), encoder, out)
    return out


def _lstm(kind: str, assignments: list[str]) -> dict[str, Any] | None:
    """The encoder as psp.training.loop.Training takes it; None for a mean."""
    from psp.training.encoders.kinds import block_of, checked_encoder

    return checked_encoder({"kind": kind, **assigned("--lstm", assignments)}) if block_of(kind) else None


def _collected(assignments: list[str]) -> dict[str, Any]:
    from psp.pairs.vocabulary import SECTION

    settings = assigned("--collect", assignments)
    for key, value in settings.items():
        if key not in SECTION.keys:
            raise ConfigError(
                f"vocabulary.{key}: no such key{closest(key, SECTION.keys)}; allowed are {', '.join(SECTION.keys)}"
            )
        if not SECTION[key].allows(value):
            raise ConfigError(f"vocabulary.{key}: {value!r} is not allowed; allowed is {SECTION[key].allowed}")
    return settings


def _collect(pairs: Path, tokens: str, settings: dict[str, Any], folder: Path) -> Path:
    """Collect the vocabulary of the text, beside the metrics."""
    from psp.pairs.vocabulary import build_vocabulary
    from psp.text.vocabulary import FILE

    report = (folder / FILE).with_suffix(".json")
    build_vocabulary(pairs, folder / FILE, kind=tokens, report=report, own=True, **settings)
    return folder / FILE
