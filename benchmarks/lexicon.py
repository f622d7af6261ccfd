"""Time and memory of a lexicon of made pairs.

    python benchmarks/lexicon.py --pairs 10000000 --folder /var/tmp/lexicon

Words are drawn from a vocabulary of a million by Zipf's law, 4 to 30 a sentence (17 on average); the second side keeps
half of the first's words, each with a partner of its own instead in half of the cases, and draws the rest anew. Drawn
independently, words form more distinct pairs than those of real text, so the table has more to hold.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import numpy as np

from psp.core.logs import job
from psp.pairs.lexicon.build import make_lexicon
from psp.pairs.lexicon.sentences import SentenceSource
from psp.pairs.lexicon.settings import SECTION

WORDS = 1_000_000
BLOCK = 100_000


def write_pairs(path: Path, pairs: int, seed: int = 1) -> None:
    """Write made pairs."""
    rng = np.random.default_rng(seed)
    chances = np.cumsum(1 / np.arange(1, WORDS + 1))
    chances /= chances[-1]
    names = np.array([np.base_repr(number, 36).lower() for number in range(WORDS)], object)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for start in range(0, pairs, BLOCK):
            lengths = rng.integers(4, 31, min(BLOCK, pairs - start))
            first, new = (np.searchsorted(chances, rng.random(lengths.sum())) for _ in range(2))
            kept, other = rng.random(len(first)) < 0.5, rng.random(len(first)) < 0.5
            second = np.where(kept, np.where(other, first ^ 1, first) % WORDS, new)
            ends = np.cumsum(lengths)[:-1]
            sides = [np.split(names[side], ends) for side in (first, second)]
            file.writelines(f"{' '.join(one)}\t{' '.join(two)}\n" for one, two in zip(*sides, strict=True))


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, required=True)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    path = options.folder / f"{options.pairs}.tsv"
    if not path.exists():
        write_pairs(path, options.pairs)
    start, clock = time.process_time(), time.monotonic()
    settings = {key: SECTION[key].default for key in SECTION.keys}
    with job():
        summary, _ = make_lexicon(
            [SentenceSource("made", path)], options.folder / "lexicon.tsv", paraphrases=True, settings=settings
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{summary['pairs']:,} pairs, {summary['words'][0]:,} words, {summary['entries']:,} entries: "
        f"{time.process_time() - start:.0f} CPU seconds, {time.monotonic() - clock:.0f} s, {peak:,.0f} MB"
    )


if __name__ == "__main__":
    main()
