"""What the language filter keeps and drops: right lines of real corpora, injected lines of other languages, Tatoeba.

    PSP_DATA=~/mirror python benchmarks/language.py                # the table, at the default thresholds
    PSP_DATA=~/mirror python benchmarks/language.py --curve        # other settings, on the half that is for choosing
    PSP_DATA=~/mirror python benchmarks/language.py --dropped 200  # and print what is dropped, to be read

PSP_DATA holds opus/*/*/moses/*.txt.zip, eval/tatoeba/v1/ and lid/. A *right* line is each of a pair whose sides
differ (filter ``identical``) of whose characters at least half are letters: some of them are wrong all the same.
Injected lines are right lines of another language, put on a side of the pair (its partner's language, or a third one),
by their number of words; Chinese is segmented for that. Thresholds are chosen on one half of the pairs, by hash;
figures are of the other.
"""

from __future__ import annotations

import argparse
import os
import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import xxhash

from psp.corpora import opus
from psp.evaluation import testsets
from psp.pairs.filters.identical import same, shared_words
from psp.pairs.filters.language import LanguageFilter
from psp.pairs.filters.symbols import symbol_shares
from psp.text.language_scores import LanguageScores
from psp.text.languages import LID_LABELS, TATOEBA, lid_label, varieties
from psp.text.segment import Segmenter
from psp.text.words import clean

LANGUAGES = ("ar", "de", "fr", "pl", "tr", "zh")
WORDS = {"1-2": (1, 2), "3-5": (3, 5), "6+": (6, 10**6)}
INJECTED = 2000
BATCH = 10_000
KNOWN = ("known to neither", "to py3langid alone", "to lid.176 alone", "to both")
#: Settings to compare, on the half that is for choosing.
CURVE: list[dict[str, Any]] = [
    {"identifier": "lid176"},
    *({"identifier": "py3langid", "gap": gap} for gap in (8, 10, 12, 14, 16, 20)),
    *({"gap": gap} for gap in (10, 12, 14, 16, 20)),
]


class Column:
    """Texts of one side, their language and the other side's."""

    def __init__(self, texts: list[str], own: str, partner: str) -> None:
        self.texts, self.own, self.partner = texts, lid_label(own), lid_label(partner)
        self._dropped: dict[int, np.ndarray[Any, np.dtype[np.bool_]]] = {}

    def dropped(self, judge: LanguageFilter) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """bool (n,)"""
        if id(judge) not in self._dropped:
            result = np.zeros(len(self.texts), bool)
            for start in range(0, len(self.texts), BATCH):
                rows = judge.by_evidence(self.texts[start : start + BATCH], self.own, self.partner)
                result[[start + row for row in rows]] = True
            self._dropped[id(judge)] = result
        return self._dropped[id(judge)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--curve", action="store_true", help="other settings, on the half that is for choosing")
    parser.add_argument("--dropped", type=int, default=0, metavar="N", help="print so many dropped lines a language")
    parser.add_argument("--languages", nargs="+", default=LANGUAGES)
    options = parser.parse_args()
    data = Path(os.environ["PSP_DATA"])
    lid = {"lid": data / "lid/lid.176.ftz"}
    judges = [LanguageFilter(settings, ("en", "fr"), lid) for settings in (CURVE if options.curve else [{}])]
    half = 0 if options.curve else 1

    columns: dict[tuple[str, str], Column] = {}
    pools: dict[str, dict[str, list[str]]] = defaultdict(lambda: {name: [] for name in WORDS})
    copies: dict[str, dict[str, float]] = {}  # language -> what -> percent
    for language in options.languages:
        pairs = [pair for pair in read_pairs(data, language) if half_of(pair) == half]
        for side, own, partner in ((1, language, "en"), (0, "en", language)):
            texts = [pair[side] for pair in pairs]
            letters = symbol_shares(texts) <= 0.5
            right = [text for text, enough in zip(texts, letters, strict=True) if enough]
            columns[own, partner] = Column(right, own, partner)
            fill(pools[own], right, own)
        copies[language] = untranslated(judges[0], pairs, language)

    languages = [*options.languages, "en"]
    injected: dict[tuple[str, str, str, str], Column] = {}
    for own, partner in columns:
        for other in languages:
            for words in WORDS:
                if other != own:
                    injected[own, partner, other, words] = Column(pools[other][words], own, partner)
    for judge in judges:
        report(judge, columns, injected)
    if options.curve:
        return
    by_language(data, judge, columns, injected)
    for language, shares in copies.items():
        print(f"  {language}: " + ", ".join(f"{what} {share:.2f}" for what, share in shares.items()))
    tatoeba(judge, data)
    for (own, partner), column in columns.items():
        found = [text for text, gone in zip(column.texts, column.dropped(judge), strict=True) if gone]
        random.Random(1).shuffle(found)
        if options.dropped:
            print(f"\n--- {own} beside {partner}: {len(found):,} dropped")
        for text in found[: options.dropped]:
            print(f"{own}\t{text[:160]}")


def read_pairs(data: Path, language: str) -> Iterator[tuple[str, str]]:
    """(English, other) of all corpora, whose sides differ."""
    for path in sorted(data.glob("opus/*/*/moses/*.txt.zip")):
        if sorted(path.name.split(".")[0].split("-")) == sorted(("en", language)):
            for row in opus.read_archive(path, path.parts[-4], ("en", language)):
                pair = clean(row[0]), clean(row[1])
                if all(pair) and not same(*pair):
                    yield pair


def half_of(pair: tuple[str, str]) -> int:
    return xxhash.xxh3_64_intdigest("\t".join(pair).encode()) & 1


def fill(pool: dict[str, list[str]], texts: list[str], language: str) -> None:
    """Distinct lines of each number of words, at random."""
    segmenter = Segmenter() if language == "zh" else None
    some = sorted(set(texts))
    random.Random(1).shuffle(some)
    for text in some[: 30 * INJECTED]:
        count = len((segmenter.segment(text) if segmenter else text).split())
        for name, (least, most) in WORDS.items():
            if least <= count <= most and len(pool[name]) < INJECTED:
                pool[name].append(text)


def untranslated(judge: LanguageFilter, pairs: list[tuple[str, str]], language: str) -> dict[str, float]:
    """Of copies of English lines with one word changed for one of the other side, what is dropped, in percent; and of
    all pairs, what `identical.near` would drop (a copy without a change is `identical`).
    """
    rng = random.Random(1)
    changed = []
    for english, other in rng.sample(pairs, min(20 * INJECTED, len(pairs))):
        words = english.split()
        if len(words) >= 6 and len(changed) < INJECTED:
            words[rng.randrange(len(words))] = rng.choice(other.split())
            changed.append((english, " ".join(words)))
    found = {
        "near copies, by language": 100 * float(Column([c for _, c in changed], language, "en").dropped(judge).mean())
    }
    copied, real = (np.array([shared_words(*pair) for pair in some]) for some in (changed, pairs))
    for at in (0.6, 0.7, 0.8):
        found[f"near copies, by near {at}"] = 100 * float((copied >= at).mean())
        found[f"real pairs, by near {at}"] = 100 * float((real >= at).mean())
    return found


def report(judge: LanguageFilter, columns: dict[tuple[str, str], Column], injected: dict[Any, Column]) -> None:
    print(f"\nidentifier {judge.settings['identifier']}, gap {judge.settings['gap']}")
    kept: dict[str, list[float]] = defaultdict(list)
    for (language, _), column in columns.items():
        gone = column.dropped(judge)
        kept[language] += [float((~gone).sum()), float(len(gone))]
    line = {name: 100 * sum(counts[::2]) / sum(counts[1::2]) for name, counts in kept.items()}
    print("  right lines kept: " + ", ".join(f"{name} {share:.2f}" for name, share in line.items()))
    for words in WORDS:
        of_partner, of_others, everything = [], [], []
        for (_, beside, inside, count), column in injected.items():
            if count == words and column.texts:
                share = 100 * float(column.dropped(judge).mean())
                (of_partner if inside == beside else of_others).append(share)
                everything.append(share)
        print(
            f"  injected, {words} words, dropped: all {np.mean(everything):.1f}; "
            f"partner's language {np.mean(of_partner):.1f} (worst {min(of_partner):.1f}); "
            f"third languages {np.mean(of_others):.1f} (worst {min(of_others):.1f})"
        )


def by_language(
    data: Path, judge: LanguageFilter, columns: dict[tuple[str, str], Column], injected: dict[Any, Column]
) -> None:
    """For each language: right lines kept, by the top label alone too; injected lines dropped, by words."""
    by_top = LanguageFilter({"method": "top"}, ("en", "fr"), {"lid": data / "lid/lid.176.ftz"})
    print(
        "\nlanguage: lines, kept by the top label alone, kept; dropped of injected lines, partner's language/others, of"
    )
    print(f"          {', '.join(WORDS)} words")
    for own in sorted({own for own, _ in columns}):
        mine = [column for (language, _), column in columns.items() if language == own]
        gone = np.concatenate([column.dropped(judge) for column in mine])
        top = sum(len(by_top.by_top(column.texts, lid_label(own), "")) for column in mine)
        shares = []
        for words in WORDS:
            for partners in (True, False):
                some = [
                    column.dropped(judge).mean()
                    for (language, beside, inside, count), column in injected.items()
                    if (language, count) == (own, words) and (inside == beside) is partners
                ]
                shares.append(100 * float(np.mean(some)))
        figures = " ".join(f"{one:.1f}/{other:.1f}" for one, other in zip(shares[::2], shares[1::2], strict=True))
        print(f"  {own}: {len(gone):,} {100 - 100 * top / len(gone):.2f} {100 - 100 * gone.mean():.2f}; {figures}")


def tatoeba(judge: LanguageFilter, data: Path) -> None:
    """Every language of Tatoeba's test sets, lines of three words and more beside English: right lines kept; English,
    and lines of all the other languages, dropped in their place.
    """
    rng = random.Random(1)
    lines: dict[str, tuple[list[str], list[str]]] = {}
    for language in TATOEBA:
        own, english = (path.read_text(encoding="utf-8").split("\n")[:-1] for path in testsets.tatoeba_files(
            data / "eval/tatoeba/v1", language))  # fmt: skip
        size = 2 if language in ("ja", "km", "th", "yue", "wuu", "zh") else 1
        lines[language] = [text for text in own if len(text if size > 1 else text.split()) >= 3 * size], english
    scored = set(LanguageScores().labels)
    rows = []
    for language, (own, english) in lines.items():
        label = lid_label(language)
        others = [one for one in lines if lid_label(one) not in varieties(label) and lines[one][0]]
        wrong = [rng.choice(lines[one][0]) for one in rng.choices(others, k=500)]
        if not own:
            continue
        gone, of_english, of_others = (
            100 * float(Column(texts, language, "en").dropped(judge).mean()) for texts in (own, english, wrong)
        )
        rows.append((100 - gone, language, of_english, of_others, (label in scored) + 2 * (label in LID_LABELS)))
    print("\nTatoeba's test sets, three words and more: language, kept, English dropped, other languages dropped")
    for kept, language, of_english, of_others, known in sorted(rows):
        print(f"  {language:4} {kept:6.2f} {of_english:6.1f} {of_others:6.1f}  {KNOWN[known]}")
    for known, title in enumerate(KNOWN):
        values = np.array([(row[0], *row[2:4]) for row in rows if row[4] == known])
        if len(values):
            print(
                f"  {title}: {len(values)} languages, means {values.mean(0).round(2)}, least {values.min(0).round(2)}"
            )


if __name__ == "__main__":
    main()
