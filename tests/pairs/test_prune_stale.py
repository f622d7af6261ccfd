"""What is left of corpora that a model has no longer goes; nothing else does."""

from pathlib import Path

from psp.core.files import write_json
from psp.pairs.prune_stale import prune_stale

FILTER = {"format": 1, "languages": ["en", "fr"], "filters": {}, "seen": 3, "kept": 2, "dropped": {}}
DEDUPE = {"format": 1, "seen": 2, "duplicates": 0, "capped": 0, "kept": 2}


def stages(pairs: Path, corpus: str, label: str) -> None:
    """What filter and dedupe leave of a corpus whose text is temporary."""
    write_json(pairs / f"filter/{label}.json", {**FILTER, "corpus": corpus})
    write_json(pairs / f"dedupe/{label}.json", {**DEDUPE, "corpus": corpus})
    (pairs / f"filter/{label}.dropped.tsv").write_text("short\ta\tb\n")


def test_what_is_left_of_a_removed_corpus_goes_and_nothing_else(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs"
    for corpus, label in (("A", "A.en-fr"), ("A.v2", "A.v2.en-fr"), ("B", "B.en-fr")):
        stages(pairs, corpus, label)
    (pairs / "dedupe/A.v2.en-fr.tsv").write_text("kept by keep_intermediate\n")
    others = {
        "filter/notes.txt": "x",
        "filter/mine.en-fr.json": "{}",
        "filter/mine.en-fr.tsv": "x",
        "dedupe/x.json": "[",
    }
    others |= {"filter/C.en-fr.dropped.tsv": "without a report", "mix.json": "{}", "filter/D.json": '{"format": 1}'}
    for name, text in others.items():
        (pairs / name).write_text(text)
    for label in ("A.en-fr", "Mined-fr.en-en"):
        write_json(pairs / f"pivot/{label}.json", {"format": 1, "through": "fr", "by_corpus": {}})
        write_json(pairs / f"pivot/{label}/B.en-fr.json", {})
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    removed = prune_stale(pairs, ["A.en-fr", "B.en-fr"])
    names = {
        "filter/A.v2.en-fr.json", "filter/A.v2.en-fr.dropped.tsv", "dedupe/A.v2.en-fr.json", "dedupe/A.v2.en-fr.tsv",
        "pivot/Mined-fr.en-en.json", "pivot/Mined-fr.en-en/B.en-fr.json",
    }  # fmt: skip
    assert set(removed) == {pairs / name for name in names}
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == before - set(removed)
    assert prune_stale(pairs, ["A.en-fr", "B.en-fr"]) == []
    assert prune_stale(tmp_path / "nowhere", []) == []
