"""Train a translator: a small Pegasus model trained on bitext by transformers' trainer, and converted for CTranslate2.

Text is read and written in its original case and unsegmented. The output is a folder (``export``) and a report with
BLEU and chrF on sentences that training has not read (:mod:`psp.pairs.translator_heldout`). The libraries are imported
when training begins.
"""

from __future__ import annotations

import importlib.util
import logging
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from psp.config.blocks.translator import TranslatorSettings
from psp.core.errors import ConfigError, DataError, PspError
from psp.core.files import folder_beside, sha256, write_json
from psp.core.machine import in_bfloat16
from psp.inference.translation import Hypothesis, load_translator
from psp.inference.translation.load import trained_settings
from psp.pairs.translator_heldout import DEVELOPMENT, read_heldout

log = logging.getLogger(__name__)

REPORT = "translator.json"
#: How the held-out pairs are translated for the report.
COMPUTED = ("float32", "int8")
#: What training imports; one that is missing is reported before hours of it.
PACKAGES = ("torch", "transformers", "accelerate", "ctranslate2", "sacrebleu")


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
        train_dir: metrics.csv; until the end also checkpoints/ and the pairs as ids.
        settings: see :class:`psp.config.blocks.translator.TranslatorSettings`.
        languages: source and target.
        corpora: the corpora's names, by the index in the held-out pairs.
        threads: torch's on the CPU. The same number gives the same bytes there.
        seed: of the first weights, of batches and of dropout.
        identity: what else the result depends on; training does not resume from those of another run.

    Returns:
        The content of translator.json, with ``resumed_at`` and ``seconds`` added.

    Raises:
        ConfigError: a setting is not allowed, or requests a missing GPU.
        DataError: a file is missing or damaged, the sentencepiece model is for other text, or there are too few pairs.
        PspError: a package is missing, or training diverged.
        Stopped: by Ctrl-C or SIGTERM; the same call resumes.
    """
    settings = TranslatorSettings.of(settings)
    if len(languages) != 2:
        raise ConfigError(f"languages: {' '.join(languages)}; a translator has two, source and target")
    if missing := [name for name in PACKAGES if importlib.util.find_spec(name) is None]:
        raise PspError(f"training a translator needs {', '.join(missing)}: pip install 'paraphrastic[translate]'")
    import torch
    import transformers

    from psp.models.transformer import quiet
    from psp.text.sentencepiece_tokenizer import load_sentencepiece
    from psp.training.saving.checkpoint import Stopped, StopRequest, sole
    from psp.training.saving.library_checkpoints import CHECKPOINTS, last_checkpoint
    from psp.training.torch_state import choose_device, torch_state
    from psp.training.translator import export, score
    from psp.training.translator.data import encode_pairs
    from psp.training.translator.trainer import TranslatorTrainer

    device = choose_device(settings.device, settings.BLOCK).type
    signatures = score.signatures(languages[1])
    processor = load_sentencepiece(Path(sentencepiece))
    sets = read_heldout(heldout)
    development = sets.pop(DEVELOPMENT, [])
    if not development:
        raise DataError(f"has no pairs of the set `{DEVELOPMENT}`, by which the best weights are chosen", heldout)
    bfloat16 = in_bfloat16(settings.precision, device, "translator.precision")

    def bleu(network: Any) -> float:
        """BLEU of a network on the development pairs, by the decoder of the translator, greedily."""
        with folder_beside(train_dir / "scored") as folder:
            export.save(folder, network, Path(sentencepiece), {"max_tokens": settings.max_tokens})
            texts = [one.text for one in _translate(folder, [row[0] for row in development], 1, "float32", threads)]
        return score.bleu(texts, [row[1] for row in development], languages[1])

    with quiet(), torch_state(threads), sole(train_dir), StopRequest().listening() as stop:
        last = last_checkpoint(
            train_dir / CHECKPOINTS,
            {
                "settings": settings.learned(),
                "seed": seed,
                "threads": threads,
                "device": device,
                "languages": list(languages),
                **{
                    name: sha256(file) for name, file in (("pairs", pairs), ("heldout", heldout), ("sp", sentencepiece))
                },
                "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
                **(identity or {}),
            },
        )
        encoded = encode_pairs(
            pairs, processor, train_dir, max_tokens=settings.max_tokens, errors=settings.errors,
            denoise=languages[0] == languages[1], seed=seed, threads=threads,
        )  # fmt: skip
        transformers.set_seed(seed)
        network = export.build(settings, processor, _attention(device, bfloat16))
        trainer = TranslatorTrainer(
            network, encoded, settings, bleu, last, train_dir, stop, bfloat16=bfloat16, device=device, seed=seed
        )
        parameters = sum(weight.numel() for weight in network.parameters() if weight.requires_grad)
        log.info(
            "training a translator on %s: %s pairs, %s weights, %d batches a pass",
            device, f"{len(encoded):,}", f"{parameters:,}", len(trainer.batches),
        )  # fmt: skip
        begun = time.perf_counter()
        resumed_at = trainer.run()
        seconds = time.perf_counter() - begun
        if trainer.ended is None:
            assert stop.signal is not None
            raise Stopped("stopped; the same command resumes from the last checkpoint", stop.signal)
        best = max(trainer.scores, key=lambda one: (one[1], -one[0]))
        trained = {
            "steps": trainer.state.global_step,
            "pairs_seen": trainer.pairs_seen,
            "ended_by": trainer.ended,
            "best": {"step": best[0], "bleu": best[1]},
        }
        sides = {"source": languages[0], "target": languages[1]}
        about = {"languages": sides, "max_tokens": settings.max_tokens, "parameters": parameters, "seed": seed}
        export.save(out, trainer.best, Path(sentencepiece), {**about, "training": trained})
        result: dict[str, Any] = {
            "format": 1,
            "languages": sides,
            "settings": settings.as_dict(),
            "seed": seed,
            "device": device,
            "threads": threads,
            "sentencepiece": {"pieces": processor.get_piece_size(), "sha256": sha256(sentencepiece)},
            "parameters": parameters,
            "data": {**encoded.counts, "batches": len(trainer.batches)},
            **trained,
            "development": {
                "pairs": len(development),
                "scores": [{"step": step, "bleu": value} for step, value in trainer.scores],
            },
            "signatures": signatures,
            "sets": {
                name: _score(out, rows, corpora, settings, languages[1], threads) for name, rows in sorted(sets.items())
            },
        }
        write_json(report, result)
        shutil.rmtree(train_dir / CHECKPOINTS)
        del encoded, trainer
        for name in ("source.ids", "target.ids"):
            (train_dir / name).unlink(missing_ok=True)
    return {**result, "resumed_at": resumed_at, "seconds": round(seconds, 2)}


def _attention(device: str, bfloat16: bool) -> str:
    """The library's name for how attention is computed.

    By torch's own function in float32 on a CPU. In bfloat16 that takes ten times as long as two products there; on a
    GPU its gradients differ from run to run.
    """
    return "sdpa" if device == "cpu" and not bfloat16 else "eager"


def _translate(folder: Path, texts: Sequence[str], beam: int, computed: str, threads: int) -> list[Hypothesis]:
    """The best translation of each text."""
    search = {"beam": beam, "batch_tokens": 2048, "compute_type": computed}
    translator = load_translator({**trained_settings(folder), **search}, threads=threads)
    return [hypotheses[0] for hypotheses in translator.translate(texts)]


def _score(
    folder: Path,
    rows: Sequence[tuple[str, str, int]],
    corpora: Sequence[str],
    settings: TranslatorSettings,
    language: str,
    threads: int,
) -> dict[str, Any]:
    """The scores of one held-out set, and of each corpus in it."""
    from psp.training.translator import score

    sources, references = [source for source, _, _ in rows], [target for _, target, _ in rows]
    scores: dict[str, Any] = {"pairs": len(rows)}
    by_corpus: dict[str, dict[str, Any]] = {}
    for computed in COMPUTED:
        best = _translate(folder, sources, settings.beam, computed, threads)
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
