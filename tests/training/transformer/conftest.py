"""A tiny transformer, and made-up pairs of two languages that it can learn in seconds."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

from psp.training.transformer import TransformerTraining

#: Words of one made-up language, and those of another that mean the same.
WORDS = {left + right: right + left for left, right in itertools.product(["ba", "de", "ki", "lo", "mu"], repeat=2)}


def make_pairs(count: int, seed: int = 0) -> list[tuple[str, str]]:
    """Sentences of 3 to 6 words, the second word by word in the other language."""
    draw = random.Random(seed)
    words = sorted(WORDS)
    found: dict[str, str] = {}
    while len(found) < count:
        some = draw.choices(words, k=draw.randint(3, 6))
        found[" ".join(some).capitalize()] = " ".join(WORDS[word] + "x" for word in some)
    return list(found.items())


def write_pairs(path: Path, pairs: list[tuple[str, str]], mixed: bool = False) -> Path:
    path.write_text("".join(f"{a}\t{b}" + "\t0" * mixed + "\n" for a, b in pairs))
    return path


def make_base(folder: Path, *, positions: int = 40, sentences: list[str] | None = None) -> Path:
    """A random BERT of 2 layers, 32 wide, and a WordPiece vocabulary of sentences, by default the made-up ones."""
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder.mkdir(parents=True)
    tokenizer = BertWordPieceTokenizer(lowercase=True)
    sentences = sentences or [side for pair in make_pairs(300) for side in pair]
    tokenizer.train_from_iterator(sentences, vocab_size=200, min_frequency=1, show_progress=False)
    tokenizer.save_model(str(folder))
    fast = BertTokenizerFast(vocab=str(folder / "vocab.txt"), do_lower_case=True)
    fast.save_pretrained(str(folder))
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(fast), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=positions,
    )  # fmt: skip
    BertModel(config).save_pretrained(str(folder))
    return folder


@pytest.fixture(scope="package")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("sentence_transformers", reason="not installed (pip install 'paraphrastic[transformer]')")
    pytest.importorskip("datasets", reason="not installed (pip install 'paraphrastic[transformer]')")
    return make_base(tmp_path_factory.mktemp("transformer") / "base")


SETTINGS = {"batch_size": 16, "epochs": 1, "learning_rate": 2e-3, "max_length": 24, "log_every": 5, "device": "cpu"}


PAIRS = make_pairs(264)


def train(folder, base, *, pairs=PAIRS[:240], development=None, mixed=False, name="model", **given):
    path = write_pairs(folder / "pairs.tsv", pairs, mixed)
    about = {key: given.pop(key) for key in ("replace", "model_config", "seed", "teacher") if key in given}
    return TransformerTraining(
        path, str(base), folder / name, folder / "train", {**SETTINGS, **given}, development, threads=1, **about
    ).run()
