"""The version of what each rule writes: a rule whose version has changed runs again, and so do those after it.

Raise a number if the rule writes something else from the same input and settings; wording, speed and a new place for
the code leave it. The numbers stand together, and not beside each rule's function, so that Snakemake reads them without
importing torch. tests/held fails if what a stage writes has changed and its number has not, or the reverse.
"""

from __future__ import annotations

#: By the rule's name; a derived rule (``use rule``) has its base's.
VERSION = {
    "phrasebook": 1,
    "filter": 1,
    "backtranslate": 1,
    "pivot": 1,
    "rank": 2,
    "dedupe": 1,
    "mix": 1,
    "neardup": 1,
    "subword": 1,
    "vocabulary": 1,
    "store": 1,
    "teach": 1,
    "piece_vectors": 1,
    "development_pairs": 1,
    "train": 2,
    "train_transformer": 1,
    "combine": 1,
    "translator_heldout": 1,
    "translator": 2,
    "task": 1,
    "evaluate": 1,
    "evaluate_combined": 1,
    "system": 1,
    "compare": 1,
    "variants": 2,
    "quantize": 2,
    "lexicon": 1,
    "examples": 1,
    "speed": 3,
    "stats": 1,
    "data": 2,
    "card": 1,
    "curve": 2,
    "variant_curves": 2,
    "report": 2,
    "report_several": 2,
    "release": 1,
    "release_zip": 1,
    "summary": 1,
}
