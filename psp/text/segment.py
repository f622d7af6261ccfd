"""Segment words in languages written without spaces."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Mapping
from typing import Any, Self

from psp.core.errors import ConfigError, DataError, from_extra
from psp.text.words import UNSPACED

# Han ideographs, with extensions A to H and the compatibility block.
_IDEOGRAPHS = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]")

#: Kana: a text with some is Japanese, which no segmenter here knows.
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa\uff66-\uff9d]")

#: The segmenters, and the languages whose words they separate.
SEGMENTERS = {"jieba": frozenset({"zh", "yue", "wuu"})}


class Segmenter:
    """Puts spaces between the words of a text.

    Args:
        name: ``jieba``, for Chinese.
        cut_all: list every dictionary word that a text holds, also overlapping ones (as the published code does);
            otherwise each character belongs to one word, and unseen words are guessed (jieba's default).

    The same text gives the same words in every process. Pickling is cheap: it leaves out the dictionary.

    Raises:
        ConfigError: there is no segmenter of this name.
        PspError: the segmenter is not installed.
    """

    def __init__(self, name: str = "jieba", cut_all: bool = False) -> None:
        if name not in SEGMENTERS:
            raise ConfigError(f"segment: there is no segmenter {name!r}; write 'segmenter: jieba'")
        with from_extra("zh", "Chinese word segmentation needs jieba"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # jieba 0.42.1 has invalid escapes and imports pkg_resources
            import jieba  # noqa: F401
        self.name, self.cut_all, self.cuts = name, cut_all, SEGMENTERS[name]
        self._tokenizer: Any = None

    @classmethod
    def of_languages(cls, settings: Mapping[str, Any]) -> Self | None:
        """The segmenter of a model's text, by its config.json's entry ``segment``; None if it has none.

        Raises:
            DataError: the entry names two segmenters, or is malformed.
            ConfigError, PspError: as for the class.
        """
        distinct = {json.dumps(value, sort_keys=True): value for value in settings.values()}
        if len(distinct) > 1:
            raise DataError(
                f"config.json: two segmenters, {sorted(distinct)}, but nothing tells which one a text needs; keep one"
            )
        for value in distinct.values():
            if not isinstance(value, dict) or "name" not in value:
                raise DataError(f'config.json: segment holds {value!r}, not {{"name": "jieba", "cut_all": false}}')
            return cls(value["name"], cut_all=bool(value.get("cut_all", False)))
        return None

    def segment(self, text: str) -> str:
        """Join the words of ``text`` by single spaces; without ``cut_all``, only white space changes.

        A text without ideographs, or with kana, is left as it is: a model is not told the language of a text, so the
        text itself must decide, in the same way in training and in use.
        """
        if not _IDEOGRAPHS.search(text) or _KANA.search(text):
            return text
        if self._tokenizer is None:
            self._tokenizer = _tokenizer()
        # jieba gives white space as words of its own, and with cut_all empty words beside them.
        words = self._tokenizer.cut(text, cut_all=self.cut_all)
        return " ".join(word for word in words if word and not word.isspace())

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name, "cut_all": self.cut_all, "cuts": self.cuts, "_tokenizer": None}


def unspaced_sides(languages: tuple[str, str], segmenters: Mapping[str, Segmenter]) -> tuple[bool, bool]:
    """Whether the source's and the target's language has neither spaces between words nor a segmenter that knows it."""
    source, target = (one in UNSPACED and not (one in segmenters and one in segmenters[one].cuts) for one in languages)
    return source, target


def _tokenizer() -> Any:
    """Make a tokenizer with jieba's own dictionary, bypassing jieba's cache and its log messages.

    By default, jieba reads the dictionary from ``jieba.cache`` in the folder for temporary files. It replaces that file
    atomically, but trusts whatever it finds there: another user's, or another version's with other words. Reading
    the dictionary itself costs 0.4 s per process.
    """
    import jieba

    tokenizer = jieba.Tokenizer()
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return tokenizer
