"""A variants.json with made-up figures."""

from typing import Any

from psp.evaluation.variants import summary


def figures(sts: list[float], errors: list[float], **more: list[Any]) -> dict[str, Any]:
    """A variant's, with values by seed; Tatoeba's are those of both directions."""
    values = {
        "sts": sts, "sts/spearman": [value - 1 for value in sts], "tatoeba/fra-eng": errors, "tatoeba/eng-fra": errors,
        "tatoeba/fra": errors, "tatoeba": errors, "pairs_seen": [1_719_948] * len(sts),
        "seconds": [90.4] * len(sts), "pairs_per_second": [21_000.5] * len(sts), **more,
    }  # fmt: skip
    return {name: summary(found) for name, found in values.items()}


def made_up() -> dict[str, Any]:
    """Three variants, the last with one seed, and two systems without training."""
    return {
        "format": 1,
        "model": "fr",
        "machine": {"processor": "An Abacus", "cores": 2, "versions": {"psp": "0.1.0", "torch": "2.0"}},
        "variants": [
            {
                "name": "psp", "recipe": "psp", "settings": {}, "seeds": [1, 2, 3], "threads": [2, 2, 2],
                "figures": figures([69.0, 69.5, 69.1], [6.0, 6.2, 5.8]),
            },
            {
                "name": "no-zipf", "recipe": "psp", "settings": {"init": "normal"}, "seeds": [1, 2, 3],
                "threads": [2, 2, 2], "figures": figures([66.0, 66.2, 66.1], [7.0, None, 7.1]),
            },
            {
                "name": "paper", "recipe": "paper", "settings": {"init": "normal", "epochs": 25}, "seeds": [1],
                "threads": [2], "figures": figures([65.25], [9.0]),
            },
        ],
        "systems": {"untrained": {"sts": 52.123, "tatoeba": 80.0}, "untrained+sif": {"sts": 64.0, "tatoeba": None}},
    }  # fmt: skip
