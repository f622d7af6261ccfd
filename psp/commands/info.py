"""``psp info``: what a model is."""

from __future__ import annotations

import argparse
import json
from importlib import metadata
from typing import Any


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("info", run, "Say what a model is: languages, size, how it reads text, what makes it fast here.")
    added.add_argument("model", metavar="MODEL", help="a model folder, such as results/fr/model, or hf://USER/NAME")
    added.add_argument("--json", action="store_true", help="for programs")


def run(options: argparse.Namespace) -> None:
    """Do it."""
    from psp.model import load_model

    facts = _facts(load_model(options.model, accelerate=False))
    if options.json:
        print(json.dumps({"format": 1, "model": options.model, **facts}, indent=2, ensure_ascii=False))
        return
    print(f"{options.model}:")
    for name, said in _said(facts).items():
        print(f"  {name:<14}{said}")


def _facts(model: Any) -> dict[str, Any]:
    """What is known of a model; its config's keys keep their names."""
    config = model.config
    return {
        "languages": config["languages"],
        "dim": model.dim,
        "vocab_size": model.vocab_size,
        "left_out": len(config.get("left_out") or []),  # pieces without a row
        "dtype": model.dtype,
        "table_bytes": model.nbytes,
        "lower_case": config["lower_case"],
        "segment": config["segment"],
        "recipe": config.get("recipe"),
        "psp_version": config.get("psp_version"),
        "sentencepiece_sha256": config["sentencepiece_sha256"],
        "accelerator": _accelerator(model),
    }


def _accelerator(model: Any) -> dict[str, str | None]:
    """The version of numba, None where it is not installed; and why words are not looked up, None where they are."""
    try:
        version = metadata.version("numba")
    except metadata.PackageNotFoundError:
        return {"numba": None, "obstacle": "numba is not installed: pip install 'psp[fast]'"}
    from psp.unigram import obstacle

    return {"numba": version, "obstacle": obstacle(model.sentencepiece)}


def _said(facts: dict[str, Any]) -> dict[str, str]:
    left_out = facts["left_out"]
    numba, obstacle = facts["accelerator"]["numba"], facts["accelerator"]["obstacle"]
    segmenters = (
        f"{setting['name']} ({language}{', all words that it finds' if setting.get('cut_all') else ''})"
        for language, setting in facts["segment"].items()
    )
    return {
        "languages": ", ".join(facts["languages"]) or "not on record",
        "dimensions": f"{facts['dim']:,}",
        "pieces": f"{facts['vocab_size']:,}" + (f", of which {left_out:,} are left out" if left_out else ""),
        "table": f"{facts['dtype']}, {facts['table_bytes']:,} bytes",
        "lower-casing": "yes" if facts["lower_case"] else "no",
        "segmenter": ", ".join(segmenters) or "none",
        "recipe": facts["recipe"] or "none",
        "written by": f"psp {facts['psp_version']}",
        "sentencepiece": f"sha256 {facts['sentencepiece_sha256']}",
        "accelerator": f"numba {numba}" if numba else "none",
        "words": f"by sentencepiece: {obstacle}" if obstacle else "each is encoded once, then looked up",
    }
