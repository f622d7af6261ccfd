"""Measure what a model loses by quantization, by fewer dimensions, and by both.

Models are made smaller by :meth:`psp.models.static.StaticModel.quantized` and scored by
:func:`psp.evaluation.evaluate.evaluate`, as in eval.json. Differences from the original model are taken per bootstrap
resample (paired), which gives much narrower intervals than those of the two scores.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast

from psp.core.files import write_json
from psp.evaluation.evaluate import evaluate
from psp.evaluation.resamples import differences
from psp.evaluation.scorers import EmbeddingScorer, Floats
from psp.models.combined import parts_of
from psp.models.folder import load
from psp.models.scores import FORMAT, main_metrics
from psp.models.text_model import TextModel

if TYPE_CHECKING:
    from psp.evaluation.task_files import Conditions, Difference, ScoredTask, Skipped


class QuantizedTable(TypedDict):
    dtype: Literal["float32", "float16", "int8", "int4"]  # number format of the embedding matrix
    dim: int  # length of a vector; the first dimensions are kept
    # int8 has a scale per row or dimension, whichever gives the smaller squared error, int4 per row; null for floats
    scale: Literal["row", "dimension"] | None
    bytes: int  # size of the embedding matrix, scales included
    scores: dict[str, dict[str, ScoredTask]]  # `tasks`, as in eval.json, without parts of parts


class QuantizedSmaller(QuantizedTable):
    # each main score minus the full model's (sts: mean Pearson); for error rates, higher is worse
    differences: dict[str, Difference]


class QuantizedReport(TypedDict):
    """A trained model's scores with smaller embedding matrices, and the loss of each."""

    format: int
    model: str
    conditions: Conditions  # how the intervals were computed
    whole: QuantizedTable  # the model as trained
    smaller: list[QuantizedSmaller]  # smaller versions of the model, longest vectors first
    skipped: list[Skipped]  # what was not run, and why


log = logging.getLogger(__name__)


def measure(
    model_dir: Path | str, out: Path | str, *, name: str, dtypes: Iterable[str], dims: Iterable[int], **tests: Any
) -> QuantizedReport:
    """Evaluate a model and smaller versions of it, and write quantized.json.

    Args:
        model_dir: the model's folder.
        out: path of quantized.json; written atomically.
        name: the model's name in the config.
        dtypes: any of float32, float16, int8 and int4.
        dims: numbers of dimensions; the model's own is added, and larger ones are ignored.
        tests: as for :func:`psp.evaluation.evaluate.evaluate`.

    Returns:
        What was written: ``format``, ``model``, ``conditions``; ``whole``, the model as trained, and ``smaller``, a
        list of the others by descending dimensions, each with ``dtype``, ``dim``, ``scale``, ``bytes``, ``scores``
        (and, if smaller, ``differences``); ``skipped``.

    Raises:
        DataError: as :func:`psp.evaluation.evaluate.evaluate`; or ``model_dir`` holds no model.
        ValueError: an embedding has a number too large for float16.
    """
    model = load(model_dir)
    resampled: dict[str, Floats] = {}
    body = _evaluate(model, resampled, tests)
    smaller = []
    for dtype, dim in _sizes(model, dtypes, dims):
        made = model.quantized(dtype, dim)
        draws: dict[str, Floats] = {}
        scores = _evaluate(made, draws, tests)
        smaller.append(
            {
                **_described(made, scores),
                "differences": differences(main_metrics(body), resampled, main_metrics(scores), draws),
            }
        )
    result: dict[str, Any] = {
        "format": FORMAT,
        "model": name,
        "conditions": body["conditions"],
        "whole": _described(model, body),
        "smaller": smaller,
        "skipped": body["skipped"],
    }
    write_json(out, result)
    return cast("QuantizedReport", result)


def _sizes(model: TextModel, dtypes: Iterable[str], dims: Iterable[int]) -> Iterator[tuple[str, int]]:
    # We keep the first dimensions rather than rotating to principal axes, which would cost nothing at inference. With
    # 512, 256 and 128 dimensions of an English-French model of 25 epochs, the mean Pearson is 66.9, 66.0 and 64.8 (67.4
    # with all dimensions), on principal axes 66.2, 63.4 and 58.4, and lower if those are weighted by piece frequency;
    # random axes do as well as ours. Tatoeba errors are lower on principal axes: 5.7, 6.4 and 7.5% instead of 6.6, 6.8
    # and 8.0. So neither wins. int8 loses less than any of these, at a quarter of the size.
    formats = list(dict.fromkeys(dtypes))
    first, *others = parts_of(model)
    if others or first.contextual is not None:
        dims = ()  # the first dimensions belong to the first parts alone; an LSTM reads all of its embeddings
    for dim in sorted({model.dim, *(dim for dim in dims if dim < model.dim)}, reverse=True):
        for dtype in formats:
            if (dtype, dim) != (model.dtype, model.dim):
                yield dtype, dim


def _evaluate(model: TextModel, resampled: dict[str, Floats], tests: Mapping[str, Any]) -> dict[str, Any]:
    log.info("%s, %d dimensions: %d bytes", model.dtype, model.dim, model.nbytes)
    return evaluate(EmbeddingScorer(model), resampled=resampled, **tests)


def _described(model: TextModel, body: Mapping[str, Any]) -> dict[str, Any]:
    # In a combination, each table has its own.
    first, *others = parts_of(model)
    table = None if others else first.table
    return {
        "dtype": model.dtype,
        "dim": model.dim,
        "scale": None if table is None or table.scale is None else "row" if table.by_row else "dimension",
        "bytes": model.nbytes,
        # Without parts of parts: repeating all of eval.json for each would make a long file.
        "scores": {
            "tasks": {
                name: {**task, "parts": {key: part for key, part in task["parts"].items() if not part.get("detail")}}
                for name, task in body["tasks"].items()
            }
        },
    }
