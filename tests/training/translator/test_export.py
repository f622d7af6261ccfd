"""The exported translator against the library's own model and its decoding."""

import json

import torch
from transformers import PegasusForConditionalGeneration

from psp.config.blocks.translator import FILES, SENTENCEPIECE, TranslatorSettings
from psp.inference.translation import load_translator
from psp.inference.translation.base import limit
from psp.pairs.translator_heldout import read_heldout
from psp.text.sentencepiece_tokenizer import load_sentencepiece
from psp.training.translator import export


def sources(prepared):
    return [source for pairs in read_heldout(prepared.heldout).values() for source, _, _ in pairs]


def translated(folder, texts, **settings):
    """The translations of a folder, and whether each is too long."""
    entry = {"ctranslate2": str(folder / "ctranslate2"), "compute_type": "float32", "beam": 1, "max_tokens": 128}
    found = [best for best, *_ in load_translator({**entry, **settings}).translate(texts)]
    return [one.text for one in found], [not one.ended for one in found]


@torch.no_grad()
def of_the_library(network, processor, texts):
    """Each text's translation by the library's search, greedy, without padding."""
    found = []
    for ids in processor.encode(texts):
        written = network.eval().generate(
            torch.tensor([[*ids, processor.eos_id()]]),
            num_beams=1,
            do_sample=False,
            min_new_tokens=1,  # as CTranslate2's own default
            max_new_tokens=limit(len(ids)),
            suppress_tokens=[processor.unk_id()],
        )
        found.append(" ".join(processor.decode([one for one in written[0].tolist()[1:] if one > 2]).split()))
    return found


def test_the_export_translates_as_the_network_does(prepared, trained):
    network = PegasusForConditionalGeneration.from_pretrained(trained.folder)
    config = json.loads((trained.folder / "config.json").read_text())
    assert config["kind"] == "translator" and config["languages"] == {"source": "fr", "target": "en"}
    texts = [*sources(prepared), "Un inconnu zéro", "douze"]
    theirs, overlong = translated(trained.folder, texts)
    assert theirs == of_the_library(network, load_sentencepiece(prepared.sentencepiece), texts)
    assert len(set(theirs)) > 20
    assert sum(overlong) < 5


def test_a_network_that_has_learnt_nothing_is_exported_as_it_is(prepared, tmp_path):
    # It never ends by itself: the limits agree, too, and more than one layer.
    processor = load_sentencepiece(prepared.sentencepiece)
    sizes = {"encoder_layers": 3, "decoder_layers": 2, "dim": 32, "heads": 4, "feed_forward": 48}
    torch.manual_seed(5)
    network = export.build(TranslatorSettings(**sizes), processor, "sdpa")
    export.save(tmp_path, network, prepared.sentencepiece, {})
    texts = sources(prepared)[:6]
    theirs, overlong = translated(tmp_path, texts)
    assert theirs == of_the_library(network, processor, texts)
    assert any(overlong)
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()) == sorted(
        FILES
    )
    loaded = PegasusForConditionalGeneration.from_pretrained(tmp_path)
    assert all(torch.equal(one, other) for one, other in zip(network.parameters(), loaded.parameters(), strict=True))


def test_long_sources_are_cut(trained):
    (text,), _ = translated(trained.folder, ["un " * 10_000], compute_type="int8", max_tokens=8)
    processor = load_sentencepiece(trained.folder / SENTENCEPIECE)
    assert len(processor.encode(text)) <= limit(8)
