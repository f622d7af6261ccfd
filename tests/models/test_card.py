"""The model card: what it says, and that no word of a person is lost."""

from __future__ import annotations

import pytest
import yaml

from psp.core.errors import DataError
from psp.models import card, card_data, card_file
from tests.conftest import as_published
from tests.short_scores import in_full

CONFIG = {
    "dim": 1024,
    "vocab_size": 50000,
    "languages": ["en", "no"],
    "lower_case": True,
    "segment": {"zh": {"name": "jieba", "cut_all": False}},
    "recipe": "psp",
    "psp_version": "0.1.0",
}
FIGURES = {
    "pearson": 71.25, "pearson_interval": [70.0, 72.5], "spearman": 70.5678, "spearman_interval": [69.0, 71.5],
    "pairs": 1379,
}  # fmt: skip
NONE = {
    "pearson": None, "pearson_interval": None, "spearman": None, "spearman_interval": None, "pairs": 9,
    "why": "scores are all the same",
}  # fmt: skip
YEAR = {
    "pearson_mean": 65.04, "pearson_mean_interval": None, "pairs": 14000,
    "spearman_concatenated": 64.5, "spearman_concatenated_interval": [64.0, 65.0], "pairs_concatenated": 13294,
}  # fmt: skip
EVALUATION = as_published(in_full({
    "model": "no",
    "sts": {"2012": {**YEAR, "pairs": 3108, "pairs_concatenated": 3108}, "average": YEAR},
    "semeval2017": {"track5.en-en": {**FIGURES, "development": True}},
    "stsb": {"test": FIGURES, "dev": NONE},
    "files": {},
    "tatoeba": {"nob": {"nob-eng": {"error": 6.2, "interval": [4.9, 7.9], "pairs": 1000}}},
}))  # fmt: skip


def corpus(name, address, licence, version):
    return {
        "corpus": name,
        "languages": ["en", "no"],
        "version": version,
        "kept": 12345,
        "licence": {"declared": licence, "text": None},
        "source": {"address": address},
    }


DATA = {
    "corpora": [
        corpus("Books", "https://example.org/en-no.zip", "CC0-1.0", "v1"),
        corpus("my|own", "/home/me/secret.tsv", None, None),
    ]
}


def front(text):
    _, block, _ = text.split("---\n", 2)
    return yaml.safe_load(block)


def test_the_hubs_front_matter():
    assert front(card.card(CONFIG)) == {
        "language": ["en", "no"],  # a text, not YAML's word for false
        "library_name": "psp",
        "pipeline_tag": "sentence-similarity",
        "tags": list(card.TAGS),
    }
    assert front(card.card(CONFIG, licence="CC-BY-4.0"))["license"] == "cc-by-4.0"
    assert front(card.card(CONFIG | {"licence": "MIT"}))["license"] == "mit"
    assert "language" not in front(card.card(CONFIG | {"languages": []}))
    alone = card.card(CONFIG | {"languages": ["en"]})
    assert "bitext-mining" not in front(alone)["tags"] and "have a high cosine. No GPU" in alone


def test_what_it_says_of_the_model():
    text = card.card(CONFIG | {"dtype": "int8"})
    for said in ("1,024 dimensions", "50,000 pieces", "int8", "lower-cased", "jieba", "Recipe: psp", "psp 0.1.0"):
        assert said in text, said
    plain = card.card(CONFIG | {"lower_case": False, "segment": {}, "recipe": None, "left_out": [3, 4]})
    assert "Upper and lower case are kept" in plain and "2 pieces for which" in plain
    several = card.card(CONFIG | {"languages": ["en", "fr", "zh"]})
    assert "# Sentence embeddings for English, French and Mandarin Chinese\n" in several
    assert "jieba" not in plain and "Recipe" not in plain and "## Scores" not in plain and "## Data" not in plain


def test_what_others_read_off_a_card():
    text = card.card(CONFIG, licence="CC-BY-4.0", evaluation=EVALUATION, data=DATA)
    first = {"corpus": "Books", "languages": "en-no", "release": "v1", "pairs": "12,345"}
    for same in (text, text.replace("\n", "\r\n")):
        assert card_data.licence(same) == "cc-by-4.0"
        rows = card_data.corpora(same)
        assert rows[0] == first | {"licence": "CC0-1.0", "source": "https://example.org/en-no.zip"}
        assert [row["corpus"] for row in rows] == ["Books", "my|own"]
    plain = card.card(CONFIG)
    assert card_data.licence(plain) is None and card_data.corpora(plain) == []
    assert card_data.licence("") is None and card_data.corpora("") == []
    assert card_data.licence("---\nlanguage: en\nlicense:\n- mit\n---\n") is None
    assert card_data.licence("---\nlanguage: en\n---\nlicense: mit\n") is None


def test_scores_and_data():
    text = card.card(CONFIG, evaluation=EVALUATION, data=DATA)
    rows = [line for line in text.split("\n") if line.startswith("|")]
    assert rows[2:11] == [
        "| STS 2012 | Pearson | 3,108 | 65.0 | - |",
        "| STS 2012 | Spearman | 3,108 | 64.5 | 64.0 to 65.0 |",
        "| STS 2012-2016, average | Pearson | 14,000 | 65.0 | - |",
        "| STS 2012-2016, average | Spearman | 13,294 | 64.5 | 64.0 to 65.0 |",
        "| SemEval-2017 track5.en-en (dev) | Pearson | 1,379 | 71.2 | 70.0 to 72.5 |",
        "| SemEval-2017 track5.en-en (dev) | Spearman | 1,379 | 70.6 | 69.0 to 71.5 |",
        "| STS Benchmark test | Pearson | 1,379 | 71.2 | 70.0 to 72.5 |",
        "| STS Benchmark test | Spearman | 1,379 | 70.6 | 69.0 to 71.5 |",
        "| Tatoeba nob-eng (Norwegian Bokmål) | error, % | 1,000 | 6.2 | 4.9 to 7.9 |",
    ]
    assert rows[13:] == [
        "| Books | en-no | v1 | 12,345 | CC0-1.0 | https://example.org/en-no.zip |",
        "| my\\|own | en-no | - | 12,345 | none declared | not on the web |",
    ]
    assert "/home/me" not in text
    nothing = in_full({"stsb": {"dev": NONE}})
    assert "not evaluated on any test set" in card.card(CONFIG, evaluation=nothing)
    best = {"error": 12.5, "pairs_heldout": 1500}
    text = card.card(CONFIG, evaluation=nothing | {"train": {"best": best}})
    assert "| held-out pairs (dev) | error, % | 1,500 | 12.5 | - |" in text


def combination(**encoder):
    parts = [CONFIG | {"dim": dim, "weight": weight} for dim, weight in ((1024, 1), (512, 0.5))]
    return CONFIG | {"dim": 1536, "encoder": {"kind": "concat", "parts": parts} | encoder}


def of_parts(*scores):
    """eval.json of a combination, by STS mean and error of each part."""
    parts = []
    for name, sts, error in scores:
        difference = {"difference": sts - 65.04, "interval": [sts - 66, sts - 64]}
        parts.append(
            {
                "model": name,
                "weight": 1,
                "scores": {"sts": sts, "stsb/test": None, "tatoeba/nob-eng": error},
                "differences": {"sts": difference, "tatoeba/nob-eng": {"difference": None, "interval": None}},
            }
        )
    return EVALUATION | {"model": "both", "parts": parts}


def test_a_combination_has_its_parts_names_scores_and_data():
    evaluation = of_parts(("one", 64.0, 7.0), ("two", 60.04, 8.0))
    other = {"model": "two", "corpora": [corpus("Bible", "https://example.org/bible.zip", "CC-BY-4.0", "v2")]}
    parts = [DATA | {"model": "one"}, other]
    text = card.card(combination(), evaluation=evaluation, data=parts)
    rows = [line for line in text.split("\n") if line.startswith("|")]
    for row in (
        "| 0 (one) | 1 | mean of the vectors of its sentencepiece pieces | 50,000 | 1,024 | float32 | en, no |",
        "| 1 (two) | 0.5 | mean of the vectors of its sentencepiece pieces | 50,000 | 512 | float32 | en, no |",
        "| test | figure | both | one | two |",
        "| STS 2012-2016, average | Pearson | 65.0 | 64.0 (-1.0: -2.0 to +0.0) | 60.0 (-5.0: -6.0 to -4.0) |",
        "| STS Benchmark test | Pearson | 71.2 | - | - |",
        "| Tatoeba nob-eng (Norwegian Bokmål) | error, % | 6.2 | 7.0 | 8.0 |",
    ):
        assert row in rows, row
    assert "- Part 1 (two): " in text and "2 models that were trained apart" in text
    assert text.index("### one") < text.index("| Books |") < text.index("### two") < text.index("| Bible |")
    assert "Together: CC-BY-4.0 AND CC0-1.0. No licence is declared by my|own:" in text.replace("\\", "")
    assert front(text)["datasets"] == ["Books", "my-own", "Bible"]
    assert [row["corpus"] for row in card_data.corpora(text)] == ["Books", "my|own", "Bible"]
    same = card.card(combination(), evaluation=evaluation, data=[parts[0], parts[0] | {"model": "two"}])
    assert "### " not in same and same.count("| Books |") == 1 and "All its parts were trained on the same" in same
    assert same.count("No licence is declared by") == 1
    alone = card.card(combination())
    assert "| 1 | 0.5 | mean" in alone and "- Part 1: " in alone and "## Data" not in alone


@pytest.mark.parametrize(
    ("encoder", "said"),
    [
        ({}, "joins the vectors of 2 encoders that were trained together, 1,536 dimensions in all. Each of them"),
        ({"scaled": False}, "joins the vectors of 2 encoders that were trained together, as they are: 1,536"),
        ({"kind": "add"}, "is the sum of the vectors of 2 encoders that were trained together: 1,536 dimensions"),
    ],
)
def test_parts_that_were_trained_together(encoder, said):
    text = card.card(combination(**encoder), evaluation=of_parts(("one", 64.0, 7.0), ("two", 60.0, 8.0)), data=DATA)
    assert f"A sentence's vector {said}" in text and "apart" not in text
    assert "Its parts were trained together, with one loss for the whole vector" in text
    assert "together:" not in text[text.index("## Data") :]
    if encoder:  # the folder alone says so
        assert "trained together" in card.card(combination(**encoder))


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace("1,024", "1,025"),
        lambda text: text + "Thanks to all.\n",
        lambda text: "\ufeff" + text,
        lambda text: text[: text.rindex("<!--")],
        lambda text: "# My model\n",
        lambda text: "",
        lambda text: "caf\xe9\n".encode("latin-1"),
    ],
)
def test_an_edited_card_is_kept(tmp_path, caplog, edit):
    edited = edit(card.card(CONFIG))
    edited = edited if isinstance(edited, bytes) else edited.encode()
    (tmp_path / "README.md").write_bytes(edited)
    assert not card_file.write(tmp_path, card.card(CONFIG | {"dim": 512}))
    assert (tmp_path / "README.md").read_bytes() == edited
    assert "edited by hand and is kept" in caplog.text


def test_a_card_of_psps_own_is_replaced(tmp_path):
    assert card_file.write(tmp_path, card.card(CONFIG)) and card_file.write(tmp_path, card.card(CONFIG))
    other = card.card(CONFIG | {"dim": 512}, evaluation=EVALUATION)
    for before in (other, other.replace("\n", "\r\n")):
        (tmp_path / "README.md").write_bytes(before.encode())
        assert card_file.write(tmp_path, card.card(CONFIG))
        assert (tmp_path / "README.md").read_bytes() == card.card(CONFIG).encode()


def test_what_cannot_be_written_or_read(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="cannot be written"):
        card_file.write(tmp_path / "file", card.card(CONFIG))
    (tmp_path / "README.md").mkdir()
    with pytest.raises(DataError, match="cannot be read"):
        card_file.write(tmp_path, card.card(CONFIG))
