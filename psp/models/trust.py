"""The only place that opens a folder of sentence-transformers or transformers: one gate for all that comes from others.

A folder, an archive, a repository of the Hub, a config's encoder, a teacher or a base may come from anybody, and the
libraries run code for many things that such a folder can say: a module by its dotted path, a router that loads another
folder, arguments that allow pickles, a tokenizer or attention kernel of somebody's repository. So what is accepted is
named here, and everything else is refused before a library sees it:

- the modules of :data:`MODULES`, at the places where the library writes them; their classes are ours to name, never
  imported by a name in the folder
- in their JSON files, the keys named here with values of the types named here
- weights in safetensors files only

The libraries are then given a temporary folder with links to these files alone, so that nothing else can be read.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psp.core.errors import DataError, PspError
from psp.core.files import read_json, sha256
from psp.models import (
    CONFIG,
    MODULE_FILES,
    PSP_MODEL,
    SETTINGS,
    TRANSFORMER_CONFIGS,
    TRANSFORMER_SHARDS,
    file_names,
    is_transformer,
    transformer_files,
    unlisted_files,
)

#: psp's own modules by the names that stand in modules.json: those of :mod:`paraphrastic.exports`.
_OURS = {PSP_MODEL: "PspModel", "paraphrastic.exports.LstmPooling": "LstmPooling"}
_ADVICE = "psp opens only what it knows, and runs no code of a model; ask its maker for one without this"

# What a JSON file may hold. A type stands for its values, a tuple for any of its members, a set for the values in it, a
# pattern for strings that match it, [shape] for lists of the shape; a mapping for objects with some of its keys and no
# others, where the key `str` stands for any.
_WORD = (str, None)
_COUNT = (int, None)
_TOKEN = (
    str,
    None,
    {"content": str, "id": int, "__type": {"AddedToken"}}
    | dict.fromkeys(("lstrip", "normalized", "rstrip", "single_word", "special"), bool),
)
_SCALAR = (str, int, float, bool, None)
_TEXT_ONLY = {"text": {"method": {"forward"}, "method_output_name": {"last_hidden_state"}}}
_SHAPES: Mapping[str, Any] = {
    "modules.json": [{"idx": int, "name": str, "path": str, "type": str}],
    SETTINGS: {
        "__version__": {str: str},
        "model_type": {"SentenceTransformer"},
        "prompts": {str: _WORD},
        "default_prompt_name": _WORD,
        "similarity_fn_name": ({"cosine", "dot", "euclidean", "manhattan"}, None),
        "truncate_dim": _COUNT,
    },
    "sentence_bert_config.json": {
        "max_seq_length": _COUNT,
        "do_lower_case": bool,
        "transformer_task": {"feature-extraction"},
        "modality_config": _TEXT_ONLY,
        "module_output_name": {"token_embeddings"},
    },
    "tokenizer_config.json": {
        "tokenizer_class": re.compile(r"\w+"),
        "backend": {"tokenizers", "sentencepiece"},
        "added_tokens_decoder": {str: _TOKEN},
        "additional_special_tokens": ([_TOKEN], None),
        "extra_special_tokens": ([_TOKEN], {str: _TOKEN}, None),
        "model_input_names": [str],
        "never_split": ([str], None),
        "sp_model_kwargs": {},
    }
    | {f"{name}_token": _TOKEN for name in ("bos", "cls", "eos", "mask", "pad", "sep", "unk")}
    | dict.fromkeys(
        ("max_length", "model_max_length", "pad_to_multiple_of", "pad_token_type_id", "stride"), (int, float, None)
    )
    | dict.fromkeys(
        (
            "add_bos_token", "add_eos_token", "add_prefix_space", "clean_up_tokenization_spaces", "do_basic_tokenize",
            "do_lower_case", "is_local", "keep_accents", "legacy", "local_files_only", "remove_space",
            "split_special_tokens", "strip_accents", "tokenize_chinese_chars", "trim_offsets",
        ),
        (bool, None),
    )
    | dict.fromkeys(
        ("errors", "name_or_path", "padding_side", "special_tokens_map_file", "truncation_side", "truncation_strategy"),
        _WORD,
    ),
    "special_tokens_map.json": {str: (_TOKEN, [_TOKEN])},
    "added_tokens.json": {str: int},
    "model.safetensors.index.json": {"metadata": {str: _SCALAR}, "weight_map": {str: TRANSFORMER_SHARDS}},
    "Pooling": {
        "embedding_dimension": int,
        "word_embedding_dimension": int,
        "pooling_mode": (str, [str]),
        "include_prompt": bool,
    }
    | {
        f"pooling_mode_{name}": bool
        for name in (
            "cls_token", "lasttoken", "max_tokens", "mean_sqrt_len_tokens", "mean_tokens", "weightedmean_tokens"
        )
    },
    "Normalize": {
        "module_input_name": {"sentence_embedding"},
        "module_output_name": ({"sentence_embedding"}, None),
    },
    "Dense": {
        "in_features": int,
        "out_features": int,
        "bias": bool,
        "activation_function": re.compile(
            r"torch\.nn\.modules\.(activation\.(Tanh|ReLU|GELU|SiLU|Sigmoid)|linear\.Identity)"
        ),
        "module_input_name": {"sentence_embedding"},
        "module_output_name": ({"sentence_embedding"}, None),
        "use_residual": bool,
    },
    "LstmPooling": {"embedding_dimension": int, "dim": int, "bidirectional": bool},
}  # fmt: skip
#: Files of data that a library reads as such, with too many keys to name.
_DATA = {"tokenizer.json", "vocab.json"}
#: Keys of a transformer's config.json that its class does not declare (any more), and that folders still have.
_LEGACY = {
    "_name_or_path", "_num_labels", "directionality", "finetuning_task", "gradient_checkpointing", "num_labels",
    "output_past", "pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers", "pooler_size_per_head",
    "pooler_type", "position_embedding_type", "tokenizer_class", "torch_dtype", "use_cache",
}  # fmt: skip
#: Words in keys whose value a library may take for the name of somebody's code, whatever the class declares.
_NAMES_CODE = ("implementation", "quantization", "kernel", "auto_map", "custom")


@dataclass(frozen=True)
class Module:
    """A module of a folder: its name among :data:`psp.models.MODULE_FILES`, its place, and its files there."""

    kind: str
    place: str
    files: tuple[str, ...]


def check_folder(folder: Path) -> list[Module]:
    """Check all that a sentence-transformers folder says; of a psp transformer, also that nothing is missing or added.

    No file of another module, README or code is opened.

    Raises:
        DataError: a file says, or is, something that is not named here.
        PspError: transformers is missing, which names the keys of its models' configs.
    """
    own = (folder / CONFIG).is_file() and is_transformer(config := read_json(folder / CONFIG))
    if own:
        listed = transformer_files(config, folder / CONFIG)
        for name, digest in listed.items():
            if not (folder / name).is_file() or sha256(folder / name) != digest:
                raise DataError("not the file that config.json records; get the whole model again", folder / name)
        if added := unlisted_files(folder, listed):
            raise DataError(f"config.json does not list it; {_ADVICE}", folder / added[0])
    if (folder / SETTINGS).exists():
        _checked(folder / SETTINGS)
    modules = _modules(folder)
    if own and (modules[0].place, *(one.kind for one in modules[1:])) not in _WRITTEN:
        raise DataError(f"not modules that psp writes; {_ADVICE}", folder / "modules.json")
    for module in modules:
        for name in module.files:
            path = folder / module.place / name
            if not path.is_file():  # a FIFO, a device, a folder
                raise DataError(f"not a regular file; {_ADVICE}", path)
            if name == CONFIG and module.kind == "Transformer":
                _check_architecture(path)
            elif name == CONFIG and module.kind in _SHAPES:
                _checked(path, module.kind)
            elif name.endswith(".json") and name not in _DATA and module.kind in MODULE_FILES:
                _checked(path, "sentence_bert_config.json" if name in TRANSFORMER_CONFIGS else name)
    return modules


#: The place of the first module, and the kinds of the others, of the folders that psp writes.
_WRITTEN = {
    ("0_Transformer", *others)
    for others in (("Pooling",), ("LstmPooling",), ("Pooling", "Normalize"), ("LstmPooling", "Normalize"))
}


def _modules(folder: Path) -> list[Module]:
    if not (folder / "modules.json").exists():
        if not (folder / CONFIG).is_file():
            raise DataError("holds no model of sentence-transformers; name a folder that holds the model", folder)
        return [_module("Transformer", "", folder)]  # the library pools the tokens of a bare transformer by their mean
    found = []
    for number, entry in enumerate(_checked(folder / "modules.json")):
        kind, place = _OURS.get(entry.get("type")), entry.get("path")
        package, _, name = str(entry.get("type")).rpartition(".")
        if kind is None and package.split(".")[0] == "sentence_transformers" and name in MODULE_FILES:
            kind = name
        first = kind in ("Transformer", "StaticEmbedding", "PspModel")
        if kind is None or first != (number == 0) or place not in ([""] if first else []) + [f"{number}_{kind}"]:
            problem = f"has the module {entry.get('type')!r} at {place!r}"
            raise DataError(f"{problem}; {_ADVICE}", folder / "modules.json")
        found.append(_module(kind, place, folder))
    if not found:
        raise DataError(f"has no modules; {_ADVICE}", folder / "modules.json")
    return found


def _module(kind: str, place: str, folder: Path) -> Module:
    if kind == "PspModel":  # a psp model, which its own loader checks
        return Module(kind, place, tuple(file_names(read_json(folder / place / CONFIG), folder / place / CONFIG)))
    there = [name for name in MODULE_FILES[kind] if (folder / place / name).exists()]
    if "model.safetensors.index.json" in there and kind == "Transformer":
        shards = _checked(folder / place / "model.safetensors.index.json").get("weight_map", {})
        there += sorted(set(shards.values()))
    elif "model.safetensors" in MODULE_FILES[kind] and "model.safetensors" not in there:
        raise DataError(
            "has no model.safetensors, and psp opens no weights of another format; save the model as safetensors",
            folder / place,
        )
    return Module(kind, place, tuple(there))


def _checked(path: Path, shape: str | None = None) -> Any:
    """Read a JSON file of the given shape, by default that of its name."""
    content = read_json(path)
    if (problem := _misfit(content, _SHAPES[shape or path.name])) is not None:
        raise DataError(f"{problem}; {_ADVICE}", path)
    return content


def _misfit(value: Any, shape: Any, place: str = "") -> str | None:
    """Say what in a value is not of the shape; None if all is."""
    if isinstance(shape, tuple):
        problems = [_misfit(value, one, place) for one in shape]
        return None if None in problems else min(filter(None, problems), key=lambda one: one.startswith(place + " is "))
    if isinstance(shape, Mapping) and isinstance(value, dict):
        for key, one in value.items():
            name = f"{place}.{key}" if place else key
            if key not in shape and str not in shape:
                return f"has the key {name}"
            if problem := _misfit(one, shape[key] if key in shape else shape[str], name):
                return problem
        return None
    if isinstance(shape, list) and isinstance(value, list):
        problems = [_misfit(one, shape[0], f"{place}[{number}]") for number, one in enumerate(value)]
        return next(filter(None, problems), None)
    if isinstance(shape, re.Pattern):
        fits = isinstance(value, str) and shape.fullmatch(value) is not None
    elif isinstance(shape, set):
        fits = isinstance(value, str) and value in shape
    elif isinstance(shape, type):
        fits = isinstance(value, shape) and isinstance(value, bool) == (shape is bool)
    else:
        fits = value is None and shape is None
    return None if fits else f"{place or 'it'} is {str(value)[:100]!r}"


def _check_architecture(path: Path) -> None:
    """Check a transformer's config.json: an architecture of the library's own, and keys that its class declares."""
    try:
        from transformers import CONFIG_MAPPING
    except ModuleNotFoundError:
        raise PspError(
            "transformers need the package sentence-transformers: pip install 'paraphrastic[transformer]'"
        ) from None
    config = read_json(path)
    kind = config.get("model_type") if isinstance(config, dict) else None
    if not isinstance(kind, str) or kind not in CONFIG_MAPPING:
        raise DataError(f"model_type is {kind!r}, which the library transformers does not have; {_ADVICE}", path)
    declared = set(CONFIG_MAPPING[kind]().to_dict()) | _LEGACY
    plain = (*_SCALAR, [_SCALAR], {str: (*_SCALAR, [_SCALAR], {str: _SCALAR})})
    known = {key: plain for key in declared if not any(word in key for word in _NAMES_CODE)}
    if (problem := _misfit(config, known)) is not None:
        raise DataError(f"{problem}; {_ADVICE}", path)


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[tuple[Path, list[Module]]]:
    """Check a folder, and yield another that has only what was checked, with its modules; it is removed at the end.

    Raises:
        DataError, PspError: as :func:`check_folder`; or a library cannot load what it is given in this block.
    """
    modules = check_folder(folder)
    with tempfile.TemporaryDirectory(prefix="psp-model-") as scratch:
        for module in modules:
            place = Path(scratch) / module.place
            place.mkdir(exist_ok=True)
            for name in module.files:
                (place / name).symlink_to((folder / module.place / name).resolve())
        try:
            yield Path(scratch), modules
        except PspError:
            raise
        except Exception as error:  # of any library involved: transformers, tokenizers, safetensors, torch, json
            problem = " ".join(str(error).split())[:300] or type(error).__name__
            raise PspError(f"{folder}: cannot be loaded: {problem.replace(scratch, str(folder))}") from error


def load_sentence_transformer(folder: Path, **model_kwargs: Any) -> tuple[Any, list[Path]]:
    """Load a folder as ``SentenceTransformer`` on the CPU, without network and without foreign code.

    Args:
        folder: of a psp transformer, an export of psp's, or another model of sentence-transformers.
        model_kwargs: for the transformer's weights, such as ``dtype``.

    Returns:
        The model, and the files that it was loaded from.

    Raises:
        DataError, PspError: as :func:`opened`.
    """
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base import modules as base
    from sentence_transformers.sentence_transformer import modules as library

    settings = _checked(folder / SETTINGS) if (folder / SETTINGS).exists() else {}
    chosen = {
        key: settings.get(key) for key in ("prompts", "default_prompt_name", "similarity_fn_name", "truncate_dim")
    }
    with opened(folder) as (place, modules):
        made: list[Any] = []
        for module in modules:
            if module.kind == "Transformer":
                how = {"use_safetensors": True, "weights_only": True, **model_kwargs}
                made.append(base.Transformer.load(str(place), module.place, local_files_only=True, model_kwargs=how))
            elif module.kind in _OURS.values():
                from paraphrastic import exports

                made.append(getattr(exports, module.kind).load(str(place), module.place, local_files_only=True))
            else:
                kind = getattr(base if module.kind in ("Dense", "Normalize") else library, module.kind)
                made.append(kind.load(str(place), subfolder=module.place, local_files_only=True))
        if len(modules) == 1 and modules[0].kind == "Transformer":
            made.append(library.Pooling(made[0].get_embedding_dimension()))
        model = SentenceTransformer(modules=made, device="cpu", local_files_only=True, **chosen)
    files = [folder / one.place / name for one in modules for name in one.files]
    return model, [*files, *(folder / name for name in ("modules.json", SETTINGS) if (folder / name).exists())]
