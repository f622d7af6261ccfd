"""``psp info``: describe a model."""

from __future__ import annotations

import argparse
import json
from typing import Any

from psp.cli.common import model_argument


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("info", run, "Describe a model: languages, size, text processing, acceleration on this machine.")
    model_argument(added)
    added.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    from psp.models.model import load_model

    facts = _facts(load_model(options.model, accelerate=False, verify=True))
    if options.json:
        print(json.dumps({"format": 1, "model": options.model, **facts}, indent=2, ensure_ascii=False))
        return
    print(f"{options.model}:")
    _print(_said_of_parts(facts) if "parts" in facts else _said(facts))
    for number, part in enumerate(facts.get("parts", ())):
        print(f"part {number}, of weight {part['weight']:g}:")
        _print(_said(part))


def _print(lines: dict[str, str]) -> None:
    for name, what in lines.items():
        print(f"  {name:<14}{what}")


def _facts(model: Any) -> dict[str, Any]:
    """Collect the facts about a model; keys from its config keep their names."""
    from psp.models.combined import CombinedModel

    if isinstance(model, CombinedModel):
        return {
            "languages": model.config["languages"],
            "dim": model.dim,
            "dtype": model.dtype,
            "table_bytes": model.nbytes,
            "recipe": model.config.get("recipe"),
            "psp_version": model.config.get("psp_version"),
            "parts": [
                {"weight": weight, **_facts(part)} for weight, part in zip(model.weights, model.parts, strict=True)
            ],
        }
    config = model.config
    return {
        "languages": config["languages"],
        "dim": model.dim,
        "vocab_size": model.vocab_size,
        "left_out": len(config.get("left_out") or []),  # pieces without an embedding
        "dtype": model.dtype,
        "table_bytes": model.nbytes,
        "lower_case": config["lower_case"],
        "segment": config["segment"],
        "recipe": config.get("recipe"),
        "psp_version": config.get("psp_version"),
        "tokenizer": model.tokenizer.name_on_disk(),
        "encoder": "mean" if model.contextual is None else model.contextual.kind,
        "tokenizer_sha256": model.tokenizer.sha256(),
        "accelerator": _accelerator(model),
    }


def _accelerator(model: Any) -> dict[str, str | None]:
    """Return numba's version (None if not installed) and why words are not looked up (None if they are)."""
    from importlib import metadata

    try:
        version = metadata.version("numba")
    except metadata.PackageNotFoundError:
        return {"numba": None, "obstacle": "numba is not installed: pip install 'paraphrastic[fast]'"}
    return {"numba": version, "obstacle": model.tokenizer.unsupported_reason()}


def _said(facts: dict[str, Any]) -> dict[str, str]:
    from psp.text.tokenizer import on_disk

    left_out = facts["left_out"]
    numba, unsupported_reason = facts["accelerator"]["numba"], facts["accelerator"]["obstacle"]
    segmenters = (
        f"{setting['name']} ({language}{', all words' if setting.get('cut_all') else ''})"
        for language, setting in facts["segment"].items()
    )
    return {
        "languages": ", ".join(facts["languages"]) or "unknown",
        "dimensions": f"{facts['dim']:,}",
        "pieces": f"{facts['vocab_size']:,}" + (f", of which {left_out:,} are left out" if left_out else ""),
        "table": f"{facts['dtype']}, {facts['table_bytes']:,} bytes",
        "lower-casing": "yes" if facts["lower_case"] else "no",
        "segmenter": ", ".join(segmenters) or "none",
        "recipe": facts["recipe"] or "none",
        "written by": f"psp {facts['psp_version']}",
        "tokenizer": f"{facts['tokenizer']}, sha256 {facts['tokenizer_sha256']}",
        "accelerator": f"numba {numba}" if numba else "none",
        "words": f"encoded by {facts['tokenizer']}: {unsupported_reason}"
        if unsupported_reason
        else on_disk(facts["tokenizer"]).looked_up,
    }


def _said_of_parts(facts: dict[str, Any]) -> dict[str, str]:
    return {
        "languages": ", ".join(facts["languages"]) or "unknown",
        "dimensions": f"{facts['dim']:,}",
        "tables": f"{facts['dtype']}, {facts['table_bytes']:,} bytes",
        "recipe": facts["recipe"] or "none",
        "combined by": f"psp {facts['psp_version']}",
    }
