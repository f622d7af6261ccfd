"""Train a translator: a small transformer trained on bitext on a CPU, and exported for CTranslate2.

Text is read and written in its original case and unsegmented. The output is a folder (``export``) and a report with
BLEU and chrF on sentences that training has not read (:mod:`psp.pairs.translator_heldout`). The libraries are imported
when training begins.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from psp.config.blocks.translator import TranslatorSettings
from psp.core.errors import ConfigError, DataError
from psp.core.files import sha256, write_json
from psp.pairs.translator_heldout import DEVELOPMENT, read_heldout

log = logging.getLogger(__name__)

REPORT = "translator.json"
#: How the held-out pairs are translated for the report.
COMPUTED = ("float32", "int8")


def train_translator(
    pairs: Path,
    heldout: Path,
    sentencepiece: Path,
    out: Path,
    report: Path,
    train_dir: Path,
    settings: TranslatorSettings | Mapping[str, Any],
    *,
    languages: Sequence[str],
    corpora: Sequence[str],
    threads: int,
    seed: int = 1,
    identity: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Train a translator and write it, or resume its training if that was stopped or killed.

    Args:
        pairs: a mixed pair file, source first, in its own case and unsegmented.
        heldout: pairs for development and for the report, as :func:`psp.pairs.translator_heldout.hold_out` writes
            them.
        sentencepiece: the sentencepiece model of both sides.
        out: the translator's folder.
        report: translator.json.
        train_dir: metrics.csv, dev.csv and timing.csv; until the end also checkpoints/ and the pairs as ids.
        settings: see :class:`psp.config.blocks.translator.TranslatorSettings`.
        languages: source and target.
        corpora: the corpora's names, by the index in the held-out pairs.
        threads: torch's on the CPU. The same number gives the same bytes there.
        seed: of the first weights, of batches and of dropout.
        identity: what else the result depends on; training does not resume from those of another run.

    Returns:
        The content of translator.json, with ``resumed_at``, ``seconds`` and ``target_tokens_per_second`` added.

    Raises:
        ConfigError: a setting is not allowed, or requests a missing GPU.
        DataError: a file is missing or damaged, the sentencepiece model is for other text, or there are too few pairs.
        PspError: a package is missing, or training diverged.
        Stopped: by Ctrl-C or SIGTERM; the same call resumes.
    """
    settings = TranslatorSettings.of(settings)
    if len(languages) != 2:
        raise ConfigError(f"languages: {' '.join(languages)}; a translator has two, source and target")
    import torch

    from psp.config.blocks.training import CheckpointSchedule
    from psp.text.sentencepiece_tokenizer import load_sentencepiece
    from psp.training.saving.checkpoint import Checkpoints, Stopped, StopRequest, sole
    from psp.training.torch_state import choose_device, torch_state
    from psp.training.translator import export, score
    from psp.training.translator.data import encode_pairs
    from psp.training.translator.model import Sizes, TranslatorModel
    from psp.training.translator.trainer import TranslatorTrainer

    device = choose_device(settings.device, settings.BLOCK)
    export.library()  # missing packages are reported before hours of training
    signatures = score.signatures(languages[1])
    processor = load_sentencepiece(Path(sentencepiece))
    sets = read_heldout(heldout)
    development = sets.pop(DEVELOPMENT, [])
    if not development:
        raise DataError(f"has no pairs of the set `{DEVELOPMENT}`, by which the best weights are chosen", heldout)
    with torch_state(threads), sole(train_dir), StopRequest().listening() as stop:
        checkpoints = Checkpoints(
            train_dir / "checkpoints",
            {
                "settings": settings.learned(),
                "seed": seed,
                "threads": threads,
                "device": device.type,
                "languages": list(languages),
                **{
                    name: sha256(file) for name, file in (("pairs", pairs), ("heldout", heldout), ("sp", sentencepiece))
                },
                "versions": {"torch": torch.__version__},
                **(identity or {}),
            },
            CheckpointSchedule(minutes=settings.checkpoint_minutes, steps=settings.checkpoint_steps),
        )
        encoded = encode_pairs(
            pairs, processor, train_dir, max_tokens=settings.max_tokens, errors=settings.errors,
            denoise=languages[0] == languages[1], seed=seed, threads=threads,
        )  # fmt: skip
        sizes = Sizes(
            pieces=processor.get_piece_size(),
            **{
                key: getattr(settings, key)
                for key in ("encoder_layers", "decoder_layers", "dim", "heads", "feed_forward", "share_vectors")
            },
        )
        network = TranslatorModel(sizes, settings.dropout)
        network.initialise(torch.Generator().manual_seed(seed))
        trainer = TranslatorTrainer(
            network.to(device),
            encoded,
            processor,
            [(source, target) for source, target, _ in development],
            settings,
            seed=seed,
            folder=train_dir,
            checkpoints=checkpoints,
            target_language=languages[1],
        )
        parameters, padding = len(trainer.flat.weights), round(trainer.batches.waste(), 4)
        log.info(
            "training a translator on %s: %s pairs, %s weights, %d batches a pass, %.1f%% padding",
            device.type, f"{len(encoded):,}", f"{parameters:,}", len(trainer.batches), 100 * padding,
        )  # fmt: skip
        begun = time.perf_counter()
        ended = trainer.run(stop)
        if ended is None:
            assert stop.signal is not None
            raise Stopped("stopped; the same command resumes from the last checkpoint", stop.signal)
        seconds = time.perf_counter() - begun
        rate = (trainer.tokens - trainer.tokens_before) / max(seconds, 1e-9)
        resumed_at = trainer.resumed_at
        trained = {
            "steps": trainer.step,
            "pairs_seen": trainer.seen,
            "ended_by": ended.by,
            "best": {"step": ended.best[0], "bleu": ended.best[1]},
        }
        export.save(
            out,
            network,
            Path(sentencepiece),
            {"max_tokens": settings.max_tokens, "parameters": parameters, "seed": seed, "training": trained},
            languages,
        )
        result: dict[str, Any] = {
            "format": 1,
            "languages": {"source": languages[0], "target": languages[1]},
            "settings": settings.as_dict(),
            "seed": seed,
            "device": device.type,
            "threads": threads,
            "sentencepiece": {"pieces": sizes.pieces, "sha256": sha256(sentencepiece)},
            "parameters": parameters,
            "data": {**encoded.counts, "batches": len(trainer.batches), "padding": padding},
            **trained,
            "development": {
                "pairs": len(development),
                "scores": [{"step": step, "bleu": bleu} for step, bleu in trainer.scores],
            },
            "signatures": signatures,
            "sets": {
                name: _score(out, rows, corpora, settings, languages[1], threads) for name, rows in sorted(sets.items())
            },
        }
        write_json(report, result)
        checkpoints.clear()
        del encoded, trainer
        for name in ("source.ids", "target.ids"):
            (train_dir / name).unlink(missing_ok=True)
    times = {"seconds": round(seconds, 2), "target_tokens_per_second": round(rate, 1)}
    return {**result, "resumed_at": resumed_at, **times}


def _score(
    folder: Path,
    rows: Sequence[tuple[str, str, int]],
    corpora: Sequence[str],
    settings: TranslatorSettings,
    language: str,
    threads: int,
) -> dict[str, Any]:
    """The scores of one held-out set, and of each corpus in it."""
    from psp.inference.translation.load import load_translator, trained_settings
    from psp.training.translator import score

    search = {"beam": settings.beam, "batch_tokens": 2048}
    sources, references = [source for source, _, _ in rows], [target for _, target, _ in rows]
    scores: dict[str, Any] = {"pairs": len(rows)}
    by_corpus: dict[str, dict[str, Any]] = {}
    for computed in COMPUTED:
        translator = load_translator({**trained_settings(folder), **search, "compute_type": computed}, threads=threads)
        best = [hypotheses[0] for hypotheses in translator.translate(sources)]
        texts, overlong = [one.text for one in best], [not one.ended for one in best]
        scores[computed] = {
            **score.scores(texts, references, language),
            **score.faults(sources, texts, overlong),
        }
        for index, name in enumerate(corpora):
            places = [place for place, row in enumerate(rows) if row[2] == index]
            if places:
                one = by_corpus.setdefault(name, {"pairs": len(places)})
                ours, theirs = ([values[place] for place in places] for values in (texts, references))
                one[computed] = score.scores(ours, theirs, language)
    return {**scores, "corpora": by_corpus}
