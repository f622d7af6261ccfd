"""A CTranslate2 model with random weights: its translations mean nothing, but are the same each time."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

WIDTH, HIDDEN = 16, 32
WORDS = [
    "le", "la", "chat", "chien", "petit", "grand", "dort", "mange", "voit", "Marie", "Paul", "the", "cat", "dog",
]  # fmt: skip


def sentences(count: int, seed: int = 1) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(2, 9))) + "." for _ in range(count)]


@pytest.fixture(scope="session")
def sentencepiece_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sentencepiece model of the phrasebook's English and French."""
    import sentencepiece

    path = tmp_path_factory.mktemp("pieces") / "sentencepiece.model"
    model = io.BytesIO()
    lines = sentences(600)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, vocab_size=200, minloglevel=2, hard_vocab_limit=False
    )
    path.write_bytes(model.getvalue())
    return path


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory, sentencepiece_model: Path) -> Path:
    """The model's folder, with its sentencepiece model."""
    specs = pytest.importorskip("ctranslate2.specs")
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_proto=sentencepiece_model.read_bytes())
    pieces = [processor.id_to_piece(number) for number in range(processor.get_piece_size())]
    spec = specs.TransformerSpec.from_config(1, 2, pre_norm=True)
    rng = np.random.default_rng(1)
    shapes = {
        "embeddings_0/weight": (len(pieces), WIDTH), "embeddings/weight": (len(pieces), WIDTH),
        "projection/weight": (len(pieces), WIDTH), "self_attention/linear_0/weight": (3 * WIDTH, WIDTH),
        "self_attention/linear_1/weight": (WIDTH, WIDTH), "attention/linear_0/weight": (WIDTH, WIDTH),
        "attention/linear_1/weight": (2 * WIDTH, WIDTH), "attention/linear_2/weight": (WIDTH, WIDTH),
        "ffn/linear_0/weight": (HIDDEN, WIDTH), "ffn/linear_1/weight": (WIDTH, HIDDEN),
    }  # fmt: skip
    for name, value in spec.variables().items():
        if value is not None:
            continue
        *path, last = name.split("/")
        owner = spec
        for step in path:
            owner = _child(owner, step)
        if last in ("gamma", "beta"):
            found = np.full(WIDTH, last == "gamma", np.float32)
        else:
            shape = next(shape for end, shape in shapes.items() if name.endswith(end))
            found = rng.normal(0, 0.5, shape).astype(np.float32)
        setattr(owner, last, found)
    bias = np.zeros(len(pieces), np.float32)
    bias[pieces.index("</s>")] = 5  # so that translations end
    bias[pieces.index("<unk>")] = -30  # which is never written: its share of the probability is nothing
    spec.decoder.projection.bias = bias
    spec.register_source_vocabulary(pieces)
    spec.register_target_vocabulary(pieces)
    spec.validate()
    folder = tmp_path_factory.mktemp("tiny") / "model"
    folder.mkdir()
    spec.save(str(folder))
    (folder / "sentencepiece.model").write_bytes(sentencepiece_model.read_bytes())
    return folder


def _child(owner: object, step: str) -> object:
    if hasattr(owner, step):
        return getattr(owner, step)
    name, _, number = step.rpartition("_")
    return getattr(owner, name)[int(number)]
