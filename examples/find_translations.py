"""Translations among the lines of two files, as tab-separated source, target and margin: a corpus for `{path: ...}`.

python examples/find_translations.py starter english.txt french.txt
"""

import argparse
from pathlib import Path

import psp

parser = argparse.ArgumentParser(description="translations among the lines of two files")
parser.add_argument("model", help="a model folder")
parser.add_argument("source", type=Path, help="sentences in one language, one a line")
parser.add_argument("target", type=Path, help="sentences in the other")
parser.add_argument(
    "--threshold", type=float, default=1.25, help="the lowest margin; lower for weak models (default: 1.25)"
)
options = parser.parse_args()

source, target = (
    [line.strip() for line in path.open(encoding="utf-8", newline="\n")] for path in (options.source, options.target)
)
for pair in psp.mine(options.model, source, target, threshold=options.threshold):
    print(pair.source, pair.target, f"{pair.margin:.3f}", sep="\t")
