"""Sentencepiece's pieces as a kind of tokenizer."""

from __future__ import annotations

import sentencepiece
from hypothesis import given

from psp.text.sentencepiece_tokenizer import SentencepieceTokenizer
from tests.conftest import odd_text, train_sentencepiece


def test_the_example_makes_all_ids_of_a_text(tmp_path_factory):
    path = train_sentencepiece(tmp_path_factory.mktemp("pieces") / "sp.model")
    tokenizer = SentencepieceTokenizer(path, {"lower_case": True})
    imports, code = tokenizer.example()
    names = {"sentencepiece": sentencepiece}
    assert imports == ["sentencepiece"]
    exec(code.format(end="_0", file=path) + "    return found\n", names)

    @given(odd_text)
    def same(text):
        assert names["ids_0"](text) == tokenizer.processor.encode(text.lower())

    same()
