"""Which folders of sentence-transformers may be loaded with ``trust_remote_code``: those that run only psp's code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from psp.core.files import read_json

#: The sentence-transformers modules that :mod:`psp.models.exports.sentence_transformers` names.
SUBWORD_MEAN, PSP_MODEL = "paraphrastic.exports.SubwordMean", "paraphrastic.exports.PspModel"
_OURS = (
    SUBWORD_MEAN,
    PSP_MODEL,
    "paraphrastic.exports.LstmPooling",  # pools a transformer's token vectors (psp.models.lstm_pooling)
    # Their names in older folders.
    "psp.exports.module.SubwordMean",
    "psp.exports.module.PspModel",
    "psp.exports.pooling.LstmPooling",
)
#: Keys that a transformer's JSON files must not have if the library is told to trust them: each may name code, or
#: another model or kernel that is loaded with the same trust.
_NAMES_CODE = (
    "auto_map", "attn_implementation", "quantization_config", "tokenizer_name_or_path", "base_model_name_or_path"
)  # fmt: skip


def runs_psp_alone(folder: Path) -> bool:
    """Whether a sentence-transformers folder needs ``trust_remote_code``, and then runs only psp's code.

    True if its modules.json names a module of psp's (one of ``psp export sentence-transformers``, or the pooling of
    :mod:`psp.models.lstm_pooling`), and otherwise only modules of sentence-transformers itself. The argument applies to
    the whole folder: the type ``psp.X`` would run a psp.py in it, and some of the library's modules load classes that
    their own files name; so the modules allowed are listed.
    """
    if not (folder / "modules.json").is_file():
        return False
    modules = read_json(folder / "modules.json")
    try:
        return any(module["type"] in _OURS for module in modules) and all(
            module["type"] in _OURS or _is_harmless(module["type"], folder / module["path"]) for module in modules
        )
    except (TypeError, KeyError):  # not a list of modules: the library will say so
        return False


def _is_harmless(kind: str, folder: Path) -> bool:
    """Whether a module belongs to sentence-transformers, and loads only that library's code and torch's."""
    package, _, name = kind.rpartition(".")
    if package.partition(".")[0] != "sentence_transformers":
        return False
    if name == "Dense":  # its file names a class
        return str(read_json(folder / "config.json").get("activation_function")).startswith("torch.nn.modules.")
    if name == "Transformer":
        return _is_plain(folder)
    return name in {"Pooling", "Normalize", "LayerNorm", "Dropout"}


def _is_plain(folder: Path) -> bool:
    """Whether a transformer's folder runs only code of the library transformers, and names no other model."""
    files = [path for path in folder.glob("*.json") if path.name not in ("tokenizer.json", "vocab.json")]  # long, data
    if not (folder / "config.json").is_file() or (folder / "adapter_config.json").exists():
        return False
    return not any(_names_code(read_json(path)) for path in files)


def _names_code(node: Any) -> bool:
    if isinstance(node, dict):
        named = any(value and any(word in key for word in _NAMES_CODE) for key, value in node.items())
        return named or any(map(_names_code, node.values()))
    return isinstance(node, list) and any(map(_names_code, node))
