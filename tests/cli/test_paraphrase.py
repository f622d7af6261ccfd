"""``psp paraphrase``: sentences in, other words for them out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from psp.cli.main import main
from psp.inference.translation import load_translator
from psp.inference.translation.paraphrase import paraphrase
from psp.models.registry import load_encoder
from tests.cli.conftest import refused
from tests.inference.translation.conftest import sentencepiece_model, sentences, tiny  # noqa: F401 (fixtures)

pytest.importorskip("ctranslate2")


def test_paraphrases_of_each_line(
    tiny: Path,  # noqa: F811
    small_model: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    texts = [*sentences(5), "", *sentences(3, seed=9)]
    file, out, report = tmp_path / "in.txt", tmp_path / "out.txt", tmp_path / "report.json"
    file.write_text("".join(f"{text}\n" for text in texts))
    own = [str(tiny), str(file), "--encoder", str(small_model), "--threads", "1"]
    translator = load_translator({"ctranslate2": str(tiny), "beam": 4})
    wanted = paraphrase(texts, translator, load_encoder(str(small_model)), k=3, candidates=4)
    main(["paraphrase", *own, "-k", "3", "--beam", "4"])
    captured = capsys.readouterr()
    assert captured.out.split("\n") == ["\t".join(one.text for one in row) for row in wanted] + [""]
    main(["paraphrase", *own, "-k", "3", "--beam", "4", "--scores"])
    rated = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["source"] for row in rated] == texts
    assert [one["cosine"] for one in rated[0]["paraphrases"]] == [round(one.cosine, 4) for one in wanted[0]]
    # As a canonicaliser, against references.
    own += ["--out", str(out), "--report", str(report), "--references", str(file), "--canonical"]
    main(["paraphrase", *own])
    assert capsys.readouterr().out.startswith(f"{out}: paraphrases of 8 of 8 sentences, cosine ")
    assert len(out.read_text().splitlines()) == 9 and out.read_text().splitlines()[5] == ""
    figures = json.loads(report.read_text())
    assert (figures["sentences"], figures["none"]) == (8, 0) and 0 <= figures["best"]["chrf"] <= 100


def test_drawn_candidates_are_the_same_for_a_seed(
    tiny: Path,  # noqa: F811
    small_model: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "in.txt").write_text("".join(f"{text}\n" for text in sentences(6)))
    own = [str(tiny), str(tmp_path / "in.txt"), "--encoder", str(small_model), "-k", "2", "--threads", "1"]

    def drawn(*more: str) -> str:
        main(["paraphrase", *own, "--sampling", "30", "--temperature", "2", *more])
        return capsys.readouterr().out

    assert drawn() == drawn() != drawn("--seed", "2")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere", "--encoder", "{model}"], "no such folder; name that of a translator"),
        (["{tiny}", "nowhere.txt", "--encoder", "{model}"], "nowhere.txt: cannot be read"),
        (["{tiny}", "--encoder", "nowhere"], "nowhere"),
        (["{tiny}", "--encoder", "{model}", "-k", "20"], "-k 20, but --beam 10: write --beam 20 or more"),
        (["{tiny}", "--encoder", "{model}", "--references", "{short}"], "--references: for the report"),
        (
            ["{tiny}", "{file}", "--encoder", "{model}", "--references", "{short}", "--report", "r.json"],
            "1 lines for 3 sentences; write one for each",
        ),
    ],
)
def test_bad_input_is_one_line(
    tiny: Path,  # noqa: F811
    small_model: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    said: str,
) -> None:
    files = {"file": tmp_path / "in.txt", "short": tmp_path / "short.txt"}
    files["file"].write_text("a\nb\nc\n")
    files["short"].write_text("a\n")
    given = (one.format(tiny=tiny, model=small_model, **files) for one in arguments)
    assert said in refused(capsys, "paraphrase", *given)
