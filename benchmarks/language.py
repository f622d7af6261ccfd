"""What the language filter keeps and drops: right lines of real corpora, injected lines of other languages, Tatoeba.

    PSP_DATA=~/mirror python benchmarks/language.py                # the table, at the default thresholds
    PSP_DATA=~/mirror python benchmarks/language.py --curve        # other thresholds, on the half that is for choosing
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
from psp.text.languages import TATOEBA, lid_label
from psp.text.segment import Segmenter
from psp.text.words import clean

LANGUAGES = ("ar", "de", "fr", "pl", "tr", "zh")
WORDS = {"1-2": (1, 2), "3-5": (3, 5), "6+": (6, 10**6)}
INJECTED = 2000
Point = tuple[float, float, float, int]
POINTS: list[Point] = [
    (own, partner, other, letters)
    for own in (0.01, 0.02, 0.05, 0.1)
    for partner in (0.2, 0.3, 0.5)
    for other in (0.7, 0.8, 0.9)
    for letters in (0, 4, 8)
]


class Column:
    """Texts of one side, weighed once: arrays of shape (n,), from which any thresholds give what is dropped."""

    def __init__(self, judge: LanguageFilter, texts: list[str], own: str, partner: str) -> None:
        self.texts = texts
        rows = list(judge.weigh(texts, lid_label(own), lid_label(partner)))
        self.suspect = np.zeros(len(texts), bool)
        self.suspect[[item.row for item in rows]] = True
        self.named = all(item.own is not None for item in rows)
        self.values = np.array(
            [(item.letters, item.foreign, item.own or 0.0, item.partner, item.other) for item in rows]
        ).reshape(-1, 5)

    def dropped(self, point: Point) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """bool (n,)"""
        own, partner, other, letters = point
        size, foreign, mine, others, best = self.values.T
        against = (foreign > 0) | ((mine < own) & ((others > partner) | (best > other)))
        result = np.zeros(len(self.texts), bool)
        result[self.suspect] = (size >= letters) & (against if self.named else others > other)
        return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--curve", action="store_true", help="other thresholds, on the half that is for choosing")
    parser.add_argument("--dropped", type=int, default=0, metavar="N", help="print so many dropped lines a language")
    parser.add_argument("--languages", nargs="+", default=LANGUAGES)
    options = parser.parse_args()
    data = Path(os.environ["PSP_DATA"])
    judge = LanguageFilter({}, ("en", "fr"), {"lid": data / "lid/lid.176.ftz"})
    default = tuple(judge.settings[key] for key in ("own", "partner", "other", "letters"))
    points: list[Point] = POINTS if options.curve else [default]
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
            columns[own, partner] = Column(judge, right, own, partner)
            fill(pools[own], right, own)
        copies[language] = untranslated(judge, pairs, language, default)

    languages = [*options.languages, "en"]
    injected: dict[tuple[str, str, str, str], Column] = {}
    for own, partner in columns:
        for other in languages:
            for words in WORDS:
                if other != own:
                    injected[own, partner, other, words] = Column(judge, pools[other][words], own, partner)
    for point in points:
        report(point, columns, injected)
    if options.curve:
        return
    by_language(data, default, columns, injected)
    for language, shares in copies.items():
        print(f"  {language}: " + ", ".join(f"{what} {share:.2f}" for what, share in shares.items()))
    tatoeba(judge, data, default)
    for (own, partner), column in columns.items():
        found = [text for text, gone in zip(column.texts, column.dropped(default), strict=True) if gone]
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


def untranslated(judge: LanguageFilter, pairs: list[tuple[str, str]], language: str, point: Point) -> dict[str, float]:
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
        "near copies, by language": 100
        * float(Column(judge, [c for _, c in changed], language, "en").dropped(point).mean())
    }
    copied, real = (np.array([shared_words(*pair) for pair in some]) for some in (changed, pairs))
    for at in (0.6, 0.7, 0.8):
        found[f"near copies, by near {at}"] = 100 * float((copied >= at).mean())
        found[f"real pairs, by near {at}"] = 100 * float((real >= at).mean())
    return found


def report(point: Point, columns: dict[tuple[str, str], Column], injected: dict[Any, Column]) -> None:
    own, partner, other, letters = point
    print(f"\nown below {own}, partner above {partner} or another above {other}, {letters} letters at least")
    kept: dict[str, list[float]] = defaultdict(list)
    for (language, _), column in columns.items():
        gone = column.dropped(point)
        kept[language] += [float((~gone).sum()), float(len(gone))]
    line = {name: 100 * sum(counts[::2]) / sum(counts[1::2]) for name, counts in kept.items()}
    print("  right lines kept: " + ", ".join(f"{name} {share:.2f}" for name, share in line.items()))
    for words in WORDS:
        of_partner, of_others, everything = [], [], []
        for (_, beside, inside, count), column in injected.items():
            if count == words and column.texts:
                share = 100 * float(column.dropped(point).mean())
                (of_partner if inside == beside else of_others).append(share)
                everything.append(share)
        print(
            f"  injected, {words} words, dropped: all {np.mean(everything):.1f}; "
            f"partner's language {np.mean(of_partner):.1f} (worst {min(of_partner):.1f}); "
            f"third languages {np.mean(of_others):.1f} (worst {min(of_others):.1f})"
        )


def by_language(data: Path, point: Point, columns: dict[tuple[str, str], Column], injected: dict[Any, Column]) -> None:
    """For each language: right lines kept, by the top label alone too; injected lines dropped, by words."""
    judge = LanguageFilter({"method": "top"}, ("en", "fr"), {"lid": data / "lid/lid.176.ftz"})
    judge.load()
    print(
        "\nlanguage: lines, kept by the top label alone, kept; dropped of injected lines, partner's language/others, of"
    )
    print(f"          {', '.join(WORDS)} words")
    for own in sorted({own for own, _ in columns}):
        mine = [column for (language, _), column in columns.items() if language == own]
        gone = np.concatenate([column.dropped(point) for column in mine])
        top = sum(len(judge.by_top(column.texts, lid_label(own), "")) for column in mine)
        shares = []
        for words in WORDS:
            for partners in (True, False):
                some = [
                    column.dropped(point).mean()
                    for (language, beside, inside, count), column in injected.items()
                    if (language, count) == (own, words) and (inside == beside) is partners
                ]
                shares.append(100 * float(np.mean(some)))
        figures = " ".join(f"{one:.1f}/{other:.1f}" for one, other in zip(shares[::2], shares[1::2], strict=True))
        print(f"  {own}: {len(gone):,} {100 - 100 * top / len(gone):.2f} {100 - 100 * gone.mean():.2f}; {figures}")


def tatoeba(judge: LanguageFilter, data: Path, point: Point) -> None:
    """Every language of Tatoeba's test sets: right lines kept, and English in its place dropped."""
    rows = []
    for language in TATOEBA:
        own, english = (path.read_text(encoding="utf-8").split("\n")[:-1] for path in testsets.tatoeba_files(
            data / "eval/tatoeba/v1", language))  # fmt: skip
        right, wrong = Column(judge, own, language, "en"), Column(judge, english, language, "en")
        kept, gone = 100 * float((~right.dropped(point)).mean()), 100 * float(wrong.dropped(point).mean())
        top = 100 * float((~right.suspect).mean())
        rows.append((kept, language, top, gone, right.named))
    print("\nTatoeba's test sets beside English: language, kept of its lines, by the top label alone, English dropped")
    for kept, language, top, gone, named in sorted(rows):
        print(f"  {language:4} {kept:6.2f} {top:6.1f} {gone:6.1f}{'' if named else '  (no label)'}")
    for title, some in (("labelled", True), ("no label", False)):
        values = np.array([(row[0], row[2], row[3]) for row in rows if row[4] is some])
        print(f"  {title}: {len(values)} languages, means {values.mean(0).round(2)}, least {values.min(0).round(2)}")


if __name__ == "__main__":
    main()
