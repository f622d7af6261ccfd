"""Encoders trained together: vectors and gradients of the parts joined, and training from text to a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from psp.core.errors import ConfigError
from psp.core.files import read_json
from psp.models.folder import load_model
from psp.pairs.store import write_store
from psp.pairs.vocabulary import build_vocabulary
from psp.text.tokenizer_kinds import as_tokenizer
from psp.training.encoders import checked_encoder
from psp.training.encoders.joint import JointEncoder
from psp.training.encoders.mean import MeanEncoder
from tests.training.conftest import QUICK, Made, sentences, train
from tests.training.training_process import Job, after_kill_9

ROWS = [[1, 2, 0, 5, 6], [3, 7], [], [0, 0, 4, 4], [2, 6, 6]]
STARTS = [0, 4, 8]
forms = pytest.mark.parametrize(("join", "scaled"), [("concat", True), ("concat", False), ("add", False)])


def tables() -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(4, 5, generator=generator) for _ in range(2)]


def plainly(given: list[torch.Tensor], join: str, scaled: bool, weights: list[float]) -> torch.Tensor:
    """Vectors by the definition, a sentence at a time."""
    found = []
    for row in ROWS:
        parts = []
        for table, start, weight in zip(given, STARTS, weights, strict=False):
            ids = [number - start for number in row if start <= number < start + 4]
            vector = table[ids].mean(0) if ids else torch.zeros(5)
            length = vector.norm()
            parts.append(vector / length * weight**0.5 if scaled and length > 0 else vector)
        found.append(parts[0] + parts[1] if join == "add" else torch.cat(parts))
    return torch.stack(found)


@forms
def test_vectors_and_gradients_are_those_of_the_parts_joined(join: str, scaled: bool) -> None:
    weights = [1.0, 0.5] if scaled else [1.0, 1.0]
    made = JointEncoder([MeanEncoder(table) for table in tables()], STARTS, join, weights, scaled)
    vectors = made(sentences(ROWS), 0)
    given = [table.requires_grad_() for table in tables()]
    plain = plainly(given, join, scaled, weights)
    torch.testing.assert_close(vectors, plain, rtol=0, atol=1e-6)
    torch.testing.assert_close(made.encode(sentences(ROWS)), plain.detach(), rtol=0, atol=1e-6)
    upstream = torch.randn(*plain.shape, generator=torch.Generator().manual_seed(2))
    vectors.backward(upstream)
    plain.backward(upstream)
    for part, table in zip(made.parts, given, strict=True):
        torch.testing.assert_close(part.table.grad.to_dense(), table.grad, rtol=1e-5, atol=1e-6)


@pytest.fixture(scope="module")
def vocabularies(made: Made) -> list[Path]:
    """The subwords, and the pairs' trigrams; the store of both lies beside them."""
    folder = made.store.parent
    trigrams = folder / "trigrams.txt"
    build_vocabulary(folder / "mix.tsv", trigrams, kind="trigram", min_count=2, report=folder / "trigrams.json")
    paths = [made.sentencepiece, trigrams]
    write_store(folder / "mix.tsv", paths, folder / "joint.h5", languages=["en", "fr"], corpora=["made"])
    return paths


def encoder(join: str = "concat", scaled: bool = True, dims: tuple[int, int] = (12, 12)) -> dict[str, Any]:
    start = {"init": "zipf", "init_scale": 1.0, "init_smoothing": 3e-4, "init_from": None}
    spelling = (0.6, 0.0)
    return {
        "kind": "joint", "join": join, "scaled": scaled, "weights": [1.0, 1.0],
        "parts": [
            {"encoder": {"kind": "mean"}, "dim": dim, "init_spelling": spelled, **start}
            for dim, spelled in zip(dims, spelling, strict=True)
        ],
    }  # fmt: skip


@forms
def test_a_folder_embeds_as_the_trained_encoders_do(
    made: Made, vocabularies: list[Path], tmp_path: Path, join: str, scaled: bool
) -> None:
    class Seen:
        """Keeps what training embeds with."""

        def score(self, scorer: Any, heldout_scorer: Any = None) -> dict[str, float]:
            self.vectors = scorer.model.embed_raw_text(made.unseen[0])
            return {"score": 1.0}

    seen, own = Seen(), encoder(join, scaled, (12, 12) if join == "add" else (12, 8))
    settings = {"epochs": 2, "learning_rate": 0.02, "batch_size": 64, "select": "last", "token_dropout": 0.1}
    given = {"store": made.store.with_name("joint.h5"), "tokenizer": vocabularies, "encoder": own}
    report = train(tmp_path, made, settings, seen, **given)
    model = load_model(tmp_path / "model")
    np.testing.assert_array_equal(model.embed_raw_text(made.unseen[0]), seen.vectors)
    assert report["encoder"] == checked_encoder(own) and report["vocabulary"] == len(as_tokenizer(vocabularies))
    assert model.dim == (12 if join == "add" else 20)
    assert [part.tokenizer.kind for part in model.parts] == ["subword", "trigram"]
    vectors = [model.embed_raw_text(side) for side in made.unseen]
    found = (model.similarity(*vectors).argmax(axis=1) == np.arange(len(vectors[0]))).mean()
    assert found > 0.3  # of 200 translations; 0.005 by chance


def test_wrong_parts_are_told(made: Made, vocabularies: list[Path], tmp_path: Path) -> None:
    def run(paths: list[Path], own: dict[str, Any], **more: Any) -> None:
        train(tmp_path, made, {}, store=made.store.with_name("joint.h5"), tokenizer=paths, encoder=own, **more)

    three = encoder()
    three["parts"].append(three["parts"][0])
    with pytest.raises(ConfigError, match="3 parts need as many vocabularies"):
        run(vocabularies, three)
    spelled = encoder()
    spelled["parts"][1]["init_spelling"] = 0.5
    with pytest.raises(ConfigError, match="not allowed for trigrams"):
        run(vocabularies, spelled)
    with pytest.raises(ConfigError, match="not available for encoders that are trained together"):
        run(vocabularies, encoder(), init_from=tmp_path)


@pytest.mark.slow
def test_after_kill_9_the_same_command_goes_on_to_the_same_bytes(
    made: Made, vocabularies: list[Path], tmp_path: Path
) -> None:
    own = encoder("add", False)
    own["parts"][1]["encoder"] = {"kind": "lstm", "width": 12}
    settings = {
        "objective": "margin", "margin": 0.4, "directions": "both", "learning_rate": 0.02,
        "token_dropout": 0.1, "dropout": 0.1, "schedule": "linear", "dim": 12,
    }  # fmt: skip
    changes = {"store": made.store.with_name("joint.h5"), "tokenizer": vocabularies, "encoder": own}
    job = Job(
        made.store, made.sentencepiece, made.heldout, tmp_path / "undisturbed", {**QUICK, **settings}, changes=changes
    )
    assert job.run() == 0
    assert after_kill_9(job, tmp_path / "killed").results() == job.results()
    assert read_json(tmp_path / "killed/train/train.json")["best"]["error"] < 60  # % of 200 sentences
