"""Recognise the published test sets by a checksum of their sentences.

A file in place of a published set may hold other text: the demo's own sentences, a translation, a sample. A score
has the set's name, and is shown beside published ones, only if the checksum is known. published_sets.tsv
has the checksums of SemEval 2012 to 2017 (as SentEval and the paper's authors distribute them), the STS Benchmark and
the 112 Tatoeba sets of LASER's data/tatoeba/v1; a test makes them again from the files.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from typing import Any

#: OPUS's corpora of Tatoeba's sentences; the training data of the Tatoeba Challenge are other text.
_TATOEBA = re.compile(r"tatoeba(?!.*challenge)", re.IGNORECASE)
#: Scores over all pairs of STS 2013 leave it out, as in the paper.
_SMT = "sts/2013/SMT"


def checksum(a: Sequence[str], b: Sequence[str], gold: Iterable[float] = ()) -> str:
    """The checksum of a set's sentences and gold scores in their order: SHA-256, its first 16 hexadecimal digits.

    Line ends, spaces around a sentence and how a number is written do not matter.
    """
    text = "\0".join("\n".join(side) for side in (map(str.strip, a), map(str.strip, b), (f"{one:g}" for one in gold)))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@functools.cache
def published() -> Mapping[str, str]:
    """The checksums of the published sets by name: ``sts/2012/MSRpar``, ``semeval2017/track1.ar-ar``, ``stsb/test``,
    ``tatoeba/fra``."""
    text = resources.files("psp.text").joinpath("published_sets.tsv").read_text("utf-8")
    rows = (line.partition("\t")[::2] for line in text.splitlines() if not line.startswith("#"))
    return dict(rows)


def sets(body: Mapping[str, Any], figure: str) -> dict[str, str]:
    """The checksums of the sets that a figure of eval.json is over.

    Args:
        body: eval.json, or a system of compare.json.
        figure: its name in :func:`psp.models.scores.compared_metrics`, or such as ``sts/2012``.
    """
    return below(figure, body.get("sets", {}))


def own_name(body: Mapping[str, Any], figure: str) -> str | None:
    """What to call the sets of a figure if their sentences are not the published ones; None if they are."""
    if all(published().get(name) == digest for name, digest in sets(body, figure).items()):
        return None
    part, _, name = figure.removesuffix("/spearman").partition("/")
    name = f"sts-{name}" if part == "stsb" else name
    return f"own set {name}" if name not in ("", "average") else "own sets"


def is_published(body: Mapping[str, Any], figure: str) -> bool:
    """Whether all sets of a figure are the published ones, so that published figures may be shown beside it."""
    held = sets(body, figure)
    # The mean error over languages covers the model's languages.
    wanted = {name: published().get(name) for name in held} if figure == "tatoeba" else below(figure, published())
    return bool(held) and held == wanted


def same_domain(evaluation: Mapping[str, Any]) -> str | None:
    """The note beside the Tatoeba errors of a model that is trained on other sentences of Tatoeba's users.

    Args:
        evaluation: the workflow's eval.json, with the model's corpora.

    Returns:
        A sentence; None if the model has no such corpus or is not scored on Tatoeba.
    """
    labels = (one["label"] for one in evaluation.get("data", {}).get("mix", {}).get("corpora", ()) if one.get("kept"))
    corpora = sorted({label.partition(".")[0] for label in labels if _TATOEBA.match(label)})
    scored = evaluation.get("tasks", {}).get("tatoeba")
    if not corpora or not scored or own_name(evaluation, "tatoeba"):
        return None
    removed = evaluation.get("decontaminated", {}).get("enabled")
    tested = "the test sets' sentences were removed" if removed else "the test sets' sentences were not removed"
    model = evaluation.get("model", "the model")
    return (
        f"Tatoeba: {model} was trained on {' and '.join(corpora)}, from the same collection "
        f"as the test ({tested}), so expect more errors on other text."
    )


def below(figure: str, names: Mapping[str, str]) -> dict[str, str]:
    """The sets that a figure is over, among the checksums of sets by name."""
    of_all_pairs = figure.startswith("sts") and figure.endswith("/spearman")
    part, _, name = figure.removesuffix("/spearman").partition("/")
    if part == "tatoeba":
        name = name.removeprefix("eng-").removesuffix("-eng")
    start = part if name in ("", "average") else f"{part}/{name}"
    return {
        key: digest
        for key, digest in names.items()
        if (key == start or key.startswith(f"{start}/")) and not (of_all_pairs and key == _SMT)
    }
