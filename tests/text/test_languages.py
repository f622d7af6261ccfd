"""Codes of languages."""

from psp.text.languages import ISO3, closest_code

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


def test_what_was_meant():
    assert closest_code("yor") == "; did you mean yo?" and closest_code("fra") == "; did you mean fr (French)?"
    assert closest_code("eng") == "; did you mean en (English)?" and closest_code("pcm") == ""
