"""A config's external files: downloads, their mirrors and pins, and files that are missing."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psp.config.blocks.corpora import CATALOGUED, KINDS, CorpusKind
from psp.config.blocks.evaluation import SEMEVAL, has_sts
from psp.config.blocks.filters import known_labels, needs_lid
from psp.config.blocks.sources import Remote
from psp.config.config_file import read_yaml
from psp.config.corpus_entries import kind_of, of_pair
from psp.config.model import ModelEntry
from psp.config.written import Written
from psp.core.errors import ConfigError
from psp.core.workflow import home
from psp.text.languages import TATOEBA, is_known, lid_label

if TYPE_CHECKING:
    from psp.evaluation.tasks import Sources

#: Where downloads lie.
FOLDER = "results/downloads"


class Downloads(Written):
    """The part of a config that handles external files.

    Attributes:
        sources: the block ``sources``, with defaults.
        pins: size and SHA-256 by download name.
    """

    sources: dict[str, Any]
    pins: dict[str, dict[str, Any]]

    def remote(self, name: str) -> Remote:
        """Look up a download by its name under results/downloads, with its mirrors and pins.

        Raises:
            ConfigError: the config has no such download, or two corpora share it but disagree.
        """
        kind, _, rest = name.partition("/")
        licence, required, where = None, None, f"sources.{kind}.mirrors"
        if kind in CATALOGUED:
            fields = KINDS[kind].placeholders(name)
            mirrors, licence = self._archive(name, KINDS[kind], **fields)
        elif kind == "tatoeba":
            version, file = rest.split("/")
            mirrors, fields = self.sources["tatoeba"]["mirrors"], {"version": version, "file": file}
        elif kind == "vectors":
            entries = [entry for key, entry in self.vectors.items() if self._vectors_file(key) == name]
            if not entries:
                raise ConfigError(f"{name} is not a download of this config")
            mirrors, fields, licence = entries[0]["mirrors"], {}, entries[0].get("licence")
            required, where = entries[0]["sha256"], "vectors"
        elif kind in ("lid", "sts"):
            mirrors, fields = self.sources[kind]["mirrors"], {"file": rest}
        else:
            raise ConfigError(f"{name} is not a download of this config")
        pin = self.pins.get(name, {})
        expanded = tuple(_expand(mirror, fields, where) for mirror in mirrors)
        remote = Remote(name, expanded, required or pin.get("sha256"), pin.get("bytes"), licence)
        perhaps = self._perhaps_absent(KINDS[kind], **fields) if "pair" in fields else ""
        return replace(remote, advice=f"{perhaps}{remote.advice}")

    def _perhaps_absent(self, kind: CorpusKind, corpus: str, version: str, pair: str) -> str:
        """What to do if OPUS has no archive of a pair; empty if the catalogue counts its pairs."""
        entries = self.entries(kind, corpus).values()
        if any(pair in entry.get("pairs", {}) for entry in entries):
            return ""
        codes = {there: code for entry in entries for code, there in entry.get("names", {}).items()}
        pair_codes = [codes.get(name, name) for name in pair.split("-", 1)]
        partner, language = sorted(pair_codes, key=lambda code: code != "en")
        beside = "" if partner == "en" else f" --with {partner}"
        return (
            f"if {corpus} {version} has no {pair}, leave {corpus} out of the model (`psp languages suggest "
            f"{language}{beside}` lists what OPUS has); or "
        )

    def entries(self, kind: CorpusKind, corpus: str) -> dict[str, dict[str, Any]]:
        """The catalogue's entries for a publisher's ``corpus``, by name."""
        return {
            name: entry
            for name, entry in self.corpora.items()
            if kind_of(entry) == kind.kind and entry.get("opus", name) == corpus
        }

    def _archive(
        self, name: str, kind: CorpusKind, corpus: str, version: str, pair: str = ""
    ) -> tuple[list[str], str | None]:
        """An archive's mirrors and declared licence; ``name`` is its download's."""
        mirrors = self.sources[kind.kind]["mirrors"]
        of_version = {
            key: entry
            for key, entry in self.entries(kind, corpus).items()
            if of_pair(entry, "version", pair) == version
        }
        # Where entries share a corpus, those that count other pairs only are not for this one, unless none counts it.
        fitting = [key for key, entry in of_version.items() if pair in ("", *(entry.get("pairs") or [pair]))]
        declared = {
            key: (of_version[key].get("mirrors", mirrors), of_pair(of_version[key], "licence", pair))
            for key in fitting or of_version
        }
        first = next(iter(declared.values()), (mirrors, None))
        if any(other != first for other in declared.values()):
            raise ConfigError(
                f"corpora: {' and '.join(declared)} are the same archive, {name}, but differ in licence or mirrors; "
                f"make them equal{', or count this pair in the `pairs` of one' if pair else ''}"
            )
        return first

    def _vectors_file(self, key: str) -> str:
        """The name under results/downloads of an entry of ``vectors``: different files have different names."""
        entry = self.vectors[key]
        ending = "txt.gz" if entry["mirrors"][0].endswith(".gz") else "txt"
        return f"vectors/{key}.{entry['sha256'][:12]}.{ending}"

    def init_vectors(self, model: ModelEntry) -> str | None:
        """The name of the file of word vectors that a model starts from."""
        key = model["train"]["init_vectors"]
        return None if key is None else self._vectors_file(key)

    def lid(self) -> str:
        """The language identification model's name under results/downloads."""
        return f"lid/{self.sources['lid']['file']}"

    def tatoeba(self, model: ModelEntry) -> dict[str, tuple[str, str]]:
        """Names of the Tatoeba files, (language, English) for each language that has a set."""
        if not model["evaluate"]["tatoeba"] or "en" not in model.languages:
            return {}
        folder = f"tatoeba/{self.sources['tatoeba']['version']}"
        return {
            language: (f"{folder}/tatoeba.{code}-eng.{code}", f"{folder}/tatoeba.{code}-eng.eng")
            for language in model.languages
            if (code := TATOEBA.get(language)) and language != "en"
        }

    def test_sources(self, model: ModelEntry, folder: str) -> Sources:
        """The inputs of the standard tasks; ``folder`` has the downloads."""
        from psp.evaluation.tasks import Sources

        sts = self.sts_tests(model)
        return Sources(
            languages=model.languages,
            sts=sts and f"{folder}/{sts}",
            tatoeba={
                language: [f"{folder}/{file}" for file in files] for language, files in self.tatoeba(model).items()
            },
            files=model["evaluate"]["files"],
        )

    def sts_tests(self, model: ModelEntry) -> str | None:
        """The STS archive's name, if the model is evaluated on its sets in the model's languages."""
        return "sts/STS.zip" if model["evaluate"]["sts"] and has_sts(model.languages) else None

    def sts_development(self, model: ModelEntry) -> str | None:
        """The STS archive's name, if one of its sets selects the model."""
        return "sts/STS.zip" if model.of.block and model["development"]["sts"] == SEMEVAL else None

    def downloads(self, model: ModelEntry) -> list[str]:
        """All files that a model's evaluation needs, by their names under results/downloads."""
        names = list(dict.fromkeys(part.download for part in model.files if part.download))
        if any(needs_lid(part.filters) for part in (*model.parts, *model.files)):
            names.append(self.lid())
        if sts := self.sts_tests(model) or self.sts_development(model):
            names.append(sts)
        names += [file for pair in self.tatoeba(model).values() for file in pair]
        if vectors := self.init_vectors(model):
            names.append(vectors)
        return names

    @staticmethod
    def absent(model: ModelEntry) -> list[str]:
        """Local files of a model's corpora that are missing, except under results/: the workflow may make these."""
        paths = [path for part in model.files for path in part.paths]
        return [path for path in paths if not path.startswith("results/") and not Path(path).exists()]

    @staticmethod
    def notices(model: ModelEntry) -> list[str]:
        """Notices to show once about a model before any download; they are not errors."""
        unknown = sorted(
            {
                language
                for part in (*model.parts, *model.files)
                if part.filters["language"]["enabled"]
                for language in part.languages
                if lid_label(language) not in known_labels(part.filters["language"])
            }
        )
        strange = []
        for language in model.languages:
            if not is_known(language):
                told = "is not a language code that psp knows"
                if len(language) == 3:
                    told = "is taken for an ISO 639-3 code, which psp cannot check"
                strange.append(
                    f"models.{model.name}.languages: {language} {told}; it selects test sets and OPUS archives, so "
                    "look it up in ISO 639"
                )
        return strange + [
            f"models.{model.name}: language identification does not know {language!r}: lines on that side are dropped "
            "only if they are clearly in the other side's language"
            for language in unknown
        ]

    def missing(self, model: ModelEntry, folder: Path | str) -> list[str]:
        """Files that an offline run of the model lacks: neither under ``folder`` nor in a local mirror."""
        return [
            name
            for name in self.downloads(model)
            if not (Path(folder) / name).exists()
            and all(mirror.startswith(("http://", "https://")) for mirror in self.remote(name).mirrors)
        ]


def read_pins(path: str | None) -> dict[str, dict[str, Any]]:
    """Read what ``psp pin`` wrote: size and SHA-256 of downloads, by name.

    Args:
        path: if there is no such file in the working directory, that of the workflow's own folder is meant.

    Raises:
        ConfigError: the file does not hold pins.
    """
    found = [] if path is None else [file for file in (Path(path), home() / path) if file.exists()]
    if not found:
        return {}
    pins = read_yaml(found[0])
    for name, pin in pins.items():
        if not isinstance(pin, Mapping) or not {"sha256", "bytes"} >= set(pin):
            raise ConfigError(f"{path}: {name}: a pin is {{bytes: N, sha256: HEX}}; write it again with `psp pin`")
    return pins


def at_home(value: Any) -> Any:
    """Copy a config's contents, replacing ``~/`` in mirrors and paths by the user's home folder."""
    if isinstance(value, Mapping):
        return {key: at_home(below) for key, below in value.items()}
    if isinstance(value, list):
        return [at_home(below) for below in value]
    if isinstance(value, str) and (match := re.match(r"(file://)?~(/.*)", value, re.DOTALL)):
        return f"{match[1] or ''}{Path.home()}{match[2]}"
    return value


def _expand(mirror: str, fields: Mapping[str, str], where: str) -> str:
    def variable(match: re.Match[str]) -> str:
        value = os.environ.get(match[1])
        if not value:
            raise ConfigError(
                f"{where}: the environment variable {match[1]} is not set, but {mirror} needs it; "
                f"run `export {match[1]}=/path/to/folder`"
            )
        path = Path(at_home(value))
        return str(path.resolve()) if path.exists() else value

    mirror = re.sub(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}", variable, mirror)
    try:
        return mirror.format_map(fields)
    except (KeyError, ValueError, IndexError):
        raise ConfigError(
            f"{where}: {mirror} may contain only {', '.join('{' + name + '}' for name in fields)}"
        ) from None
