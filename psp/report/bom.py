"""The bill of materials of a release, as CycloneDX 1.6 (JSON): the model with its card, its files, its corpora.

It contains no date, and its serial number is derived from its content, so the same release has the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Mapping
from typing import Any

from psp.core.version import __version__
from psp.models.card_data import public_address, together
from psp.models.files import is_transformer
from psp.models.licence import NONE, normalised
from psp.models.scores import METRICS, shown
from psp.text.languages import NAMES
from psp.text.markup import plain

VERSION = "1.6"


def bom(
    name: str,
    config: Mapping[str, Any],
    evaluation: Mapping[str, Any],
    data: Mapping[str, Any],
    files: Mapping[str, str],
    base_model: str | None = None,
) -> dict[str, Any]:
    """The bill of materials, as a JSON document.

    Args:
        name: the model's name.
        config: its config.json.
        evaluation: eval.json, or an entry of quantized.json.
        data: data.json.
        files: the SHA-256 of each of the model's files, by name.
        base_model: for a smaller form, the place on the Hub of the model that it was made from.

    Raises:
        PspError: license-expression is missing.
    """
    corpora = [_corpus(corpus) for corpus in data["corpora"]]
    parts = [_file(file, digest) for file, digest in files.items()]
    psp = {
        "type": "library",
        "bom-ref": "psp",
        "name": "paraphrastic",
        "version": str(config.get("psp_version", __version__)),
        "licenses": [{"license": {"id": "MIT"}}],
    }
    model = _model(name, config, evaluation, data, [one["bom-ref"] for one in corpora], base_model)
    document = {
        "$schema": f"http://cyclonedx.org/schema/bom-{VERSION}.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": VERSION,
        "version": 1,
        "metadata": {"component": model},
        "components": [*parts, *corpora, psp],
        "dependencies": [
            {"ref": "model", "dependsOn": [one["bom-ref"] for one in (*parts, *corpora, psp)]},
        ],
    }
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    serial = uuid.uuid5(uuid.NAMESPACE_OID, digest)
    return {**dict(list(document.items())[:3]), "serialNumber": f"urn:uuid:{serial}", **document}


def _model(
    name: str,
    config: Mapping[str, Any],
    evaluation: Mapping[str, Any],
    data: Mapping[str, Any],
    corpora: list[str],
    base_model: str | None,
) -> dict[str, Any]:
    licence = together(data)
    languages = ", ".join(NAMES.get(code, code) for code in config.get("languages") or [])
    kind = (config.get("encoder") or {}).get("kind")
    family = "transformer" if is_transformer(config) else "LSTM" if kind else "static embeddings"
    made_of: dict[str, Any] = {"name": base_model or name, "type": "machine-learning-model"}
    return {
        "type": "machine-learning-model",
        "bom-ref": "model",
        "name": name,
        "description": f"Sentence embeddings for {languages or 'unknown languages'}",
        # An expression must be alone, and cannot express what is not declared.
        "licenses": (
            [{"expression": licence.expression}]
            if licence.expression and not licence.undeclared
            else [{"license": {"name": plain(str(licence))}}]
        ),
        **({"pedigree": {"ancestors": [made_of]}} if config.get("quantized_from") else {}),
        "modelCard": {
            "modelParameters": {
                "approach": {"type": "self-supervised"},
                "task": "sentence-similarity",
                "architectureFamily": family,
                "datasets": [{"ref": ref} for ref in corpora],
                "inputs": [{"format": "text"}],
                "outputs": [{"format": f"vector of {config['dim']} numbers"}],
            },
            "quantitativeAnalysis": {"performanceMetrics": _metrics(evaluation)},
            "considerations": {
                "useCases": ["similarity of sentences, search, and the mining of translations and paraphrases"],
                "technicalLimitations": [f"trained on {languages or 'unknown languages'} alone"],
            },
        },
        "properties": [
            {"name": "psp:recipe", "value": str(config.get("recipe"))},
            {"name": "psp:dtype", "value": str(config.get("dtype", "float32"))},
            {"name": "psp:pairs", "value": str(data["total"]["kept"])},
        ],
    }


def _metrics(evaluation: Mapping[str, Any]) -> list[dict[str, Any]]:
    metrics = []
    for score in shown(evaluation):
        metric: dict[str, Any] = {
            "type": METRICS[score.metric],
            "value": f"{score.value:.2f}",
            "slice": plain(f"{score.test}, {score.items} pairs"),
        }
        if score.interval is not None:
            low, high = score.interval
            metric["confidenceInterval"] = {"lowerBound": f"{low:.2f}", "upperBound": f"{high:.2f}"}
        metrics.append(metric)
    return metrics


def _file(name: str, digest: str) -> dict[str, Any]:
    return {"type": "file", "bom-ref": f"file:{name}", "name": name, "hashes": [{"alg": "SHA-256", "content": digest}]}


def _corpus(corpus: Mapping[str, Any]) -> dict[str, Any]:
    source, licence = corpus["source"], corpus["licence"]
    name, ref = plain(corpus["corpus"]), f"corpus:{plain(corpus['label'])}"
    declared = normalised(licence["declared"]) if licence["declared"] else None
    address = public_address(source["address"])
    contents: dict[str, Any] = {"contents": {"url": address}} if address else {}
    return {
        "type": "data",
        "bom-ref": ref,
        "name": name,
        **({"version": plain(corpus["version"])} if corpus["version"] is not None else {}),
        "hashes": [{"alg": "SHA-256", "content": source["sha256"]}],
        "licenses": [{"expression": declared} if declared else {"license": {"name": NONE}}],
        # The archive's own statement, besides the licence that the config declares.
        **(
            {
                "evidence": {
                    "licenses": [
                        {"license": {"name": "text in the archive", "text": {"content": _text(licence["text"])}}}
                    ]
                }
            }
            if licence["text"]
            else {}
        ),
        "data": [
            {
                "type": "dataset",
                "name": name,
                **contents,
                "description": f"{'-'.join(corpus['languages'])}, {corpus['kept']} of {corpus['read']} pairs used",
            }
        ],
    }


def _text(text: str) -> str:
    return "\n".join(map(plain, re.split(r"\n", text)))
