"""A model from somebody else runs no code: folders of permitted files, each with a marker that must not appear."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from psp.config.blocks.transformer import TransformerSettings
from psp.core.errors import PspError
from psp.models import zipped
from psp.models.folder import load_model
from psp.models.registry import load_encoder
from psp.models.trust import check_folder

pytest.importorskip("sentence_transformers", reason="not installed (pip install 'paraphrastic[transformer]')")

TRANSFORMER = "sentence_transformers.base.modules.transformer.Transformer"
ROUTER = "sentence_transformers.base.modules.router.Router"


@pytest.fixture(scope="module")
def made(transformer: Path) -> Path:
    return transformer


class Bomb:
    """A pickle of it makes a file when it is opened."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        return os.mkdir, (str(self.marker),)


def save_bomb(path: Path, marker: Path) -> None:
    import torch

    torch.save(Bomb(marker), path)


def change(folder: Path, file: str, **keys: Any) -> None:
    """Set keys of a JSON object, which may not exist yet."""
    path = folder / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps((json.loads(path.read_text()) if path.exists() else {}) | keys))


def pickled(folder: Path, marker: Path) -> None:
    """Weights as a pickle: an index with a permitted suffix, and a shard with another."""
    save_bomb(folder / "0_Transformer/shard.model", marker)
    weights = {"embeddings.word_embeddings.weight": "shard.model"}
    change(folder, "0_Transformer/pytorch_model.bin.index.json", metadata={}, weight_map=weights)


def arguments(folder: Path, marker: Path) -> None:
    """To find the numbers' type, which config.json does not say, the library opens the first shard as it is told to."""
    change(folder, "0_Transformer/config.json", dtype=None)
    given = {"weights_only": False, "use_safetensors": False, "dtype": "auto"}
    change(folder, "0_Transformer/sentence_bert_config.json", model_args=given)
    pickled(folder, marker)


def pickle_beside_safetensors(folder: Path, marker: Path) -> None:
    save_bomb(folder / "0_Transformer/pytorch_model.bin", marker)


def safetensors_index_of_a_pickle(folder: Path, marker: Path) -> None:
    pickled(folder, marker)
    (folder / "0_Transformer/model.safetensors").unlink()
    (folder / "0_Transformer/pytorch_model.bin.index.json").rename(
        folder / "0_Transformer/model.safetensors.index.json"
    )


def router(folder: Path, marker: Path, place: str = "") -> None:
    """The library's Router, whose fallback loads the inner folder without psp's arguments."""
    arguments(folder, marker)
    (folder / "modules.json").write_text(json.dumps([{"idx": 0, "name": "0", "path": place, "type": ROUTER}]))
    routes = {"types": {"0_Transformer": TRANSFORMER}, "structure": {"query": ["0_Transformer"]}}
    change(folder, f"{place}/router_config.json".lstrip("/"), parameters={}, **routes)


def router_in_a_router(folder: Path, marker: Path) -> None:
    router(folder, marker, "0_Router")
    change(folder, "0_Router/router_config.json", types={"inner": ROUTER}, structure={"query": ["inner"]})


def dotted(kind: str) -> Callable[[Path, Path], None]:
    def attack(folder: Path, marker: Path) -> None:
        modules = json.loads((folder / "modules.json").read_text())
        modules[1]["type"] = kind
        (folder / "modules.json").write_text(json.dumps(modules))
        for name in ("psp.py", "paraphrastic.py", "evil.py"):
            (folder / name).write_text(f"import os\nos.mkdir({str(marker)!r})\nclass Evil: pass\n")

    return attack


def another_place(folder: Path, marker: Path) -> None:
    """A module where psp never writes it: its files were not checked there."""
    shutil.move(folder / "1_LstmPooling", folder / "1_Pooling")
    modules = json.loads((folder / "modules.json").read_text())
    modules[1]["path"] = "1_Pooling"
    (folder / "modules.json").write_text(json.dumps(modules))


def code(file: str, **keys: Any) -> Callable[[Path, Path], None]:
    """A JSON file names code that lies in the folder."""

    def attack(folder: Path, marker: Path) -> None:
        change(folder, file, **keys)
        for place in (folder, folder / "0_Transformer"):
            (place / "evil.py").write_text(f"import os\nos.mkdir({str(marker)!r})\nModel = Config = Tokenizer = dict\n")

    return attack


ATTACKS = {
    "arguments": arguments,
    "pickled": pickled,
    "pickle beside safetensors": pickle_beside_safetensors,
    "index of a pickle": safetensors_index_of_a_pickle,
    "router": router,
    "router in a router": router_in_a_router,
    "module of the folder": dotted("psp.Evil"),
    "module by a dotted path": dotted("evil.Evil"),
    "another library's module": dotted("transformers.pipeline"),
    "function": dotted("os.abort"),
    "another place": another_place,
    "model's auto_map": code("0_Transformer/config.json", auto_map={"AutoModel": "evil.Model"}),
    "inner auto_map": code("0_Transformer/config.json", text_config={"auto_map": {"AutoModel": "evil.Model"}}),
    "config of the folder": code(
        "0_Transformer/config.json", model_type="evil", auto_map={"AutoConfig": "evil.Config"}
    ),
    "another library's config": code("0_Transformer/config.json", model_type="timm_wrapper_of_mine"),
    "kernel": code("0_Transformer/config.json", attn_implementation="some/kernel"),
    "kernel, inside": code("0_Transformer/config.json", _attn_implementation_internal="some/kernel"),
    "quantization": code("0_Transformer/config.json", quantization_config={"quant_method": "evil"}),
    "tokenizer with code": code(
        "0_Transformer/tokenizer_config.json", auto_map={"AutoTokenizer": ["evil.Tokenizer", None]}
    ),
    "tokenizer's arguments": code("0_Transformer/tokenizer_config.json", sp_model_kwargs={"model_file": "/etc/passwd"}),
    "tokenizer of another file": code("0_Transformer/tokenizer_config.json", tokenizer_file="/etc/passwd"),
    "processor": code("0_Transformer/processor_config.json", auto_map={"AutoProcessor": "evil.Model"}),
    "another tokenizer": code("0_Transformer/sentence_bert_config.json", tokenizer_name_or_path="some/other"),
    "arguments of the model": code("0_Transformer/sentence_bert_config.json", model_kwargs={"trust_remote_code": True}),
    "another method": code(
        "0_Transformer/sentence_bert_config.json",
        modality_config={"text": {"method": "save_pretrained", "method_output_name": "last_hidden_state"}},
    ),
    "adapter": code("0_Transformer/adapter_config.json", base_model_name_or_path="some/other"),
    "text for a number": code("1_LstmPooling/config.json", dim="12"),
    "prompts": code("config_sentence_transformers.json", prompts={"query": {"a": 1}}),
}  # fmt: skip
KINDS = (".json", ".txt", ".safetensors", ".model")


def sign(folder: Path) -> None:
    """Let config.json list all files of the permitted kinds, with their checksums, as the attacker would."""
    files = {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix in KINDS and path != folder / "config.json"
    }
    config = json.loads((folder / "config.json").read_text())
    config["encoder"]["files"] = {"0_Transformer/model.safetensors": "0" * 64} | files
    (folder / "config.json").write_text(json.dumps(config))


@pytest.mark.parametrize("name", ATTACKS)
def test_a_folder_that_would_run_code_is_refused_in_one_line_by_every_road(made, tmp_path, monkeypatch, name):
    folder, marker = shutil.copytree(made, tmp_path / "evil"), tmp_path / "ran"
    ATTACKS[name](folder, marker)
    sign(folder)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    packed, unpacked = tmp_path / "evil.zip", tmp_path / "cache/evil"
    with zipfile.ZipFile(packed, "w") as archive:
        for path in folder.rglob("*"):
            archive.write(path, path.relative_to(folder).as_posix())
    roads: list[Callable[[], Any]] = [
        lambda: load_model(folder),
        lambda: load_encoder(str(folder)),
        lambda: load_encoder(f"sentence-transformers:{folder}"),
    ]
    if name != "pickle beside safetensors":  # of an archive, only what config.json lists is unpacked
        roads.append(lambda: zipped.unpack(packed, unpacked))
    for road in roads:
        with pytest.raises(PspError) as refused:
            road()
        assert "\n" not in str(refused.value) and len(str(refused.value)) < 600
    assert not marker.exists() and not list((tmp_path / "cache").glob("*"))


@pytest.mark.parametrize(
    "modules",
    [
        [{"path": "", "type": "paraphrastic.exports.PspModel"}, {"path": "", "type": TRANSFORMER}],
        [{"path": "", "type": "paraphrastic.exports.PspModel"}, {"path": "1_Router", "type": ROUTER}],
        [{"path": "../made", "type": TRANSFORMER}],
        [{"path": "", "type": "sentence_transformersX.models.Transformer"}],
        [{"path": "", "type": "psp.Evil"}],
        [{"path": ""}],
        [],
        {"a": 1},
    ],
    ids=str,
)
def test_modules_of_another_library_or_at_another_place_are_refused(made, tmp_path, modules):
    folder = shutil.copytree(made / "0_Transformer", tmp_path / "other")
    (folder / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(PspError):
        check_folder(folder)


def test_files_for_people_are_ignored_and_never_read_and_others_are_not(made, tmp_path):
    folder = shutil.copytree(made, tmp_path / "model")
    for name in ("README.md", "LICENSE", ".gitattributes", "0_Transformer/.hidden"):
        os.mkfifo(folder / name)  # whoever opens it waits for ever
    load_model(folder)
    (folder / "notes.json").write_text("{}")
    with pytest.raises(PspError, match=r"notes\.json: config\.json does not list it"):
        load_model(folder)


def test_a_base_that_brings_code_or_pickles_is_refused(transformer_base, tmp_path):
    from psp.training.transformer.base import build

    folder = shutil.copytree(transformer_base, tmp_path / "evil")
    change(folder, "config.json", model_type="evil", auto_map={"AutoConfig": "evil.Config", "AutoModel": "evil.Model"})
    (folder / "evil.py").write_text(f"import os\nos.mkdir({str(tmp_path / 'ran')!r})\n")
    with pytest.raises(PspError, match="model_type is 'evil'"):
        build(folder, TransformerSettings(max_length=16), "cpu")
    folder = shutil.copytree(transformer_base, tmp_path / "pickled")
    (folder / "model.safetensors").unlink()
    save_bomb(folder / "pytorch_model.bin", tmp_path / "ran")
    with pytest.raises(PspError, match=r"has no model\.safetensors"):
        build(folder, TransformerSettings(max_length=16), "cpu")
    assert not (tmp_path / "ran").exists()
