"""Semantic search: the lines of a file that are nearest in meaning to a query, in any language of the model.

python examples/search_file.py starter corpus.txt "a red car"
"""

import argparse
from pathlib import Path

import psp

parser = argparse.ArgumentParser(description="the lines of a file that are nearest in meaning to a query")
parser.add_argument("model", help="a model folder")
parser.add_argument("file", type=Path, help="sentences, one a line")
parser.add_argument("query", nargs="+", help="what to search for")
parser.add_argument("-k", type=int, default=5, help="lines to show (default: 5)")
options = parser.parse_args()

lines = [line.strip() for line in options.file.open(encoding="utf-8", newline="\n")]
for query, hits in zip(options.query, psp.search(options.model, lines, options.query, k=options.k), strict=True):
    print(query)
    for hit in hits:
        print(f"  {hit.cosine:.3f}  line {hit.position + 1}: {hit.text}")
