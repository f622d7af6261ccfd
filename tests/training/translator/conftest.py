"""A language of number words, and a translator of it that is trained in two seconds."""

import random
from pathlib import Path
from types import SimpleNamespace

import pytest

from psp.pairs.mix import mix
from psp.pairs.subword import train_subword
from psp.pairs.translator_heldout import hold_out
from psp.training.translator import train_translator
from tests.conftest import write_pair_file

FRENCH = "zéro un deux trois quatre cinq six sept huit neuf dix onze douze Treize"
ENGLISH = "zero one two three four five six seven eight nine ten eleven twelve Thirteen"
WORDS = dict(zip(FRENCH.split(), ENGLISH.split(), strict=True))
TINY = {
    "encoder_layers": 1, "decoder_layers": 1, "dim": 32, "heads": 2, "feed_forward": 64, "dropout": 0.05,
    "precision": "float32", "batch_tokens": 256, "steps": 120, "warmup": 50, "learning_rate": 0.01,
    "evaluate_every": 40, "beam": 2, "device": "cpu", "log_every": 20, "average": 0.9,
}  # fmt: skip


def sentences(count: int, seed: int = 1) -> list[tuple[str, str]]:
    """Distinct pairs."""
    generator = random.Random(seed)
    found = {}
    while len(found) < count:
        words = generator.choices(list(WORDS), k=generator.randint(2, 6))
        found[" ".join(words)] = " ".join(WORDS[word] for word in words)
    return list(found.items())


def prepare(folder: Path, rows: list[tuple[str, str]]) -> SimpleNamespace:
    """Mixed pairs, held-out ones and a sentencepiece model, in a folder."""
    folder.mkdir(exist_ok=True)
    file = write_pair_file(folder / "numbers.txt", rows)
    mix([("numbers", file)], folder / "mix.tsv", folder / "none.tsv", folder / "mix.json", heldout_pairs=0, seed=1)
    pairs, heldout = folder / "pairs.tsv", folder / "heldout.tsv"
    hold_out(
        folder / "mix.tsv", pairs, heldout, folder / "heldout.json", corpora=["numbers"],
        sets={"numbers": 30}, development=10,
    )  # fmt: skip
    model = folder / "sentencepiece.model"
    train_subword(pairs, model, vocab_size=60, report=folder / "sentencepiece.json")
    return SimpleNamespace(pairs=pairs, heldout=heldout, sentencepiece=model, folder=folder)


def train(prepared: SimpleNamespace, out: Path, **settings):
    """Train a tiny translator into ``out``."""
    return train_translator(
        prepared.pairs, prepared.heldout, prepared.sentencepiece, out / "model", out / "translator.json",
        out / "train", {**TINY, **settings}, languages=("fr", "en"), corpora=["numbers"], threads=1,
    )  # fmt: skip


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    return prepare(tmp_path_factory.mktemp("numbers"), sentences(1000))


@pytest.fixture(scope="session")
def trained(prepared, tmp_path_factory):
    """A tiny translator: where it is, and its report."""
    out = tmp_path_factory.mktemp("translator")
    return SimpleNamespace(out=out, report=train(prepared, out), folder=out / "model")
