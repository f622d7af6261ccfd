"""The phrasebook: parallel English and French written by a grammar of our own, for the demo and for tests.

Because the text is made, the truth about it is known: which lines are noise and of which kind, which sentences mean the
same and how much the others share. A :class:`~psp.corpora.phrasebook.meaning.Meaning` is drawn from the templates
(events.py, words.py, nouns.py) and said in each language by itself, with synonyms and paraphrases chosen at random
(say_english.py, say_french.py); sts.py grades pairs of meanings; noise.py spoils some lines.

:func:`generate` writes the files as their publishers would: OPUS archives, a Tatoeba set in LASER's layout and
STS-style pairs.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

from psp.core.files import atomic, atomic_text, write_json
from psp.corpora.phrasebook import sts
from psp.corpora.phrasebook.meaning import Meaning, Sampler
from psp.corpora.phrasebook.noise import SHORTEST, Corpus, Noise, build
from psp.corpora.phrasebook.say_english import Speaker as EnglishSpeaker
from psp.corpora.phrasebook.say_french import Speaker as FrenchSpeaker
from psp.text.keys import normalised_key
from psp.text.words import word_count

__all__ = ["Noise", "generate"]

LANGUAGES = ("en", "fr")
VERSION = "v1"
CORPORA = ("Phrasebook", "PhrasebookExtra")
EXTRA = 4  # the second corpus has a quarter of the lines
TATOEBA_PAIRS = 1000
STS_PAIRS = {"test": 1000, "dev": 300}

README = """{name} {version}, English-French, {lines} pairs.

Written by the phrasebook, the sentence generator of psp: no person has said any of this, and part of it is wrong on
purpose (duplicates, wrong languages, wrong lengths, wrong alignments), so that filters can be tried on it.
"""
LICENSE = """SPDX-License-Identifier: MIT

Copyright (c) 2026 The psp authors. The text in this archive may be used, copied, changed and passed on under the
terms of the MIT licence of psp.
"""


def generate(folder: Path | str, *, pairs: int, seed: int, noise: Noise | None = None) -> dict[str, Any]:
    """Write corpora, evaluation sets and the truth about them; the same arguments give the same bytes.

    - ``opus/Phrasebook/v1/moses/en-fr.txt.zip`` (``pairs`` lines) and ``opus/PhrasebookExtra/...`` (a quarter of them)
    - ``tatoeba/v1/tatoeba.fra-eng.fra`` and ``.eng``: 1,000 aligned sentences
    - ``sts/phrasebook-test.tsv`` and ``-dev.tsv``: 1,000 and 300 lines ``score \\t sentence \\t sentence``, 0 to 5
    - ``truth.json``: what is returned

    The evaluation sets depend on ``seed`` alone. Their templates and word combinations are held out of the corpora, and
    no sentence of theirs is in them.

    Args:
        folder: where to write; made if missing.
        pairs: lines of the first corpus, noise included.
        seed: of all choices.
        noise: which part of the lines is of each kind (default :class:`Noise`).

    Returns:
        ``corpora``: for each corpus its ``lines``, ``counts`` by kind and, for each kind of ``noise``, a list of
        entries with ``line`` (from 1) and what is known of it (``original``, ``side``, ``language``, ``other``);
        ``tatoeba`` and ``sts``: their sizes.

    Raises:
        DataError: ``pairs`` lines cannot hold the noise, or the disk is full.
    """
    folder, noise = Path(folder), noise or Noise()
    for size in (pairs, pairs // EXTRA):
        noise.counts(size, shared=True)  # fail before anything is written
    seen: set[str] = set()
    graded = {part: list(sts.pairs(Random(f"{seed} sts {part}"), size, seen)) for part, size in STS_PAIRS.items()}
    translations = _tatoeba(Random(f"{seed} tatoeba"), seen)
    first = build(CORPORA[0], pairs, noise, Random(f"{seed} {CORPORA[0]}"), seen)
    second = build(CORPORA[1], pairs // EXTRA, noise, Random(f"{seed} {CORPORA[1]}"), seen, first)

    for corpus in (first, second):
        _write_archive(folder / "opus" / corpus.name / VERSION / "moses" / f"{'-'.join(LANGUAGES)}.txt.zip", corpus)
    for code, side in (("eng", 0), ("fra", 1)):
        path = folder / "tatoeba" / VERSION / f"tatoeba.fra-eng.{code}"
        _write_lines(path, (pair[side] for pair in translations))
    for part, rows in graded.items():
        path = folder / "sts" / f"phrasebook-{part}.tsv"
        _write_lines(path, (f"{row.score:.2f}\t{row.first}\t{row.second}" for row in rows))
    truth = {
        "format": 1,
        "seed": seed,
        "languages": list(LANGUAGES),
        "corpora": {
            corpus.name: {
                "version": VERSION,
                "lines": len(corpus.lines),
                "counts": corpus.counts,
                "noise": corpus.noise,
            }
            for corpus in (first, second)
        },
        "tatoeba": {"pairs": len(translations)},
        "sts": {part: len(rows) for part, rows in graded.items()},
    }
    write_json(folder / "truth.json", truth)
    return truth


def _tatoeba(rng: Random, seen: set[str]) -> list[tuple[str, str]]:
    """Translations of held-out meanings, no two of which say nearly the same."""
    sampler, english, french = Sampler(rng, held=True), EnglishSpeaker(rng), FrenchSpeaker(rng)
    gists: set[tuple[str, ...]] = set()
    found: list[tuple[str, str]] = []
    while len(found) < TATOEBA_PAIRS:
        meaning = sampler.draw()
        pair = english.say(meaning), french.say(meaning)
        keys = {normalised_key(side) for side in pair}
        if _gist(meaning) in gists or keys & seen or min(map(word_count, pair)) < SHORTEST:
            continue
        gists.add(_gist(meaning))
        seen |= keys
        found.append(pair)
    return found


def _gist(meaning: Meaning) -> tuple[str, ...]:
    """What no two sentences of a retrieval set may share: who does what with what."""
    thing = meaning.object.noun if meaning.object else meaning.place
    return (meaning.event.concept, thing, meaning.subject.noun)


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    with atomic_text(path) as file:
        file.writelines(f"{line}\n" for line in lines)


def _write_archive(path: Path, corpus: Corpus) -> None:
    """An archive as OPUS packs them; dates are fixed, so that the same lines give the same bytes."""
    stem = f"{corpus.name}.{'-'.join(LANGUAGES)}"
    members = {
        "README": README.format(name=corpus.name, version=VERSION, lines=len(corpus.lines)),
        "LICENSE": LICENSE,
        **{
            f"{stem}.{language}": "".join(f"{pair[side]}\n" for pair in corpus.lines)
            for side, language in enumerate(LANGUAGES)
        },
    }
    with atomic(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, text in members.items():
            info = zipfile.ZipInfo(name)  # its date is 1980-01-01
            info.create_system, info.external_attr = 3, 0o644 << 16  # as if on Unix, wherever this runs
            archive.writestr(info, text.encode(), zipfile.ZIP_DEFLATED, compresslevel=6)
