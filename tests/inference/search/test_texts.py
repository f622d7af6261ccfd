"""psp.search and psp.mine: the same answers as the commands, which work on files."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import psp
from psp.cli.main import main
from psp.inference.translation.command import CommandTranslator
from tests.conftest import PAIRS, SENTENCES, write_model

pytest.importorskip("faiss", reason="faiss is not installed (the extra search)")

CORPUS = [*SENTENCES[:60], "", SENTENCES[3], "日本 🙂"]
QUERIES = [SENTENCES[5], "日本 🙂", SENTENCES[70]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("texts"), 16).parent


def write(path: Path, texts: list[str]) -> str:
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return str(path)


def test_search_is_the_command_s(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus, queries = write(folder / "corpus.txt", CORPUS), write(folder / "queries.txt", QUERIES)
    main(["search", str(folder / "model"), corpus, queries, "-k", "3", "--json"])
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = psp.search(folder / "model", CORPUS, QUERIES, k=3)
    assert [len(hits) for hits in found] == [3, 0, 3]
    assert found[0][0].text == QUERIES[0] and found[0][0].cosine == pytest.approx(1.0)
    for query, hits in zip(told, found, strict=True):
        assert [(hit["line"], hit["sentence"]) for hit in query["found"]] == [
            (hit.position + 1, hit.text) for hit in hits
        ]
    assert psp.search(psp.load_model(folder / "model"), [], QUERIES) == [[], [], []]
    assert psp.search(folder / "model", CORPUS, []) == []


@pytest.mark.parametrize(
    ("pairs", "margin", "threshold"),
    [
        ("max", "ratio", 1.02),
        ("intersection", "ratio", 1.02),
        ("forward", "distance", 0.02),
        ("backward", "absolute", 0.5),
    ],
)
def test_mine_is_the_command_s(folder: Path, pairs: str, margin: str, threshold: float) -> None:
    source = [pair[0] for pair in PAIRS[:80]] + [PAIRS[0][0], ""]
    target = [pair[1] for pair in PAIRS[10:90]] + [PAIRS[11][1], "日本 🙂"]
    files = write(folder / "source.txt", source), write(folder / "target.txt", target)
    out = folder / f"{pairs}.tsv"
    options = ["--pairs", pairs, "--margin", margin, "--threshold", str(threshold)]
    main(["mine", str(folder / "model"), *files, "--out", str(out), *options])
    told = [line.split("\t") for line in out.read_text(encoding="utf-8").splitlines()]
    found = psp.mine(folder / "model", source, target, pairs=pairs, margin=margin, threshold=threshold)
    assert len(found) > 5
    assert [[pair.source, pair.target] for pair in found] == [row[:2] for row in told]
    np.testing.assert_allclose([pair.margin for pair in found], [float(row[2]) for row in told], atol=1e-4)
    for pair in found:
        assert source.index(pair.source) == pair.source_position and target.index(pair.target) == pair.target_position
    assert psp.mine(folder / "model", source, target, pairs=pairs, threshold=99) == []
    assert psp.mine(folder / "model", [], target, pairs=pairs) == []


def test_spellings_that_the_model_reads_as_the_same_are_one_candidate(folder: Path) -> None:
    """Otherwise each would take a place among the nearest: this pair would have margins of 1.84, 1.29 and none."""
    sides = [list(side) for side in zip(*PAIRS[:1], *PAIRS[20:40], strict=True)]
    spelled = [
        [*(change(text) for change in (str, str.upper, lambda one: f" {one}".replace(" ", "\xa0 "))), *side]
        for text, side in zip(PAIRS[0], sides, strict=True)
    ]
    plain, many = (psp.mine(folder / "model", *both, threshold=0) for both in (sides, spelled))
    assert [(pair.margin, pair.source, pair.target) for pair in many] == [
        (pair.margin, pair.source, pair.target) for pair in plain
    ]


@pytest.mark.parametrize("wrong", [{"margin": "mean"}, {"pairs": "all"}, {"k": 0}])
def test_wrong_arguments_are_told(folder: Path, wrong: dict) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} is .*; write"):
        psp.mine(folder / "model", ["a"], ["b"], **wrong)
    with pytest.raises(ValueError, match="k is 0; write 1 or more"):
        psp.search(folder / "model", ["a"], ["b"], k=0)


def test_one_string_is_not_a_list_of_texts(folder: Path) -> None:
    model = psp.load_model(folder / "model")
    one = "the cat"
    calls = {
        "mine": lambda: psp.mine(model, one, [one]),
        "mine into": lambda: psp.mine(model, [one], one),
        "search in": lambda: psp.search(model, one, [one]),
        "search": lambda: psp.search(model, [one], one),
        "cat": lambda: CommandTranslator("cat").translate(one),
    } | {
        name: lambda name=name: getattr(model, name)(one)
        for name in (
            "embed_raw_text",
            "embed_understood",
            "ids",
            "preprocess",
            "tokenize",
            "understood",
            "unknown_shares",
        )
    }
    for name, call in calls.items():
        with pytest.raises(TypeError, match=r"texts must be a list of str, not one str: write \[text\]"):
            pytest.fail(f"{name} takes a string: {call()}")
    with pytest.raises(TypeError, match="pair 0 is 't', not two texts"):
        model.score_raw_text(one)
    assert model.encode(one).shape == (16,)
    assert [pair.source for pair in psp.mine(model, (text for text in [one]), [one], threshold=0.5)] == [one]


def test_the_face_of_the_package() -> None:
    """Names that are promised; docs/python.md has them."""
    assert dir(psp) == sorted(["Model", "__version__", "load_model", "mine", "results", "search"])
    for name in dir(psp):
        assert getattr(psp, name) is not None
    assert importlib.util.find_spec("psp.langchain") is not None
