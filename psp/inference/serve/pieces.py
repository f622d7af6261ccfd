"""Explain the cosine of two texts by the contribution of each piece.

A text's vector is the mean of its n piece embeddings, so the cosine of a and b is the sum over a's pieces of
``embedding · b / (n |a| |b|)``, and equally the sum over b's pieces. For a combination, it is the sum over its parts'
pieces: a part of weight w adds its own cosine times w / (|a| |b|), where |a| and |b| are the joined vectors' lengths.
In parts that are not scaled, a piece adds ``embedding · b / (n |a| |b|)``, with the part's own b if they are
concatenated, and the sum if they are added.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from psp.core.errors import PspError
from psp.models.combined import ADD, CombinedModel
from psp.models.static import unknown_alone
from psp.models.text_model import TextModel

#: Embeddings looked up at a time: 4 MB at 1,024 dimensions.
ROWS = 1024


def explain(model: TextModel, left: str, right: str) -> dict[str, Any]:
    """Return the cosine of two texts and the share of each piece.

    Returns:
        ``score``, and ``texts``: for each text the list of its pieces in order, {"piece": as the tokenizer writes it,
        "id", "unknown": whether it has no embedding and is left out, "share": what it adds to the cosine}. The shares
        of a text add up to the cosine. Unknown pieces have share 0, except in a text of nothing else if the model was
        imported: it has the unknown piece's vector, and its first piece has the whole share.

    Raises:
        DataError: as :meth:`psp.models.static.StaticModel.score_raw_text`.
        PspError: the model is an LSTM, of whose cosine the pieces have no shares.
    """
    if isinstance(model, CombinedModel):
        return _explain_parts(model, left, right)
    return {"score": model.score_raw_text([(left, right)])[0], "texts": _texts(model, [left, right])}


def _texts(
    model: TextModel, pair: list[str], whole: np.ndarray | None = None, product: float | None = None
) -> list[list[dict[str, Any]]]:
    """The pieces of both texts, with their shares.

    Args:
        model: a mean.
        pair: the texts.
        whole: factors of the pieces, (2, dim), the vector of either text; default: the model's own.
        product: of the two lengths by which a product becomes a cosine; default: those of the model's own vectors.
    """
    if model.contextual is not None:
        raise PspError(
            f"this model is {model.contextual.called}: its vector is not a sum of its pieces', so they have no "
            "shares of the cosine"
        )
    both = [_pieces(model, text) for text in pair]
    counted = [_counted(model, pieces) for pieces in both]
    vectors = [model.pool(ids, np.array([0, len(ids)]))[0].astype(np.float64) for ids, _ in counted]
    against = vectors if whole is None else list(whole)
    norms = [float(np.linalg.norm(vector)) for vector in vectors]
    product = norms[0] * norms[1] if product is None else product
    for side, (ids, places) in enumerate(counted):
        scale = len(ids) * product
        if not scale:
            continue
        for start in range(0, len(ids), ROWS):
            some = ids[start : start + ROWS]
            shares = model.pool(some, np.arange(len(some) + 1)) @ against[1 - side] / scale
            for place, share in zip(places[start : start + ROWS], shares.tolist(), strict=True):
                both[side][place]["share"] = share
    return both


def _explain_parts(model: CombinedModel, left: str, right: str) -> dict[str, Any]:
    """:func:`explain` of a combination: the pieces of one part after those of another."""
    texts: list[list[dict[str, Any]]] = [[], []]
    vectors = model.embed_raw_text([left, right]).astype(np.float64)
    product = float(np.prod(np.linalg.norm(vectors, axis=1)))
    for part, weight in zip(model.parts, model.weights, strict=True):
        if model.scaled:
            factor = weight / product if product else 0.0
            both = [[{**one, "share": one["share"] * factor} for one in own] for own in _texts(part, [left, right])]
        else:
            # Added vectors are multiplied by the other text's sum, concatenated ones by the part's own.
            both = _texts(part, [left, right], vectors if model.joined_by == ADD else None, product)
        for whole, own in zip(texts, both, strict=True):
            whole += own
    return {"score": model.score_raw_text([(left, right)])[0], "texts": texts}


def _pieces(model: TextModel, text: str) -> list[dict[str, Any]]:
    (prepared,) = model.prepared([text])
    unknown = {model.unknown_id, *(model.config.get("left_out") or [])}
    return [
        {"piece": name, "id": number, "unknown": number in unknown, "share": 0.0}
        for name, number in model.tokenizer.spelled(prepared)
    ]


def _counted(model: TextModel, pieces: list[dict[str, Any]]) -> tuple[np.ndarray, list[int]]:
    """Return the ids whose embeddings are averaged, int32, and their positions among the pieces."""
    places = [place for place, piece in enumerate(pieces) if not piece["unknown"]]
    if unknown_alone(model.config):
        if pieces and not places:
            return np.array([model.unknown_id], np.int32), [0]
    elif all(pieces[place]["id"] in model.tokenizer.silent_ids for place in places):
        places = []
    return np.array([pieces[place]["id"] for place in places], np.int32), places
