"""Sentencepiece's model as a Hugging Face tokenizer, against sentencepiece."""

from __future__ import annotations

import io
import unicodedata

import numpy as np
import pytest
import sentencepiece

from psp.models.static import StaticModel
from psp.text.normalisation import as_tsv, rules
from psp.text.sentencepiece_tokenizer import load_sentencepiece
from tests.conftest import SENTENCES, train_sentencepiece

pytest.importorskip("tokenizers", reason="tokenizers is not installed (the extra export)")

from phrasebook import sample
from psp.models.exports import tokenizer

ODD = [
    "", " ", "\t\n", "\u3000", "\u200b", "\x01", "  two  spaces ", "The\u00a0CAT\u2028eats", "日本 bread",
    "🙂🙂", "🙂\u200d🙂 cat", "<s>", "</s> <unk>", "ﬁnds ½ №5 ™", "e\u0301te\u0301", "ＦＵＬＬ width",
    "İstanbul ISPARTA", "ΟΔΥΣΣΕΥΣ ΣΑΣ, ΣΟΦΌΣ", "straße ẞ", "…", "a" * 5000, "naïve—dash", "x\u0327\u0301", "ᾳ ᾼ",
    "हिन्दी", "العربية ﷺ", "한국어", "ไทย", unicodedata.normalize("NFD", "한국어 naïve ガイド Việt বাংলা"),
    "می\u200cخواهم क्\u200dष", "the\u00ad ca\u200bt\ufe0f \u202eeats\u200d bre\u2060ad", "إلى أُحِبُّ",
    "▁", "▁bread", " ▁ bread", "the▁▁cat", "▁▁",
]  # fmt: skip


def own(model, text):
    """What sentencepiece makes of it, unknown pieces included; nothing if no other is known but the word mark."""
    ids = model.sentencepiece.encode(text.lower() if model.config.get("lower_case") else text)
    return ids if {*ids} - {*model.tokenizer.silent_ids} else []


@pytest.mark.parametrize("lower_case", [True, False])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"add_dummy_prefix": False},
        {"split_by_whitespace": False, "vocab_size": 300},
        {"normalization_rule_name": "identity"},
        {"unk_id": 2, "bos_id": -1, "eos_id": 0, "pad_id": 1},
        {"normalisation": "nmt_nfkc+visible"},
        {"normalisation": "nmt_nfkc+visible+arabic"},
    ],
    ids=str,
)
def test_the_ids_are_those_of_sentencepiece(tmp_path, settings, lower_case):
    how = dict(settings)
    if normalisation := how.pop("normalisation", None):
        (tmp_path / "rules.tsv").write_text(as_tsv(rules(normalisation)), "ascii")
        how["normalization_rule_tsv"] = str(tmp_path / "rules.tsv")
    path = train_sentencepiece(tmp_path / "sp.model", **how)
    pieces = load_sentencepiece(path).get_piece_size()
    model = StaticModel(
        np.ones((pieces, 2), np.float32), path, {"lower_case": lower_case, "normalisation": normalisation}
    )
    made = tokenizer.convert(model)
    plain = settings.get("normalization_rule_name") != "identity"
    for text in [*SENTENCES, *sample(200), *(ODD if plain else [])]:
        assert made.encode(text, add_special_tokens=False).ids == own(model, text), repr(text)


def test_what_is_other_is_counted(make):
    model = make()
    made, table = tokenizer.convert(make(lower_case=False)), tokenizer.table(model)
    found = tokenizer.compare(model, made, table, ["bread", "BREAD", "the cat", "the 日"])
    # "BREAD" has other pieces, none: no capital is known.
    assert (found.sentences, found.other, found.unknown) == (4, 1, 1)
    known = len(model.ids(["the 日"])[0])
    shorter = np.abs(model.embed_raw_text(["the 日"]) / (known + 1)).max()  # an unknown piece more in the mean
    assert tokenizer.compare(model, made, table, ["the 日"]).difference == pytest.approx(shorter, abs=1e-6)
    assert str(found).startswith("Compared with sentencepiece on 4 sentences: 1 have other pieces, 1 hold")


def test_the_sample_is_always_the_same_and_of_both_languages():
    assert sample() == sample() and len(set(sample())) > 1900
    assert any(" the " in text for text in sample()) and any(" la " in text for text in sample())


def test_real_sentences_in_many_scripts(psp_data, tmp_path):
    files = sorted((psp_data / "eval/tatoeba/v1").glob("tatoeba.*"))
    languages = {"ara", "cmn", "ell", "hin", "jpn", "kor", "rus", "tha", "tur", "vie", "fra", "deu", "ben"}
    texts = [
        line
        for path in files
        if path.suffix[1:] in languages
        for line in path.read_bytes().decode().split("\n")[:1000]
        if line
    ]
    assert len(texts) > 8000
    trained = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([text.lower() for text in texts[::2]]), model_writer=trained, model_type="unigram",
        vocab_size=8000, hard_vocab_limit=False, minloglevel=2,
    )  # fmt: skip
    (tmp_path / "sp.model").write_bytes(trained.getvalue())
    pieces = load_sentencepiece(tmp_path / "sp.model").get_piece_size()
    table = np.random.default_rng(0).standard_normal((pieces, 16), dtype=np.float32)
    model = StaticModel(table, tmp_path / "sp.model", {"lower_case": True})
    made = tokenizer.convert(model), tokenizer.table(model)
    # In parts, 1,000 of 1,000 Korean and 322 Bengali sentences once had other pieces. Those left are Arabic, with a
    # vowel mark between a letter and its hamza, which sentencepiece does not join.
    for form, most in (("NFC", 1), ("NFD", 8)):
        some = [unicodedata.normalize(form, text) for text in texts]
        found = tokenizer.compare(model, *made, some)
        assert found.other <= most, found
