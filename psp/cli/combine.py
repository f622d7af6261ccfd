"""``psp combine``: join separately trained models into one."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psp.cli.common import ending_well
from psp.core.errors import ConfigError

if TYPE_CHECKING:
    from psp.models.static import StaticModel

log = logging.getLogger(__name__)


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("combine", run, "Join models into one whose cosine is the weighted mean of theirs.")
    added.add_argument(
        "models",
        nargs="+",
        metavar="MODEL",
        help="two or more model folders, such as results/fr/model, or hf://USER/NAME",
    )
    added.add_argument(
        "--weights", metavar="W,W", help="a positive number for each model, in order, such as 1,0.5 (default: 1 each)"
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

    models = [load_model(name, accelerate=False) for name in options.models]
    made = Combination(models, weights)
    for difference in _differences(options.models, models):
        log.warning("%s", difference)
    with ending_well(), new_folder(options.out) as folder:
        made.save(folder)
    parts = ", ".join(f"{name} x {weight:g}" for name, weight in zip(options.models, weights, strict=True))
    print(f"{options.out}: {parts}; {made.dim:,} dimensions, {made.nbytes:,} bytes")


def _weights(text: str | None, models: int) -> list[float]:
    """The weights of ``--weights``."""
    if text is None:
        return [1.0] * models
    from psp.models.combined import checked_weights

    weights = []
    for word in text.split(","):
        try:
            weights.append(float(word))
        except ValueError:
            raise ConfigError(f"--weights {text}: {word!r} is not a number; write --weights 1,0.5") from None
    try:
        return checked_weights(weights, models)
    except ValueError as error:
        raise ConfigError(f"--weights {text}: {error}") from None


def _differences(names: Sequence[str], models: Sequence[StaticModel]) -> Iterator[str]:
    """The differences in how the models treat text, one sentence each."""
    for what, of in (("lower-casing", _lower_casing), ("segmentation", _segmentation), ("prompts", _prompts)):
        ways = [of(model) for model in models]
        if len(set(ways)) > 1:
            by_model = "; ".join(f"{name}: {way}" for name, way in zip(names, ways, strict=True))
            kept = "the combination has none" if what == "prompts" else "each part keeps its own"
            yield f"the models differ in {what} ({by_model}); {kept}"


def _lower_casing(model: StaticModel) -> str:
    return _of_parts(model, lambda config: "yes" if config.get("lower_case") else "no")


def _segmentation(model: StaticModel) -> str:
    def said(config: Mapping[str, Any]) -> str:
        ways = (value["name"] + ", all words" * value.get("cut_all", False) for value in config["segment"].values())
        return " and ".join(dict.fromkeys(ways)) or "none"

    return _of_parts(model, said)


def _of_parts(model: StaticModel, describe: Callable[[Mapping[str, Any]], str]) -> str:
    from psp.models.combined import parts_of

    return " and ".join(dict.fromkeys(describe(part.config) for part in parts_of(model)))


def _prompts(model: StaticModel) -> str:
    return ", ".join(model.config.get("prompts") or {}) or "none"
