"""A classifier on vectors: logistic regression, trained on a few labelled sentences, labels new ones.

It knows every language of the model, whatever language the labelled sentences are in.

    python examples/classify.py starter labelled.tsv new.txt
"""

import argparse
from pathlib import Path

from sklearn.linear_model import LogisticRegression

import psp

parser = argparse.ArgumentParser(description="label sentences as labelled ones are")
parser.add_argument("model", help="a model folder")
parser.add_argument("labelled", type=Path, help="lines `label <tab> sentence`")
parser.add_argument("new", type=Path, help="sentences to label, one a line")
options = parser.parse_args()

model = psp.load_model(options.model)
rows = [line.split("\t", 1) for line in options.labelled.open(encoding="utf-8", newline="\n") if line.strip()]
labels, sentences = zip(*rows, strict=True)
new = [line.strip() for line in options.new.open(encoding="utf-8", newline="\n")]
classifier = LogisticRegression(C=10, max_iter=1000).fit(model.encode(list(sentences)), labels)
for sentence, shares in zip(new, classifier.predict_proba(model.encode(new)), strict=True):
    print(classifier.classes_[shares.argmax()], f"{shares.max():.2f}", sentence, sep="\t")
