"""What each filter keeps and drops, and how the config reaches it."""

from __future__ import annotations

import functools
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import psp.pairs.filters
from psp.core.errors import ConfigError, DataError, PspError
from psp.pairs.filters import Batch, Filter, build, names
from psp.pairs.filters.language import GAP
from psp.text.language_scores import LanguageScores, _model
from psp.text.languages import LID_LABELS, lid_label
from psp.text.words import clean
from tests.pairs.filters.conftest import batch

ENGLISH = "The old house stood at the end of a long and dusty road."
FRENCH = "La vieille maison se trouvait au bout d'une longue route poussiéreuse."
CHINESE = "那座老房子矗立在一条尘土飞扬的长路尽头。"
GERMAN = "Das alte Haus stand am Ende einer langen und staubigen Straße."


# --- the contract -------------------------------------------------------------------------------------------------


def test_only_enabled_filters_are_built_cheap_ones_first():
    assert names().index("score") < names().index("length") < names().index("language")
    lid = {"lid": "somewhere"}
    both = build({"lower_case": True, "language": {}, "length": {"enabled": True}}, ("en", "fr"), lid)
    assert [judge.name for judge in both] == ["length", "language"]
    assert [judge.name for judge in build({"language": {"enabled": False}, "length": {}}, ("en", "fr"))] == ["length"]
    assert build({}, ("en", "fr")) == []


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"lenght": {}}, "filters.lenght: there is no such filter; there are score, .*length, .*language"),
        ({"length": {"mim": 3}}, "filters.length.mim is not a key; did you mean min"),
        ({"length": {"min": 9, "max": 8}}, "filters.length: min 9 is above max 8; swap them"),
        ({"score": {"min": 0.9, "max": 0.8}}, "filters.score: min 0.9 is above max 0.8; swap them"),
    ],
)
def test_a_wrong_setting_is_named(config, message):
    with pytest.raises(ConfigError, match=message):
        build(config, ("en", "fr"), {"lid": "somewhere"})


def test_the_language_filter_asks_for_its_model():
    with pytest.raises(ConfigError, match="needs a language identification model"):
        build({"language": {}}, ("en", "fr"))


def test_a_filter_without_declared_settings_is_an_error():
    with pytest.raises(TypeError, match="declare the settings of the filter silent in"):

        class Silent(Filter):
            name, order = "silent", 15


def test_every_file_but_the_base_and_the_stage_holds_a_filter():
    folder = Path(psp.pairs.filters.__file__).parent
    files = {path.stem for path in folder.glob("*.py")} - {"__init__", "base", "stage"}
    assert {cls.__module__.rpartition(".")[2] for cls in Filter.classes.values()} == files


# --- length -------------------------------------------------------------------------------------------------------


def words(count: int) -> str:
    return " ".join(["w"] * count)


def test_length_keeps_its_bounds_and_says_which_side_is_wrong():
    (judge,) = build({"length": {"min": 3, "max": 100}}, ("en", "fr"))
    pairs = [(3, 100), (100, 3), (2, 50), (50, 2), (101, 50), (50, 101), (2, 101), (101, 2), (1, 1)]
    assert judge(batch(*((words(source), words(target)) for source, target in pairs))) == [
        None,
        None,
        "length: source too short",
        "length: target too short",
        "length: source too long",
        "length: target too long",
        "length: source too short",
        "length: source too long",
        "length: source too short",
    ]
    assert judge(batch()) == []


@pytest.mark.parametrize(
    ("name", "setting", "good", "bad"),
    [
        ("length", {"min": 3}, "a b c", "a"),
        ("symbols", {}, "ab123", "----- 12:30"),
        ("language", {}, FRENCH, GERMAN),
    ],
)
def test_a_filter_looks_at_the_sides_it_is_told(lid, name, setting, good, bad):
    pairs = batch((good, good), (bad, good), (good, bad))
    for sides, wrong in (("both", [1, 2]), ("source", [1]), ("target", [2])):
        (judge,) = build({name: {**setting, "sides": sides}}, ("fr", "fr"), {"lid": lid})
        reasons = judge(pairs)
        assert [row for row, reason in enumerate(reasons) if reason] == wrong
        assert all(("source", "target")[row - 1] in reasons[row] for row in wrong)


def test_length_of_the_average_of_both_sides():
    (judge,) = build({"length": {"sides": "average", "min": 3, "max": 5}}, ("en", "en"))
    pairs = [(1, 5), (5, 5), (2, 3), (6, 5), (0, 6), (9, 1)]
    assert judge(batch(*((words(source), words(target)) for source, target in pairs))) == [
        None,
        None,
        "length: average too short",  # 2.5
        "length: average too long",  # 5.5
        None,
        None,
    ]
    assert judge(batch()) == []


# --- score --------------------------------------------------------------------------------------------------------


def test_score_keeps_its_bounds():
    (judge,) = build({"score": {"min": 0.4, "max": 1.0}}, ("en", "en"))
    scores = [0.4, 1.0, 0.39999, 1.00001, -5.0, 0.7]
    texts = ["a"] * len(scores)
    assert judge(Batch(texts, texts, texts, texts, scores)) == [
        None,
        None,
        "score: too low",
        "score: too high",
        "score: too low",
        None,
    ]


def test_score_of_a_corpus_without_scores_says_what_to_write():
    (judge,) = build({"score": {"enabled": True}}, ("en", "fr"))
    assert judge(batch()) == []
    with pytest.raises(ConfigError, match=r"carries no scores.*corpora\.<name>\.filters.*enabled: false"):
        judge(batch(("a", "b")))


def test_length_counts_segmented_text_and_any_white_space():
    (judge,) = build({"length": {"min": 3}}, ("en", "zh"))
    assert judge(Batch(["a b c"] * 2, ["那座老房子"] * 2, ["a b c"] * 2, ["那座 老 房子", "那座老 房子"])) == [
        None,
        "length: target too short",
    ]
    assert judge(batch(("a\u3000b\u2028c", "a b c"))) == [None]


# --- language -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["evidence", "top"])
def test_language_of_real_sentences(lid, method):
    (judge,) = build({"language": {"method": method}}, ("en", "fr"), {"lid": lid})
    assert judge(batch((ENGLISH, FRENCH), (FRENCH, FRENCH), (ENGLISH, ENGLISH), (GERMAN, CHINESE))) == [
        None,
        "language: source",
        "language: target",
        "language: source",
    ]
    assert judge(batch()) == []


def test_language_looks_at_the_raw_text_not_at_its_words(lid):
    (judge,) = build({"language": {}}, ("en", "zh"), {"lid": lid})
    assert judge(Batch([ENGLISH], [CHINESE], [FRENCH], [FRENCH])) == [None]


def test_a_language_that_the_model_does_not_know(lid):
    (judge,) = build({"language": {"method": "top"}}, ("en", "tzl"), {"lid": lid})
    with pytest.raises(ConfigError, match=r"does not know the language 'tzl'.*evidence"):
        judge(batch((ENGLISH, FRENCH)))
    (judge,) = build({"language": {"method": "top", "sides": "source"}}, ("en", "tzl"), {"lid": lid})
    assert judge(batch((ENGLISH, FRENCH))) == [None]


ZULU = "Ngiyabonga kakhulu, ngizobuya kusasa ekuseni"
DOUBTFUL = {  # right sides, of which lid.176.ftz says that another language is the most probable
    "fr": "La neige fond.",
    "zh": "将该词添加到指定词典",
    "xh": ZULU,
}
QURAN = "وَإِذَا قَرَأۡتَ ٱلۡقُرۡءَانَ جَعَلۡنَا بَيۡنَكَ وَبَيۡنَ ٱلَّذِينَ لَا يُؤۡمِنُونَ"


@pytest.mark.parametrize("language", ["fr", "zh", "xh"])
def test_a_doubtful_side_is_kept_where_nothing_speaks_against_it(lid, language):
    import fasttext

    ((top, *_),), _ = fasttext.load_model(str(lid)).predict([DOUBTFUL[language]])
    assert top != f"__label__{language}"
    (judge,) = build({"language": {}}, ("en", language), {"lid": lid})
    assert judge(batch((ENGLISH, DOUBTFUL[language]))) == [None]


def test_a_side_in_the_partners_language_is_dropped_at_a_lower_probability_than_in_a_third(lid):
    probable, improbable = "Dieses Haus ist nicht sehr alt", "Das Restaurant"

    def judged(languages: tuple[str, str], text: str, **settings: float) -> str | None:
        (judge,) = build({"language": {"sides": "target", "identifier": "lid176", **settings}}, languages, {"lid": lid})
        return judge(batch((ENGLISH, text)))[0]

    (judge,) = build({"language": {}}, ("de", "fr"), {"lid": lid})
    (evidence,) = judge.weigh([improbable], "fr", "de")
    assert evidence.partner > 0.5
    between = evidence.partner - 0.01, evidence.partner + 0.01
    assert judged(("de", "fr"), improbable, other=1) == "language: target"
    assert judged(("en", "fr"), improbable, other=between[0]) == "language: target"
    assert judged(("en", "fr"), improbable, other=between[1]) is None
    assert judged(("en", "fr"), probable) == "language: target"


def test_a_side_of_a_language_without_a_label_is_dropped_for_the_partners_alone(lid):
    (judge,) = build({"language": {"identifier": "lid176"}}, ("en", "xh"), {"lid": lid})
    assert judge(batch((ENGLISH, ZULU), (ENGLISH, FRENCH), (ENGLISH, ENGLISH), (FRENCH, ZULU))) == [
        None,
        None,
        "language: target",
        "language: source",
    ]


def test_letters_of_a_script_in_which_a_language_is_never_written(lid):
    (judge,) = build({"language": {}}, ("en", "fr"), {"lid": lid})
    assert (
        judge(batch((QURAN, FRENCH), ("設定を変更します", FRENCH), ("これは本です", FRENCH)))
        == ["language: source"] * 3
    )
    (judge,) = build({"language": {}}, ("en", "zh"), {"lid": lid})
    assert judge(batch((ENGLISH, "これは本です"), (ENGLISH, "mysql_list_tables 例子"))) == ["language: target", None]


def test_varieties_of_a_language_do_not_speak_against_one_another(lid):
    croatian = "Kuća je bila stara i nitko nije znao tko je u njoj živio."
    for partner, reason in (("en", None), ("hr", "language: target")):
        (judge,) = build({"language": {"sides": "target"}}, (partner, "bs"), {"lid": lid})
        (evidence,) = judge.weigh([croatian], "bs", partner)
        assert (evidence.partner > 0.3) is (partner == "hr"), evidence
        assert judge(batch((ENGLISH, croatian))) == [reason]


def test_vocalised_arabic_is_arabic(lid):
    (judge,) = build({"language": {}}, ("fa", "ar"), {"lid": lid})
    assert judge(batch(("این یک جمله فارسی است که خیلی طولانی نیست", QURAN))) == [None]
    import fasttext

    ((top,),), _ = fasttext.load_model(str(lid)).predict([QURAN])
    assert top != "__label__ar"


def test_a_side_too_short_to_judge_is_kept(lid):
    (judge,) = build({"language": {}}, ("en", "zh"), {"lid": lid})
    assert judge(batch((ENGLISH, "Der Hund"), (ENGLISH, "12:30"), (ENGLISH, "Hut"))) == ["language: target", None, None]


SWAHILI = "Kiasi cha maji kinachohitajika hutegemea ukubwa wa shamba lako."


def test_most_lines_are_judged_without_lid176(tmp_path):
    """Its file is not even read: py3langid has no doubt about these."""
    (judge,) = build({"language": {}}, ("en", "fr"), {"lid": tmp_path / "none.ftz"})
    rows = [(ENGLISH, FRENCH), (ENGLISH, SWAHILI), (GERMAN, FRENCH), (ENGLISH, ENGLISH), (ENGLISH, QURAN)]
    assert judge(batch(*rows)) == [None, "language: target", "language: source", "language: target", "language: target"]


def test_lines_that_py3langid_leaves_open_are_for_lid176(lid):
    unsettled = "Das Restaurant"  # of which a French text may well have the name
    (judge,) = build({"language": {"identifier": "py3langid"}}, ("de", "fr"))
    (suspect,) = LanguageScores().suspects([unsettled], "fr", "de", (), 2.0)
    assert suspect.gap == suspect.partner < GAP and judge(batch((GERMAN, unsettled))) == [None]
    (judge,) = build({"language": {}}, ("de", "fr"), {"lid": lid})
    assert judge(batch((GERMAN, unsettled))) == ["language: target"]


def test_a_language_that_one_of_them_lacks(lid):
    asturian = "Nun sé qué facer cola mio vida, la verdá."
    assert "ast" not in LanguageScores().labels and "yo" in LanguageScores().labels
    (judge,) = build({"language": {}}, ("en", "ast"), {"lid": lid})
    assert judge(batch((ENGLISH, asturian), (ENGLISH, ENGLISH))) == [None, "language: target"]
    with pytest.raises(ConfigError, match=r"which does not know 'ast'; write `language: {identifier: both}`"):
        build({"language": {"identifier": "py3langid"}}, ("en", "ast"))


def test_without_py3langid_the_extra_is_named(lid, monkeypatch):
    monkeypatch.setattr("psp.text.language_scores._model", _model.__wrapped__)
    monkeypatch.setitem(sys.modules, "py3langid.langid", None)
    (judge,) = build({"language": {}}, ("en", "fr"), {"lid": lid})
    with pytest.raises(PspError, match=r"py3langid.*pip install 'paraphrastic\[data\]'"):
        judge(batch((ENGLISH, FRENCH)))


@functools.cache
def english_and_arabic(lid: Path) -> Filter:
    return build({"language": {}}, ("en", "ar"), {"lid": lid})[0]


@settings(max_examples=50)
@given(st.lists(st.tuples(st.text(), st.text()), max_size=20))
def test_evidence_judges_each_side_by_itself(lid, pairs):
    """Whatever the text: a batch is judged as its pairs are one by one, and a pair by its two sides."""
    judge = english_and_arabic(lid)
    pairs = [tuple(map(clean, pair)) for pair in pairs]
    together = judge(batch(*pairs))
    assert together == [judge(batch(pair))[0] for pair in pairs]
    for (source, _), reason in zip(pairs, together, strict=True):
        alone = judge(batch((source, "")))[0]
        assert (reason == "language: source") == (alone == "language: source")


def vectors(path: Path) -> None:
    """A sound fastText model of the wrong kind: word vectors."""
    import fasttext

    text = path.with_suffix(".txt")
    text.write_text("one two three\n" * 50)
    fasttext.train_unsupervised(str(text), dim=4, minCount=1, epoch=1, thread=1, verbose=0, bucket=100).save_model(
        str(path)
    )


def test_a_model_that_is_missing_or_is_not_one(tmp_path, lid):
    def load(path: Path) -> str:
        (judge,) = build({"language": {"identifier": "lid176"}}, ("en", "fr"), {"lid": path})
        with pytest.raises(DataError, match=r"fetch|downloads it again") as error:
            judge(batch((ENGLISH, FRENCH)))
        return str(error.value)

    assert "no such file" in load(tmp_path / "none.ftz")
    (tmp_path / "text.ftz").write_text("not a model\n" * 100)
    assert f"{tmp_path / 'text.ftz'}: not a fastText classifier" in load(tmp_path / "text.ftz")
    (tmp_path / "empty.ftz").write_bytes(b"")
    assert "not a fastText classifier" in load(tmp_path / "empty.ftz")
    vectors(tmp_path / "vectors.bin")
    assert "not a fastText classifier" in load(tmp_path / "vectors.bin")


def test_without_fasttext_the_extra_is_named(lid, monkeypatch):
    monkeypatch.setitem(sys.modules, "fasttext", None)
    (judge,) = build({"language": {"identifier": "lid176"}}, ("en", "fr"), {"lid": lid})
    with pytest.raises(PspError, match=r"pip install 'paraphrastic\[data\]'"):
        judge(batch((ENGLISH, FRENCH)))


def test_the_labels_are_those_of_the_model(lid):
    import fasttext

    labels = fasttext.load_model(str(lid)).get_labels()
    assert {label.removeprefix("__label__") for label in labels} == LID_LABELS
    assert list(map(lid_label, ("zh", "nb", "no", "pt_br", "zh-TW", "he", "iw"))) == [
        "zh",
        "no",
        "no",
        "pt",
        "zh",
        "he",
        "he",
    ]


def test_silent_and_lazy(lid):
    code = f"""
import sys
from psp.pairs.filters import Batch, build
(judge,) = build({{"language": {{}}}}, ("en", "fr"), {{"lid": {str(lid)!r}}})
assert not {{"fasttext", "py3langid", "numba"}} & sys.modules.keys()
assert judge(Batch([{ENGLISH!r}], [{FRENCH!r}], [], [])) == [None]
"""
    child = subprocess.run([sys.executable, "-W", "always", "-c", code], capture_output=True, text=True, check=False)
    assert (child.returncode, child.stdout, child.stderr) == (0, "", "")
