"""The whole report, of paraphrases, bitext and text."""

import math
import random
import time

import pytest

from psp.core.errors import DataError
from psp.pairs.stats.annotation_form import read_form, write_form
from psp.pairs.stats.run import COPIES, NO_SCORES, NO_TREES, TWO_LANGUAGES, DescribedCorpus, describe
from psp.pairs.stats.sample import pair_id
from tests.conftest import PAIRS, write_pair_file

RANGES = [-0.1, 0.2, 0.4, 0.6, 0.8, 1.0]
OPTIONS = {"model": None, "pairs": 1000, "ranges": RANGES, "samples": 2, "sheet": 5, "seed": 1}


def stats(*corpora, **options):
    return describe(corpora, **{**OPTIONS, **options})


@pytest.fixture
def scored(tmp_path):
    """Paraphrases that share more words the higher their score is."""
    source = random.Random(1)
    lines = []
    for number in range(600):
        words = [source.choice("abcdefghijklmnop") + str(number % 37) for _ in range(10)]
        score = number / 600
        kept = round(10 * score)
        other = words[:kept] + [f"x{source.randrange(99)}" for _ in range(10 - kept)]
        lines.append(f"{' '.join(words)}\t{' '.join(other)}\t{score:.4f}\n")
    path = tmp_path / "scored.tsv"
    path.write_text("".join(lines))
    return path


def test_paraphrases_with_scores(scored):
    (corpus,) = stats(DescribedCorpus("Scored", ("en", "en"), scored))[0]["corpora"]
    assert corpus["rows"] == corpus["sampled"] == 600 and corpus["missing"] == {"parses": NO_TREES}
    assert corpus["score"]["mean"] == pytest.approx(sum(range(600)) / 600 / 600, abs=1e-4)
    overlaps = [one["overlap"]["mean"] for one in corpus["histogram"]["ranges"]]
    assert overlaps == sorted(overlaps) and overlaps[0] < 0.05 and overlaps[-1] > 0.8
    assert sum(one["pairs"] for one in corpus["histogram"]["ranges"]) == 600
    assert [one["share"] for one in corpus["histogram"]["ranges"]] == pytest.approx([0.2, 0.2, 0.2, 0.2, 0.2], abs=0.01)
    for one in corpus["histogram"]["ranges"]:
        assert len(one["samples"]) == 2 and all(one["above"] < pair["score"] <= one["to"] for pair in one["samples"])
    assert corpus["sides"][0]["idf_from"] == {"file": None, "sentences": 600}
    corpus = stats(DescribedCorpus("Scored", None, scored), ranges=[0.5, 0.75])[0]["corpora"][0]
    assert (corpus["histogram"]["below"], corpus["histogram"]["above"]) == (301, 149)
    assert corpus["histogram"]["ranges"][0]["pairs"] == 150 and corpus["languages"] is None


def test_bitext_says_what_makes_no_sense(tmp_path):
    path = write_pair_file(tmp_path / "bitext.tsv", PAIRS)
    (corpus,) = stats(DescribedCorpus("Bitext", ("en", "fr"), path))[0]["corpora"]
    assert corpus["overlap"] is corpus["score"] is corpus["histogram"] is None
    why = {"overlap": TWO_LANGUAGES, "score": NO_SCORES, "histogram": NO_SCORES, "parses": NO_TREES}
    assert corpus["missing"] == why and len(corpus["samples"]) == 2
    english, french = corpus["sides"]
    assert (english["language"], french["language"]) == ("en", "fr")
    assert 0 < english["entropy"] <= math.log(english["types"]) and english["entropy"] != french["entropy"]


def test_text_has_one_side_and_no_overlap_with_itself(tmp_path):
    path = write_pair_file(tmp_path / "text.tsv", [(a, a) for a, _ in PAIRS])
    (corpus,) = stats(DescribedCorpus("Text.en", ("en", "en"), path, text=True))[0]["corpora"]
    assert len(corpus["sides"]) == 1 and corpus["overlap"] is None and corpus["missing"]["overlap"] == COPIES


def test_idf_of_other_text(tmp_path):
    path = write_pair_file(tmp_path / "bitext.tsv", [("the cat", "le chat")])
    (tmp_path / "en.txt").write_text("the dog\nthe cat\na dog\nit is\n")
    want = {"en": (math.log(4 / 2) + math.log(4)) / 2, "fr": 0.0}
    given = {"en": tmp_path / "en.txt"}
    english, french = stats(DescribedCorpus("B", ("en", "fr"), path), idf_from=given)[0]["corpora"][0]["sides"]
    assert english["idf"]["mean"] == pytest.approx(want["en"]) and french["idf"]["mean"] == want["fr"]
    assert english["idf_from"] == {"file": "en.txt", "sentences": 4}
    assert french["idf_from"] == {"file": None, "sentences": 1}
    both = stats(DescribedCorpus("B", None, path), idf_from={"": tmp_path / "en.txt"})[0]["corpora"][0]["sides"]
    assert [one["idf_from"]["file"] for one in both] == ["en.txt"] * 2
    assert both[1]["idf"]["mean"] == pytest.approx(math.log(4))  # none of its words is there


def test_parse_entropy(tmp_path):
    path = write_pair_file(tmp_path / "pairs.tsv", PAIRS[:4])
    (tmp_path / "trees").write_text("(ROOT (S (NP a) (VP b)))\n" * 2 + "(FRAG (NP a))\n(SQ (VP (V b)))\n")
    found = stats(DescribedCorpus("P", None, path, parses=tmp_path / "trees"))[0]["corpora"][0]
    assert found["parses"] == {"file": "trees", "types": 3, "entropy": pytest.approx(1.5 * math.log(2))}
    assert "parses" not in found["missing"]


def label(path, out, labels):
    """Fill a sheet by a function of the pair: nobody has judged it."""
    rows = [line.split("\t") for line in path.read_text().splitlines()]
    out.write_text("\n".join("\t".join([*row[:3], *labels(row)] if place else row) for place, row in enumerate(rows)))
    return out


def test_a_sheet_goes_out_and_comes_back(scored, tmp_path):
    """Labels here are a function of the text, not anybody's judgement."""
    found = stats(DescribedCorpus("Scored", None, scored), sheet=20)
    assert write_form(tmp_path / "sheet.tsv", found[1]) == 100
    score = {pair_id(*line.split("\t")[:2]): float(line.split("\t")[2]) for line in scored.read_text().splitlines()}
    ann = label(
        tmp_path / "sheet.tsv", tmp_path / "ann.tsv", lambda row: [str(min(int(3 * score[row[0]]) + 1, 3)), "3"]
    )
    bob = label(tmp_path / "sheet.tsv", tmp_path / "bob.tsv", lambda row: ["3" if score[row[0]] > 0.5 else "1", "3"])
    # Another seed draws other pairs: the labels belong to the pairs, not to the draw.
    report = stats(DescribedCorpus("Scored", None, scored), seed=2, forms=[read_form(ann), read_form(bob)])[0]
    labels = report["corpora"][0]["labels"]
    assert [sum(one["paraphrase"][0]) for one in labels["ranges"]] == [20] * 5
    assert labels["ranges"][0]["paraphrase"] == [[20, 0, 0], [20, 0, 0]]
    assert labels["ranges"][-1]["paraphrase"] == [[0, 0, 20], [0, 0, 20]]
    (agreement,) = labels["agreement"]
    assert agreement["paraphrase"]["pairs"] == 100 and 0.4 < agreement["paraphrase"]["kappa"] < 0.9
    assert agreement["fluency"] == {"pairs": 100, "agree": 1.0, "kappa": None}


def test_labels_of_several_corpora_go_where_their_pairs_are(scored, tmp_path):
    bitext = write_pair_file(tmp_path / "bitext.tsv", PAIRS)
    corpora = DescribedCorpus("Scored", None, scored), DescribedCorpus("Bitext", ("en", "fr"), bitext)
    found = stats(*corpora, sheet=3)
    assert len(found[1]) == 18
    write_form(tmp_path / "sheet.tsv", found[1])
    ann = label(tmp_path / "sheet.tsv", tmp_path / "ann.tsv", lambda row: ["2", ""])
    one, other = (corpus["labels"] for corpus in stats(*corpora, forms=[read_form(ann)])[0]["corpora"])
    assert [corpus["paraphrase"] for corpus in one["ranges"]] == [[[0, 3, 0]]] * 5
    assert other["ranges"] == [{"paraphrase": [[0, 3, 0]], "fluency": [[0, 0, 0]]}] and other["agreement"] == []
    with pytest.raises(DataError, match=r"ann.tsv: no pair of these corpora has the id \w+"):
        stats(corpora[0], forms=[read_form(ann)])


def test_ranges_that_were_asked_for_need_scores(scored, tmp_path):
    path = write_pair_file(tmp_path / "bitext.tsv", PAIRS)
    with pytest.raises(DataError, match=r"bitext.tsv: has no scores, so its pairs have no ranges"):
        stats(DescribedCorpus("Bitext", None, path), by_range=True)
    with pytest.raises(DataError, match=r"scored.tsv: no pair has a score above 5 and up to 6"):
        stats(DescribedCorpus("Scored", None, scored), by_range=True, ranges=[5, 6])


@pytest.mark.slow
def test_the_supplied_pairs(psp_data):
    """PARANMT.md 1.1: overlap .00 .01 .04 .13 .36 and 6.24 nats; at most 10 CPU seconds for 100,000 pairs."""
    start = time.process_time()
    file = psp_data / "paraphrase/english_pairs.zip"
    (corpus,) = stats(DescribedCorpus("English", ("en", "en"), file, own=True), pairs=100_000)[0]["corpora"]
    assert time.process_time() - start < 10
    overlaps = [one["overlap"]["mean"] for one in corpus["histogram"]["ranges"]]
    assert overlaps == pytest.approx([0.00, 0.01, 0.04, 0.13, 0.36], abs=0.01)
    assert corpus["sides"][0]["entropy"] == pytest.approx(6.24, abs=0.02)
