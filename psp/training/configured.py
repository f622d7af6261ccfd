"""Training as a config's blocks say, for the jobs of the workflow: the model itself and each point of a search."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from psp.core.errors import DataError
from psp.evaluation.development import Development
from psp.pairs import data_warnings
from psp.training.loop import train
from psp.training.settings import When

log = logging.getLogger(__name__)


def train_configured(
    store: Path,
    vocabulary: Path | Sequence[Path],
    out_dir: Path | None,
    train_dir: Path,
    settings: Mapping[str, Any],
    *,
    sts: str | None,
    heldout: Path | None,
    archive: Path | None,
    languages: Iterable[str],
    lower_case: bool,
    segment: Mapping[str, Mapping[str, Any]],
    recipe: str,
    threads: int,
    checkpoint: Mapping[str, Any],
    code: str,
    warn_pairs: int = data_warnings.PAIRS,
    init_vectors: Path | None = None,
    teacher: Path | None = None,
    teaching: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Train a model by its resolved config.

    Args:
        store, out_dir, train_dir, threads: as for :func:`psp.training.loop.train`.
        vocabulary: a sentencepiece model, or a vocabulary of words or trigrams; those of all encoders if several are
            trained together.
        settings: the keys of the block ``train`` (without ``threads``, ``tune`` and ``checkpoint``), and ``seed``; for
            an encoder other than the mean also ``encoder``, as for :func:`psp.training.loop.train`.
        sts: the block ``development``'s: the name of a known set, a file, or None.
        heldout: the pairs that were held out of the corpora, a mixed pair file; None without them.
        archive: the STS archive, where ``sts`` is a set of it.
        languages, lower_case, recipe: the model's; they go into its config.json.
        segment: the block ``segment``; languages that are not segmented when the model is used are left out.
        checkpoint: the keys of ``train.checkpoint``.
        warn_pairs: fewer pairs get a warning.
        init_vectors: a file of word vectors to start from.
        teacher: what the rule ``teach`` wrote; None without a teacher.
        teaching: the block ``teacher``.
        code: the fingerprint of the code. With other code, or other development data, a checkpoint is not gone on from.

    Returns:
        What train.json holds.

    Raises:
        PspError: as for :func:`psp.training.loop.train`, and where development data cannot be read.
    """
    settings = dict(settings)
    init_from, encoder = settings.pop("init_from"), settings.pop("encoder", None)
    languages = list(languages)
    development = load_development(sts, heldout, archive)
    return train(
        store,
        vocabulary,
        out_dir,
        train_dir,
        settings,
        development,
        threads=threads,
        model_config={
            "languages": languages,
            "lower_case": lower_case,
            "segment": {
                language: {"name": how["segmenter"], "cut_all": how["cut_all"]}
                for language, how in segment.items()
                if how["inference"] and language in languages
            },
            "recipe": recipe,
        },
        init_from=Path(init_from) if init_from else None,
        init_vectors=init_vectors,
        checkpoints=When(**checkpoint),
        warn_pairs=warn_pairs,
        encoder=encoder,
        teacher=teacher,
        teaching=teaching,
        identity={"code": code, "development data": "" if development is None else development.sha256},
    )


def load_development(sts: str | None, heldout: Path | None, archive: Path | None) -> Development | None:
    """The development data that a config names; the arguments are those of :func:`train_configured`.

    Raises:
        DataError: no pairs were held out, or the data cannot be read.
    """
    if heldout and not heldout.stat().st_size:
        raise DataError(
            "holds no pair: at most a tenth of the pairs is held out, and there are too few; add corpora, loosen what "
            "drops their pairs, or write `development: {heldout: 0}`",
            heldout,
        )
    development = Development.load(sts, heldout, archive) if sts or heldout else None
    log.info("development data: %s", development or "none; the last weights are kept")
    return development
