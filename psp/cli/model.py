"""Commands that describe, change or share a model."""

from __future__ import annotations

import argparse
import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psp.cli import ending_well, lines, model_argument, positive
from psp.core.errors import ConfigError, DataError
from psp.models import CONFIG, HUB
from psp.models.exports import FORMS

if TYPE_CHECKING:
    from psp.models.text_model import TextModel

log = logging.getLogger(__name__)


def add_info(added: argparse.ArgumentParser) -> None:
    """Add the arguments of ``psp info``."""
    model_argument(added)
    added.add_argument("--json", action="store_true", help="print JSON")


def run_info(options: argparse.Namespace) -> None:
    """Run ``psp info``."""
    from psp.models.folder import load_model

    facts = _facts(load_model(options.model, accelerate=False, verify=True))
    if options.json:
        print(json.dumps({"format": 1, "model": options.model, **facts}, indent=2, ensure_ascii=False))
        return
    print(f"{options.model}:")
    _print(_said(facts))
    for number, part in enumerate(facts.get("parts", ())):
        print(f"part {number}, of weight {part['weight']:g}:")
        _print(_said(part))


def _print(lines: dict[str, str]) -> None:
    for name, what in lines.items():
        print(f"  {name:<14}{what}")


def _facts(model: Any) -> dict[str, Any]:
    """Collect the facts about a model; keys from its config keep their names."""
    from psp.models.combined import CombinedModel

    config = model.config
    facts = {
        "languages": config["languages"],
        "dim": model.dim,
        "dtype": model.dtype,
        "table_bytes": model.nbytes,
        "recipe": config.get("recipe"),
        "psp_version": config.get("psp_version"),
    }
    if isinstance(model, CombinedModel):
        parts = zip(model.weights, model.parts, strict=True)
        return {**facts, "parts": [{"weight": weight, **_facts(part)} for weight, part in parts]}
    return {
        **facts,
        "vocab_size": model.vocab_size,
        "left_out": len(config.get("left_out") or []),  # pieces without an embedding
        "lower_case": config["lower_case"],
        "segment": config["segment"],
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
    said = {
        "languages": ", ".join(facts["languages"]) or "unknown",
        "dimensions": f"{facts['dim']:,}",
        "table": f"{facts['dtype']}, {facts['table_bytes']:,} bytes",
        "recipe": facts["recipe"] or "none",
        "written by": f"psp {facts['psp_version']}",
    }
    if "parts" in facts:
        return said
    from psp.text.tokenizer import on_disk

    left_out, kind = facts["left_out"], facts["tokenizer"]
    numba, unsupported_reason = facts["accelerator"]["numba"], facts["accelerator"]["obstacle"]
    segmenters = (
        f"{setting['name']} ({language}{', all words' if setting.get('cut_all') else ''})"
        for language, setting in facts["segment"].items()
    )
    return {
        **said,
        "pieces": f"{facts['vocab_size']:,}" + (f", of which {left_out:,} are left out" if left_out else ""),
        "lower-casing": "yes" if facts["lower_case"] else "no",
        "segmenter": ", ".join(segmenters) or "none",
        "tokenizer": f"{kind}, sha256 {facts['tokenizer_sha256']}",
        "accelerator": f"numba {numba}" if numba else "none",
        "words": f"encoded by {kind}: {unsupported_reason}" if unsupported_reason else on_disk(kind).looked_up,
    }


def add_quantize(added: argparse.ArgumentParser) -> None:
    """Add the arguments of ``psp quantize``."""
    model_argument(added)
    added.add_argument("out", type=Path, metavar="OUT", help="the model folder to write; must not exist")
    added.add_argument(
        "--dtype", choices=["float16", "int8", "int4"], help="type of the embedding matrix (default: unchanged)"
    )
    added.add_argument("--dim", type=positive, metavar="D", help="keep the first D dimensions (default: all)")


def run_quantize(options: argparse.Namespace) -> None:
    """Run ``psp quantize``."""
    if options.dtype is None and options.dim is None:
        raise ConfigError("nothing to make smaller; give --dtype int8, --dim 256, or both")

    from psp.core.files import new_folder
    from psp.models.combined import parts_of
    from psp.models.folder import load_model

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


def add_combine(added: argparse.ArgumentParser) -> None:
    """Add the arguments of ``psp combine``."""
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


def run_combine(options: argparse.Namespace) -> None:
    """Run ``psp combine``."""
    if len(options.models) < 2:
        raise ConfigError("one model alone cannot be combined; name two or more")
    weights = _weights(options.weights, len(options.models))

    from psp.core.files import new_folder
    from psp.models.combined import CombinedModel
    from psp.models.folder import load_model

    models = [load_model(name, accelerate=False) for name in options.models]
    made = CombinedModel(models, weights)
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


def _differences(names: Sequence[str], models: Sequence[TextModel]) -> Iterator[str]:
    """The differences in how the models treat text, one sentence each."""
    for what, of in (("lower-casing", _lower_casing), ("segmentation", _segmentation), ("prompts", _prompts)):
        ways = [of(model) for model in models]
        if len(set(ways)) > 1:
            by_model = "; ".join(f"{name}: {way}" for name, way in zip(names, ways, strict=True))
            kept = "the combination has none" if what == "prompts" else "each part keeps its own"
            yield f"the models differ in {what} ({by_model}); {kept}"


def _lower_casing(model: TextModel) -> str:
    return _of_parts(model, lambda config: "yes" if config.get("lower_case") else "no")


def _segmentation(model: TextModel) -> str:
    def said(config: Mapping[str, Any]) -> str:
        ways = (value["name"] + ", all words" * value.get("cut_all", False) for value in config["segment"].values())
        return " and ".join(dict.fromkeys(ways)) or "none"

    return _of_parts(model, said)


def _of_parts(model: TextModel, describe: Callable[[Mapping[str, Any]], str]) -> str:
    from psp.models.combined import parts_of

    return " and ".join(dict.fromkeys(describe(part.config) for part in parts_of(model)))


def _prompts(model: TextModel) -> str:
    return ", ".join(model.config.get("prompts") or {}) or "none"


def add_export(added: argparse.ArgumentParser) -> None:
    """Add the arguments of ``psp export``."""
    added.formatter_class = argparse.RawDescriptionHelpFormatter
    added.epilog = "formats:\n" + "\n".join(f"  {form}: {loads}" for form, loads in FORMS.items())
    added.add_argument("form", choices=list(FORMS), metavar="FORM", help="one of the formats below")
    model_argument(added)
    added.add_argument("out", type=Path, metavar="OUT", help="the folder (word2vec: file) to write; must not exist")
    added.add_argument(
        "--check",
        type=Path,
        metavar="FILE",
        help="sentences, one per line, to verify its tokenizer on (default: 2,000 texts of its own pieces)",
    )


def run_export(options: argparse.Namespace) -> None:
    """Run ``psp export``."""
    from psp.models.exports import export, own_texts
    from psp.models.folder import load_model

    model = load_model(options.model)
    sentences = lines(options.check) if options.check else own_texts(model)
    summary = export(options.form, model, options.out, sentences)
    print(f"{options.out}: {summary}")


def add_import_checkpoint(added: argparse.ArgumentParser) -> None:
    """Add the arguments of ``psp import-checkpoint``."""
    added.add_argument("checkpoint", type=Path, metavar="MODEL.pt", help="the PyTorch pickle; none of its code is run")
    added.add_argument("sentencepiece", type=Path, metavar="SP.model", help="its sentencepiece model")
    added.add_argument("out", type=Path, metavar="FOLDER", help="the model folder to write; must not exist")


def run_import_checkpoint(options: argparse.Namespace) -> None:
    """Run ``psp import-checkpoint``."""
    from psp.models.published import import_checkpoint

    config = import_checkpoint(options.checkpoint, options.sentencepiece, options.out)
    print(
        f"{options.out}: {config['vocab_size']:,} pieces, {config['dim']} dimensions; "
        f"{len(config['left_out'])} pieces have no embedding and are left out"
    )


def add_push(added: argparse.ArgumentParser) -> None:
    """Add the arguments of ``psp push``."""
    added.add_argument(
        "folder", type=Path, metavar="FOLDER", help="results/<model>/release, or any folder with a model"
    )
    added.add_argument("repo", metavar="USER/NAME", help="the repository to push to; created if missing")
    added.add_argument("--private", action="store_true", help="make a new repository private")
    added.add_argument("--revision", metavar="BRANCH", help="the branch, created if missing (default: main)")
    added.add_argument("--message", metavar="TEXT", help="the commit's message")


def run_push(options: argparse.Namespace) -> None:
    """Run ``psp push``."""
    from psp.models.hub import push

    if not (options.folder / CONFIG).is_file():
        raise DataError(
            f"no folder of a model, or of a release, which has a {CONFIG}; make one with "
            "`snakemake ... results/<model>/release`",
            options.folder,
        )
    address = push(
        options.folder,
        options.repo,
        private=options.private or None,
        revision=options.revision,
        commit_message=options.message,
    )
    print(address)
