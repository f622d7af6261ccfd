"""Reading a teacher's file: that of another run is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from psp.config.blocks.teacher import TeacherSettings
from psp.core.errors import DataError
from psp.pairs.store import Store, write_store
from psp.text.tokenizer_kinds import as_tokenizer
from psp.training.teaching.targets import DistillationTargets
from tests.training.teaching.conftest import CORPORA, Case, settings, taught


def test_a_file_of_another_run_is_refused(case: Case, tmp_path: Path) -> None:
    targets = DistillationTargets(taught(case, tmp_path))
    tokenizer = as_tokenizer(case.sentencepiece)
    own = TeacherSettings.of(settings(case))
    with Store(case.store) as store:
        targets.check(store, tokenizer, own)
        with pytest.raises(DataError, match=r"encoder was .*, and now is minilm; the file is from another run; run"):
            targets.check(store, tokenizer, TeacherSettings.of(settings(case, encoder="minilm")))
        with pytest.raises(DataError, match="centred was False, and now is True"):
            targets.check(store, tokenizer, TeacherSettings.of(settings(case, centred=True)))
        with pytest.raises(DataError, match="has 8 neighbours of each sentence, not 7"):
            targets.check(store, tokenizer, TeacherSettings.of(settings(case, among=7)))
    lines = case.pairs.read_text().splitlines(keepends=True)
    for name, rows, said in (
        ("fewer", lines[:-1], "for 610 pairs, but .* has 609"),
        ("others", [*lines[1:], lines[0]], "pair 1 differs in"),
    ):
        (tmp_path / f"{name}.tsv").write_text("".join(rows))
        other = tmp_path / f"{name}.h5"
        write_store(
            tmp_path / f"{name}.tsv", case.sentencepiece, other, languages=["en", "fr"], corpora=["text", "pairs"],
            corpus_languages=[pair for pair, _ in CORPORA],
        )  # fmt: skip
        with Store(other) as store, pytest.raises(DataError, match=said):
            targets.check(store, tokenizer, own)
    for content, said in ((b"", "damaged, or not"), (b"\xff" * 99, "damaged, or not")):
        (tmp_path / "bad").write_bytes(content)
        with pytest.raises(DataError, match=said):
            DistillationTargets(tmp_path / "bad")
    with pytest.raises(DataError, match="cannot be read"):
        DistillationTargets(tmp_path / "missing")
