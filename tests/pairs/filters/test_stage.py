"""The filter stage: its files, its counts, its sample, the same for any batches and processes."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.corpora.rows import BadRow
from psp.pairs.filters import build, filter_corpus
from psp.text.normalisation import Normaliser
from psp.text.repair import repair
from psp.text.segment import Segmenter
from psp.text.words import clean

ODD = "aB İΣß.\t\n\r\0\u2028\u0085\x1c\u3000é中e\u0301\u200b\xadＡ"
text = st.lists(st.sampled_from([*ODD, "&amp;", "<i>"]), max_size=8).map("".join)
pairs = st.lists(st.tuples(text, text), max_size=30)


def run(
    rows: Iterable[tuple[str, str]], folder: Path, config: dict[str, Any], **options: Any
) -> tuple[bytes, dict, bytes]:
    arguments = {"corpus": "C", "languages": ("en", "fr"), "filters": build(config, ("en", "fr")), **options}
    out, report, dropped = folder / "out.tsv", folder / "out.json", folder / "out.dropped.tsv"
    summary = filter_corpus(iter(rows), out, report, dropped, **arguments)
    assert json.loads(report.read_text()) == summary
    return out.read_bytes(), summary, dropped.read_bytes()


@settings(max_examples=100)
@given(
    rows=pairs,
    lower_case=st.booleans(),
    cleaned=st.booleans(),
    normalisation=st.sampled_from([None, "nmt_nfkc+visible"]),
    batch=st.integers(1, 12),
)
def test_equals_the_plain_reference_for_any_batches(tmp_path_factory, rows, lower_case, cleaned, normalisation, batch):
    folder = tmp_path_factory.mktemp("filter")
    kept, reasons, why, repaired = [], Counter(), Counter(), Counter()
    for source, target in ((clean(source), clean(target)) for source, target in rows):
        if cleaned:
            (source, of_source), (target, of_target) = (repair([side]) for side in (source, target))
            repaired.update(of_source.get(0, set()) | of_target.get(0, set()))
            (source,), (target,) = source, target
        read = [side.lower() if lower_case else side for side in (source, target)]
        if normalisation:
            read = Normaliser(normalisation)(read)
        counts = len(source.split()), len(target.split())
        if not source or not target:
            reason = "empty"
        elif not 1 <= counts[0] <= 2:
            reason = "length: source too long"
        elif not 1 <= counts[1] <= 2:
            reason = "length: target too long"
        else:
            if all(read):
                kept.append("\t".join(read) + "\n")
                continue
            reason = "empty"
        reasons[reason] += 1
        why[source, target, reason] += 1
    how = {"lower_case": lower_case, "clean": cleaned, "normalisation": normalisation, "batch": batch}
    out, summary, dropped = run(rows, folder, {"length": {"min": 1, "max": 2}}, **how)
    assert out == "".join(kept).encode()
    assert summary == {
        "format": 1,
        "corpus": "C",
        "languages": ["en", "fr"],
        "filters": {"length": {"sides": "both", "tokens": "spaces", "min": 1, "max": 2}},
        "segmented": {},
        "lower_case": lower_case,
        "normalisation": normalisation,
        "repaired": repaired,
        "seen": len(rows),
        "kept": len(kept),
        "dropped": dict(sorted(reasons.items())),
    }
    sample = dropped.decode().split("\n")
    assert sample.pop() == ""
    assert set(sample) == {f"{reason}\t{source}\t{target}" for source, target, reason in why}


def test_files_are_the_same_for_any_processes_and_batches(tmp_path):
    choose = random.Random(1)
    rows = [(" ".join("ab" for _ in range(choose.randrange(8))), f"one two three {number}") for number in range(3000)]
    first = run(rows, tmp_path, {"length": {"min": 2}})
    for options in ({"processes": 2, "batch": 100}, {"processes": 3, "batch": 7}, {"batch": 1}):
        assert run(rows, tmp_path, {"length": {"min": 2}}, **options) == first
    assert 0 < first[1]["kept"] < 3000


@pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's")
def test_workers_end_with_the_process_that_is_killed(tmp_path):
    program = (
        "import itertools, os, time\nfrom pathlib import Path\nfrom psp.pairs.filters import filter_corpus\n"
        f"folder = Path({str(tmp_path)!r})\n"
        "class Slow:\n"
        "    name, settings = 'slow', {}\n"
        "    def prepare(self): pass\n"
        "    def __call__(self, batch):\n"
        "        (folder / f'pid{os.getpid()}').touch()\n"
        "        time.sleep(60)\n"
        "filter_corpus(itertools.repeat(('a', 'b'), 50), folder / 'o', folder / 'r', folder / 'd', corpus='C',\n"
        "              languages=('en', 'fr'), filters=[Slow()], batch=5, processes=2)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program])
    while len(workers := list(tmp_path.glob("pid*"))) < 2:
        assert parent.poll() is None
        time.sleep(0.05)
    parent.kill()
    parent.wait()
    left = [Path("/proc", worker.name.removeprefix("pid")) for worker in workers]
    deadline = time.monotonic() + 10
    while any(place.exists() for place in left):
        assert time.monotonic() < deadline, "a worker outlived it"
        time.sleep(0.1)


def test_translation_scores_are_carried_but_not_to_bitext_that_is_mined(tmp_path):
    rows = [("one two three", "un deux trois", 0.5, -1.25), ("x", "y", 1.0, -3.0), ("A b c", "d e f", 1e-05, -2.0)]
    out, _, dropped = run(rows, tmp_path, {"length": {"min": 2}}, batch=2)
    assert out == b"one two three\tun deux trois\t0.5\t-1.25\na b c\td e f\t1e-05\t-2.0\n"
    assert dropped == b"length: source too short\tx\ty\t1.0\n"
    assert run(rows, tmp_path, {"length": {"min": 2}}, batch=2, processes=2)[0] == out
    assert run(rows, tmp_path, {"length": {"min": 2}}, prepared=False)[0].count(b"\t") == 2 * 2


def test_an_error_in_a_worker_reaches_the_caller_and_leaves_nothing(tmp_path):
    filters = build({"language": {"identifier": "lid176"}}, ("en", "fr"), {"lid": tmp_path / "none.ftz"})
    for processes in (1, 2):
        with pytest.raises(DataError, match=r"none\.ftz: no such file"):
            run([("a", "b")] * 100, tmp_path, {}, filters=filters, processes=processes, batch=10)
        assert list(tmp_path.iterdir()) == []


def test_an_error_of_the_reader_leaves_the_files_of_the_last_run(tmp_path):
    def broken() -> Iterator[tuple[str, str]]:
        yield "one two three", "un deux trois"
        raise DataError("the sides are not aligned", "C.zip")

    before = run([("a b c", "d e f")], tmp_path, {})
    with pytest.raises(DataError, match="not aligned"):
        run(broken(), tmp_path, {}, batch=1)
    assert (tmp_path / "out.tsv").read_bytes() == before[0]
    assert {path.name for path in tmp_path.iterdir()} == {"out.tsv", "out.json", "out.dropped.tsv"}


def test_a_long_corpus_is_not_read_ahead(tmp_path):
    """Workers that are slower than the reader must not fill the memory with waiting batches."""
    read = 0

    def rows() -> Iterator[tuple[str, str]]:
        nonlocal read
        for number in range(2000):
            read = number
            yield "one two three", "un deux trois"

    class Stop(Exception):
        pass

    class Bar:
        def __enter__(self) -> Bar:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def add(self, count: int) -> None:
            raise Stop

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Stop):
        patch.setattr("psp.pairs.filters.stage.Progress", lambda *_: Bar())
        run(rows(), tmp_path, {}, processes=2, batch=10)
    assert read < 50


def test_the_sample_is_small_fair_and_independent_of_order(tmp_path):
    rows = [("", f"{number}") for number in range(5000)] + [(f"{number}", "x") for number in range(3)]
    rows += [(f"w{number} w w w", "x y") for number in range(500)] + [("the same row", "x")] * 1000
    config = {"length": {"min": 2, "max": 3}}
    _, summary, sample = run(rows, tmp_path, config, sample=100)
    shuffled = random.Random(2).sample(rows, len(rows))
    assert run(shuffled, tmp_path, config, sample=100, batch=17)[2] == sample
    assert run(rows, tmp_path, config, sample=100, seed=1)[2] != sample
    lines = [line.split("\t") for line in sample.decode().split("\n")[:-1]]
    # four rows are all the different ones that two of the reasons have, and leave the rest to the others
    assert Counter(line[0] for line in lines) == {
        "empty": 48,
        "length: source too long": 48,
        "length: source too short": 3,
        "length: target too short": 1,
    }
    assert summary["dropped"]["length: target too short"] == 1000
    assert len({tuple(line) for line in lines}) == 100
    assert sum(int(line[2]) < 2500 for line in lines if line[0] == "empty") in range(10, 39)  # not the first ones


def test_no_sample_at_all(tmp_path):
    assert run([("", "")] * 3, tmp_path, {}, sample=0)[2] == b""


def test_nothing_kept_is_a_warning(tmp_path, caplog):
    out, summary, _ = run([("a", "b")], tmp_path, {"length": {"min": 3}})
    assert out == b"" and summary["kept"] == 0
    assert "C: none of 1 pairs are left" in caplog.text


def test_a_segmented_language_is_counted_and_written_segmented_and_lower_cased_last(tmp_path):
    pytest.importorskip("jieba", reason="jieba is not installed (pip install 'paraphrastic[zh]')")
    rows = [("I LIKE T-shirts", "我喜欢T恤。"), ("I like it", "喜欢")]
    out, summary, sample = run(
        rows,
        tmp_path,
        {},
        languages=("en", "zh"),
        filters=build({"length": {"min": 3}}, ("en", "zh")),
        segmenters={"zh": Segmenter("jieba"), "ja": Segmenter("jieba")},
    )
    assert out == "i like t-shirts\t我 喜欢 t恤 。\n".encode()  # T恤 is a word of the dictionary, t恤 is not
    assert sample == "length: target too short\tI like it\t喜欢\n".encode()
    assert summary["segmented"] == {"zh": "jieba"}


def test_the_language_filter_sees_the_text_in_its_own_case(tmp_path, lid):
    rows = [
        ("The old house stood there.", "La vieille maison était là."),
        ("The old house stood there.", "Das alte Haus."),
    ]
    filters = build({"language": {}}, ("en", "fr"), {"lid": lid})
    out, summary, _ = run(rows, tmp_path, {}, filters=filters, processes=2)
    assert out == "the old house stood there.\tla vieille maison était là.\n".encode()
    assert summary["dropped"] == {"language: target": 1}


# --- corpora with scores, and rows that are no pairs ----------------------------------------------------------------


def test_scores_are_judged_and_written_as_the_same_numbers(tmp_path):
    rows = [
        ("Hello you", "Salut toi", 0.1),
        ("A b", "C d", 1e-07),
        ("E f", "g", 0.9),
        ("", "x", 0.5),
        ("I j", "K l", 1),
    ]
    config = {"length": {"min": 2}, "score": {"min": 0.0, "max": 0.8}}
    for options in ({}, {"batch": 1}, {"batch": 2, "processes": 2}):
        out, summary, dropped = run(rows, tmp_path, config, **options)
        assert out == b"hello you\tsalut toi\t0.1\na b\tc d\t1e-07\n"
        assert set(dropped.decode().split("\n")) == {
            "empty\t\tx\t0.5", "score: too high\tE f\tg\t0.9", "score: too high\tI j\tK l\t1", "",
        }  # fmt: skip
        assert summary["dropped"] == {"empty": 1, "score: too high": 2}


numbers = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=60)
@given(rows=st.lists(st.tuples(text, text, numbers), max_size=30), batch=st.integers(1, 12))
def test_scores_change_nothing_of_the_pairs(tmp_path_factory, rows, batch):
    folder = tmp_path_factory.mktemp("scored")
    config = {"length": {"min": 1, "max": 2}}
    plain, summary, _ = run([row[:2] for row in rows], folder, config)
    scored, with_scores, _ = run(rows, folder, config, batch=batch)
    lines = [line.split("\t") for line in scored.decode().split("\n")[:-1]]
    assert "".join(f"{source}\t{target}\n" for source, target, _ in lines).encode() == plain
    assert with_scores == summary
    kept = iter(rows)
    for source, target, score in lines:  # each with its own score
        assert any((clean(s).lower(), clean(t).lower(), n) == (source, target, float(score)) for s, t, n in kept)


def test_rows_that_are_no_pairs_are_counted_and_sampled(tmp_path):
    bad = [BadRow("row: columns", "a\u2409b"), BadRow("row: score", "a\u2409b\u2409high ")]
    for good in ([("one two", "un deux")], [("one two", "un deux", 0.5)]):
        for batch in (1, 2, 10):
            out, summary, dropped = run([bad[0], *good, bad[1], *good], tmp_path, {}, batch=batch)
            assert out.count(b"\n") == 2
            assert (summary["seen"], summary["kept"]) == (4, 2)
            assert summary["dropped"] == {"row: columns": 1, "row: score": 1}
            assert dropped.decode() == "row: columns\ta\u2409b\t\nrow: score\ta\u2409b\u2409high\t\n"


def test_text_that_is_not_prepared_is_written_as_it_was_but_clean(tmp_path):
    rows = [("  The CAT sat ", "Le  CHAT"), ("我喜欢猫", "I like CATS")]
    wanted = ["The CAT sat\tLe  CHAT", "我喜欢猫\tI like CATS"]
    run(rows, tmp_path, {}, lower_case=True, prepared=False, languages=("zh", "en"), segmenters={"zh": Segmenter()})
    assert (tmp_path / "out.tsv").read_text(encoding="utf-8").splitlines() == wanted
