"""All kinds of models that psp has, by the kind of encoder in a folder's config.json, and the model of a folder.

All code that loads a model by its path does so here.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from psp.core.errors import DataError
from psp.models import lstm
from psp.models.combined import CombinedModel
from psp.models.files import CONFIG, TRANSFORMER
from psp.models.folder import ADD, CONCAT, MEAN, encoder_kind, read_config
from psp.models.static import StaticModel
from psp.models.text_model import TextModel
from psp.models.transformer import TransformerModel

#: The class of each kind that is psp's own.
CLASSES: dict[str, type[StaticModel | CombinedModel | TransformerModel]] = {
    MEAN: StaticModel,
    **dict.fromkeys(lstm.KINDS, StaticModel),
    CONCAT: CombinedModel,
    ADD: CombinedModel,
    TRANSFORMER: TransformerModel,
}
#: The loaders of other kinds.
_others: dict[str, Callable[..., Any]] = {}


def register_encoder(kind: str, load: Callable[..., Any]) -> None:
    """Register a kind of encoder: ``load(folder, **options)`` returns the model of a folder that has it.

    The options are those of :meth:`psp.models.static.StaticModel.load`; :func:`psp.models.folder.read_folder` does the
    reading.

    Raises:
        ValueError: the kind is built in.
    """
    if kind in CLASSES:
        raise ValueError(f"{kind!r} is psp's own kind of encoder")
    _others[kind] = load


def loader(folder: Path | str, classes: dict[Any, Any] | None = None) -> Callable[..., Any]:
    """The class that loads a folder, by the kind of its encoder.

    Args:
        folder: a model's folder.
        classes: a class to load instead of each of psp's own.

    Raises:
        DataError: it is not a model's folder, or is of a kind that is not registered.
    """
    kind = encoder_kind(read_config(Path(folder)))
    if kind in CLASSES:
        own = CLASSES[kind]
        loads: Callable[..., Any] = (classes or {}).get(own, own).load
        return loads
    if kind in _others:
        return _others[kind]
    raise DataError(
        f"unknown kind of encoder, {kind!r} (known: {', '.join(sorted({**CLASSES, **_others}))}); import the module "
        "that registers it (psp.models.kinds.register_encoder), or install the psp that wrote it",
        Path(folder) / CONFIG,
    )


def load(folder: Path | str, **options: Any) -> TextModel:
    """Load a model's folder, of any kind, with the options of :meth:`psp.models.static.StaticModel.load`.

    Raises:
        DataError, PspError, ValueError: as :meth:`psp.models.static.StaticModel.load`.
    """
    made: TextModel = loader(folder)(folder, **options)
    return made
