"""A transformer trained on pairs by sentence-transformers' own trainer (Dadas 2022, section IV-B).

It reads text in its original case and unsegmented, as the base's tokenizer expects, and writes a model's folder
(:mod:`psp.models.transformer`). The libraries are imported when training begins.
"""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import shutil
import signal
import time
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict, cast

from psp.config.blocks.transformer import TransformerSettings
from psp.core.errors import PspError
from psp.core.files import sha256, write_json
from psp.evaluation.development import Development, DevelopmentFiles

if TYPE_CHECKING:
    from psp.training.teaching.targets import DistillationTargets


class TransformerTeacher(TypedDict):
    """The teacher whose vectors it learnt; absent without one."""

    encoder: str | None  # the teacher, as in the config
    identity: str  # a hash of the teacher's weights
    languages: list[str] | None
    precision: str  # what it computed in
    dim: int  # dimensions of the teacher's vectors
    sentences: int  # distinct sentences that it has embedded
    untaught: int  # pairs left out because it has a vector of neither side
    sha256: str  # SHA-256 of the file of its vectors


class TransformerValidation(TypedDict):
    # the validation score: the mean over the sets of scored pairs minus the error, each with its weight; a null
    # counts as 0; higher is better
    score: float
    pearson: float | None  # Pearson x 100 on the development STS set; null without one, or if undefined
    error: float | None  # retrieval error in % on the held-out pairs, mean of both directions; null without them


class TransformerPass(TransformerValidation):
    step: int  # mini-batches so far


class TransformerDevelopment(TypedDict):
    """The validation scores."""

    before: TransformerValidation | None  # that of the base with its pooling; null without development data
    after: list[TransformerPass]  # that after each pass


class TransformerReport(TypedDict):
    """How a transformer was trained, without times or rates."""

    format: int
    settings: dict[str, Any]  # the settings, as in the block train or transformer of the config, and the seed
    device: Literal["cpu", "cuda"]  # where it was trained
    threads: int  # threads of each process; the same processes and threads give the same bytes
    steps: int  # total mini-batches
    encoder: Literal["transformer"]  # the kind of encoder
    base: str  # what training began with
    dim: int  # dimensions of a sentence's vector
    pairs: int  # training pairs
    teacher: NotRequired[TransformerTeacher]
    cut: int  # texts of both sides that had more than max_length tokens, the rest of which was not read
    loss: float | None  # mean of the last rows of metrics.csv
    development: TransformerDevelopment


log = logging.getLogger(__name__)

#: What the trainer imports, and names the extra for if it is missing.
PACKAGES = ("sentence_transformers", "datasets", "accelerate", "torch")


@dataclass(frozen=True)
class TransformerTraining:
    """One training of a transformer, as :class:`psp.training.loop.Training` is of an embedding matrix.

    Attributes:
        pairs: a pair file, mixed or plain, in its own case and unsegmented.
        base: a folder with a transformer, ``package://<installed package>``, or a name on the Hugging Face Hub that
            has been downloaded before; nothing is fetched from a network.
        out_dir: the model's folder; None = only scores.
        train_dir: metrics.csv during training, timing.csv and train.json at its end. Until then, checkpoints/ and
            the pairs.
        settings: see :class:`psp.config.blocks.transformer.TransformerSettings`.
        development: scored before training and after each pass, or its files; the last weights are kept
            whatever the scores.
        threads: torch's on the CPU. The same number gives the same bytes there.
        seed: of the LSTM's first weights, of batches and of dropout.
        model_config: goes into config.json (languages, recipe...).
        identity: what else the result depends on; training does not resume from those of another run.
        teacher: the output of the rule ``teach`` for these pairs. Instead of ranking pairs, the model then learns, for
            both sides, the teacher's vector of the side that it knows, by cosine. If the teacher's dimension
            differs from the model's, vectors are compared through a matrix that is learnt and then dropped.
    """

    pairs: Path
    base: str
    out_dir: Path | None
    train_dir: Path
    settings: TransformerSettings | Mapping[str, Any]
    development: Development | DevelopmentFiles | None = None
    _: KW_ONLY
    threads: int
    seed: int = 1
    model_config: Mapping[str, Any] = field(default_factory=dict)
    identity: Mapping[str, Any] = field(default_factory=dict)
    teacher: Path | None = None

    def run(self) -> TransformerReport:
        """Train in this process and write the model, or resume the training if that was stopped or killed.

        Returns:
            The content of train.json: ``settings`` (with the seed), ``base``, ``pairs``, ``cut`` (texts longer than
            ``max_length``), ``steps``, ``loss``, ``development`` (``before`` and after each pass)...; and beside it
            ``resumed_at``, ``seconds`` and ``pairs_per_second``, of the training of this process, without what comes
            before and after. The latter two are in timing.csv too.

        Raises:
            ConfigError: a setting is not allowed, or requests a missing GPU.
            DataError: the pair file or the base is missing or damaged.
            PspError: a package is missing, the base cannot be loaded, or training diverged.
            Stopped: by Ctrl-C or SIGTERM; the same call resumes.
        """
        return _run(self)

    @classmethod
    def configured(
        cls, inputs: Any, params: Mapping[str, Any], job: Mapping[str, Any], *, seed: int, version: int, **folders: Any
    ) -> TransformerTraining:
        """A training run as a rule requests it, like :meth:`psp.training.loop.Training.configured`; reads ``pairs``."""
        own = {key: job[key] for key in ("device", "log_every", "checkpoint_steps")}
        return cls(
            Path(inputs.pairs),
            params["base"],
            settings={**params["train"], **own},
            development=DevelopmentFiles.configured(inputs, params["development"]),
            seed=seed,
            model_config={"languages": list(params["languages"]), "recipe": params["recipe"]},
            identity={"version": version},
            teacher=Path(inputs.teacher[0]) if inputs.teacher else None,
            threads=job["threads"],
            **folders,
        )


def _run(job: TransformerTraining) -> TransformerReport:
    settings = TransformerSettings.of(job.settings)
    pairs, base, out_dir, train_dir, teacher = Path(job.pairs), job.base, job.out_dir, job.train_dir, job.teacher
    if missing := [name for name in PACKAGES if importlib.util.find_spec(name) is None]:
        raise PspError(f"training a transformer needs {', '.join(missing)}: pip install 'paraphrastic[transformer]'")
    import torch
    import transformers

    from psp.models.registry import hash_of_files
    from psp.models.transformer import quiet, save_transformer
    from psp.training.saving.checkpoint import Stopped, StopRequest, sole
    from psp.training.saving.library_checkpoints import CHECKPOINTS, last_checkpoint
    from psp.training.teaching.targets import DistillationTargets
    from psp.training.torch_state import choose_device, torch_state
    from psp.training.transformer import trainer
    from psp.training.transformer.base import build, find_base
    from psp.training.transformer.dataset import count_cut, read_dataset, write_dataset

    device = choose_device(settings.device, settings.BLOCK)
    folder = find_base(base)
    development = job.development.load() if isinstance(job.development, DevelopmentFiles) else job.development
    with contextlib.ExitStack() as stack:
        stack.enter_context(quiet())
        stack.enter_context(torch_state(job.threads))
        stack.enter_context(sole(train_dir))
        stop = stack.enter_context(StopRequest().listening())
        transformers.set_seed(job.seed)
        model = build(folder, settings, device.type)
        targets = None if teacher is None else DistillationTargets(teacher)
        of_teacher = None if teacher is None else sha256(teacher)
        last = last_checkpoint(
            train_dir / CHECKPOINTS,
            {
                "settings": settings.learned(),
                "seed": job.seed,
                "threads": job.threads,
                "device": device.type,
                "pairs": sha256(pairs) if pairs.is_file() else None,
                "base": hash_of_files(folder),
                "teacher": of_teacher,
                "model": dict(job.model_config),
                "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
                "development data": getattr(development, "sha256", ""),
                **job.identity,
            },
        )
        count, without_target = write_dataset(pairs, train_dir / "pairs.arrow", targets)
        dataset = read_dataset(train_dir / "pairs.arrow")
        cut = count_cut(dataset, model[0].tokenizer, settings.max_length)
        before = development and _scores(trainer.score(model, settings, development))
        log.info("training %s on %s: %d pairs, %s pooling", base, device.type, len(dataset), settings.pooling)
        begun = time.perf_counter()
        outcome = trainer.run(model, dataset, settings, last, train_dir, development, stop, seed=job.seed)
        if outcome["stopped"]:
            raise Stopped("stopped; the same command resumes from the last checkpoint", stop.signal or signal.SIGTERM)
        seconds = round(time.perf_counter() - begun, 2)
        history = [{"step": row["step"], **_scores(row, "dev")} for row in outcome["history"] if "dev" in row]
        report: dict[str, Any] = {
            "format": 1,
            "encoder": "transformer",
            "base": base,
            "settings": {**settings.as_dict(), "seed": job.seed},
            "device": device.type,
            "threads": job.threads,
            "dim": int(model.get_embedding_dimension()),
            "pairs": count,
            **(
                {}
                if targets is None
                else {"teacher": {**_about(targets), "untaught": without_target, "sha256": of_teacher}}
            ),
            "cut": cut,
            "steps": outcome["steps"],
            "loss": outcome["loss"],
            "development": {"before": before, "after": history},
        }
        times = {
            "pairs_per_second": round(outcome["mini_batches"] * settings.batch_size / max(outcome["seconds"], 1e-9), 1),
            "seconds": seconds,
        }
        trainer.write_timing(train_dir / "timing.csv", outcome["steps"], count * settings.epochs, **times)
        if out_dir is not None:
            encoder = {"base": base, "pooling": settings.pooling, "max_length": settings.max_length}
            save_transformer(out_dir, model.to("cpu"), dict(job.model_config), encoder)
        write_json(train_dir / "train.json", report)
        shutil.rmtree(train_dir / CHECKPOINTS)
        del dataset
        (train_dir / "pairs.arrow").unlink(missing_ok=True)
    return cast("TransformerReport", {**report, **times, "resumed_at": outcome["resumed_at"]})


def _about(targets: DistillationTargets) -> dict[str, Any]:
    keys = ("encoder", "identity", "languages", "precision", "dim", "sentences")
    return {key: targets.about[key] for key in keys}


def _scores(scores: Mapping[str, Any], key: str = "score") -> dict[str, Any]:
    return {"score": scores[key], "pearson": scores["pearson"], "error": scores["error"]}
