"""Every model of every file in config/, resolved: ``python -m tests.held.resolved`` writes it anew.

resolved.json holds each key's commonest value, and for each model the keys whose value differs. Keys may come; one may
go if every model had the constant's value, or if its feature was removed: :data:`GONE` lists those.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).parents[2]
FIXTURE = Path(__file__).with_suffix(".json")
#: The files, each on top of those that it is used with; config/config.yaml is below them all.
LAYERS = {
    "config": "",
    "demo": "",
    "sample": "",
    "choosing": "sample",
    "encoders": "sample",
    "mined": "sample",
    "paranmt": "sample",
    "polish": "sample mined",
    "dadas": "sample mined polish",
    "recipes": "sample",
    "release": "sample",
    "taught": "sample",
    "text": "sample",
    "transfer": "sample encoders",
    "translated": "sample",
    "words": "sample encoders",
}


class Removed(str):
    """Why a key has no constant in its place: the feature that went, as CHANGELOG.md has it."""


#: Keys that went, with the value that all models had and the code has now, or why there is none.
GONE: dict[str, Any] = {
    "filters.job_minutes": Removed("jobs that share a corpus"),
    **{f"{block}.{key}": value for block in ("train", "transformer") for key, value in (("processes", 1), ("gpus", 0))},
    "train.nodes": 1,
    "transformer.nodes": 1,
    "train.tune": False,
    **{f"tune.{key}": Removed("tune") for key in ("epochs", "anneal", "grid.token_dropout", "grid.scale")},
    **{f"tune.grid.{key}": Removed("tune") for key in ("dropout", "megabatch")},
    **{f"deciles.{key}": Removed("studies") for key in ("by", "encoders", "pairs", "epochs", "seeds")},
    **{f"by_corpus.{key}": Removed("studies") for key in ("corpora", "encoders", "pairs", "epochs", "seeds")},
    "inspect.pairs": 5000,
    **{f"inspect.{key}": Removed("encoders and settings of inspect") for key in ("samples", "encoder", "encoded")},
    "filters.language.gap": 14,
    "filters.language.own": 0.05,
    "filters.language.partner": 0.3,
    "filters.language.letters": 4,
    "filters.language.threshold": 0,
    "filters.language.spare": None,
    "train.average": 0,
    "train.average_part": Removed("averaged weights"),
    "train.candidates": "batch",
    "train.dev_every": None,
    "train.init_encoder_whitening": 0.5,
    "transformer.distance": "cosine",
    "mix.buckets": None,
}
#: In place of a key that a model has not.
ABSENT = "(absent)"


def flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of nested mappings by dotted key; an empty mapping is one."""
    if isinstance(value, Mapping) and value:
        for key, below in value.items():
            yield from flat(below, f"{name}.{key}" if name else str(key))
    else:
        yield name, value


def described(entry: Any) -> dict[str, Any]:
    """A resolved model as flat keys and JSON values."""
    parts = {
        part.label: {
            "cap": part.cap, "path": part.path, "filters": part.filters, "rank": part.rank, **part.pivot,
            **part.translation,
        }
        for part in entry.parts
    }  # fmt: skip
    variants = {name: {"recipe": one.recipe, "train": one.train} for name, one in entry.variants.items()}
    # What a corpus or a variant shares with its model is said once.
    own = {f"filters.{key}": value for key, value in flat(entry.settings.get("filters", {}))}
    own |= {f"rank.{key}": value for key, value in flat(entry.settings.get("rank", {}))}
    of_parts = {
        f"corpora:{label}:{key}": value
        for label, part in parts.items()
        for key, value in flat(part)
        if value not in (None, {}) and (key not in own or own[key] != value)
    }
    block = getattr(entry.of, "block", None)
    trained = dict(flat(entry.settings.get(block, {}))) if block else {}
    of_variants = {
        f"variants:{name}:{key}": value
        for name, one in variants.items()
        for key, value in flat({"recipe": one["recipe"], **dict(one["train"])})
        if trained.get(key, ABSENT) != value
    }
    named = {
        "corpora": {part.label: [part.version, *part.languages] for part in entry.parts},
        "kind": type(entry.of).__name__, "languages": entry.languages, "recipe": entry.recipe,
        "seed": entry.seed, "encoder": entry.encoder, "combined": entry.combined, "base": entry.base,
        "joint": entry.joint, "normalisation": entry.normalisation if "filters" in entry.settings else None,
    }  # fmt: skip
    found = {**named, **dict(flat(entry.settings)), **of_parts, **of_variants}
    text = json.dumps(found, default=str).replace(str(ROOT), "(here)").replace(str(Path.home()), "~")
    return dict(json.loads(text))


def models() -> dict[str, dict[str, Any]]:
    """All models, as "file: name", in the files' order."""
    from psp.config.config import Config
    from psp.config.config_file import read_yaml

    found = {}
    with mock.patch.dict(os.environ, PSP_DATA="/psp-data"):
        for name, below in LAYERS.items():
            files = [ROOT / f"config/{file}.yaml" for file in ("config", *below.split(), name)]
            config = Config.load(dict.fromkeys(files))
            for model in read_yaml(files[-1]).get("models", {}):
                found[f"{name}: {model}"] = described(config.model(model))
    return found


def packed(found: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Each key's commonest value, and what each model has otherwise."""
    keys = dict.fromkeys(key for model in found.values() for key in model if ":" not in key)
    common = {}
    for key in keys:
        counted = Counter(json.dumps(model.get(key, ABSENT)) for model in found.values())
        common[key] = json.loads(counted.most_common(1)[0][0])
    differing = {
        name: {key: model.get(key, ABSENT) for key in (*keys, *model) if model.get(key, ABSENT) != common.get(key)}
        for name, model in found.items()
    }
    return {"common": common, "models": differing}


def unpacked(body: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What :func:`packed` packed."""
    found = {name: {**body["common"], **own} for name, own in body["models"].items()}
    return {name: {key: value for key, value in one.items() if value != ABSENT} for name, one in found.items()}


def main() -> None:
    body = packed(models())
    common = "".join(f"\n{json.dumps(key)}: {json.dumps(value)}," for key, value in body["common"].items())[:-1]
    each = "".join(f"\n{json.dumps(key)}: {json.dumps(value)}," for key, value in body["models"].items())[:-1]
    FIXTURE.write_text(f'{{"common": {{{common}\n}}, "models": {{{each}\n}}}}\n', "utf-8")


if __name__ == "__main__":
    main()
