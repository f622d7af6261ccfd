"""Make a translator from its entry in the config's block ``translators``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from psp.config.blocks.translator import CommandBlock, Ctranslate2Block, kind_of
from psp.core.files import read_json
from psp.inference.translation.base import Translator
from psp.inference.translation.command import CommandTranslator
from psp.inference.translation.ctranslate2 import Ctranslate2Translator


def load_translator(entry: Mapping[str, Any], *, threads: int = 1, where: str = "translator") -> Translator:
    """Load a translator.

    Args:
        entry: its settings: those of :class:`psp.config.blocks.translator.Ctranslate2` or ``Command``.
        threads: threads that it may use, where it is not a command.
        where: the entry's location, for errors.

    Raises:
        ConfigError: the entry is wrong, or requests a missing GPU.
        DataError: its files are missing, damaged or do not belong together.
        PspError: a package is missing.
    """
    if kind_of(entry, where) == "command":
        settings = CommandBlock.at(where, entry).as_dict()
        return CommandTranslator(
            settings["command"], scores=settings["scores"] == "column", timeout=settings["timeout"]
        )
    settings = Ctranslate2Block.at(where, entry).as_dict()
    return Ctranslate2Translator(Path(settings["ctranslate2"]).expanduser(), settings, threads=threads)


def trained_settings(folder: Path) -> dict[str, Any]:
    """The settings by which a translator is loaded from its folder, the search aside.

    Args:
        folder: of a translator that psp trained, which has ``ctranslate2/`` inside, or of a CTranslate2 model.

    Raises:
        DataError: its config.json is damaged.
    """
    if not (folder / "ctranslate2").is_dir():
        return {"ctranslate2": str(folder)}
    longest = read_json(folder / "config.json")["max_tokens"]
    return {"ctranslate2": str(folder / "ctranslate2"), "max_tokens": longest}
