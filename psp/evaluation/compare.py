"""compare.json: a trained model beside other systems, with the differences between them.

Each system is evaluated by a job of its own (:mod:`psp.evaluation.system`), on the same sets and resamples as the
model; here they are put together.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from psp.core import schemas
from psp.core.errors import DataError
from psp.core.files import read_json, write_json
from psp.evaluation.evaluate import compared_figures
from psp.evaluation.resamples import differences, read
from psp.evaluation.systems import TRAINED

FORMAT = 2
#: The entries of eval.json that are a system's scores.
_BODY = ("conditions", "sts", "semeval2017", "stsb", "tatoeba", "files", "skipped")


def compare(
    trained: tuple[Path, Path], systems: Mapping[str, tuple[Path, Path]], out: Path | str, *, name: str
) -> dict[str, Any]:
    """Write compare.json.

    Args:
        trained: the model's eval.json, and the file of its scores in each resample.
        systems: the same two files of each system, by name.
        out: path of compare.json; written atomically.
        name: the model's name in the config.

    Returns:
        What was written: ``format``, ``model``; ``systems``, a body as in eval.json for each name, the model's own
        under ``trained``; ``differences``, for each other system its figures minus the model's
        (:func:`psp.evaluation.evaluate.compared_figures`), each with the paired bootstrap's 95% interval.

    Raises:
        DataError: a file is missing or damaged, or scored on other resamples.
    """
    model = _body(trained[0])
    drawn = read(trained[1], model["conditions"])
    figures = compared_figures(model)
    bodies, lost = {TRAINED: model}, {}
    for system, (evaluation, resampled) in systems.items():
        body = _body(evaluation)
        if body["conditions"] != model["conditions"]:
            raise DataError(f"scored on other resamples than {trained[0]}; delete it and make it again", evaluation)
        bodies[system] = body
        lost[system] = differences(figures, drawn, compared_figures(body), read(resampled, body["conditions"]))
    result = {"format": FORMAT, "model": name, "systems": bodies, "differences": lost}
    write_json(out, result)
    schemas.check_written(result, "compare", out)
    return result


def _body(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = read_json(path)
    schemas.check(found, "eval", path)
    return {key: found[key] for key in _BODY}
