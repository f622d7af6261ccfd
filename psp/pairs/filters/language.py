"""Drop pairs with a side in the wrong language, identified by py3langid and fastText's lid.176.

The paper identifies the language of paraphrase data only; for bitext this filter is our addition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from psp.config.blocks.filters import BOTH, LID, SCORES
from psp.core.errors import ConfigError, DataError, from_extra
from psp.pairs.filters.base import SIDES, Batch, Filter
from psp.text.language_scores import LanguageScores, Suspect
from psp.text.languages import SCORED_LABELS, lid_label, varieties
from psp.text.scripts import foreign, letters_by_script, may_be

PREFIX = "__label__"
#: Labels less probable than this are ignored.
LEAST = 0.001
# `method: evidence`:
#: py3langid's log score of another language, minus that of a side's own, that is enough without lid.176.
GAP = 14
#: lid.176's probability of a side's own language with which it is kept.
OWN = 0.05
#: lid.176's probability of the other side's language that counts against a side.
PARTNER = 0.3
#: Letters that a side needs to be judged.
LETTERS = 4


class _Needed(NamedTuple):
    """The threshold of a gap between log scores (:class:`psp.text.language_scores.Suspect`), by the text's length.

    ``size`` is where the next row begins, in letters (:func:`_size`); ``asked``: lid.176 is asked, and its evidence
    counts as without py3langid (for the other side's language, the lowest threshold is enough); ``agreed``: it is
    enough that lid.176 finds its own language improbable.
    """

    size: float
    asked: float
    agreed: float


#: About one or two words, three to five, and more. Chosen on one half of the sample's corpora; docs/results.md,
#: "Language filter", has what they keep and drop of the other half.
_NEEDED = (_Needed(12, 6, 10), _Needed(24, 4, 6), _Needed(float("inf"), 2, 3))
#: Letters that a character of these scripts counts for: a Chinese word has two characters.
_WORTH = {"CJK": 3, "HIRAGANA": 2, "KATAKANA": 2, "HANGUL": 2}


class Evidence(NamedTuple):
    """Evidence for and against a text being in its language, when another label is the most probable.

    ``row`` is the text's index, ``letters`` its number of letters. ``foreign``: most of them are of scripts in which
    its language is never written. ``own``, ``partner`` and ``other`` are the probabilities of its language (None if it
    has no label), of the other side's language, and of the most probable other language whose scripts the text has.
    """

    row: int
    letters: int
    foreign: bool
    own: float | None
    partner: float
    other: float


# Arabic signs that most text omits: vowel marks, Quranic recitation marks, tatweel. The Quran's word-initial alif wasla
# becomes a plain alif.
_VOWELS: dict[int, int | None] = {
    **dict.fromkeys(
        [0x640, *range(0x64B, 0x660), 0x670, *range(0x6D6, 0x6DD), *range(0x6DF, 0x6E9), *range(0x6EA, 0x6EE)]
    ),
    0x671: 0x627,
}


def as_identified(text: str) -> str:
    """A text as ``method: evidence`` passes it to lid.176: in lower case, Arabic without vowel marks.

    Measured: of 4,000 Arabic lines of six words or more, 98.1 instead of 86.5% have a probability above 0.8 (without
    this, Quran lines are taken for Mazanderani and others); of 222,000 Polish lines, 99.40 instead of 99.23% are kept
    (interface strings In Title Case).
    """
    text = text.lower()
    return text if text.isascii() else text.translate(_VOWELS)


def _size(letters: Mapping[str, int]) -> int:
    """The number of letters of a text; a Chinese character counts as three."""
    return sum(count * _WORTH.get(script, 1) for script, count in letters.items())


class LanguageFilter(Filter):
    """Drops pairs with a side in another language.

    ``method: evidence`` drops a side only on evidence against it. That of py3langid is a gap: by how much the log score
    of another language exceeds that of the side's own. With ``identifier: both``, most sides have none, and are kept
    without asking lid.176; a gap above :data:`GAP` is enough by itself; between, the side is dropped if lid.176 finds
    its language improbable too, or counts against it as it would alone. Where py3langid lacks the side's language,
    lid.176 decides alone, as with ``identifier: lid176``; with ``identifier: py3langid``, :data:`GAP` does.

    lid.176 counts against a side if its own language has a probability below :data:`OWN`, and the other side's language
    one above :data:`PARTNER`, or any other language one above ``other``. A language without a label has no probability:
    its side is dropped only if the other side's language is above ``other``. Texts are passed to it through
    :func:`as_identified`.

    To both, a label counts only if the text has letters of its scripts (:mod:`psp.text.scripts`), and never if it names
    a variety of the same language (``hr`` for a side in ``bs``). A doubtful side is dropped if most of its letters are
    of scripts in which its language is never written; one with fewer letters than :data:`LETTERS` is kept.

    ``method: top``, the paper's method for paraphrases, drops each side whose most probable language is not its own.
    Text keeps its case. Most of the lines it drops are correct: of the sample's, it keeps 88% (Chinese) to 98%, the
    other method 99.5% or more.

    Needs the resource ``lid``, the path of fastText's lid.176.ftz or lid.176.bin, which is read at its first use;
    not with ``identifier: py3langid``, whose model is in its wheel.

    Raises:
        ConfigError: a setting is wrong; with ``method: top``, the model has no label for a language.
        DataError: the model file is missing or is not a fastText classifier.
    """

    name = "language"
    order = 20

    def set_up(self) -> None:
        self._identifier: str = LID if self.settings["method"] == "top" else self.settings["identifier"]
        if "lid" not in self.resources and self._identifier != SCORES:
            raise ConfigError("filters.language: needs a language identification model, the resource 'lid'")
        self._model: Any = None
        self._scores: LanguageScores | None = None
        self._known: frozenset[str] = frozenset()

    def __call__(self, batch: Batch) -> list[str | None]:
        drops = self.by_evidence if self.settings["method"] == "evidence" else self.by_top
        reasons: list[str | None] = [None] * len(batch)
        for side in SIDES[self.settings["sides"]]:
            own, partner = map(lid_label, self.languages if side == "source" else self.languages[::-1])
            for row in drops(batch.source if side == "source" else batch.target, own, partner):
                if reasons[row] is None:
                    reasons[row] = f"language: {side}"
        return reasons

    def by_top(self, column: list[str], own: str, partner: str) -> list[int]:
        self.load()
        # A list even for one text: predict(str) fails with numpy 2 in fasttext 0.9.3.
        labels, _ = self._model.predict(column)
        return [row for row, top in enumerate(labels) if not len(top) or top[0] != PREFIX + own]

    def by_evidence(self, column: list[str], own: str, partner: str) -> list[int]:
        """The rows of texts that ``method: evidence`` drops, whose labels are ``own`` and the other side's."""
        if self._identifier != LID and own in SCORED_LABELS:
            self.prepare()
            assert self._scores is not None
            return self._by_gap(self._scores, column, own, partner)
        return [evidence.row for evidence in self.weigh(column, own, partner) if self._against(evidence)]

    def _by_gap(self, scores: LanguageScores, column: list[str], own: str, partner: str) -> list[int]:
        dropped: list[int] = []
        unsettled: list[tuple[Suspect, _Needed]] = []
        least = min(needed.asked for needed in _NEEDED)
        for suspect in scores.suspects(column, own, partner, varieties(own) - {partner}, least):
            if sum(suspect.letters.values()) < LETTERS:
                continue
            needed = next(row for row in _NEEDED if _size(suspect.letters) < row.size)
            if suspect.gap > GAP or (self._identifier == SCORES and foreign(own, suspect.letters)):
                dropped.append(suspect.row)
            elif self._identifier == BOTH and (suspect.gap > needed.asked or suspect.partner > least):
                unsettled.append((suspect, needed))
        texts = [column[suspect.row] for suspect, _ in unsettled]
        for evidence in self.weigh(texts, own, partner) if texts else ():
            suspect, needed = unsettled[evidence.row]
            improbable = evidence.own is not None and evidence.own < OWN
            if (improbable and suspect.gap > needed.agreed) or self._against(evidence):
                dropped.append(suspect.row)
        return sorted(dropped)

    def top(self, column: Sequence[str]) -> list[str | None]:
        """The most probable label of each text, as ``method: evidence`` passes it to lid.176; None if it has none."""
        self.load()
        labels, _ = self._model.predict(list(map(as_identified, column)))
        return [label[0].removeprefix(PREFIX) if len(label) else None for label in labels]

    def weigh(self, column: Sequence[str], own: str, partner: str) -> Iterator[Evidence]:
        """Yield the evidence for and against each text whose most probable label is not ``own``."""
        self.load()
        texts = list(map(as_identified, column))
        labels, _ = self._model.predict(texts)
        # All probabilities take several times as long as the top label alone, which is correct for most texts.
        rows = [row for row, top in enumerate(labels) if len(top) and top[0] != PREFIX + own]
        if not rows:
            return
        labels, probabilities = self._model.predict([texts[row] for row in rows], k=-1, threshold=LEAST)
        alike = varieties(own) - {partner}
        for row, some, values in zip(rows, labels, probabilities, strict=True):
            others = {name.removeprefix(PREFIX): float(value) for name, value in zip(some, values, strict=True)}
            letters = letters_by_script(texts[row])
            probability = others.pop(own, 0.0) if own in self._known else None
            others = {name: value for name, value in others.items() if name not in alike and may_be(name, letters)}
            yield Evidence(
                row=row,
                letters=sum(letters.values()),
                foreign=probability is not None and foreign(own, letters),
                own=probability,
                partner=others.pop(partner, 0.0),
                other=max(others.values(), default=0.0),
            )

    def _against(self, evidence: Evidence) -> bool:
        other = self.settings["other"]
        if evidence.letters < LETTERS:
            return False
        if evidence.own is None:
            return evidence.partner > other
        return evidence.foreign or (evidence.own < OWN and (evidence.partner > PARTNER or evidence.other > other))

    def prepare(self) -> None:
        if self._scores is None and self._identifier != LID:
            self._scores = LanguageScores()
            self._scores([""])  # the compiled loop, too

    def load(self) -> None:
        """Read lid.176, if not yet done."""
        if self._model is not None:
            return
        path = Path(self.resources["lid"])
        if not path.is_file():
            raise DataError("no such file; fetch fastText's lid.176.ftz", path)
        with from_extra("data", "language identification needs fastText"):
            import fasttext
        fasttext.FastText.eprint = lambda *_: None  # versions up to 0.9.2 print a warning at each load
        try:
            model = fasttext.load_model(str(path))
            model.predict(["text"])  # a word-vector model loads but fails here
        except (ValueError, RuntimeError, MemoryError) as error:
            raise DataError(
                f"not a fastText classifier ({error}); remove it, and the next run downloads it again", path
            ) from None
        self._known = frozenset(name.removeprefix(PREFIX) for name in model.get_labels())
        for side in SIDES[self.settings["sides"]]:
            language = self.languages[side == "target"]
            if self.settings["method"] == "top" and lid_label(language) not in self._known:
                raise ConfigError(
                    f"filters.language: {path} does not know the language {language!r}; correct it in the model's "
                    "'languages', or write 'method: evidence' or 'enabled: false' under filters.language"
                )
        self._model = model
