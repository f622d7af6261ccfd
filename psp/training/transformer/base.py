"""Find and check the transformer from which training starts, and add a pooling."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Transformer
from sentence_transformers.sentence_transformer.modules import Pooling

from psp.config.blocks.transformer import LSTM_POOLINGS, TransformerSettings
from psp.core.errors import ConfigError, DataError, PspError
from psp.core.files import read_json
from psp.models import TOKENIZERS
from psp.models.lstm_pooling import LstmPooling
from psp.models.registry import PACKAGE, package_folder
from psp.models.trust import opened


def find_base(base: str) -> Path:
    """The folder of a base: config.json, weights and tokenizer of a transformer.

    Args:
        base: a folder, of a transformer or of a sentence-transformers model that begins with one;
            ``package://<installed package>``; or a name on the Hugging Face Hub, if it has been downloaded before.

    Raises:
        DataError: there is no such folder, or it has no transformer, weights or tokenizer.
        PspError: the package or the download is missing.
    """
    if base.startswith(PACKAGE):
        folder = package_folder(base)
    elif (folder := Path(base)).is_dir():
        pass
    elif base.count("/") > 1 or base.startswith((".", "/", "~")):
        raise DataError("no such folder; a base is the folder of a transformer", base)
    else:
        folder = _downloaded(base)
    if (folder / "modules.json").is_file():
        folder = folder / _first_module(folder / "modules.json")
    config = read_json(folder / "config.json")
    if not isinstance(config, dict) or "model_type" not in config:
        raise DataError("not the config of a transformer (model_type is missing); name another base", folder)
    if not any((folder / name).is_file() for name in TOKENIZERS):
        raise DataError(f"has no tokenizer ({', '.join(TOKENIZERS)}); copy the whole folder", folder)
    return folder


def _downloaded(name: str) -> Path:
    import huggingface_hub

    try:
        return Path(huggingface_hub.snapshot_download(name, local_files_only=True))
    except (OSError, ValueError) as error:  # its errors are among these
        raise PspError(
            f"the base {name} is neither a folder nor downloaded; training does not use the network: run "
            f"`hf download {name}` once, or name a folder or {PACKAGE}<installed package>"
        ) from error


def _first_module(path: Path) -> str:
    modules = read_json(path)
    try:
        kind, place = str(modules[0]["type"]), str(modules[0]["path"])
    except (TypeError, KeyError, IndexError):
        raise DataError("not a list of modules; copy the folder again", path) from None
    if not kind.startswith("sentence_transformers.") or not kind.endswith(".Transformer") or ".." in place:
        raise DataError(f"its first module is {kind}, not a transformer; name another base", path)
    return place


def build(folder: Path, settings: TransformerSettings, device: str) -> SentenceTransformer:
    """Make the model that is trained: the base, float32, with its pooling; seed torch first.

    Args:
        folder: as for :func:`find_base`.
        settings: pooling, dim, max_length.
        device: cpu or cuda.

    Raises:
        DataError, PspError: as :func:`psp.models.trust.opened`: the library cannot load the base, or it is refused.
        ConfigError: the base cannot read ``max_length`` tokens.
    """
    with opened(folder) as (place, _):
        transformer = Transformer(
            str(place),
            max_seq_length=settings.max_length,
            model_kwargs={"dtype": torch.float32, "local_files_only": True, "use_safetensors": True},
            processor_kwargs={"local_files_only": True},
            config_kwargs={"local_files_only": True},
        )
    positions = getattr(transformer.config, "max_position_embeddings", None)
    # RoBERTa and similar models count positions from that after padding.
    usable = positions and positions - (transformer.config.pad_token_id + 1 if _counts_from_padding(transformer) else 0)
    if usable and settings.max_length > usable > 0:
        raise ConfigError(
            f"{settings.BLOCK}.max_length: {settings.max_length} is not allowed; the base reads at most {usable} "
            f"tokens. Write `max_length: {usable}`"
        )
    if not transformer.tokenizer or transformer.tokenizer.pad_token_id is None:
        raise DataError("its tokenizer has no padding; name another base", folder)
    width = int(transformer.get_embedding_dimension())
    pooling: Any
    if settings.pooling in LSTM_POOLINGS:
        pooling = LstmPooling(width, settings.dim, settings.pooling == "bilstm")
    else:
        pooling = Pooling(width, settings.pooling)
    transformer.save_in_root = False  # psp's config.json is there; see psp.models.transformer
    return SentenceTransformer(modules=[transformer, pooling], device=device, local_files_only=True)


def _counts_from_padding(transformer: Any) -> bool:
    kin = ("roberta", "xlm-roberta", "camembert", "mpnet", "longformer", "xlm-roberta-xl")
    return str(transformer.config.model_type) in kin and transformer.config.pad_token_id is not None
