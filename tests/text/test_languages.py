"""Codes of languages."""

import pytest

from psp.core.errors import ConfigError
from psp.text.languages import ISO3, LID_LABELS, check_codes

#: All of ISO 639-1.
TWO_LETTERS = """
aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo es
et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki
kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no
nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te
tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
"""


def test_every_two_letter_code_has_one_of_three_letters():
    assert set(TWO_LETTERS.split()) == {code for code in ISO3 if len(code) == 2}
    assert all(len(code) == 3 and code.isalpha() for code in ISO3.values())
    assert [ISO3[code] for code in ("yo", "ha", "zu", "sw", "zh")] == ["yor", "hau", "zul", "swh", "cmn"]


@pytest.mark.parametrize(
    ("code", "meant"),
    [
        ("yor", "yo"), ("fra", "fr"), ("fre", "fr"), ("eng", "en"), ("ger", "de"), ("zho", "zh"), ("zh_CN", "zh"),
        ("zh-Hant", "zh"), ("zhs", "zh"), ("zh_yue", "yue"), ("pt_br", "pt"), ("en-GB", "en"), ("swa", "sw"),
        ("swahili", "sw"), ("NO", "no"), ("IT", "it"), ("ITA", "it"), ("cz", "cs"), ("sr@latin", "sr"),
    ],
)  # fmt: skip
def test_a_language_has_one_code_in_a_config(code, meant):
    with pytest.raises(ConfigError) as caught:
        check_codes(["en", code], "models.m.languages")
    told = f"models.m.languages: {code} is not psp's code"
    assert str(caught.value).startswith(told) and f"; write {meant}" in str(caught.value)
    assert (f"`names: {{{meant}: {code}}}`" in str(caught.value)) == (code.lower() != meant)
    check_codes([meant], "")


def test_codes_that_no_other_replaces_pass():
    check_codes([*ISO3, *LID_LABELS, "pcm", "zz", "no", "nb"], "")
    with pytest.raises(ConfigError, match="x: klingon is not an ISO 639 code of two or three letters"):
        check_codes(["klingon"], "x")
