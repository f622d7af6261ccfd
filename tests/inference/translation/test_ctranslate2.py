"""CTranslate2 models as translators."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from psp.core.errors import ConfigError, DataError
from psp.inference.translation import Hypothesis, load_translator
from psp.inference.translation.base import limit
from psp.inference.translation.ctranslate2 import Ctranslate2Translator
from psp.text.sentencepiece_tokenizer import load_sentencepiece
from tests.inference.translation.conftest import sentences

ctranslate2 = pytest.importorskip("ctranslate2")

TEXTS = sentences(12, seed=2)


def loaded(folder: Path, **settings: object) -> Ctranslate2Translator:
    entry: Mapping[str, object] = {"ctranslate2": str(folder), "beam": 3, "compute_type": "float32", "max_tokens": 40}
    found = load_translator({**entry, **settings})
    assert isinstance(found, Ctranslate2Translator)
    return found


def by_the_libraries(folder: Path) -> tuple[Any, list[list[str]], Any]:
    """Sentencepiece's model, the subwords of the texts, and the library's translator."""
    processor = load_sentencepiece(folder / "sentencepiece.model")
    return processor, processor.encode(TEXTS, out_type=str), ctranslate2.Translator(str(folder), compute_type="float32")


def test_it_is_the_librarys_beam_search_on_the_subwords(tiny: Path) -> None:
    processor, rows, plain = by_the_libraries(tiny)
    wanted = [
        plain.translate_batch([row], beam_size=3, num_hypotheses=2, max_decoding_length=limit(len(row)))[0]
        for row in rows
    ]
    found = loaded(tiny).translate(TEXTS, n=2)
    assert [[one.text for one in row] for row in found] == [
        [" ".join(processor.decode(tokens).split()) for tokens in one.hypotheses] for one in wanted
    ]
    assert all(len(row) == 2 and row[0].score >= row[1].score for row in found)


@pytest.mark.parametrize("penalty", [0.0, 0.6, 1.0])
def test_a_score_is_the_mean_log_probability_of_a_subword(tiny: Path, penalty: float) -> None:
    _, rows, plain = by_the_libraries(tiny)
    best = [
        plain.translate_batch([row], beam_size=3, length_penalty=penalty, max_decoding_length=limit(len(row)))[0]
        .hypotheses[0]
        for row in rows
    ]  # fmt: skip
    # A hypothesis that was cut off at the longest length has no end of sentence.
    whole = [place for place, tokens in enumerate(best) if len(tokens) < limit(len(rows[place]))]
    scored = plain.score_batch([rows[place] for place in whole], [best[place] for place in whole])
    # The search does not end before the first subword; the others share what the end would have had.
    ends = plain.score_batch([rows[place] for place in whole], [[] for _ in whole])
    found = loaded(tiny, length_penalty=penalty).translate(TEXTS)
    for place, one, end in zip(whole, scored, ends, strict=True):
        total = np.sum(one.log_probs) - np.log1p(-np.exp(end.log_probs[0]))
        assert found[place][0].score == pytest.approx(total / len(one.log_probs), abs=1e-4)
    assert len(whole) >= 3
    assert [one.ended for one, *_ in found] == [place in whole for place in range(len(found))]


def test_the_unknown_subword_is_never_written(tiny: Path, tmp_path: Path) -> None:
    """Even by a model that has come to know another character by the name of the unknown subword."""
    pieces = json.loads((tiny / "shared_vocabulary.json").read_text())
    wanted = loaded(tiny).translate(TEXTS)
    rows = ctranslate2.Translator(str(tiny), compute_type="float32").translate_batch(
        [one.split() for one in TEXTS], beam_size=3, max_decoding_length=80
    )
    often = max(pieces, key=lambda piece: sum(one.hypotheses[0].count(piece) for one in rows))
    swapped = {often: "<unk>", "<unk>": often}
    other = shutil.copytree(tiny, tmp_path / "other")
    (other / "shared_vocabulary.json").write_text(json.dumps([swapped.get(piece, piece) for piece in pieces]))
    plain = ctranslate2.Translator(str(other), compute_type="float32")
    assert any("<unk>" in one.hypotheses[0] for one in plain.translate_batch([["x"]] * 3, max_decoding_length=80))
    found = loaded(other).translate(TEXTS)
    assert found != wanted
    assert not any("\u2047" in one.text for row in found for one in row)


def test_batches_and_threads_decide_nothing_and_an_empty_text_has_no_translation(tiny: Path) -> None:
    one = loaded(tiny).translate([*TEXTS, ""])
    other = load_translator(
        {"ctranslate2": str(tiny), "beam": 3, "compute_type": "float32", "max_tokens": 40, "batch_tokens": 16},
        threads=2,
    )
    for row, again in zip(one, other.translate([*TEXTS, " "]), strict=True):
        assert row[0].text == again[0].text
        assert row[0].score == pytest.approx(again[0].score, abs=1e-5)
    assert one[-1] == [Hypothesis("", None)]
    assert [loaded(tiny).translate([text])[0][0].text for text in TEXTS] == [row[0].text for row in one[:-1]]
    assert other.identity == loaded(tiny).identity


def test_long_lines_are_cut_and_counted(tiny: Path) -> None:
    translator = loaded(tiny)
    long = " ".join(["chat"] * 10_000)
    (found,), (again,) = translator.translate([long]), translator.translate([" ".join(["chat"] * 40)])
    assert translator.cut == 1
    assert found == again


def test_sampling_draws_the_same_whatever_was_drawn_before(tiny: Path) -> None:
    translator = loaded(tiny, sampling=20, beam=1, temperature=2)
    first = translator.translate(TEXTS, n=4)
    assert translator.translate(TEXTS, n=4) == first and len(first[0]) == 4
    with pytest.raises(ConfigError, match="sampling draws one hypothesis at a time; set `beam: 1`"):
        loaded(tiny, sampling=20)
    assert len({hypothesis.text for hypothesis in first[0]}) > 1
    assert loaded(tiny, sampling=20, beam=1, temperature=2, seed=2).translate(TEXTS, n=4) != first


def test_bad_input_is_one_line(tiny: Path, tmp_path: Path, sentencepiece_model: Path) -> None:
    with pytest.raises(DataError, match="is not a CTranslate2 model"):
        loaded(tmp_path)
    with pytest.raises(ConfigError, match="4 translations of each text, but a beam of 3"):
        loaded(tiny).translate(TEXTS, n=4)
    with pytest.raises(ConfigError, match="0 translations of each text"):
        loaded(tiny).translate(TEXTS, n=0)
    if not ctranslate2.get_cuda_device_count():
        with pytest.raises(ConfigError, match="device: cuda, but there is no GPU"):
            loaded(tiny, device="cuda")
    with pytest.raises(
        ConfigError, match=r"source_prefix: >>oci<< is not in the source vocabulary of .*; a model names"
    ):
        loaded(tiny, source_prefix=[">>oci<<"])
    other = shutil.copytree(tiny, tmp_path / "other")
    (other / "sentencepiece.model").unlink()
    with pytest.raises(DataError, match=r"no source.spm and target.spm, nor sentencepiece.model"):
        loaded(other)
    vocabulary = json.loads((other / "shared_vocabulary.json").read_text())
    (other / "shared_vocabulary.json").write_text(json.dumps([f"{piece}x" for piece in vocabulary]))
    with pytest.raises(DataError, match=r"for another model: 0% of its subwords are in the source vocabulary"):
        loaded(other, sentencepiece=str(sentencepiece_model))
    (other / "model.bin").write_bytes(b"no model")
    (other / "shared_vocabulary.json").write_text(json.dumps(vocabulary))
    with pytest.raises(DataError, match="cannot be loaded"):
        loaded(other, sentencepiece=str(sentencepiece_model))
    for entry, said in (
        ({}, "t: names no translator"),
        ({"command": "cat", "ctranslate2": "x"}, "t: has ctranslate2 and command"),
        ({"command": "cat", "beam": 3}, "t.beam is not a key"),
        ({"ctranslate2": str(tiny), "beam": 0}, "t.beam is 0, but must be"),
    ):
        with pytest.raises(ConfigError, match=said):
            load_translator(entry, where="t")
