"""The config: checked against one schema before anything runs, and resolved into each model's settings.

A setting's value comes from, last wins: the schema's default; its value under the model's recipe; the block at the
top level of the config; the entry that the model extends; the model's own entry.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psp.configfile import read_yaml
from psp.configschema import check, defaults, differences, load_schema, tunable
from psp.corpora.download import Remote
from psp.errors import ConfigError
from psp.languages import LID_LABELS, TATOEBA, closest_code, is_known, lid_label
from psp.licences import permitted
from psp.merging import merge
from psp.parts import Part, check_entry, closest, of_pair, resolve
from psp.testsets import SEMEVAL, has_sts
from psp.training import launch
from psp.training.tune import Tuning
from psp.variants import Variant
from psp.variants import resolve as resolve_variants

#: Blocks of settings that a model's entry may hold, and the top level for all models.
BLOCKS = (
    "filters", "segment", "mix", "subword", "store", "train", "tune", "development", "evaluate", "quantize", "speed"
)  # fmt: skip
#: Keys that make no other model: what differs in them alone from a recipe is the recipe.
INERT = (
    "train.log_every", "train.checkpoint.", "train.processes", "train.gpus", "quantize.", "speed.",
    "filters.warn_share", "mix.warn_pairs",
)  # fmt: skip
#: Folders of results/ that are not models.
RESERVED = frozenset({"downloads", "phrasebook"})
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Model:
    """One model's resolved entry; ``settings`` holds every key of every block."""

    name: str
    languages: tuple[str, ...]
    parts: tuple[Part, ...]
    recipe: str
    seed: int
    settings: Mapping[str, Any]
    differences: Mapping[str, Any]  # dotted key -> value, where it is not the recipe's
    tuned: Mapping[str, Any]  # for each key of `train` that a search decides, the recipe's value
    variants: Mapping[str, Variant]  # by name; the first is the model's own settings

    def __getitem__(self, block: str) -> Any:
        return self.settings[block]


class Config:
    """A checked config.

    Args:
        raw: the merged config files, as nested mappings.
        schema: the schema file (config/schema.yaml).

    Raises:
        ConfigError: a key, corpus or model is not as the schema says; the message is one line.
    """

    def __init__(self, raw: Mapping[str, Any], schema: Path | str) -> None:
        self._schema = load_schema(str(schema))
        self.raw: dict[str, Any] = at_home(dict(raw))
        raw = self.raw
        for key, node in self._schema["properties"].items():
            # Snakemake's --config reads True and False, but leaves YAML's true and false as text.
            if node.get("type") == "boolean" and raw.get(key) in ("true", "false"):
                self.raw[key] = raw[key] == "true"
        check(raw, self._schema)
        self.offline: bool = raw.get("offline", False)
        self.keep_intermediate: bool = raw.get("keep_intermediate", False)
        self.corpora: dict[str, dict[str, Any]] = raw["corpora"]
        for name, entry in self.corpora.items():
            check_entry(name, entry)
        self.sources = merge(self._defaults("sources", "psp"), raw.get("sources", {}))
        self.phrasebook = merge(self._defaults("phrasebook", "psp"), raw.get("phrasebook", {}))
        self.licences: list[str] | None = merge(self._defaults("licences", "psp"), raw.get("licences", {}))["allow"]
        self.pins = self._read_pins(raw.get("pins"))
        for name in raw["models"]:
            if not _NAME.fullmatch(name) or name in RESERVED:
                raise ConfigError(
                    f"models.{name}: not a usable name (it becomes a folder under results/); "
                    f"use letters, digits, '.', '_' or '-', and none of {', '.join(sorted(RESERVED))}"
                )
            self.model(name)

    @classmethod
    def load(
        cls, files: Iterable[Path | str], schema: Path | str, overrides: Mapping[str, Any] | None = None
    ) -> Config:
        """Read config files, later ones on top of earlier ones, as Snakemake merges them."""
        raw: dict[str, Any] = {}
        for file in files:
            raw = merge(raw, read_yaml(file))
        return cls(merge(raw, overrides or {}), schema)

    @property
    def models(self) -> tuple[str, ...]:
        """The names of all models."""
        return tuple(self.raw["models"])

    @functools.cache  # noqa: B019  (a config lives as long as its process)
    def model(self, name: str) -> Model:
        """Resolve one model.

        Raises:
            ConfigError: no such model, or its entry names an unknown corpus, language or model.
        """
        entry = self._entry(name, ())
        where = f"models.{name}"
        if "languages" not in entry:
            raise ConfigError(f"{where}: names no languages; write e.g. `languages: [en, fr]`")
        if "corpora" not in entry:
            example = next(iter(self.corpora), "Europarl")
            raise ConfigError(f"{where}: names no corpora; write e.g. `corpora: [{example}]`")
        languages = tuple(entry["languages"])
        recipe = entry.get("recipe", self.raw.get("recipe", "psp"))
        settings: dict[str, Any] = {}
        written = {block: merge(self.raw.get(block, {}), entry.get(block, {})) for block in BLOCKS}
        for block, own in written.items():
            # `segment` is a table by language: only an entry's own languages are filled in.
            settings[block] = merge(self._defaults(block, recipe, own), own)
            if block == "tune" and "grid" in own:
                settings[block]["grid"] = own["grid"]  # whoever writes a grid means all of it
        settings["development"] = _chosen_on(settings["development"], languages, where)
        tuned: dict[str, Any] = {}
        if settings["train"]["tune"]:
            recipes = self._defaults("train", recipe)
            tuned = {key: recipes[key] for key in settings["tune"]["grid"]}
        parts = tuple(
            resolve(
                item,
                languages=languages,
                catalogue=self.corpora,
                filters=settings["filters"],
                recipe=recipe,
                where=f"{where}.corpora",
            )
            for item in self._items(name, entry, ())
        )
        labels = [part.label for part in parts]
        if repeated := next((label for label in labels if labels.count(label) > 1), None):
            raise ConfigError(f"{where}.corpora: {repeated} stands there twice; leave one out")
        seed = entry.get("seed", self.raw.get("seed", 1))
        launch.check(settings["train"], where=f"{where}.train")
        if settings["train"]["tune"] or "grid" in written["tune"]:
            _check_grid(name, settings, parts)  # the grid of the recipe need not fit to a model that is not searched
        variants = resolve_variants(
            entry.get("variants", {}),
            recipe=recipe,
            seeds=entry.get("seeds", self._schema["$defs"]["model"]["properties"]["seeds"]["default"]),
            train=settings["train"],
            defaults=functools.partial(self._defaults, "train"),
            of_recipe=[*tunable(self._schema), "select"],  # which weights are kept is a recipe's matter too
            where=where,
        )
        differences = self._differences(recipe, languages, settings, parts, tuned)
        model = Model(name, languages, parts, recipe, seed, settings, differences, tuned, variants)
        if settings["train"]["tune"]:
            self._check_tunable(model)
        return model

    def _differences(
        self,
        recipe: str,
        languages: tuple[str, ...],
        settings: Mapping[str, Any],
        parts: Iterable[Part],
        tuned: Collection[str],
    ) -> dict[str, Any]:
        """What settings have otherwise than a recipe, by dotted key, but for what ``INERT`` names."""
        found: dict[str, Any] = {}
        for block in BLOCKS:
            base = self._defaults(block, recipe, settings[block])
            if block == "development":
                base = _chosen_on(base, languages, block)
            found |= differences(base, settings[block], block)
        for part in parts:
            found |= differences(settings["filters"], part.filters, f"corpora.{part.corpus}.filters")
        unused = tuple(f"train.{key}" for key in tuned)  # the config's value is not used, tune.json's is
        if not settings["train"]["tune"]:  # a search whose winner is not taken makes the model no other
            unused += tuple(key for key in found if key.startswith("tune."))
        unused += tuple(f"corpora.{part.corpus}.filters.warn_share" for part in parts)
        return {key: value for key, value in found.items() if not key.startswith(INERT) and key not in unused}

    def variant(self, name: str, variant: str) -> Model:
        """A model as one of its variants trains it: another recipe and block ``train``, all else the same.

        Raises:
            ConfigError: as :meth:`cleared`, or the model has no such variant.
        """
        model = self.cleared(name)
        if variant not in model.variants:
            raise ConfigError(
                f"models.{name}.variants: {variant} is none of them{closest(variant, model.variants)}; "
                f"there are {', '.join(model.variants)}"
            )
        wanted = model.variants[variant]
        if wanted.base:
            return model
        settings = {**model.settings, "train": wanted.train}
        differences = self._differences(wanted.recipe, model.languages, settings, model.parts, ())
        return dataclasses.replace(model, recipe=wanted.recipe, settings=settings, differences=differences, tuned={})

    def tuning(self, name: str) -> Tuning:
        """The search for a model's training settings.

        Raises:
            ConfigError: as :meth:`cleared`, or the model has nothing to choose by, or two points are the same.
        """
        model = self.cleared(name)
        self._check_tunable(model)
        return _check_grid(name, model.settings, model.parts)

    @staticmethod
    def _check_tunable(model: Model) -> None:
        if not model["development"]["sts"] and not model["development"]["heldout"]:
            raise ConfigError(
                f"models.{model.name}.development: sts is null and heldout is 0, but tuning chooses by the development "
                "score; write e.g. `development: {heldout: 2000}`"
            )

    def cleared(self, name: str) -> Model:
        """Resolve one model that is about to be used: the licence of each of its corpora must be allowed.

        Other models may have corpora that are not: who does not ask for them is not stopped by them.

        Raises:
            ConfigError: as :meth:`model`, or a corpus declares a licence outside ``licences.allow``, or none.
        """
        model = self.model(name)
        for part in model.parts:
            if problem := self.forbidden(part.licence):
                own = f"`- {{path: {part.path}, licence: ...}}`"
                raise ConfigError(
                    f"models.{name}.corpora: {part.corpus} {problem}; leave it out of the model, extend "
                    "licences.allow, or write the licence that you know it has: "
                    + (own if part.path else f"`corpora: {{{part.corpus}: {{licence: ...}}}}`")
                )
        return model

    def forbidden(self, licence: str | None) -> str | None:
        """Why a corpus of this declared licence may not be used, in a few words; None where it may."""
        if self.licences is None:
            return None
        allowed = f"licences.allow holds {', '.join(self.licences) or 'none'}"
        if licence is None:
            return f"declares no licence, and {allowed}"
        try:
            return None if permitted(licence, self.licences) else f"has the licence {licence}, and {allowed}"
        except ValueError as error:
            return f"has a licence that cannot be read ({error})"

    def _entry(self, name: str, below: tuple[str, ...]) -> dict[str, Any]:
        if name not in self.raw["models"]:
            what = f"models.{below[-1]}.extends: {name}" if below else name
            raise ConfigError(
                f"{what} is not a model of the config{closest(name, self.models)}; "
                f"there are {', '.join(self.models)}; add it under `models:`, "
                f"e.g. `{name}: {{languages: [en, fr], corpora: [Europarl]}}`"
            )
        entry = self.raw["models"][name]
        if "extends" not in entry:
            return dict(entry)
        if entry["extends"] in (*below, name):
            raise ConfigError(f"models.{name}.extends: {entry['extends']} extends {name} in turn; break the circle")
        return merge(self._entry(entry["extends"], (*below, name)), {k: v for k, v in entry.items() if k != "extends"})

    def _items(self, name: str, entry: Mapping[str, Any], below: tuple[str, ...]) -> Iterator[str | dict[str, Any]]:
        """The items of an entry's corpora; one that names a model stands for all of that model's."""
        where = f"models.{name}.corpora"
        for item in entry["corpora"]:
            if isinstance(item, str) or "model" not in item:
                yield item
                continue
            other, rest = item["model"], {key: value for key, value in item.items() if key != "model"}
            if wrong := [key for key in rest if key not in ("cap", "filters")]:
                raise ConfigError(f"{where}: {{model: {other}}} takes its {wrong[0]} from that model; leave it out")
            if other not in self.raw["models"]:
                raise ConfigError(f"{where}: {other} is not a model of the config{closest(other, self.models)}")
            if other in (*below, name):
                raise ConfigError(f"{where}: {other} takes its corpora from {name} in turn; break the circle")
            theirs = self._entry(other, ())
            if missing := [key for key in ("languages", "corpora") if key not in theirs]:
                raise ConfigError(f"{where}: models.{other} names no {missing[0]}; there is nothing to take over")
            languages = theirs["languages"]
            pair = {"languages": [languages[0], languages[0]] if len(languages) == 1 else languages}
            for part in self._items(other, theirs, (*below, name)):
                own: dict[str, Any] = {"name": part} if isinstance(part, str) else part
                yield merge({**pair, **own}, rest)

    def _defaults(self, block: str, recipe: str, own: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return defaults(self._schema["$defs"][block], self._schema, recipe, own or {})

    def _read_pins(self, path: str | None) -> dict[str, dict[str, Any]]:
        if path is None or not Path(path).exists():
            return {}
        pins = read_yaml(path)
        for name, pin in pins.items():
            if not isinstance(pin, Mapping) or not {"sha256", "bytes"} >= set(pin):
                raise ConfigError(f"{path}: {name}: a pin is {{bytes: N, sha256: HEX}}; write it again with `psp pin`")
        return pins

    # What a model needs from outside.

    def remote(self, name: str) -> Remote:
        """The download of that name under results/downloads: its mirrors and pins.

        Raises:
            ConfigError: the name is not one that the config can lead to, or two corpora have it and do not agree.
        """
        kind, _, rest = name.partition("/")
        licence = None
        if kind == "opus":
            corpus, version, file = rest.split("/")
            pair = file.removesuffix(".txt.zip")
            mirrors, licence = self._archive(name, corpus, version, pair)
            fields = {"corpus": corpus, "version": version, "pair": pair}
        elif kind == "paranmt":
            corpus, file = rest.split("/")
            entry = self.corpora.get(corpus, {})
            mirrors = entry.get("mirrors", self.sources["paranmt"]["mirrors"])
            fields = {"corpus": corpus, "version": file.removesuffix(".zip")}
            licence = entry.get("licence")
        elif kind == "tatoeba":
            version, file = rest.split("/")
            mirrors, fields = self.sources["tatoeba"]["mirrors"], {"version": version, "file": file}
        elif kind in ("lid", "sts"):
            mirrors, fields = self.sources[kind]["mirrors"], {"file": rest}
        else:
            raise ConfigError(f"{name} is not a download of this config")
        pin = self.pins.get(name, {})
        expanded = tuple(_expand(mirror, fields, f"sources.{kind}.mirrors") for mirror in mirrors)
        return Remote(name, expanded, pin.get("sha256"), pin.get("bytes"), licence)

    def entries(self, corpus: str) -> dict[str, dict[str, Any]]:
        """The catalogue's entries, by name, that stand for OPUS's ``corpus``."""
        return {
            name: entry
            for name, entry in self.corpora.items()
            if entry.get("kind", "opus") == "opus" and entry.get("opus", name) == corpus
        }

    def _archive(self, name: str, corpus: str, version: str, pair: str) -> tuple[list[str], str | None]:
        """An OPUS archive's mirrors and declared licence; ``name`` is its download's."""
        mirrors = self.sources["opus"]["mirrors"]
        said = {
            key: (entry.get("mirrors", mirrors), of_pair(entry, "licence", pair))
            for key, entry in self.entries(corpus).items()
            if of_pair(entry, "version", pair) == version and (not entry.get("pairs") or pair in entry["pairs"])
        }
        first = next(iter(said.values()), (mirrors, None))
        if any(other != first for other in said.values()):
            raise ConfigError(
                f"corpora: {' and '.join(said)} are one archive, {name}, but differ in licence or mirrors; "
                "write the same for both"
            )
        return first

    def lid(self) -> str:
        """The language identification model's name under results/downloads."""
        return f"lid/{self.sources['lid']['file']}"

    def tatoeba(self, model: Model) -> dict[str, tuple[str, str]]:
        """Names of the Tatoeba files, (language, English) for each language that has a set."""
        if not model["evaluate"]["tatoeba"] or "en" not in model.languages:
            return {}
        folder = f"tatoeba/{self.sources['tatoeba']['version']}"
        codes = {
            language: TATOEBA[language] for language in model.languages if language in TATOEBA and language != "en"
        }
        return {
            language: (f"{folder}/tatoeba.{code}-eng.{code}", f"{folder}/tatoeba.{code}-eng.eng")
            for language, code in codes.items()
        }

    def sts_tests(self, model: Model) -> str | None:
        """The STS archive's name, if the model is evaluated on sets of it: those in its languages."""
        return "sts/STS.zip" if model["evaluate"]["sts"] and has_sts(model.languages) else None

    def sts_development(self, model: Model) -> str | None:
        """The STS archive's name, if the model is chosen by a set of it."""
        return "sts/STS.zip" if model["development"]["sts"] == SEMEVAL else None

    def downloads(self, model: Model) -> list[str]:
        """All files that a model's evaluation needs, by their names under results/downloads."""
        names = list(dict.fromkeys(part.download for part in model.parts if part.download))
        if any(part.filters["language"]["enabled"] for part in model.parts):
            names.append(self.lid())
        if sts := self.sts_tests(model) or self.sts_development(model):
            names.append(sts)
        names += [file for pair in self.tatoeba(model).values() for file in pair]
        return names

    @staticmethod
    def absent(model: Model) -> list[str]:
        """Local files among a model's corpora that are not there; those under results/ the workflow may make."""
        paths = [part.path for part in model.parts if part.path]
        return [path for path in paths if not path.startswith("results/") and not Path(path).is_file()]

    @staticmethod
    def notices(model: Model) -> list[str]:
        """What is to be said once of a model before anything is fetched, though it is no error."""
        unknown = sorted(
            {
                language
                for part in model.parts
                if part.filters["language"]["enabled"]
                for language in part.languages
                if lid_label(language) not in LID_LABELS
            }
        )
        strange = [
            f"models.{model.name}.languages: {language} is no code of a language that is known here"
            f"{closest_code(language)}; test sets and OPUS go by it, so look it up in ISO 639"
            for language in model.languages
            if not is_known(language)
        ]
        return strange + [
            f"models.{model.name}: language identification (lid.176) does not know {language!r}: lines on its side are "
            "dropped only where they are plainly in the other side's language"
            for language in unknown
        ]

    def missing(self, model: Model, folder: Path | str) -> list[str]:
        """Files that an offline run of the model lacks: not under ``folder`` and without a local mirror."""
        return [
            name
            for name in self.downloads(model)
            if not (Path(folder) / name).exists()
            and all(mirror.startswith(("http://", "https://")) for mirror in self.remote(name).mirrors)
        ]


def _check_grid(name: str, settings: Mapping[str, Any], parts: Iterable[Part]) -> Tuning:
    tuning = Tuning(**settings["tune"])
    paraphrase = {part.paraphrase for part in parts}
    tuning.check(settings["train"], paraphrase=paraphrase, where=f"models.{name}.tune")
    return tuning


def _chosen_on(development: Mapping[str, Any], languages: tuple[str, ...], where: str) -> dict[str, Any]:
    """The block ``development`` with ``sts: auto`` resolved: English STS pairs for whatever model has English.

    Raises:
        ConfigError: English STS pairs are asked for by name, and the model has no English.
    """
    sts = development["sts"]
    if sts == "auto":
        sts = SEMEVAL if "en" in languages else None
    if sts == SEMEVAL and "en" not in languages:
        raise ConfigError(
            f"{where}.development: sts is {SEMEVAL}, but the model is of {' and '.join(languages)}; write "
            "`development: {sts: null}` to choose by the held-out pairs, or name a file of STS pairs in its languages"
        )
    return {**development, "sts": sts}


def at_home(value: Any) -> Any:
    """A copy of what a config holds, with the user's own folder in the place of ``~/``, in mirrors and in paths."""
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
            f"{where}: {mirror} may hold {', '.join('{' + name + '}' for name in fields)} alone"
        ) from None
