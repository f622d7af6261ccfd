"""A lexicon through the workflow: a target of its own, of the pairs that the model has."""

import pytest

from psp.core.files import read_json

LEXICON = "results/demo/lexicon.tsv"


@pytest.mark.slow
def test_bitext_gives_a_translation_lexicon_and_paraphrases_one_with_scores(copy_of_finished):
    folder = copy_of_finished.folder
    assert copy_of_finished.planned(LEXICON) == {"filter", "dedupe", "lexicon"}  # files that are removed after mixing
    copy_of_finished.run("--", LEXICON)
    report = read_json(folder / "results/demo/lexicon.json")
    assert report["languages"] == ["en", "fr"] and report["scores"] == {} and report["left_out"] == []
    rows = [line.split("\t") for line in (folder / LEXICON).read_text(encoding="utf-8").splitlines()]
    assert rows[0] == ["u", "v", "count", "cross"]
    best = {}
    for u, v, *_ in rows[1:]:
        best.setdefault(u, v)
    assert (best["letter"], best["street"]) == ("lettre", "rue") and len(rows) == report["entries"] + 1

    # A model of both kinds: the paraphrases are taken, and the report says what is left.
    texts = [
        ("a big red car", "a large red car"),
        ("the large dog", "the big dog"),
        ("one small cat", "one little cat"),
    ]
    (folder / "same.tsv").write_text("".join(f"{a} {n}\t{b} {n}\n" for a, b in texts for n in range(12)))
    (folder / "words.txt").write_text("big\tlarge\t9\nsmall\tlittle\t9\nred\tdog\t1\nbig\tred\t2\n")
    copy_of_finished.add(
        "  both:\n    extends: demo\n    corpora: [{model: demo}, {path: same.tsv, languages: [en, en]}]\n"
        "    evaluate: {resamples: 100, tasks: {own: {task: word_similarity, path: words.txt}}}\n"
        "    filters: {numbers: {enabled: false}}\n"
    )
    copy_of_finished.run("--", "results/both/lexicon.json")
    report = read_json(folder / "results/both/lexicon.json")
    assert report["languages"] == ["en", "en"] and [one["label"] for one in report["corpora"]] == ["same.en-en"]
    assert report["left_out"] == ["Phrasebook.en-fr", "PhrasebookExtra.en-fr"]
    assert report["scores"]["own"]["adjusted"]["all"]["items"] == 4
