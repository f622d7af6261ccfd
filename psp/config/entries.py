"""The schema of the config: the top level, the entries of corpora and models, and all blocks.

``recipes``, beside a default, gives the values under recipes other than psp. ``paper`` is the method as described in
"Paraphrastic Representations at Scale" (EMNLP 2022); ``code`` is its published code, where the two disagree;
``paranmt`` is the method of "ParaNMT-50M" (ACL 2018), ``dadas`` that of Dadas (2022), encoders from mined paraphrases;
``unstated`` names the recipes whose paper does not state its value; ``psp`` is our own: another loss, learning rate and
initial embedding matrix, chosen on development data (docs/results.md), with correctly filtered pairs;
``distilled`` is the same, learning from other encoders too. The blocks filters ... release may be set at the top level
(for all models) and in a model's entry (for that model).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psp.config import blocks
from psp.core.settings import NAME, RECIPES, Section, Setting, boolean, choice, integer, list_of, table, text
from psp.corpora.kinds import registered
from psp.evaluation import settings as evaluate
from psp.evaluation import systems
from psp.evaluation.speed import settings as speed
from psp.inference.translation import settings as translation
from psp.pairs import filters, pivot, rank, subword, vocabulary
from psp.pairs.lexicon import settings as lexicon
from psp.pairs.stats import settings as stats
from psp.report import settings as report
from psp.text.languages import CODE
from psp.training import grid
from psp.training import settings as training
from psp.training.teaching import settings as teaching
from psp.training.transformer import settings as transformer
from psp.training.translator import settings as translator

LANGUAGE: dict[str, Any] = {"type": "string", "pattern": CODE}

RELEASE = text(pattern=NAME, help="the release, as OPUS names it")

SEEDS = list_of(
    items={"type": "integer", "minimum": 0},
    at_least=1,
    distinct=True,
    help="training seeds; results/<model>/variants.json gives the mean and standard deviation over them",
)

DEFAULT_SEEDS = [1, 2, 3]


def _ref(name: str, **beside: Any) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}", **beside}


CORPUS_RECIPE = Section("", {"filters": _ref("filters"), "rank": _ref("rank")})

#: The kinds of corpora that the catalogue may have.
_CATALOGUED = [kind for kind in registered() if kind.help is not None]

CORPUS = Section(
    "one corpus of the catalogue",
    {
        "kind": choice(
            _CATALOGUED[0].kind,
            [kind.kind for kind in _CATALOGUED],
            help="; ".join(f"{kind.kind}: {kind.help}" for kind in _CATALOGUED),
        ),
        "opus": text(
            pattern=NAME,
            help="OPUS's name of the corpus, if the entry has another; lets one model use two releases",
        ),
        "version": _ref("version"),
        "versions": table(
            {},
            values=_ref("version"),
            help="releases of individual language pairs, by archive name, such as {en-pl: v2023}",
        ),
        "cap": integer(
            None,
            at_least=1,
            null=True,
            help="maximum number of pairs, chosen at random after deduplication; null for all",
        ),
        "names": table(
            {},
            values={"type": "string", "pattern": NAME},
            help="this corpus's own language codes, if they differ, such as {zh: zh_cn}",
        ),
        "licence": text(None, null=True, help="SPDX id of the licence; null if none is declared"),
        "licences": table(
            {},
            values={"type": ["string", "null"]},
            help="licences of individual language pairs, such as {en-pl: CC-BY-4.0}",
        ),
        "filters": _ref("filters", description="settings for this corpus, which override the model's"),
        "rank": _ref("rank", description="settings for this corpus, which override the model's"),
        "recipes": {
            **Section(
                "settings of this corpus under a recipe, such as {code: {filters: {length: {max: 50}}}}",
                {
                    recipe: _ref("corpus_recipe", description="the corpus's `filters` and `rank` under this recipe")
                    for recipe in RECIPES
                },
            ).node,
            "default": {},
        },
        "mirrors": _ref("mirrors"),
        "pairs": table(
            {},
            values={"type": "integer", "minimum": 0},
            help="pairs in each archive according to OPUS, such as {en-fr: 2051014}; for `psp plan`. Other "
            "archives may exist",
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
    "a name, or a mapping with a name, the path of your own file, or another model",
    {
        "name": text(pattern=NAME, help="a name from the catalogue; with a path, the name of that file's corpus"),
        "model": text(help="instead of a name or path: another model, all of whose corpora are used, in its languages"),
        "mined": text(
            pattern=LANGUAGE["pattern"],
            help="instead of a name: paraphrases in this language, sentences that share a translation in the bitext "
            "`from`",
        ),
        "pivoted": list_of(
            items=LANGUAGE,
            at_least=2,
            at_most=2,
            distinct=True,
            help="instead of a name: bitext of these two languages, sentences that share a translation in `from`",
        ),
        "translated": text(
            pattern=LANGUAGE["pattern"],
            help="instead of a name: paraphrases in this language, one side of the bitext `from` with a translation "
            "of the other",
        ),
        "translator": text(
            pattern=NAME,
            help="for translated pairs: the translator, one of `translators`, from `through` to `translated`",
        ),
        "encoder": text(at_least=1, help="for translated pairs, instead of the block `backtranslate`'s"),
        "sample": integer(at_least=1, null=True, help="for translated pairs, instead of the block `backtranslate`'s"),
        "through": _ref(
            "language",
            description="for mined pairs: the language of the shared translation; for translated ones: the language of "
            "the side that is translated",
        ),
        "from": {
            "description": "for mined and translated pairs: names from the catalogue or paths, as items of `corpora`; "
            "or `{model: name}`, all bitext of a model, with its filters",
            "type": ["array", "object"],
            "items": {"type": ["string", "object"]},
            "minItems": 1,
            "properties": {"model": {"type": "string"}},
            "required": ["model"],
            "additionalProperties": False,
        },
        "pairs": choice(options=[pivot.COVER, pivot.ALL], help="for mined pairs, instead of the block `pivot`'s"),
        "max_group": integer(at_least=2, help="for mined pairs, instead of the block `pivot`'s"),
        **{key: setting for kind in registered() for key, setting in kind.item.items()},
        "cap": integer(at_least=1, null=True, help="maximum number of pairs, which overrides the catalogue's"),
        "languages": list_of(
            items=LANGUAGE,
            at_least=2,
            at_most=2,
            help="source and target, if the model has more languages; the same twice for paraphrases",
        ),
        "licence": text(null=True, help="SPDX id of the licence"),
        "filters": _ref("filters", description="settings for this corpus in this model, which override all others"),
        "rank": _ref("rank", description="settings for this corpus in this model, which override all others"),
    },
)

#: An entry of ``translators``.
TRANSLATOR = Section(
    "a translator: one to train, with its files under results/translators/<name>, or an existing one",
    {
        "languages": list_of(
            items=LANGUAGE, at_least=2, at_most=2, help="source and target; the same twice for paraphrases"
        ),
        "corpora": list_of(
            items={**ITEM.node, "type": ["string", "object"]},
            at_least=1,
            help="the bitext to train on: names from the catalogue or paths, as in a model's `corpora`",
        ),
        "from": Section(
            "instead of corpora: a model whose bitext in these languages is all used, with its filters",
            {"model": text(help="its name")},
            required=["model"],
        ),
        "filters": _ref("filters", description="settings that override those of the corpora"),
        "seed": {"$ref": "#/properties/seed"},
        "train": _ref("translator"),
        **{
            key: {name: value for name, value in setting.node.items() if name != "default"}
            for key, setting in {**translation.CTRANSLATE2, **translation.COMMAND}.items()
            if key not in translation.SEARCH
        },
        "licence": text(
            null=True,
            help="SPDX id of the licence of an existing translator's output; null if none is declared",
        ),
        "search": Section("how the translator searches", translation.SEARCH),
    },
)

VECTORS = Section(
    "a file of word vectors in text format: lines `word number number ...`, with or without a first line `words "
    "dimensions`, plain or .gz",
    {
        "mirrors": _ref("mirrors"),
        "sha256": text(pattern="^[0-9a-f]{64}$", noun="64 hexadecimal digits", help="SHA-256 of the file"),
        "licence": text(None, null=True, help="SPDX id of the licence; null if none is declared"),
    },
    required=["mirrors", "sha256"],
)

#: The top-level keys other than the catalogue, the models and the blocks.
TOP: Mapping[str, Setting] = {
    "recipe": choice("psp", RECIPES, help="the recipe that unset keys take their values from"),
    "seed": training.TrainSettings.declared()["seed"],
    "offline": boolean(
        False,
        inert=True,
        help="use only existing files and local mirrors; all missing files are named before anything runs",
    ),
    "keep_intermediate": boolean(
        False,
        inert=True,
        help="keep the text files between the data stages (results/<model>/pairs) and the models of variants instead "
        "of removing them",
    ),
    "pins": text(
        None, null=True, help="a file written by `psp pin`, with the required size and SHA-256 of each download"
    ),
}


def sections() -> dict[str, Section | Setting]:
    """All blocks of the config by name, including the filters and objectives registered so far."""
    return {
        "sources": blocks.SOURCES,
        "licences": blocks.LICENCES,
        "phrasebook": blocks.PHRASEBOOK,
        "filters": filters.section(),
        "pivot": pivot.SECTION,
        "backtranslate": translation.BACKTRANSLATE,
        "segment": blocks.SEGMENT,
        "rank": rank.SECTION,
        "mix": blocks.MIX,
        "subword": subword.SECTION,
        "vocabulary": vocabulary.SECTION,
        "store": blocks.STORE,
        "lstm": blocks.LSTM,
        "train": training.SECTION,
        "transformer": transformer.SECTION,
        "translator": translator.SECTION,
        "teacher": teaching.SECTION,
        "stats": stats.SECTION,
        "lexicon": lexicon.SECTION,
        "development": blocks.DEVELOPMENT,
        "evaluate": evaluate.SECTION,
        "compare": systems.SECTION,
        "quantize": blocks.QUANTIZE,
        "speed": speed.SECTION,
        "report": report.SECTION,
        "release": blocks.RELEASE,
    }


#: Blocks that may be set at the top level of a config, for all models, and in a model's entry.
BLOCKS = tuple(name for name in sections() if name not in ("sources", "licences", "phrasebook", "translator"))


def variant() -> Section:
    """An entry of a model's ``variants``."""
    return Section(
        "settings that differ from the model's own block `train`, such as {init: normal}; null removes a variant of "
        "the extended model",
        {
            "recipe": choice(
                options=RECIPES, help="use this recipe's values for all such keys instead of the model's own"
            ),
            "seeds": _ref("seeds", description="seeds of this variant, which override the model's"),
            **grid.tunable(),
            "transformer": Section(
                "of a transformer: settings that differ from the model's own block `transformer`",
                transformer.TUNABLE,
            ),
        },
    )


def model() -> Section:
    """An entry of ``models``."""
    return Section(
        "one model",
        {
            "languages": list_of(
                items=LANGUAGE,
                at_least=1,
                distinct=True,
                help="ISO 639 codes; two for bitext, source first, such as [en, fr]",
            ),
            "corpora": list_of(
                items={**ITEM.node, "type": ["string", "object"]},
                at_least=1,
                help="names from the catalogue; if two corpora hold the same pair, the earlier one keeps it",
            ),
            "extends": text(help="another model, whose settings this one inherits"),
            "encoder": {
                **{key: value for key, value in blocks.ENCODER.node.items() if key != "enum"},
                "type": ["string", "object"],
                "if": {"type": "string"},
                "then": blocks.ENCODER.node,
                "else": {
                    "if": {"type": "object", "required": ["kind"]},
                    "then": {
                        "if": {"properties": {"kind": transformer.ENCODER["kind"].node}},
                        "then": transformer.ENCODER.node,
                        "else": {"properties": {"kind": transformer.ENCODER["kind"].node}},
                    },
                    "else": blocks.COMBINATION.node,
                },
                "description": f"{blocks.ENCODER.help}; or `{{concat: [model, model], weights: [1, 0.5]}}`, models "
                "whose vectors are joined; or `{kind: transformer, base: ...}`, a transformer",
            },
            "recipe": {"$ref": "#/properties/recipe"},
            "seed": {"$ref": "#/properties/seed"},
            "seeds": _ref("seeds", default=DEFAULT_SEEDS),
            "variants": {
                **table(
                    {},
                    values={**variant().node, "type": ["object", "null"], "minProperties": 1},
                    help="other training settings for the same pairs, by name, compared in "
                    "results/<model>/variants.json; the model's own settings always come first, under the name of its "
                    "recipe; and a grid of settings",
                ).node,
                "properties": {"grid": {**grid.section().node, "type": ["object", "null"], "minProperties": 1}},
            },
            **{block: _ref(block) for block in BLOCKS},
        },
    )


def document() -> dict[str, Any]:
    """The config's schema: JSON Schema (draft 2020-12) with the keywords ``recipes``, ``unstated`` and ``tunable``."""
    top = Section(
        "",
        {
            **TOP,
            "sources": _ref("sources"),
            "licences": _ref("licences"),
            "corpora": table({}, values=_ref("corpus"), names=NAME, help="the catalogue of corpora, by OPUS name"),
            "vectors": table(
                {},
                values=VECTORS,
                names=NAME,
                help="files of word vectors, by name, for `train.init_vectors`",
            ),
            "models": table({}, values=_ref("model"), help="the models; each name is that of a folder under results/"),
            "translators": table(
                {},
                values=TRANSLATOR,
                names=NAME,
                help="translators, by name; each name is that of a folder under results/translators/",
            ),
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
            "language": LANGUAGE,
            "corpus": CORPUS.node,
            "version": RELEASE.node,
            "corpus_recipe": CORPUS_RECIPE.node,
            "model": model().node,
            "seeds": SEEDS.node,
            **{name: section.node for name, section in sections().items()},
        },
    }
