"""Mining translations: against a plain miner, and on the phrasebook, whose translations are known."""

from __future__ import annotations

import io
import itertools
import math
import shutil
import zipfile
from random import Random

import numpy as np
import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebook import generate
from psp.cli.main import main
from psp.corpora import open_corpus
from psp.inference.search import CHOICES, neighbours
from psp.inference.search.bitext import MARGINS, THRESHOLDS, mine, mine_files
from psp.inference.search.vectors import unit
from psp.models.static import StaticModel
from tests.conftest import PAIRS, write_model

pytest.importorskip("faiss", reason="faiss is not installed (the extra search)")

# Vectors of length 1 whose cosines and their sums are exact, so that there are true ties.
EXACT = [
    *(row for row in (np.eye(4) * sign for sign in (1, -1)) for row in row.tolist()),
    *([a / 2, b / 2, c / 2, d / 2] for a, b, c, d in itertools.product((1, -1), repeat=4)),
]
tables = st.lists(st.sampled_from(EXACT), min_size=0, max_size=14).map(
    lambda rows: np.array(rows, np.float32).reshape(-1, 4)
)


def plain(source, target, k, margin, choose, threshold):
    """Pairs (margin, source, target) by the definitions alone, one cosine at a time."""
    cosines = [[math.fsum(map(float.__mul__, a, b)) for b in target.tolist()] for a in source.tolist()]
    cosines = [[min(1.0, max(-1.0, cosine)) for cosine in row] for row in cosines]
    near_source = [sorted(range(len(target)), key=lambda j: (-row[j], j))[:k] for row in cosines]
    near_target = [sorted(range(len(source)), key=lambda i: (-cosines[i][j], i))[:k] for j in range(len(target))]

    def mean(values):
        return sum(max(value, 0.0) for value in values) / max(1, len(values))

    of_source = [mean([cosines[i][j] for j in near]) for i, near in enumerate(near_source)]
    of_target = [mean([cosines[i][j] for i in near]) for j, near in enumerate(near_target)]

    def score(i, j):
        around = (of_source[i] + of_target[j]) / 2
        return {
            "ratio": lambda: cosines[i][j] / around,
            "distance": lambda: cosines[i][j] - around,
            "absolute": lambda: cosines[i][j],
        }[margin]()

    forward, backward = set(), set()
    for i, near in enumerate(near_source):
        if good := [j for j in near if cosines[i][j] > 0]:
            forward.add((i, max(good, key=lambda j: score(i, j))))
    for j, near in enumerate(near_target):
        if good := [i for i in near if cosines[i][j] > 0]:
            backward.add((max(good, key=lambda i: score(i, j)), j))
    if choose != "max":
        chosen = {"forward": forward, "backward": backward, "intersection": forward & backward}[choose]
        pairs = sorted((-score(i, j), i, j) for i, j in chosen)
    else:
        pairs, used = [], set()
        for value, i, j in sorted((-score(i, j), i, j) for i, j in forward | backward):
            if not used & {("source", i), ("target", j)}:
                used |= {("source", i), ("target", j)}
                pairs.append((value, i, j))
    return [(-value, i, j) for value, i, j in pairs if -value >= threshold]


def rows_of(found):
    return list(zip(found.margins.tolist(), found.sources.tolist(), found.targets.tolist(), strict=True))


choices = {
    "k": st.integers(1, 18), "margin": st.sampled_from(list(MARGINS)), "choose": st.sampled_from(list(CHOICES)),
    "threshold": st.sampled_from([-1.0, 0.0, 0.5, 1.0, 1.25]),
}  # fmt: skip


@settings(max_examples=100)
@given(source=tables, target=tables, **choices)
def test_pairs_are_those_of_a_plain_miner_ties_and_all(source, target, k, margin, choose, threshold):
    found = mine(source, target, k=k, margin=margin, choose=choose, threshold=threshold)
    assert rows_of(found) == plain(source, target, k, margin, choose, threshold)
    if margin == "ratio":
        assert (found.margins <= 2 * k).all()


@pytest.mark.parametrize("choose", list(CHOICES))
@pytest.mark.parametrize("margin", list(MARGINS))
@pytest.mark.parametrize("half", [False, True])
def test_pairs_of_any_vectors(margin, choose, half):
    rng = np.random.default_rng(7)
    source = rng.standard_normal((50, 9)).astype(np.float32)
    target = np.concatenate([source[:30] + 0.4 * rng.standard_normal((30, 9)), rng.standard_normal((25, 9))])
    source, target = unit(source)[0], unit(target.astype(np.float32))[0]
    if half:
        source, target = source.astype(np.float16), target.astype(np.float16)
    expected = plain(source.astype(np.float32), target.astype(np.float32), 4, margin, choose, 0.3)
    found = mine(source, target, margin=margin, choose=choose, threshold=0.3)
    assert [pair[1:] for pair in rows_of(found)] == [pair[1:] for pair in expected]
    np.testing.assert_allclose(found.margins, [pair[0] for pair in expected], rtol=1e-12)
    assert len(expected) > (4 if margin == "distance" else 20)
    # An approximate search that makes an effort finds nearly all of them.
    near = mine(source, target, margin=margin, choose=choose, threshold=0.3, index="hnsw", effort=100)
    assert len(set(map(tuple, np.array(rows_of(near))[:, 1:])) & {pair[1:] for pair in expected}) > 0.9 * len(expected)


# ---------------------------------------------------------------------------------------------- the phrasebook


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A model trained on the phrasebook, and two texts with 600 known translations among other lines."""
    folder = tmp_path_factory.mktemp("book")
    pytest.importorskip("torch", reason="torch is not installed (the extra train)")
    from psp.training.loop import Training

    generate(folder, pairs=4000, seed=1)
    with zipfile.ZipFile(folder / "opus/Phrasebook/v1/moses/en-fr.txt.zip") as archive:
        sides = [archive.read(f"Phrasebook.en-fr.{code}").decode().lower().split("\n")[:-1] for code in ("en", "fr")]
    serialised = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=itertools.chain.from_iterable(zip(*sides, strict=True)), model_writer=serialised,
        vocab_size=1500, hard_vocab_limit=False, minloglevel=2,
    )  # fmt: skip
    (folder / "sp.model").write_bytes(serialised.getvalue())
    (folder / "pairs.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in zip(*sides, strict=True)))
    Training(
        folder / "pairs.tsv", folder / "sp.model", folder / "model", folder / "model-train",
        {"epochs": 3, "dim": 64, "batch_size": 64}, None, threads=1, warn_pairs=0,
        model_config={"languages": ["en", "fr"], "lower_case": False, "segment": {}},
    ).run()  # fmt: skip
    # No two of these say nearly the same: 600 pairs, and 200 lines more on each side.
    sides = [(folder / f"tatoeba/v1/tatoeba.fra-eng.{code}").read_text().split("\n")[:-1] for code in ("eng", "fra")]
    truth = list(zip(*sides, strict=True))[:600]
    rng = Random(1)
    for name, side in (("en.txt", sides[0][:800]), ("fr.txt", sides[1][:600] + sides[1][800:])):
        lines = [*side, *side[:20], "", "  ", "日本 🙂", "日本", "日本"]  # copies, and lines that say nothing
        rng.shuffle(lines)
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder, set(truth)


def mined(path):
    return [line.split("\t") for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def test_known_translations_are_found_among_other_lines(book, tmp_path, capsys):
    folder, truth = book
    arguments = ["mine", *(str(folder / name) for name in ("model", "en.txt", "fr.txt")), "--out"]
    figures = {}
    for threshold, options in ((1.1, ["--threshold", "1.1"]), (THRESHOLDS["ratio"], [])):
        main([*arguments, str(tmp_path / "out.tsv"), *options])
        rows = mined(tmp_path / "out.tsv")
        right = len({(source, target) for source, target, _ in rows} & truth)
        figures[threshold] = right / len(rows), right / len(truth)
    # Precision and recall were 90% and 68%, and 99% and 35% by default: the model is small, and the lines are alike.
    assert figures[1.1] > (0.85, 0) and figures[1.1][1] > 0.6, figures
    assert figures[1.25] > (0.95, 0) and figures[1.25][1] > 0.3, figures
    margins = [float(margin) for _, _, margin in rows]
    assert margins == sorted(margins, reverse=True) and margins[-1] >= THRESHOLDS["ratio"]
    for column in zip(*(row[:2] for row in rows), strict=True):
        assert len(set(column)) == len(column)
        assert all(text.strip() and "日本" not in text for text in column)
    assert f"{len(rows):,} pairs from 800 and 800 distinct sentences (825 and 825 lines)" in capsys.readouterr().out
    # It is a corpus as psp reads them.
    assert list(open_corpus("local", tmp_path / "out.tsv")) == [
        (source, target, float(margin)) for source, target, margin in rows
    ]


def test_the_same_bytes_with_any_number_of_threads_and_any_blocks(book, tmp_path, monkeypatch):
    folder, _ = book
    arguments = ["mine", *(str(folder / name) for name in ("model", "en.txt", "fr.txt")), "--threshold", "0", "--out"]
    main([*arguments, str(tmp_path / "1"), "--threads", "1"])
    main([*arguments, str(tmp_path / "3"), "--threads", "3"])
    monkeypatch.setattr(neighbours, "BLOCK_BYTES", 64 * 4 * 50)
    monkeypatch.setattr(neighbours, "QUERIES", 37)
    monkeypatch.setattr("psp.inference.search.bitext.CHUNK", 41)
    monkeypatch.setattr("psp.inference.search.vectors.CHUNK", 41)
    main([*arguments, str(tmp_path / "blocks"), "--threads", "2"])
    assert (tmp_path / "1").read_bytes() == (tmp_path / "3").read_bytes() == (tmp_path / "blocks").read_bytes()
    assert len(mined(tmp_path / "1")) > 300


# ---------------------------------------------------------------------------------------------- bad input


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    write_model(folder, 8)
    for name, column in (("en.txt", 0), ("fr.txt", 1)):
        (folder / name).write_text("".join(f"{pair[column]}\n" for pair in PAIRS[:40]))
    (folder / "empty.txt").touch()
    (folder / "blank.txt").write_text("\n日本\n \n")
    (folder / "latin.txt").write_bytes(b"good\ncaf\xe9\n")
    return folder


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["model", "missing.txt", "fr.txt"], "missing.txt: cannot be read: No such file"),
        (["model", "en.txt", "empty.txt"], "empty.txt: is empty; write one sentence per line"),
        (["model", "blank.txt", "fr.txt"], "blank.txt: no line has a piece known to the model"),
        (["model", "latin.txt", "fr.txt"], "latin.txt, line 2: not UTF-8"),
        (["nowhere", "en.txt", "fr.txt"], "nowhere: no such folder"),
        (["model", "en.txt", "fr.txt", "--threshold", "nan"], "--threshold nan: write a number, such as 1.25"),
        (["model", "en.txt", "fr.txt", "--effort", "2"], "--effort: only for --index hnsw"),
        (["model", "en.txt", "fr.txt", "--out", "en.txt/out.tsv"], "en.txt/out.tsv: cannot be written"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_left(small, tmp_path, monkeypatch, capsys, arguments, message):
    for path in small.iterdir():
        if path.name != "model":
            shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    arguments[0] = arguments[0].replace("model", str(small / "model"))
    with pytest.raises(SystemExit) as ended:
        main(["mine", "--out", "out.tsv", *arguments])
    assert ended.value.code == 1
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1 and message in errors[0]
    assert sorted(tmp_path.iterdir()) == before


def test_copies_are_mined_once_and_tabs_do_not_make_columns(small, tmp_path):
    (tmp_path / "en.txt").write_text(
        "the cat eats bread here\n the cat\teats bread here\r\nTHE CAT  eats\xa0bread here\n"
    )
    (tmp_path / "fr.txt").write_text("the cat eats\tbread here\n")
    model = StaticModel.load(small / "model")
    counts = mine_files(
        model, tmp_path / "en.txt", tmp_path / "fr.txt", tmp_path / "out.tsv", choose="forward", threshold=0.0
    )
    assert counts == (1, 3, 1, 1, 1)
    assert mined(tmp_path / "out.tsv") == [["the cat eats bread here", "the cat eats bread here", "1.000000"]]
