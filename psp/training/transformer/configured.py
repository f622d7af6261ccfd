"""Training a transformer as a config's blocks say, for the jobs of the workflow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from psp.training.configured import load_development
from psp.training.transformer import train_transformer


def train_configured_transformer(
    pairs: Path,
    out_dir: Path | None,
    train_dir: Path,
    settings: Mapping[str, Any],
    *,
    base: str,
    sts: str | None,
    heldout: Path | None,
    archive: Path | None,
    languages: Iterable[str],
    recipe: str,
    seed: int,
    threads: int,
    code: str,
    teacher: Path | None = None,
) -> dict[str, Any]:
    """Train a transformer by its resolved config.

    Args:
        pairs: the model's mixed pairs, in their own case.
        out_dir, train_dir, base, seed, threads: as for :func:`psp.training.transformer.train_transformer`.
        settings: the block ``transformer``, with ``pooling`` and ``dim``.
        sts, heldout, archive: the development data, as for :func:`psp.training.configured.train_configured`.
        teacher: what the rule ``teach`` wrote; None without a teacher.
        languages, recipe: the model's; they go into its config.json.
        code: the fingerprint of the code. With other code, or other development data, a checkpoint is not gone on from.

    Returns:
        What train.json holds.

    Raises:
        PspError: as for :func:`psp.training.transformer.train_transformer`, and where development data cannot be read.
    """
    development = load_development(sts, heldout, archive)
    return train_transformer(
        pairs,
        base,
        out_dir,
        train_dir,
        settings,
        development,
        threads=threads,
        seed=seed,
        teacher=teacher,
        model_config={"languages": list(languages), "recipe": recipe},
        identity={"code": code, "development data": "" if development is None else development.sha256},
    )
