"""Why two texts have the cosine that they have: what each piece adds to it.

A text's vector is the mean of its n pieces' rows, so the cosine of a and b is the sum over a's pieces of
``row · b / (n |a| |b|)``, and as well the sum over b's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from psp.model import Model

#: Rows that are looked up at a time: 4 MB at 1,024 dimensions.
ROWS = 1024


def explain(model: Model, left: str, right: str) -> dict[str, Any]:
    """The cosine of two texts, and their pieces.

    Returns:
        ``score``, and ``texts``: for each of the two a list of its pieces in order, {"piece": as sentencepiece writes
        it, "id", "unknown": whether it has no row of its own and is left out, "share": what it adds to the cosine}. The
        shares of a text add up to the cosine; those of unknown pieces are 0, but in a text of nothing else, which has
        the unknown piece's vector and the share at its first piece.

    Raises:
        DataError: as :meth:`psp.model.Model.score_raw_text`.
    """
    score = model.score_raw_text([(left, right)])[0]
    both = [_pieces(model, text) for text in (left, right)]
    counted = [_counted(model, pieces) for pieces in both]
    vectors = [model.pool(ids, np.array([0, len(ids)]))[0].astype(np.float64) for ids, _ in counted]
    norms = [float(np.linalg.norm(vector)) for vector in vectors]
    for side, (ids, places) in enumerate(counted):
        scale = len(ids) * norms[0] * norms[1]
        if not scale:
            continue
        for start in range(0, len(ids), ROWS):
            some = ids[start : start + ROWS]
            shares = model.pool(some, np.arange(len(some) + 1)) @ vectors[1 - side] / scale
            for place, share in zip(places[start : start + ROWS], shares.tolist(), strict=True):
                both[side][place]["share"] = share
    return {"score": score, "texts": both}


def _pieces(model: Model, text: str) -> list[dict[str, Any]]:
    (prepared,) = model.prepared([text])
    names = model.sentencepiece.encode(prepared, out_type=str)
    ids = model.sentencepiece.encode(prepared, out_type=int)
    without_row = {model.unknown_id, *(model.config.get("left_out") or [])}
    return [
        {"piece": name, "id": number, "unknown": number in without_row, "share": 0.0}
        for name, number in zip(names, ids, strict=True)
    ]


def _counted(model: Model, pieces: list[dict[str, Any]]) -> tuple[np.ndarray, list[int]]:
    """The ids whose rows are averaged, int32, and their places among the pieces."""
    places = [place for place, piece in enumerate(pieces) if not piece["unknown"]]
    if not places and pieces:
        return np.array([model.unknown_id], np.int32), [0]
    return np.array([pieces[place]["id"] for place in places], np.int32), places
