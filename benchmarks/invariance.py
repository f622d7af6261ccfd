"""How far a sentence's vector moves when it is written otherwise, and what retrieval loses by it.

    python benchmarks/invariance.py results/fr/model results/fr/pairs/heldout.tsv --languages en fr

Each way of writing is applied to one side of held-out pairs (2,000; prepared as for training: lower case, segmented).
For the sentences that it changes: their share, the mean cosine to the vector of what was written first, and the
retrieval error from them to the other side's sentences, less the error of the sentences as they were, in points. Random
choices depend on the sentence alone.
"""

from __future__ import annotations

import argparse
import random
import re
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from psp.evaluation.scorers import EmbeddingScorer
from psp.models.model import Model, load_model
from psp.models.static import StaticModel
from psp.pairs.pair_file import read_pairs
from psp.report.layout import layout

#: Arabic's short vowels, tanwin, shadda and sukun.
_VOWELS = "\u064b\u064c\u064d\u064e\u064f\u0650\u0651\u0652"
_ARABIC = re.compile(r"[\u0621-\u064a]")


def _random(text: str) -> random.Random:
    return random.Random(text)


def _typo(text: str) -> str:
    """Two neighbouring letters of one long word are exchanged."""
    words = list(re.finditer(r"\w{4,}", text))
    if not words:
        return text
    rng = _random(text)
    word = rng.choice(words)
    place = rng.randrange(word.start() + 1, word.end() - 2)
    return text[:place] + text[place + 1] + text[place] + text[place + 2 :]


def _vowelled(text: str) -> str:
    rng = _random(text)
    return _ARABIC.sub(lambda match: match[0] + rng.choice(_VOWELS), text)


def _unaccented(text: str) -> str:
    return unicodedata.normalize("NFC", "".join(c for c in unicodedata.normalize("NFD", text) if not _is_mark(c)))


def _is_mark(character: str) -> bool:
    return unicodedata.category(character) == "Mn" and character not in _VOWELS


def _spaced(text: str) -> str:
    return re.sub(r" +", " ", re.sub(r"(?<=\S)([.,;:!?)\]»…])", r" \1", text))


def _translated(table: dict[str, str]) -> Callable[[str], str]:
    numbers = str.maketrans(table)
    return lambda text: text.translate(numbers)


WAYS: dict[str, Callable[[str], str]] = {
    "capitals": str.upper,
    "spaces before punctuation": _spaced,
    "no punctuation at the end": lambda text: text.rstrip(" .!?…。！？،؟"),
    "typographic quotes and apostrophes": _translated({"'": "\u2019", '"': "\u201d"}),
    "straight quotes and apostrophes": _translated({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'}),
    "dashes for hyphens": _translated({"-": "\u2013"}),
    "no hyphens": _translated({"-": " "}),
    "no accents": _unaccented,
    "full width": lambda text: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text),
    "Arabic's vowel marks": _vowelled,
    "Arabic's letter forms": _translated(dict.fromkeys("أإآ", "ا") | {"ى": "ي", "ة": "ه"}),
    "Arabic's digits": _translated({str(number): chr(0x660 + number) for number in range(10)}),
    "an emoji at the end": lambda text: text + " \U0001f600",
    "an address at the end": lambda text: text + " https://example.com/a?b=1",
    "two letters exchanged": _typo,
    "a short query: its first three words": lambda text: " ".join(text.split()[:3]),
}  # fmt: skip


def rows_of(model: Model, sources: Sequence[str], targets: Sequence[str]) -> list[list[str]]:
    """A row of the table for each way that changes sentences."""
    scorer = EmbeddingScorer(model)
    before = scorer.cross(sources, targets)
    right = np.arange(len(sources))
    wrong = _wrong(before, targets, right)
    rows = []
    for name, way in WAYS.items():
        changed = [way(text) for text in sources]
        which = np.array([new != old and bool(new.strip()) for new, old in zip(changed, sources, strict=True)])
        if which.mean() < 0.005:
            continue
        texts = [text for text, one in zip(changed, which, strict=True) if one]
        cosines = scorer.pairwise([text for text, one in zip(sources, which, strict=True) if one], texts)
        lost = _wrong(scorer.cross(texts, targets), targets, right[which]).mean() - wrong[which].mean()
        rows.append([name, f"{100 * which.mean():.0f}", f"{cosines.mean():.3f}", f"{100 * lost:+.1f}"])
    return rows


def _wrong(similarity: np.ndarray, targets: Sequence[str], right: np.ndarray) -> np.ndarray:
    found = similarity.argmax(axis=1)
    return np.array([targets[one] != targets[row] for one, row in zip(found, right, strict=True)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--languages", nargs=2, default=["source", "target"], help="of the file's two sides")
    options = parser.parse_args()
    model = load_model(options.model)
    assert isinstance(model, StaticModel)
    # Segmented already; unknown characters must not hide what a way of writing costs.
    model = StaticModel(model.weight, model.tokenizer, {**model.config, "segment": {}}, accelerate=False)
    sides = read_pairs(options.pairs)
    for language, source, target in zip(options.languages, sides, reversed(sides), strict=True):
        head = [language, "changed, %", "cosine", "error, points"]
        print(layout([head, *rows_of(model, source, target)], "markdown", right={1, 2, 3}))


if __name__ == "__main__":
    main()
