"""``psp combine``: join models that were trained apart into one."""

from __future__ import annotations

import argparse
import logging
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psp.cli.common import ending_well
from psp.core.errors import ConfigError

if TYPE_CHECKING:
    from psp.models.static import StaticModel

log = logging.getLogger(__name__)


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("combine", run, "Join models: a cosine is then the mean of theirs, by weights.")
    added.add_argument(
        "models",
        nargs="+",
        metavar="MODEL",
        help="two or more model folders, such as results/fr/model, or hf://USER/NAME",
    )
    added.add_argument(
        "--weights", metavar="W,W", help="a positive number for each, in their order, such as 1,0.5 (default: 1 each)"
    )
    added.add_argument(
        "--out", required=True, type=Path, metavar="FOLDER", help="the model folder to write; must not exist"
    )


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    if len(options.models) < 2:
        raise ConfigError("one model alone cannot be combined; name two or more")
    weights = _weights(options.weights, len(options.models))

    from psp.core.files import new_folder
    from psp.models.model import Combination, load_model

    with ending_well(), new_folder(options.out) as folder:  # fails before models are loaded if it exists
        models = [load_model(name, accelerate=False) for name in options.models]
        made = Combination(models, weights)
        for said in _differences(options.models, models):
            log.warning("%s; each part keeps its own way", said)
        if "prompts" not in made.config and any(model.config.get("prompts") for model in models):
            log.warning("the models have different prompts; the combination has none")
        made.save(folder)
    parts = ", ".join(f"{name} x {weight:g}" for name, weight in zip(options.models, weights, strict=True))
    print(f"{options.out}: {parts}; {made.dim:,} dimensions, {made.nbytes:,} bytes")


def _weights(text: str | None, models: int) -> list[float]:
    """The weights of ``--weights``."""
    if text is None:
        return [1.0] * models
    found = []
    for word in text.split(","):
        try:
            weight = float(word)
        except ValueError:
            weight = math.nan
        if not 0 < weight < math.inf:
            raise ConfigError(f"--weights {text}: {word!r} is not a positive number; write --weights 1,0.5")
        found.append(weight)
    if len(found) != models:
        raise ConfigError(f"--weights {text}: {len(found)} for {models} models; write one for each")
    return found


def _differences(names: list[str], models: list[StaticModel]) -> list[str]:
    """In what the models treat text differently, a sentence each."""
    from psp.models.combined import parts_of

    said = []
    for what, how in (
        ("lower-cased", lambda part: bool(part.config.get("lower_case"))),
        ("segmented", lambda part: bool(part.config.get("segment"))),
    ):
        ways = {name: {how(part) for part in parts_of(model)} for name, model in zip(names, models, strict=True)}
        if len(set().union(*ways.values())) > 1:
            some = ", ".join(name for name, way in ways.items() if True in way)
            others = ", ".join(name for name, way in ways.items() if False in way)
            said.append(f"text is {what} by {some}, not by {others}")
    return said
