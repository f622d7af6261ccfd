"""How well a paraphraser mends case, spelling and spacing, for docs/measurements.md.

    python benchmarks/canonicalise.py results/translators/en-en --encoder results/en/model [--sentences 1000] [--seed 1]

The argument is a translator's folder under results/, with pairs/heldout.tsv. Errors of each kind are put into sources
that training has not read (psp.training.translator.errors). The figures are chrF, and the share of sentences that are
the same but for white space, each against the sentence as it was: of the sentence with its errors, of what `psp
paraphrase --canonical` makes of it; and the mean cosine of that to the sentence as it was, by an encoder.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from random import Random

import numpy as np
from sacrebleu import metrics

from psp.inference.translation.load import load_translator, trained_settings
from psp.inference.translation.paraphrase import paraphrase
from psp.models.registry import load_encoder
from psp.models.similarity import cosines
from psp.pairs.translator_heldout import DEVELOPMENT, read_heldout
from psp.training.translator.errors import KINDS, with_errors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--beam", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=5)
    options = parser.parse_args()
    sets = read_heldout(options.folder / "pairs/heldout.tsv")
    rows = [source for name, pairs in sets.items() if name != DEVELOPMENT for source, _, _ in pairs]
    generator = Random(options.seed)
    clean = generator.sample(sorted(set(rows)), options.sentences)
    translator = load_translator(
        {**trained_settings(options.folder / "model"), "beam": options.beam}, threads=options.threads
    )
    encoder = load_encoder(options.encoder)
    chrf = metrics.CHRF()
    print("| errors | chrF, with errors | chrF, canonical | same, with errors | same, canonical | cosine, canonical |")
    print("|---|---|---|---|---|---|")
    shown = []
    for kind in ("none", *KINDS, "all"):
        wrong = [
            text if kind == "none" else with_errors(text, options.seed, None if kind == "all" else kind)
            for text in clean
        ]
        found = [
            row[0].text if row else text
            for text, row in zip(wrong, paraphrase(wrong, translator, encoder, k=1, canonical=True), strict=True)
        ]
        figures = [chrf.corpus_score(texts, [clean]).score for texts in (wrong, found)]
        same = [
            100 * np.mean([one.split() == text.split() for one, text in zip(texts, clean, strict=True)])
            for texts in (wrong, found)
        ]
        cosine = cosines(encoder.embed(clean), encoder.embed(found)).mean()
        figures_line = " | ".join(f"{value:.1f}" for value in (*figures, *same))
        print(f"| {kind} | {figures_line} | {cosine:.3f} |")
        if kind == "all":
            shown = generator.sample(list(zip(clean, wrong, found, strict=True)), options.show)
    for clean_text, wrong_text, found_text in shown:
        print(f"\nas it was: {clean_text}\n   errors: {wrong_text}\ncanonical: {found_text}")


if __name__ == "__main__":
    main()
