"""``psp quantize``: make a model smaller."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from psp.cli.common import ending_well, model_argument
from psp.core.errors import ConfigError


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("quantize", run, "Make a model smaller: fewer bits per number, fewer dimensions, or both.")
    model_argument(added)
    added.add_argument("out", type=Path, metavar="OUT", help="the model folder to write; must not exist")
    added.add_argument("--dtype", choices=["float16", "int8"], help="type of the embedding matrix (default: unchanged)")
    added.add_argument("--dim", type=int, metavar="D", help="keep the first D dimensions (default: all)")


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    if options.dtype is None and options.dim is None:
        raise ConfigError("nothing to make smaller; give --dtype int8, --dim 256, or both")

    from psp.core.files import new_folder
    from psp.models.combined import parts_of
    from psp.models.files import HUB
    from psp.models.model import load_model

    model = load_model(options.model, accelerate=False)
    try:
        smaller = model.quantized(options.dtype, options.dim)
    except ValueError as error:
        raise ConfigError(f"{options.model}: {error}") from None
    if smaller.nbytes >= model.nbytes:
        raise ConfigError(
            f"{options.model}: {smaller.dtype} with {smaller.dim:,} dimensions would take {smaller.nbytes:,} bytes, "
            f"and the model takes {model.nbytes:,}; choose another --dtype or --dim"
        )
    # If the model was itself quantized, keep the record of the original: quality is measured against that.
    # A model on the hub is named, for the card's `base_model`; the path of a folder is useless to others.
    name = options.model.removeprefix(HUB).partition("@")[0] if options.model.startswith(HUB) else None
    place = {"model": name} if name and parts_of(model) == (model,) else {}
    for part, made in zip(parts_of(model), parts_of(smaller), strict=True):
        if made is not part:
            made.config.setdefault("quantized_from", {"dtype": part.dtype, "dim": part.dim, **place})
    with ending_well(), new_folder(options.out) as folder:
        smaller.save(folder)
    print(
        f"{options.out}: {smaller.dtype}, {smaller.dim:,} dimensions, {smaller.nbytes:,} bytes; "
        f"{options.model}: {model.dtype}, {model.dim:,} dimensions, {model.nbytes:,} bytes"
    )
