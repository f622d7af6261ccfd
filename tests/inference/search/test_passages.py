"""``psp search --passages``, against scores computed passage by passage."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from psp.cli.main import main
from psp.core.errors import DataError
from psp.inference.search import passages
from psp.inference.search.passages import PassageIndex
from psp.models.folder import save_model
from psp.models.static import StaticModel
from psp.text.lines import LineFile
from psp.text.sentencepiece_tokenizer import load_sentencepiece
from psp.text.sentences import split_sentences
from tests.conftest import SENTENCES, train_sentencepiece
from tests.inference.search.test_index import PSP_SEARCH

pytest.importorskip("faiss", reason="faiss is not installed (the extra search)")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model, its table drawn at random, and 61 passages, one of them empty and one unknown."""
    made = tmp_path_factory.mktemp("passages")
    sp_model = train_sentencepiece(made / "sp.model")
    table = np.random.default_rng(4).standard_normal((load_sentencepiece(sp_model).get_piece_size(), 16))
    save_model(made / "model", table.astype(np.float32), sp_model, {"languages": ["en", "fr"], "lower_case": True})
    texts = [". ".join(SENTENCES[start : start + 1 + start % 4]) + "." for start in range(57)]
    texts[20:20] = ["", "日本。日本。", texts[3], "日本。 " + SENTENCES[8]]
    (made / "passages.tsv").write_text("".join(f"id {n}\t{text}\n" for n, text in enumerate(texts)))
    return made


def plain(model: StaticModel, corpus: LineFile, query: str, k: int) -> list[tuple[float, str]]:
    """(score, id) of the k best passages."""

    def cosines(texts: list[str]) -> np.ndarray:
        vectors = model.embed_raw_text([query, *texts]).astype(np.float64)
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)
        shares = model.unknown_shares(texts)
        found: np.ndarray = np.where(shares < 1, vectors[1:] @ vectors[0], -np.inf)
        return found

    scored = []
    for number, line in enumerate(corpus[number] for number in range(len(corpus))):
        key, _, text = line.partition("\t")
        if text and np.isfinite(own := cosines([text])[0]):
            scored.append((-round((own + max(own, *cosines(split_sentences(text)))) / 2, 6), number, key))
    return [(-score, key) for score, _, key in sorted(scored)[:k]]


@pytest.mark.parametrize("chunk", [1024, 7])
@pytest.mark.parametrize(("dtype", "error"), [("float32", 1e-6), ("float16", 2e-3), ("int8", 2e-2)])
def test_scores_are_the_mean_of_two_cosines(
    folder: Path, monkeypatch: pytest.MonkeyPatch, dtype: str, error: float, chunk: int
) -> None:
    monkeypatch.setattr(passages, "CHUNK", chunk)
    model, corpus = StaticModel.load(folder / "model"), LineFile(folder / "passages.tsv")
    index = PassageIndex(model, corpus, dtype)
    queries = [*SENTENCES[5:25], "日本", ""]
    answers = index.search(queries, 8)
    assert answers[-2:] == [[], []] and answers[4:5] == index.search(queries[4:5], 8)
    for query, hits in zip(queries[:20], answers, strict=False):
        expected = plain(model, corpus, query, 8)
        assert [hit.score for hit in hits] == pytest.approx([score for score, _ in expected], abs=error)
        if dtype == "float32":
            assert [hit.id for hit in hits] == [key for _, key in expected]
        for hit in hits:
            assert hit.sentence in [hit.text, *split_sentences(hit.text)] and f"{hit.id}\t{hit.text}" in next(
                corpus.chunks(99)
            )
    assert len(index.search(["the cat"], 99)[0]) == 59  # neither the empty nor the unknown one


def test_the_command_prints_ids_and_best_sentences(folder: Path) -> None:
    command = [*PSP_SEARCH, str(folder / "model"), str(folder / "passages.tsv"), "--passages", "-k", "2"]
    table = subprocess.run(command, input=SENTENCES[8], capture_output=True, text=True, check=True).stdout.splitlines()
    read = json.loads(
        subprocess.run([*command, "--json"], input=SENTENCES[8], capture_output=True, text=True, check=True).stdout
    )
    assert [row.split("\t") for row in table] == [
        [SENTENCES[8], str(hit["rank"]), f"{hit['score']:.4f}", hit["id"], hit["sentence"]] for hit in read["found"]
    ]
    first = read["found"][0]
    assert first["sentence"].rstrip(".") == SENTENCES[8] and first["sentence"] in first["passage"]


def test_bad_input_is_one_line(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = StaticModel.load(folder / "model")
    (tmp_path / "bad").write_text("1\tthe cat\nthe dog\n")
    with pytest.raises(DataError, match=r"bad, line 2: no tab; write the passage's id, a tab and its text$"):
        PassageIndex(model, LineFile(tmp_path / "bad"))
    (tmp_path / "unknown").write_text("1\t日本\n")
    with pytest.raises(DataError, match="no line has a piece known to the model"):
        PassageIndex(model, LineFile(tmp_path / "unknown"))
    for option in (["--index", "flat"], ["--memory", "1G"], ["--save-index", "x"], ["--load-index", "x"]):
        with pytest.raises(SystemExit):
            main(["search", str(folder / "model"), str(tmp_path / "bad"), "--passages", *option])
        assert f"{option[0]}: not with --passages" in capsys.readouterr().err
