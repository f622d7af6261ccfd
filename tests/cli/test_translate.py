"""``psp translate``: sentences in, translations out."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from psp.cli.main import main
from psp.inference.translation import load_translator
from tests.cli.conftest import refused
from tests.inference.translation.conftest import sentencepiece_model, sentences, tiny  # noqa: F401 (fixtures)

pytest.importorskip("ctranslate2")


def test_a_line_in_is_a_line_out(tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: F811
    texts = [*sentences(5), "", *sentences(3, seed=9)]
    (tmp_path / "in.txt").write_text("".join(f"{text}\n" for text in texts))
    wanted = [row[0] for row in load_translator({"ctranslate2": str(tiny), "beam": 2}).translate(texts)]
    main(["translate", str(tiny), str(tmp_path / "in.txt"), "--beam", "2", "--scores", "--threads", "1"])
    found = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [text for text, _ in found] == [one.text for one in wanted]
    assert [score for _, score in found] == ["" if one.score is None else f"{one.score:.4f}" for one in wanted]
    out = tmp_path / "out.txt"
    main(["translate", str(tiny), str(tmp_path / "in.txt"), "--beam", "2", "--out", str(out)])
    assert out.read_text().split("\n") == [*(one.text for one in wanted), ""]
    assert capsys.readouterr().out == f"{out}: 9 translations\n"


def test_a_folder_of_ours_says_where_long_sentences_are_cut(
    tiny: Path,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ours = tmp_path / "ours"
    shutil.copytree(tiny, ours / "ctranslate2")
    (ours / "ctranslate2/sentencepiece.model").rename(ours / "sentencepiece.model")
    (ours / "config.json").write_text(json.dumps({"kind": "translator", "max_tokens": 12}))
    (tmp_path / "in.txt").write_text(" ".join(["chat"] * 10_000) + "\n")
    main(["translate", str(ours), str(tmp_path / "in.txt")])
    captured = capsys.readouterr()
    assert len(captured.out.splitlines()) == 1
    assert "sentences truncated to the longest that the translator takes: 1" in captured.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "no such folder"),
        (["{tiny}", "nowhere.txt"], "nowhere.txt: cannot be read"),
        (["{tiny}", "--compute-type", "int3"], "compute_type is int3, but must be"),
    ],
)
def test_bad_input_is_one_line(
    tiny: Path,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    said: str,
) -> None:
    assert said in refused(capsys, "translate", *(argument.format(tiny=tiny) for argument in arguments))
