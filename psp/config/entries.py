"""The schema of the config: its top level, the entries of corpora and models, and all blocks.

``recipes``, beside a default, gives the values under recipes other than psp. ``paper`` is the method as described in
"Paraphrastic Representations at Scale" (EMNLP 2022); ``code`` is its published code, where the two disagree; ``psp`` is
our own: another loss, learning rate and initial embedding matrix, chosen on development data (docs/experiments.md),
with correctly filtered pairs. The blocks filters ... speed may stand at the top level (for all models) and in a model's
entry (for that model).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psp.config import blocks
from psp.core.settings import NAME, RECIPES, Section, Setting, choice, flag, listing, table, text, whole
from psp.evaluation import settings as evaluate
from psp.evaluation.speed import settings as speed
from psp.pairs import filters, subword
from psp.training import settings as training
from psp.training import tune

LANGUAGE: dict[str, Any] = {"type": "string", "pattern": "^[a-z]{2,3}$"}

RELEASE = text(pattern=NAME, help="the release, as OPUS names it")

SEEDS = listing(
    items={"type": "integer", "minimum": 0},
    at_least=1,
    distinct=True,
    help="the seeds of the trainings of which results/<model>/variants.json gives mean and deviation",
)

DEFAULT_SEEDS = [1, 2, 3]

#: Blocks of settings that may stand at the top level of a config, for all models, and in a model's entry.
BLOCKS = (
    "filters", "segment", "mix", "subword", "store", "train", "tune", "development", "evaluate", "quantize", "speed"
)  # fmt: skip


def _ref(name: str, **beside: Any) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}", **beside}


CORPUS_RECIPE = Section("", {"filters": _ref("filters")})

CORPUS = Section(
    "one corpus of the catalogue",
    {
        "kind": choice(
            "opus",
            ["opus", "paranmt"],
            help="opus: an archive of OPUS in its Moses layout; paranmt: lines `reference \\t translation \\t score`",
        ),
        "opus": text(
            pattern=NAME,
            help="OPUS's name of the corpus, where the entry has another: so two releases can be two corpora of one "
            "model",
        ),
        "version": _ref("release"),
        "versions": table(
            {},
            values=_ref("release"),
            help="other releases for some pairs, by the archive's name, such as {en-pl: v2023}",
        ),
        "cap": whole(
            None,
            at_least=1,
            null=True,
            help="at most this many pairs, chosen at random after deduplication; null for all",
        ),
        "names": table(
            {},
            values={"type": "string", "pattern": NAME},
            help="languages that this corpus names in its own way, such as {zh: zh_cn}",
        ),
        "licence": text(None, null=True, help="the SPDX id of its licence, null where none is declared"),
        "licences": table(
            {},
            values={"type": ["string", "null"]},
            help="other licences for some pairs, such as {en-pl: CC-BY-4.0}",
        ),
        "filters": _ref("filters", description="settings for this corpus, over the model's"),
        "recipes": {
            **Section(
                "what a recipe does otherwise with this corpus, such as {code: {filters: {length: {max: 50}}}}",
                {recipe: _ref("corpus_recipe", description="its `filters` under this recipe") for recipe in RECIPES},
            ).node,
            "default": {},
        },
        "mirrors": _ref("mirrors"),
        "pairs": table(
            {},
            values={"type": "integer", "minimum": 0},
            help="pairs of each archive as OPUS lists them, such as {en-fr: 2051014}; for `psp plan`",
        ),
        "bytes": table(
            {},
            values={"type": "integer", "minimum": 0},
            help="size of each archive in bytes, such as {en-fr: 200000000}; for `psp plan`",
        ),
    },
    required=["version"],
)

#: An item of a model's ``corpora``, unless it is just a name.
ITEM = Section(
    "a name, or a mapping with a name, a path of your own file, or another model",
    {
        "name": text(pattern=NAME, help="from the catalogue; beside a path, what to call that file's corpus"),
        "model": text(
            help="instead of a name or a path, another model, all of whose corpora are taken, in its languages"
        ),
        "path": text(
            at_least=1,
            help="lines `source \\t target` or `source \\t target \\t score`; plain, or .gz, .zst, .zip",
        ),
        "cap": whole(at_least=1, null=True, help="at most this many pairs, over the catalogue's"),
        "languages": listing(
            items=LANGUAGE,
            at_least=2,
            at_most=2,
            help="source and target, where the model has more languages; equal ones for paraphrases",
        ),
        "licence": text(null=True, help="the SPDX id of its licence"),
        "filters": _ref("filters", description="settings for this corpus in this model, over all others"),
    },
)

#: The keys at the top level beside the catalogue, the models and the blocks.
TOP: Mapping[str, Setting] = {
    "recipe": choice("psp", RECIPES, help="which group of values unset keys take (docs/settings.md)"),
    "seed": training.TrainSettings.declared()["seed"],
    "offline": flag(
        False,
        help="use only files that are here already and local mirrors; missing files are all named before anything runs",
    ),
    "keep_intermediate": flag(
        False,
        help="keep the text files between the data stages (results/<model>/pairs) and the models of variants, which "
        "are removed otherwise",
    ),
    "pins": text(
        None, null=True, help="a file that `psp pin` writes, with the size and SHA-256 that each download must have"
    ),
}


def sections() -> dict[str, Section | Setting]:
    """All blocks of the config by name, as currently declared: filters and objectives may be added."""
    return {
        "sources": blocks.SOURCES,
        "licences": blocks.LICENCES,
        "phrasebook": blocks.PHRASEBOOK,
        "filters": filters.section(),
        "segment": blocks.SEGMENT,
        "mix": blocks.MIX,
        "subword": subword.SECTION,
        "store": blocks.STORE,
        "train": training.SECTION,
        "tune": tune.SECTION,
        "development": blocks.DEVELOPMENT,
        "evaluate": evaluate.SECTION,
        "quantize": blocks.QUANTIZE,
        "speed": speed.SECTION,
    }


def variant() -> Section:
    """An entry of a model's ``variants``."""
    return Section(
        "settings that differ from the model's own block `train`, such as {init: normal}; null leaves out a variant of "
        "the extended model",
        {
            "recipe": choice(
                options=RECIPES, help="take that recipe's values for all such keys, in place of the model's own"
            ),
            "seeds": _ref("seeds", description="seeds of this variant, over the model's"),
            **tune.tunable(),
        },
    )


def model() -> Section:
    """An entry of ``models``."""
    return Section(
        "one model",
        {
            "languages": listing(
                items=LANGUAGE,
                at_least=1,
                distinct=True,
                help="ISO 639 codes; a bitext model has two, source first, such as [en, fr]",
            ),
            "corpora": listing(
                items={**ITEM.node, "type": ["string", "object"]},
                at_least=1,
                help="names from the catalogue; where two corpora hold the same pair, the earlier one keeps it",
            ),
            "extends": text(help="another model whose entry this one starts from"),
            "recipe": {"$ref": "#/properties/recipe"},
            "seed": {"$ref": "#/properties/seed"},
            "seeds": _ref("seeds", default=DEFAULT_SEEDS),
            "variants": table(
                {},
                values={**variant().node, "type": ["object", "null"], "minProperties": 1},
                help="other trainings on the model's own pairs, by name, to be compared in "
                "results/<model>/variants.json; the model's settings are always the first, under the name of its "
                "recipe",
            ),
            **{block: _ref(block) for block in BLOCKS},
        },
    )


def document() -> dict[str, Any]:
    """The whole config's schema: JSON Schema (draft 2020-12) with keywords of our own, ``recipes`` and ``tunable``."""
    top = Section(
        "",
        {
            **TOP,
            "sources": _ref("sources"),
            "licences": _ref("licences"),
            "corpora": table({}, values=_ref("corpus"), names=NAME, help="the catalogue of corpora, by OPUS name"),
            "models": table({}, values=_ref("model"), help="one entry a model; its name is the folder under results/"),
            "phrasebook": _ref("phrasebook"),
            **{block: _ref(block) for block in BLOCKS},
        },
        required=["corpora", "models"],
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "config of psp",
        **top.node,
        "$defs": {
            "mirrors": blocks.MIRRORS.node,
            "corpus": CORPUS.node,
            "release": RELEASE.node,
            "corpus_recipe": CORPUS_RECIPE.node,
            "model": model().node,
            "seeds": SEEDS.node,
            **{name: section.node for name, section in sections().items()},
        },
    }
