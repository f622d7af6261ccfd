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
scores = st.sampled_from([0.5, 0.1, 1e-07, 0.30000000000000004, -0.25, 0.9]) | st.floats(-1, 1)
BAD = [BadRow("row: columns", "a\u2409b"), BadRow("row: score", "a\u2409b\u2409high")]


def run(
    rows: Iterable[tuple[str, str]], folder: Path, config: dict[str, Any], **options: Any
) -> tuple[bytes, dict, bytes]:
    arguments = {"corpus": "C", "languages": ("en", "fr"), "filters": build(config, ("en", "fr")), **options}
    out, report, dropped = folder / "out.tsv", folder / "out.json", folder / "out.dropped.tsv"
    summary = filter_corpus(iter(rows), out, report, dropped, **arguments)
    assert json.loads(report.read_text()) == summary
    return out.read_bytes(), summary, dropped.read_bytes()


@settings(max_examples=200)
@given(
    rows=st.lists(st.tuples(text, text, scores, scores) | st.sampled_from(BAD), max_size=30),
    columns=st.integers(2, 4),
    lower_case=st.booleans(),
    cleaned=st.booleans(),
    normalisation=st.sampled_from([None, "nmt_nfkc+visible"]),
    prepared=st.booleans(),
    batch=st.integers(1, 12),
)
def test_equals_the_plain_reference_for_any_batches(
    tmp_path_factory, rows, columns, lower_case, cleaned, normalisation, prepared, batch
):
    """Rows that are no pairs, and scores, are carried; a translation score not to bitext that is mined."""
    kept, dropped, repaired = [], [], Counter()
    for row in rows:
        if isinstance(row, BadRow):
            dropped.append((row.reason, row.text, ""))
            continue
        (source, target), numbers = map(clean, row[:2]), row[2:columns]
        if cleaned:
            (source, of_source), (target, of_target) = (repair([side]) for side in (source, target))
            repaired.update(of_source.get(0, set()) | of_target.get(0, set()))
            (source,), (target,) = source, target
        read = [side.lower() if lower_case and prepared else side for side in (source, target)]
        if normalisation and prepared:
            read = Normaliser(normalisation)(read)
        reason = None
        if not source or not target:
            reason = "empty"
        elif numbers and not 0 <= numbers[0] <= 0.5:
            reason = "score: too low" if numbers[0] < 0 else "score: too high"
        elif len(source.split()) > 2 or len(target.split()) > 2:
            reason = f"length: {'source' if len(source.split()) > 2 else 'target'} too long"
        elif not all(read):
            reason = "empty"
        if reason:
            dropped.append((reason, source, target, *map(repr, numbers[:1])))
        else:
            kept.append((*read, *map(repr, numbers if prepared else numbers[:1])))
    how = {"lower_case": lower_case, "clean": cleaned, "normalisation": normalisation, "batch": batch}
    config = {"length": {"min": 1, "max": 2}} | ({"score": {"min": 0, "max": 0.5}} if columns > 2 else {})
    given_ = (row if isinstance(row, BadRow) else row[:columns] for row in rows)
    out, summary, sample = run(given_, tmp_path_factory.mktemp("filter"), config, prepared=prepared, **how)
    assert out == "".join("\t".join(row) + "\n" for row in kept).encode()
    assert summary == {
        "format": 1,
        "corpus": "C",
        "languages": ["en", "fr"],
        "filters": config | {"length": {"sides": "both", "tokens": "spaces", "min": 1, "max": 2}},
        "segmented": {},
        "lower_case": lower_case,
        "normalisation": normalisation,
        "repaired": repaired,
        "seen": len(rows),
        "kept": len(kept),
        "dropped": Counter(reason for reason, *_ in dropped),
    }
    assert list(summary["dropped"]) == sorted(summary["dropped"])
    assert set(sample.decode().split("\n")) == {*("\t".join(row) for row in dropped), ""}


def test_files_are_the_same_for_any_processes_and_batches(tmp_path):
    choose = random.Random(1)
    rows = [
        (
            " ".join("ab" for _ in range(choose.randrange(8))),
            f"one two three {number}",
            choose.random(),
            -choose.random(),
        )
        for number in range(3000)
    ]
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


def test_text_that_is_not_prepared_is_written_as_it_was_but_clean(tmp_path):
    rows = [("  The CAT sat ", "Le  CHAT"), ("我喜欢猫", "I like CATS")]
    wanted = ["The CAT sat\tLe  CHAT", "我喜欢猫\tI like CATS"]
    run(rows, tmp_path, {}, lower_case=True, prepared=False, languages=("zh", "en"), segmenters={"zh": Segmenter()})
    assert (tmp_path / "out.tsv").read_text(encoding="utf-8").splitlines() == wanted
