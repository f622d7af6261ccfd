"""Train a model: a store and its tokenizer in, a model folder and metrics out."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict, cast

from psp.config.blocks.teacher import TeacherSettings
from psp.config.blocks.training import JOINT, CheckpointSchedule, TrainSettings
from psp.core.errors import ConfigError
from psp.core.files import sha256, write_json
from psp.evaluation.development import Development, DevelopmentFiles
from psp.evaluation.scorers import EmbeddingScorer
from psp.pairs import data_warnings
from psp.pairs.encoded_pairs import PairSource
from psp.pairs.text_pairs import open_source
from psp.text.tokenizer import Tokenizer
from psp.text.tokenizer_kinds import as_tokenizer
from psp.training import losses
from psp.training.candidates import candidate_vectors
from psp.training.encoders import MEAN, checked_encoder, joint, make_encoder
from psp.training.encoders.base import Encoder
from psp.training.initial import initial_table
from psp.training.losses.base import Loss
from psp.training.losses.teacher import TeacherLoss
from psp.training.piece_vectors import encoder_of
from psp.training.sampling import language_sampling
from psp.training.saving.checkpoint import Checkpoints, sole
from psp.training.saving.csv_log import MetricsLog
from psp.training.spacing import Spacing
from psp.training.teaching.targets import DistillationTargets
from psp.training.torch_state import choose_device, torch_state
from psp.training.trainer import Evaluate, Trainer


class TrainTeacher(TypedDict):
    """The teacher that it learnt from, and the settings of the block teacher; absent without one."""

    identity: str  # a hash of the teacher's weights
    dim: int  # dimensions of the teacher's vectors
    distinct: int  # distinct sentences in a language that the teacher knows
    taught: int  # how many of them it has embedded
    sha256: str  # SHA-256 of the file of its vectors


class InitialisedFrom(TypedDict):
    pieces: int  # pieces of the new vocabulary
    taken_over: int  # pieces whose embeddings come from the other model, or from the file of word vectors


class JudgedSetScore(TypedDict):
    """The score of the kept weights on a set of scored pairs."""

    metric: str  # the main metric of its kind of task
    value: float | None  # the metric, times 100; null if undefined, counting as 0
    standard_error: float  # of the metric over other pairs of the kind, by the bootstrap
    items: int  # its pairs
    weight: float  # in the mean over the sets


class HeldoutRetrieval(TypedDict):
    """How often a held-out sentence retrieves a wrong one, held out or from the training pairs."""

    error: float  # in %, mean of both directions
    standard_error: float  # of the error over other pairs of the kind, by the bootstrap
    items: int  # held-out pairs
    candidates: int  # training pairs whose sentences are candidates beside the held-out ones
    weight: float  # by which the error is multiplied before it is subtracted from the mean over the sets


class FinalValidation(TypedDict):
    """The score of the kept weights, by which settings are compared."""

    # the validation score: the mean over the sets of scored pairs minus the error, each with its weight; a null
    # counts as 0; higher is better
    score: float
    standard_error: float  # of the score over other items of the kind, by the bootstrap
    sets: dict[str, JudgedSetScore]  # the sets of scored pairs, by name
    retrieval: HeldoutRetrieval | None  # null without held-out pairs


class Validation(TypedDict):
    """A validation."""

    step: int  # mini-batches so far
    epoch: int  # the epoch, from 1
    pairs: int  # pairs seen so far
    # the validation score: the mean over the sets of scored pairs minus the error, each with its weight; a null
    # counts as 0; higher is better
    score: float
    pearson: float | None  # Pearson x 100 on the development STS set; null without one, or if undefined
    error: float | None  # retrieval error in % on the held-out pairs, mean of both directions; null without them
    pairs_sts: int  # pairs of the development STS set
    pairs_heldout: int  # held-out pairs
    sets: NotRequired[dict[str, float | None]]  # the metric of each further set of scored pairs, by name


class TrainLanguage(TypedDict):
    """A language pair, if languages are drawn in other proportions than their numbers of pairs."""

    pairs: int  # in the store
    drawn: int  # in an epoch


class TrainReport(TypedDict):
    """How a model was trained, without times or rates."""

    format: int
    settings: dict[str, Any]  # the settings, as in the block train or transformer of the config, and the seed
    device: Literal["cpu", "cuda"]  # where it was trained
    threads: int  # threads of each process; the same processes and threads give the same bytes
    steps: int  # total mini-batches
    title: NotRequired[str]  # the objective's settings, briefly, for the title of a learning curve
    # the kind of encoder, and its settings as in the config's block for it; absent for a mean
    encoder: NotRequired[dict[str, Any]]
    teacher: NotRequired[TrainTeacher]
    vocabulary: int  # number of pieces, and of rows of the embedding matrix
    store_pairs: int  # pairs in the store
    pairs_seen: int  # pairs in all mini-batches, each counted once per epoch
    languages: NotRequired[dict[str, TrainLanguage]]
    epochs: int  # passes over the pairs
    passed_over: int  # pairs skipped because each was alone in its mega-batch, at most one per epoch
    # pairs without a loss term because every candidate negative was masked, counted per direction and epoch
    without_negative: int
    # what init_from or init_vectors provided; null if all embeddings were drawn at random
    initialised_from: InitialisedFrom | None
    init_encoder: NotRequired[str]  # the encoder whose vectors of the pieces training started from
    # the validation whose weights were kept; null without development data, when the last weights are kept
    best: Validation | None
    development: list[Validation]  # every validation, in order; the rows of dev.csv
    final: NotRequired[FinalValidation]  # of the weights that were kept; absent without development data


log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Training:
    """One training run of a model: a value passed whole from a rule or a command to the process that trains.

    Attributes:
        store: the pairs, encoded with ``tokenizer``; or text, one pair per line (:mod:`psp.pairs.text_pairs`).
        tokenizer: becomes part of the model folder; or the path of a sentencepiece model or vocabulary, or the paths
            of several, for encoders that are trained together.
        out_dir: the model folder: weights, the tokenizer's files and config.json; None = only scores.
        train_dir: metrics.csv and dev.csv (written during training), timing.csv, and at the end
            train.json. Until then, checkpoints/.
        settings: see :class:`TrainSettings`.
        development: development data, which selects the best weights, or its files; None = keep the last ones.
        threads: the same number gives the same bytes.
        model_config: goes into config.json (languages, lower_case, segmenter...).
        candidates: how many pairs are further candidates in the retrieval of held-out pairs by the finished model.
        init_from: a model folder from which to copy the embeddings of pieces that both vocabularies have.
        init_vectors: a file of word vectors in text format, from which to take those of the tokenizer's words.
        piece_vectors: another encoder's vectors of the tokenizer's pieces, in which a share of the first embeddings
            lies (:mod:`psp.training.piece_vectors`).
        checkpoints: when to write them. Training resumes from one if all that the result depends on is unchanged.
        identity: what else the result depends on, such as the version of the rule.
        warn_pairs: warn of fewer pairs.
        encoder: ``kind`` (mean, lstm, blstm), and that kind's settings (for LSTMs
            those of :class:`psp.config.blocks.training.LstmSettings`); or several encoders that are trained together
            (:func:`psp.training.encoders.joint.joint_encoder`); None = the mean.
        teacher: a teacher's vectors of the store's sentences (:mod:`psp.training.teaching.targets`); None = there is
            no teacher. Not for encoders that are trained together.
        teaching: how the model learns from it, the block ``teacher``.
    """

    store: Path
    tokenizer: Tokenizer | Path | Sequence[Path]
    out_dir: Path | None
    train_dir: Path
    settings: TrainSettings | Mapping[str, Any]
    development: Development | DevelopmentFiles | None
    _: KW_ONLY
    threads: int
    model_config: Mapping[str, Any]
    candidates: int = 0
    init_from: Path | None = None
    init_vectors: Path | None = None
    piece_vectors: Path | None = None
    checkpoints: CheckpointSchedule = field(default_factory=CheckpointSchedule)
    identity: Mapping[str, Any] = field(default_factory=dict)
    warn_pairs: int = data_warnings.PAIRS
    encoder: Mapping[str, Any] | None = None
    teacher: Path | None = None
    teaching: TeacherSettings | Mapping[str, Any] | None = None

    def run(self) -> TrainReport:
        """Train in this process and write the model, or resume the training if that was stopped or killed.

        Returns:
            The content of train.json.

        Raises:
            DataError: the store is missing or damaged, or was encoded with another tokenizer; the teacher's file is
                from another run; or development data cannot be read.
            ConfigError: a setting is not allowed, or requests a device that is not available.
            PspError: training diverged; without ``out_dir``, this is only a warning if the loss is finite.
            Stopped: by Ctrl-C or SIGTERM; the same call resumes training.
        """
        return _run(self)

    @classmethod
    def configured(
        cls, inputs: Any, params: Mapping[str, Any], job: Mapping[str, Any], *, seed: int, version: int, **folders: Any
    ) -> Training:
        """A training run as a rule requests it.

        Args:
            inputs: Snakemake's: ``store``, ``vocabulary`` and the development data, if any: ``sts``, ``heldout``,
                ``archive``; ``init_vectors``, ``piece_vectors`` and ``teacher``, lists of at most one file.
            params, job: :func:`psp.config.training.parameters` and ``beside``.
            seed: of the training.
            version: the rule's (:mod:`psp.core.versions`).
            folders: ``out_dir`` and ``train_dir``.
        """
        settings = {**params["train"], "log_every": job["log_every"], "seed": seed}
        init_from, encoder = settings.pop("init_from", None), settings.pop("encoder", None)
        languages = list(params["languages"])
        vectors, teacher, own = (inputs.get(key) for key in ("init_vectors", "teacher", "piece_vectors"))
        files = inputs.vocabulary
        return cls(
            Path(inputs.store),
            Path(files) if isinstance(files, str) else [Path(file) for file in files],
            settings=settings,
            development=DevelopmentFiles.configured(inputs, params["development"]),
            candidates=params["development"]["candidates"],
            model_config={
                "languages": languages,
                "lower_case": params["lower_case"],
                **({"normalisation": params["normalisation"]} if params["normalisation"] else {}),
                "segment": {
                    language: {"name": how["segmenter"], "cut_all": how["cut_all"]}
                    for language, how in params["segment"].items()
                    if how["inference"] and language in languages
                },
                "recipe": params["recipe"],
                **({"unknown_alone": True} if params["unknown_alone"] else {}),
            },
            init_from=Path(init_from) if init_from else None,
            init_vectors=Path(vectors[0]) if vectors else None,
            piece_vectors=Path(own[0]) if own else None,
            checkpoints=CheckpointSchedule(**job["checkpoint"]),
            identity={"version": version, **{key: params[key] for key in ("own_loss",) if key in params}},
            encoder=encoder,
            teacher=Path(teacher[0]) if teacher else None,
            teaching=params["teaching"],
            **{key: job[key] for key in ("threads", "warn_pairs")},
            **folders,
        )


def _run(job: Training) -> TrainReport:
    settings = TrainSettings.of(job.settings)
    losses.check(settings.as_dict())
    model_config, out_dir, train_dir = dict(job.model_config), job.out_dir, job.train_dir
    init_from, init_vectors = job.init_from, job.init_vectors
    own = checked_encoder(job.encoder)
    together = own["kind"] == JOINT
    device = choose_device(settings.device, settings.BLOCK)
    if settings.precision == "mixed" and device.type == "cpu":
        raise ConfigError("train.precision: 'mixed' is for GPUs, and this is the CPU. Write `precision: float32`")
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch_state(job.threads))
        development = job.development
        if isinstance(development, DevelopmentFiles):
            development = development.load()
            log.info("development data: %s", development or "none; the last weights are kept")
        tokenizer = as_tokenizer(job.tokenizer)
        pairs = open_source(job.store, tokenizer, model_config["languages"], threads=job.threads)
        stack.enter_context(contextlib.closing(pairs))
        pairs.check_vocabulary(tokenizer)
        taken_over = None
        read: PairSource = pairs
        spacing = None
        if not together:
            if settings.ignore_spaces and own["kind"] == MEAN and tokenizer.marks_spaces:
                spacing = Spacing(tokenizer.pieces())
                read = spacing.pairs(pairs)
            table, taken_over = initial_table(tokenizer, settings, init_from, read, init_vectors, job.piece_vectors)
        elif init_from is not None or init_vectors is not None or job.piece_vectors is not None:
            raise ConfigError(
                "init_from, init_vectors and init_encoder: not available for encoders that are trained together"
            )
        source, objective, taught = read, None, dict[str, Any]()
        if job.teacher is not None:
            source, objective, about = _distilled(job.teacher, job.teaching, pairs, read, tokenizer, settings)
            taught = {"teacher": about}
        trained: Encoder
        if together:
            trained, optimiser = joint.joint_encoder(tokenizer, pairs, settings, own, device)
            dims = " and ".join(str(part["dim"]) for part in own["parts"])
            log.info("training on %s: %d pairs, %d pieces x %s", device, len(pairs), len(tokenizer), dims)
        else:
            trained, optimiser = make_encoder(table.to(device), settings.as_dict(), own)
            if spacing is not None:
                trained.spacing = spacing  # type: ignore[attr-defined]
            log.info("training on %s: %d pairs, %d pieces x %d", device, len(pairs), *table.shape)
        if warning := data_warnings.few(len(pairs), job.warn_pairs):
            log.warning("%s", warning)
        evaluate = None if development is None else _evaluation(development, tokenizer, model_config)
        saved = Checkpoints(
            train_dir / "checkpoints",
            {
                # Neither more frequent rows of metrics.csv nor `device: cpu` instead of `auto` changes the model.
                "settings": {k: v for k, v in settings.as_dict().items() if k not in ("log_every", "device")},
                "threads": job.threads,
                "device": device.type,
                "pairs": sha256(job.store),
                "sentencepiece": pairs.vocabulary_sha256,
                "init_from": init_from and sha256(init_from / "model.safetensors"),
                **({} if init_vectors is None else {"init_vectors": sha256(init_vectors)}),
                **({} if job.piece_vectors is None else {"piece_vectors": sha256(job.piece_vectors)}),
                "model": model_config,
                **({"encoder": own} if len(own) > 1 else {}),
                **({"parts": joint.started_from(own)} if together else {}),
                **taught,
                "development data": getattr(development, "sha256", ""),
                **job.identity,
            },
            job.checkpoints,
        )
        stack.enter_context(sole(train_dir))
        checkpoint = saved.latest()
        resume = None if checkpoint is None else (checkpoint.state["records"], checkpoint.files(MetricsLog.FILES))
        metrics = stack.enter_context(MetricsLog(train_dir, settings.log_every, resume))
        sampling = language_sampling(pairs, settings.language_sampling)
        trainer = Trainer(
            source, trained, optimiser, settings, evaluate, metrics, saved, train_dir, objective, sampling
        )
        if checkpoint is not None:
            trainer.resume(checkpoint)
        kept = trainer.run()
        trainer.check_learnt(refuse=out_dir is not None)
        report: dict[str, Any] = {
            "format": 1,
            "settings": settings.as_dict(),
            "title": _title(settings),
            **({"encoder": own} if len(own) > 1 else {}),
            **taught,
            "device": device.type,
            "threads": job.threads,
            "vocabulary": len(tokenizer),
            "store_pairs": len(pairs),
            "steps": trainer.step,
            "pairs_seen": trainer.pairs,
            **({} if sampling is None else {"languages": sampling.report()}),
            "epochs": settings.epochs,
            "passed_over": trainer.passed_over,
            "without_negative": trainer.without_negative,
            "initialised_from": taken_over,
            **({} if job.piece_vectors is None else {"init_encoder": encoder_of(job.piece_vectors)}),
            "best": trainer.best,
            "development": metrics.history,
        }
        if isinstance(development, Development):
            trained.load_state_dict(kept)
            scorers = _scorers(trained, tokenizer, model_config)
            final = development.final(*scorers, candidate_vectors(trained, read, job.candidates))
            log.info("kept weights: score %.2f, standard error %.2f", final["score"], final["standard_error"])
            report["final"] = final
        if out_dir is not None:
            trained.save(out_dir, kept, tokenizer, model_config)
        write_json(train_dir / "train.json", report)
        saved.clear()
    return cast("TrainReport", report)


def _title(settings: TrainSettings) -> str:
    """The loss's settings, briefly, for the title of a learning curve."""
    read = losses.reads(settings.objective)
    return ", ".join(f"{key} {getattr(settings, key):g}" for key in ("margin", "scale") if key in read)


def _distilled(
    file: Path,
    teaching: TeacherSettings | Mapping[str, Any] | None,
    pairs: Any,
    read: PairSource,
    tokenizer: Tokenizer,
    settings: TrainSettings,
) -> tuple[PairSource, Loss, dict[str, Any]]:
    """Pairs with their teacher's rows, the loss, and train.json's entry about the teacher."""
    wanted = TeacherSettings.of(teaching)
    targets = DistillationTargets(file)
    targets.check(pairs, tokenizer, wanted)
    loss = TeacherLoss(
        losses.make_loss(settings.as_dict()) if wanted.weight < 1 else None,
        targets,
        targets.sentences(read) if wanted.in_neighbourhoods else None,
        wanted,
        settings.seed,
    )
    log.info("taught by %s: %d sentences, %s", wanted.encoder, len(targets), wanted.loss)
    known = {key: targets.about[key] for key in ("identity", "languages", "dim", "distinct")}
    about = {**wanted.as_dict(), **known, "taught": len(targets), "sha256": sha256(file)}
    return targets.beside(read), loss, about


def _evaluation(development: Development, tokenizer: Tokenizer, config: Mapping[str, Any]) -> Evaluate:
    def evaluate(encoder: Encoder) -> Mapping[str, Any]:
        return development.score(*_scorers(encoder, tokenizer, config))

    return evaluate


def _scorers(
    encoder: Encoder, tokenizer: Tokenizer, config: Mapping[str, Any]
) -> tuple[EmbeddingScorer, EmbeddingScorer]:
    """Scorers of raw text, and of text that was already prepared for training: it must not be segmented again."""
    # A sentence with only unknown pieces keeps the vector that it has in training.
    config = {**config, "unknown_alone": True}
    raw, prepared = (encoder.embedder(tokenizer, keys) for keys in (config, {**config, "segment": {}}))
    return EmbeddingScorer(raw), EmbeddingScorer(prepared)
