"""Two files of lines, one translation a line."""

from __future__ import annotations

import bz2
import gzip

import pytest

from psp.config.config import Config
from psp.config.plan import downloads
from psp.core.errors import ConfigError, DataError
from psp.corpora import open_corpus
from psp.corpora.rows import BadRow


def test_line_n_of_one_goes_with_line_n_of_the_other(tmp_path):
    one, other = tmp_path / "a.en.gz", tmp_path / "a.fr.bz2"
    one.write_bytes(gzip.compress("\ufeffone\ntwo\rlines\u2028\nthree\n".encode()))
    other.write_bytes(bz2.compress(b"un\ndeux\ntrois\xe9"))
    names = (str(one), str(other))
    *good, bad = open_corpus("lines", one, "", names)
    assert good == [("one", "un"), ("two\rlines\u2028", "deux")] and bad == BadRow("row: not UTF-8", "trois\ufffd")
    with pytest.raises(DataError, match=r"a\.fr\.bz2: not UTF-8 \(byte 6"):
        list(open_corpus("lines", one, "", names, max_bad_rows=0))
    other.write_bytes(bz2.compress(b"un\n"))
    with pytest.raises(
        DataError, match=r"not aligned: .*a\.en\.gz has 3 lines, .*a\.fr\.bz2 has 1; line n of one must"
    ):
        list(open_corpus("lines", one, "", names))
    other.unlink()
    with pytest.raises(DataError, match=r"a\.fr\.bz2: cannot be read: No such file"):
        list(open_corpus("lines", one, "", names))


def test_an_item_of_a_config(tmp_path, monkeypatch):
    def config(**item):
        return Config({"corpora": {}, "models": {"m": {"languages": ["en", "fr"], "corpora": [item]}}})

    monkeypatch.chdir(tmp_path)
    checked = config(source="news.en", target="sub/news.fr")
    (part,) = checked.model("m").parts
    assert (part.kind, part.label, part.paths) == ("lines", "news.en-fr", ("news.en", "sub/news.fr"))
    (tmp_path / "news.en").write_text("a\nb\n")
    assert checked.absent(checked.model("m")) == ["sub/news.fr"]
    (planned,) = [file for file in downloads(checked, checked.model("m"), tmp_path) if file.name == "news.en"]
    assert planned.basis == "not here"
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/news.fr").write_text("c\nd\n")
    (planned,) = [file for file in downloads(checked, checked.model("m"), tmp_path) if file.name == "news.en"]
    assert (planned.bytes, planned.pairs, planned.basis) == (8, 2, "your file, pairs counted")
    with pytest.raises(ConfigError, match=r"has source, but no target; write `- \{source: news\.en, target: FILE\}`"):
        config(source="news.en").model("m")
