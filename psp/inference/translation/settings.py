"""The search settings of translators, in an entry of the block ``translators``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psp.core.errors import ConfigError
from psp.core.settings import Section, Setting, choice, integer, list_of, number, text

SEARCH: Mapping[str, Setting] = {
    "beam": integer(5, at_least=1, help="hypotheses kept at each step; ParaNMT-50M's is 12"),
    "length_penalty": number(
        1.0,
        at_least=0,
        help="hypotheses are compared by log-probability divided by length to this power; 1: by the mean over subwords",
    ),
    "sampling": integer(
        0, at_least=0, help="0: beam search; k: each subword is drawn among the k most likely, and `beam` must be 1"
    ),
    "seed": integer(1, at_least=1, help="seed of sampling"),
    "temperature": number(1.0, above=0, help="sampling temperature: below 1, likely subwords become likelier"),
    "max_tokens": integer(256, at_least=1, help="longer sources are truncated to this many subwords, and counted"),
    "batch_tokens": integer(4096, at_least=1, help="subwords translated at a time; affects memory and speed"),
    "compute_type": choice(
        "int8",
        ["int8", "int8_float32", "int16", "float32", "float16", "bfloat16"],
        help="type of the weights in memory, as CTranslate2 names it",
    ),
    "device": choice("cpu", ["cpu", "cuda"], help="the device to run on"),
    "source_prefix": list_of(
        [], items={"type": "string", "minLength": 1},
        help="subwords before each source, such as [\">>fra<<\"] for a multilingual model",
    ),
    "target_prefix": list_of(
        [], items={"type": "string", "minLength": 1},
        help="subwords with which each translation begins, such as [fra_Latn]; removed from it",
    ),
}  # fmt: skip

CTRANSLATE2: Mapping[str, Setting] = {
    "ctranslate2": text(at_least=1, help="a folder with a CTranslate2 model, from any of its converters"),
    "sentencepiece": text(
        None, null=True,
        help="its sentencepiece model; null: `source.spm` and `target.spm`, or `sentencepiece.model`, in the folder",
    ),
    "target_sentencepiece": text(None, null=True, help="sentencepiece model of the translations, if they have another"),
    **SEARCH,
}  # fmt: skip

COMMAND: Mapping[str, Setting] = {
    "command": text(
        at_least=1, help="a shell command that reads sentences, one per line, and writes a translation of each"
    ),
    "scores": choice(
        "none",
        ["none", "column"],
        help="column: it writes `translation \\t score`, the log-probability divided by the number of subwords",
    ),
    "timeout": number(
        3600, above=0, inert=True, help="seconds without output after which it is ended; it gets 10,000 lines at a time"
    ),
}

BACKTRANSLATE = Section(
    "bitext turned into paraphrases: one side of it with a translation of the other (ParaNMT-50M, section 3)",
    {
        "encoder": text(
            None,
            at_least=1,
            null=True,
            help="gives each pair its score, the cosine of its sides: as for the filter `similarity`; null: the model "
            "that `from` names, if it names one",
        ),
        "sample": integer(
            None, at_least=1, null=True, help="lines of the bitext to translate, chosen at random; null: all"
        ),
        "threads": integer(2, at_least=1, inert=True, help="threads of the translator; a command chooses its own"),
    },
)


def filled(declared: Mapping[str, Setting], given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return all settings of an entry, with defaults.

    Raises:
        ConfigError: one is unknown, missing or has a value that is not allowed.
    """
    if strange := next((key for key in given if key not in declared), None):
        raise ConfigError(f"{where}.{strange}: unknown key; there are {', '.join(declared)}")
    settings = {key: given.get(key, setting.default) for key, setting in declared.items()}
    for key, value in settings.items():
        if not declared[key].allows(value):
            raise ConfigError(
                f"{where}.{key}: {value!r} must be {declared[key].allowed}"
                if key in given
                else f"{where}: {key} is missing ({declared[key].help})"
            )
    if settings.get("sampling") and settings["beam"] != 1:
        raise ConfigError(f"{where}: sampling draws one hypothesis at a time; set `beam: 1`")
    return settings
