"""The exported translator against the network that was trained."""

import json

import pytest
import torch

from psp.config.blocks.translator import FILES, SENTENCEPIECE
from psp.core.errors import DataError
from psp.inference.translation import load_translator
from psp.inference.translation.base import limit
from psp.pairs.translator_heldout import read_heldout
from psp.text.sentencepiece_tokenizer import load_sentencepiece
from psp.training.translator import export
from psp.training.translator.model import Sizes, TranslatorModel
from psp.training.translator.trainer import translate_greedily


def sources(prepared):
    return [source for pairs in read_heldout(prepared.heldout).values() for source, _, _ in pairs]


def translated(folder, texts, **settings):
    """The translations of a folder, and whether each is too long."""
    entry = {"ctranslate2": str(folder / "ctranslate2"), "compute_type": "float32", "beam": 1, "max_tokens": 128}
    found = [best for best, *_ in load_translator({**entry, **settings}).translate(texts)]
    return [one.text for one in found], [not one.ended for one in found]


@pytest.mark.slow
def test_the_export_translates_as_the_network_does(prepared, trained):
    network, config = export.load(trained.folder)
    assert config["languages"] == {"source": "fr", "target": "en"}
    texts = [*sources(prepared), "Un inconnu zéro", "douze"]
    ours = translate_greedily(network, load_sentencepiece(prepared.sentencepiece), texts, 128)
    theirs, overlong = translated(trained.folder, texts)
    assert theirs == ours
    assert len(set(ours)) > 20
    assert not any(overlong[:-2])


@pytest.mark.parametrize("share", [True, False])
def test_a_network_that_has_learnt_nothing_is_exported_as_it_is(prepared, tmp_path, share):
    # It never ends by itself: the limits agree, too, and more than one layer, and vectors of their own.
    processor = load_sentencepiece(prepared.sentencepiece)
    network = TranslatorModel(Sizes(processor.get_piece_size(), 3, 2, 32, 4, 48, share_vectors=share))
    network.initialise(torch.Generator().manual_seed(5))
    export.save(tmp_path, network, prepared.sentencepiece, {}, ("fr", "en"))
    texts = sources(prepared)[:6]
    theirs, overlong = translated(tmp_path, texts)
    assert theirs == translate_greedily(network, processor, texts, 128)
    assert any(overlong)
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()) == sorted(
        FILES
    )
    loaded, _ = export.load(tmp_path)
    assert all(torch.equal(one, other) for one, other in zip(network.parameters(), loaded.parameters(), strict=True))


def test_long_sources_are_cut(trained):
    (text,), _ = translated(trained.folder, ["un " * 10_000], compute_type="int8", max_tokens=8)
    processor = load_sentencepiece(trained.folder / SENTENCEPIECE)
    assert len(processor.encode(text)) <= limit(8)


def test_the_folder_of_something_else_is_refused(trained, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"format": 1, "kind": "model"}))
    with pytest.raises(DataError, match=r"is not a translator's, of format 1"):
        export.load(tmp_path)
