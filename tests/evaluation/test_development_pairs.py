"""A user's development set is kept clear of the sentences that the model is evaluated on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.evaluation.development_pairs import clear
from psp.evaluation.scored import scored
from psp.evaluation.testsets import read_file
from psp.text.keys import normalised_key

SCORED = [("STS 2012 MSRpar", "The cat sat.", "A dog, barking"), ("files/own", "Le chat", "")]


def written(folder, *lines):
    path = folder / "own.tsv"
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def test_pairs_with_an_evaluated_sentence_are_left_out_and_counted(tmp_path):
    own = written(
        tmp_path,
        "4.25\tthe cat sat\tsomething else",
        "0\tnothing known\there",
        "1\tunknown\tLE CHAT!",
        "3.5\tthe cat sat\tle chat",
        "2\t...\t!!!",
    )
    report = clear(read_file(own), SCORED, tmp_path / "out.tsv", tmp_path / "out.json")
    assert (tmp_path / "out.tsv").read_text("utf-8") == "0\tnothing known\there\n2\t...\t!!!\n"
    assert report == {"format": 1, "pairs": 5, "kept": 2, "dropped": {"STS 2012 MSRpar": 2, "files/own": 1}}


SENTENCE = st.text(alphabet="aAb Éé.", min_size=1, max_size=4).filter(str.strip)


@given(st.lists(st.tuples(st.floats(0, 5), SENTENCE, SENTENCE), min_size=2), st.lists(SENTENCE))
def test_what_is_left_is_the_set_without_those_pairs(tmp_path_factory, pairs, tested):
    folder = tmp_path_factory.mktemp("clear")
    own = written(folder, *(f"{score!r}\t{a}\t{b}" for score, a, b in pairs))
    keys = {normalised_key(text) for text in tested} - {""}
    expected = [(score, a, b) for score, a, b in pairs if not keys & {normalised_key(a), normalised_key(b)}]
    try:
        clear(read_file(own), [("set", text, "") for text in tested], folder / "out.tsv", folder / "out.json")
    except DataError:
        assert len(expected) < 2
    else:
        left = read_file(folder / "out.tsv")
        assert list(zip(left.gold, left.a, left.b, strict=True)) == expected


def test_a_set_of_evaluated_sentences_alone_is_refused(tmp_path):
    own = written(tmp_path, "1\tThe cat sat\tx", "2\ta dog barking\ty", "3\tz\tw")
    with pytest.raises(
        DataError, match=r"own\.tsv: 1 of its 3 pairs are left .* \(2 of STS 2012 MSRpar\); name another"
    ):
        clear(read_file(own), SCORED, tmp_path / "out.tsv", tmp_path / "out.json", source=own)
    assert not (tmp_path / "out.tsv").exists()


def test_development_sets_made_of_published_training_sets(psp_data, tmp_path):
    """The counts that the project's plan names: MSRpar is in MRPC, and SICK's training pairs hold STS sentences."""
    transfer = psp_data / "eval/transfer"
    sets = {"languages": ["en"], "sts": psp_data / "eval/sts"}
    chosen = list(scored(sets))
    lines = (transfer / "SICK/SICK_train.txt").read_text("utf-8").splitlines()[1:]
    own = written(tmp_path, *("\t".join((row[3], row[1], row[2])) for row in (line.split("\t") for line in lines)))
    report = clear(read_file(own), chosen, tmp_path / "sick.tsv", tmp_path / "sick.json")
    assert report["pairs"] == 4500
    assert report["pairs"] - report["kept"] == 995
    test = {"task": "similarity", "layout": "sick", "path": str(transfer / "SICK/SICK_test_annotated.txt")}
    report = clear(
        read_file(own), [*chosen, *scored({"tasks": {"sick": test}})], tmp_path / "few.tsv", tmp_path / "few.json"
    )
    assert report["kept"] == 61  # nearly all of its sentences come again in its test part

    rows = (transfer / "MRPC/msr_paraphrase_train.txt").read_text("utf-8-sig").splitlines()[1:]
    columns = [row.split("\t") for row in rows]
    own = written(tmp_path, *("\t".join((row[0], row[3], row[4])) for row in columns))
    msrpar = [row for row in chosen if row[0] == "STS 2012 MSRpar"]
    report = clear(read_file(own), msrpar, tmp_path / "mrpc.tsv", tmp_path / "mrpc.json")
    assert report["dropped"]["STS 2012 MSRpar"] >= 740
