"""Word segmentation: nothing lost, the same words everywhere, and silent."""

from __future__ import annotations

import marshal
import pickle
import subprocess
import sys
import tempfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psp.core.errors import ConfigError, PspError
from psp.text.segment import Segmenter

pytest.importorskip("jieba", reason="jieba is not installed (pip install 'paraphrastic[zh]')")

SENTENCE = "由于没有其他目击者,她的死亡和其他幸存者没有任何关联。"
WORDS = "由于 没有 其他 目击者 , 她 的 死亡 和 其他 幸存者 没有 任何 关联 。"


@pytest.fixture(scope="module")
def jieba() -> Segmenter:
    return Segmenter("jieba")


def test_words_are_joined_by_single_spaces(jieba):
    assert jieba.segment(SENTENCE) == WORDS
    assert jieba.segment(" 我喜欢T恤  和 hello\u2028world ") == "我 喜欢 T恤 和 hello world"
    assert jieba.segment("") == ""


def test_cut_all_lists_overlapping_words():
    words = Segmenter("jieba", cut_all=True).segment("我来到北京清华大学, ok  then").split(" ")
    assert {"清华", "清华大学", "华大", "大学"} <= set(words)
    assert "" not in words
    assert words[-2:] == ["ok", "then"]


@pytest.mark.slow
@settings(max_examples=100)
@given(
    st.text(
        st.one_of(
            st.sampled_from("我来到北京清华大学的 。,.-T恤ab1\0\r\u2028\u0085\u3000"), st.characters(codec="utf-8")
        )
    )
)
def test_only_white_space_changes(jieba, text):
    segmented = jieba.segment(text)
    assert "".join(segmented.split()) == "".join(text.split())
    assert segmented == (" ".join(segmented.split()) if segmented != text else text)


@pytest.mark.parametrize("text", ["Save the file, please.", "12 %  OK", "où est-ce ?", "こんにちは", ""])
def test_text_without_an_ideograph_is_left_alone(jieba, text):
    assert jieba.segment(text) == text


def test_a_copy_in_another_process_gives_the_same_words(jieba):
    jieba.segment(SENTENCE)
    pickled = pickle.dumps(jieba)
    assert len(pickled) < 1000
    assert pickle.loads(pickled).segment(SENTENCE) == WORDS


@pytest.mark.slow
def test_a_foreign_cache_is_not_believed_and_none_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    cache = tmp_path / "jieba.cache"
    cache.write_bytes(marshal.dumps(({"由": 1, "由于没": 1, "由于没有": 1000}, 1002)))
    before = cache.read_bytes()
    assert Segmenter("jieba").segment(SENTENCE) == WORDS
    assert cache.read_bytes() == before
    cache.unlink()
    assert Segmenter("jieba").segment(SENTENCE) == WORDS
    assert list(tmp_path.iterdir()) == []


def test_silent():
    code = f"from psp.text.segment import Segmenter; assert Segmenter().segment({SENTENCE!r}) == {WORDS!r}"
    child = subprocess.run([sys.executable, "-W", "always", "-c", code], capture_output=True, text=True, check=False)
    assert (child.returncode, child.stdout, child.stderr) == (0, "", "")


def test_without_jieba_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "jieba", None)
    with pytest.raises(PspError, match=r"pip install 'paraphrastic\[zh\]'"):
        Segmenter("jieba")


def test_an_unknown_segmenter_is_an_error():
    with pytest.raises(ConfigError, match="no segmenter 'mecab'"):
        Segmenter("mecab")
