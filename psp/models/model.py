"""``psp.Model`` and ``psp.load_model``: a model from a folder, from the web, or of the published code.

:class:`psp.models.static.StaticModel` handles text. The two are separate because the workflow's steps need only the
latter, and not a hub.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, overload

from psp.models.folder import check_weights, load
from psp.models.static import StaticModel
from psp.models.text_model import TextModel


class Public(TextModel):
    """A model's methods that do not concern text."""

    @classmethod
    def from_pretrained(cls, path: Path | str, **options: Any) -> Model:
        """:func:`load_model` by another name: of a folder, or of an address on the web."""
        return load_model(path, **options)

    def save(self, folder: Path | str) -> dict[str, Any]:
        """Write the model as a folder (:func:`psp.models.folder.save_model`), with a model card that has no scores.

        A card that a person has edited stays.
        """
        from psp.models import card, card_file

        config = super().save(folder)  # type: ignore[safe-super]  # of the kind, which comes next
        card_file.write(Path(folder), card.card(config))
        return config

    def push_to_hub(self, repo_id: str, **options: Any) -> str:
        """Upload the model: :func:`psp.models.hub.push`."""
        from psp.models.hub import push

        return push(self, repo_id, **options)


class Model(Public, StaticModel):
    """A model as people load it; all that it does with text is :class:`psp.models.static.StaticModel`'s.

    Models of other kinds that people load (:mod:`psp.models.public`) are instances of it too.
    """


@overload
def load_model(
    path: Path | str,
    *,
    dtype: str | None = None,
    dim: int | None = None,
    threads: int = 1,
    accelerate: bool | str | None = None,
    verify: bool | None = None,
) -> Model: ...


@overload
def load_model(*, model_name: Path | str, sp_model: Path | str, threads: int = 1) -> tuple[Model, None]: ...


def load_model(
    path: Path | str | None = None,
    *,
    model_name: Path | str | None = None,
    sp_model: Path | str | None = None,
    dtype: str | None = None,
    dim: int | None = None,
    threads: int = 1,
    accelerate: bool | str | None = None,
    verify: bool | None = None,
) -> Model | tuple[Model, None]:
    """Load a model from its folder, or from the web.

    For the Hugging Face Hub, write ``hf://user/name`` or ``hf://user/name@commit``; for a .zip that a release was
    packed into, ``https://.../fr-int8.zip#sha256=...``, with its checksum. Both are downloaded once. ``verify`` is
    whether the weights are checked by the SHA-256 in config.json, which takes a second per GB; by default those of
    models from the web are, once in a process.

    The other arguments are those of :meth:`Model.load`.

    Or load a checkpoint of the published code and its sentencepiece model, by the argument names of that code:
    ``model, _ = load_model(model_name="model.pt", sp_model="sp.model")``. See :mod:`psp.models.published`; this needs
    torch.

    Raises:
        TypeError: arguments of both ways are mixed.
        DataError, PspError, ValueError: as :meth:`Model.load`, :func:`psp.models.hub.fetch`,
            :func:`psp.models.zipped.fetch` and :func:`psp.models.published.read_checkpoint`.
    """
    if path is not None and model_name is None and sp_model is None:
        if str(path).startswith("hf://"):
            from psp.models.hub import fetch

            path, verify = fetch(str(path)), verify is not False
        elif str(path).startswith(("https://", "http://")):
            from psp.models import zipped

            path = zipped.fetch(str(path))  # which verifies it, and may fetch it again
        if verify:
            check_weights(Path(path))
        made: Any = load(path, public=True, dtype=dtype, dim=dim, threads=threads, accelerate=accelerate)
        model: Model = made
        return model
    if path is not None or model_name is None or sp_model is None:
        raise TypeError("load_model: give the path of a model's folder, or both model_name and sp_model")
    if (dtype, dim, accelerate, verify) != (None, None, None, None):
        raise TypeError("load_model: dtype, dim, accelerate and verify are for a folder; import the checkpoint first")
    from psp.models.published import read_checkpoint

    imported = read_checkpoint(model_name, sp_model)
    return Model(imported.weight, sp_model, imported.config, threads=threads), None
