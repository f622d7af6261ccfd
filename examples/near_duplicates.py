"""Near-duplicates in a list: lines that say nearly the same, the nearest first.

python examples/near_duplicates.py starter corpus.txt
"""

import argparse
import sys
from pathlib import Path

import psp

parser = argparse.ArgumentParser(description="lines of a file that say nearly the same")
parser.add_argument("model", help="a model folder")
parser.add_argument("file", type=Path, help="sentences, one a line")
parser.add_argument("--least", type=float, default=0.9, help="the lowest cosine of two lines (default: 0.9)")
options = parser.parse_args()

lines = list(dict.fromkeys(line.strip() for line in options.file.open(encoding="utf-8", newline="\n")))
# Each line's three nearest; one of them is the line itself.
near = {
    (min(line, hit.position), max(line, hit.position)): hit.cosine
    for line, hits in enumerate(psp.search(options.model, lines, lines, k=3))
    for hit in hits
    if hit.position != line and hit.cosine >= options.least
}
if not near:
    print(f"no two lines have a cosine of {options.least:g} or more; try --least 0.7", file=sys.stderr)
for (one, other), cosine in sorted(near.items(), key=lambda item: -item[1]):
    print(f"{cosine:.3f}", lines[one], lines[other], sep="\t")
