"""Search for translations: error rate and MTEB's F1, and where published sets have their files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from psp.core.errors import ConfigError, DataError
from psp.evaluation.tasks import BootstrapSpec, make
from psp.evaluation.tasks.retrieval import _part
from tests.evaluation.tasks.conftest import HASHED, sentences, write

DRAW = BootstrapSpec(resamples=200, seed=1, name="set")


@given(hnp.arrays(np.int8, st.integers(1, 8).map(lambda n: (n, n)), elements=st.integers(0, 3)))
def test_f1_is_scikit_learns_weighted_one(matrix: np.ndarray) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    found, right = matrix.argmax(axis=1), np.arange(len(matrix))
    part = _part(matrix.astype(float), [str(row) for row in right], DRAW)
    expected = metrics.f1_score(right, found, average="weighted", zero_division=0)
    assert part.metrics["f1"].value == pytest.approx(100 * expected, abs=1e-6)
    assert part.metrics["error"].value == pytest.approx(100 * (found != right).mean(), abs=1e-9)


def test_both_directions_of_two_files(tmp_path: Path) -> None:
    texts = sentences(30, 1)
    other = [f"{text} more" for text in texts]
    other[:3] = sentences(3, 2)
    write(tmp_path / "a.fr", texts), write(tmp_path / "a.de", other, end="\r\n")
    entry = {
        "task": "retrieval",
        "languages": ["fr", "de"],
        "source": str(tmp_path / "a.fr"),
        "target": str(tmp_path / "a.de"),
    }
    task = make(entry)
    parts = task.score(HASHED, DRAW)
    similarity = HASHED.cross(texts, other)
    assert list(parts) == ["fr-de", "de-fr"]
    for part, matrix in zip(parts.values(), (similarity, similarity.T), strict=True):
        wrong = matrix.argmax(axis=1) != np.arange(30)
        report = part.report["figures"]
        assert (part.items, report["error"]["value"]) == (30, round(100 * wrong.mean(), 4))
        assert report["error"]["interval"][0] <= report["error"]["value"] <= report["error"]["interval"][1]
    assert sorted(task.sentences()) == sorted([*texts, *other])


def test_published_sets_are_found_by_their_own_codes(tmp_path: Path) -> None:
    for name in ("src.eng", "ref.fra", "ref.zho-CN", "ref.zho-TW", "ref.arb"):
        write(tmp_path / f"ntrex/newstest2019-{name}.txt", ["a"])
    for name in ("eng_Latn", "fra_Latn", "zho_Hans", "zho_Hant", "kas_Arab", "kas_Deva"):
        write(tmp_path / f"flores/devtest/{name}.devtest", ["a"])

    def files(layout: str, *languages: str) -> list[str]:
        entry = {"task": "retrieval", "layout": layout, "path": str(tmp_path / layout), "languages": list(languages)}
        return [path.name for path in make(entry, "x").files()]

    assert files("ntrex", "en", "zh") == ["newstest2019-src.eng.txt", "newstest2019-ref.zho-CN.txt"]
    assert files("ntrex", "zho-TW", "ar") == ["newstest2019-ref.zho-TW.txt", "newstest2019-ref.arb.txt"]
    assert files("flores", "fr", "zh") == ["fra_Latn.devtest", "zho_Hans.devtest"]
    assert files("tatoeba", "sw", "en") == ["tatoeba.swh-eng.swh", "tatoeba.swh-eng.eng"]
    assert files("tatoeba", "en", "zh") == ["tatoeba.cmn-eng.eng", "tatoeba.cmn-eng.cmn"]
    for layout, languages, error, said in (
        ("ntrex", ("en", "pl"), DataError, r"newstest2019-ref\.pol\.txt: no such file; give .* arb, eng, fra, zho-CN"),
        ("flores", ("en", "kas"), DataError, "several files for kas: kas_Arab, kas_Deva; give it by the code"),
        ("flores", ("en", "pl"), DataError, "no file for pl; give it by the code of its file, such as eng_Latn"),
        ("tatoeba", ("fr", "de"), ConfigError, "x.languages: Tatoeba's sets pair a language with en"),
        ("tatoeba", ("xx", "en"), ConfigError, "x.languages: Tatoeba has no set for xx"),
        ("plain", ("fr", "en"), ConfigError, "x: layout plain needs `source` and `target`"),
    ):  # fmt: skip
        with pytest.raises(error, match=said):
            files(layout, *languages)


def test_real_tatoeba(psp_data: Path) -> None:
    entry = {
        "task": "retrieval",
        "layout": "tatoeba",
        "path": str(psp_data / "eval/tatoeba/v1"),
        "languages": ["fr", "en"],
    }
    parts = make(entry).score(HASHED, DRAW)
    assert [part.items for part in parts.values()] == [1000, 1000]
