"""Mining as in BUCC, in its layout."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from psp.core.errors import DataError
from psp.evaluation.baselines import WordOverlap
from psp.evaluation.tasks import Unsupported, make
from psp.evaluation.tasks.bitext_mining import _part
from tests.evaluation.tasks.conftest import DRAW, HASHED, sentences, write

pytest.importorskip("faiss", reason="pip install 'paraphrastic[search]'")


@pytest.fixture
def bucc(tmp_path: Path) -> dict[str, object]:
    """60 French lines and 80 English ones; 30 of them are the same words, with two more."""
    french, english = sentences(60, 1, vocabulary=400), sentences(80, 2, vocabulary=400)
    english[50:80] = [f"{text} x{number} y{number}" for number, text in enumerate(french[:30])]
    write(tmp_path / "fr-en.training.fr", [f"fr-{row}\t{text}" for row, text in enumerate(french)])
    write(tmp_path / "fr-en.training.en", [f"en-{row}\t{text}" for row, text in enumerate(english)])
    write(tmp_path / "fr-en.training.gold", [f"fr-{row}\ten-{row + 50}" for row in range(30)])
    return {"task": "bitext_mining", "path": str(tmp_path), "languages": ["fr", "en"]}


def test_hidden_pairs_are_found_and_counted(bucc: dict[str, object]) -> None:
    task = make(bucc)
    parts = task.score(HASHED, DRAW)
    best, default = parts["best"], parts["default"]
    assert best.metrics["f1"].value > 90
    assert best.metrics["f1"].value >= default.metrics["f1"].value
    for part in (best, default):
        precision, recall = (part.metrics[name].value / 100 for name in ("precision", "recall"))
        assert part.metrics["f1"].value == pytest.approx(200 * precision * recall / (precision + recall), abs=1e-9)
        low, high = part.report["figures"]["f1"]["interval"]
        assert low <= part.report["figures"]["f1"]["value"] <= high
    assert default.further["threshold"] == 1.25
    assert len(list(task.sentences())) == 60


@pytest.mark.parametrize("mined", [0, 1, 5, 8])
def test_figures_are_those_of_sets(mined: int) -> None:
    right = np.array([True, True, False, True, False, False, True, False])
    part, hits = _part(right, mined, 6, 1.0, DRAW), int(right[:mined].sum())
    assert part.items == mined + 6 - hits
    assert part.metrics["recall"].value == pytest.approx(100 * hits / 6)
    if mined:
        assert part.metrics["precision"].value == pytest.approx(100 * hits / mined)
    else:
        assert part.metrics["precision"].why == "no pair is mined"


def test_bad_input_is_one_line(bucc: dict[str, object]) -> None:
    folder = Path(str(bucc["path"]))
    with pytest.raises(Unsupported, match="has no vectors"):
        make(bucc).score(WordOverlap(), DRAW)
    write(folder / "fr-en.training.gold", ["fr-1\ten-99"])
    with pytest.raises(DataError, match=r"fr-en\.training\.gold, line 1: the id en-99 is not in fr-en\.training\.en"):
        make(bucc).score(HASHED, DRAW)
    write(folder / "fr-en.training.fr", ["fr-1\ta", "fr-1\tb"])
    with pytest.raises(DataError, match=r"fr-en\.training\.fr, line 2: the id fr-1 is given twice"):
        make(bucc).score(HASHED, DRAW)
    with pytest.raises(DataError, match=r"de-en\.training\.de: cannot be read"):
        make({**bucc, "languages": ["de", "en"]}).score(HASHED, DRAW)
