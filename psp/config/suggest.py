"""Suggest the config block for a new language, with the OPUS corpora that OPUS's public API lists for it.

The API (https://opus.nlpl.eu/opusapi/) answers GET requests in JSON: ``{"languages": [name, ...]}`` if the parameter
``languages`` is given, else ``{"corpora": [entry, ...]}``. An entry has ``corpus``, ``version``, ``source`` and
``target`` (OPUS's names, in alphabetical order), ``alignment_pairs`` (the pairs, or "" if they were not counted),
``size`` (of the archive, in KiB) and fields that are not used here. The API does not list licences.
"""

from __future__ import annotations

import itertools
import json
import logging
import re
import urllib.parse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from psp.config.blocks.corpora import KINDS, language_pair
from psp.config.config import Config
from psp.config.corpus_entries import of_pair
from psp.core.errors import ConfigError, DataError, DownloadError
from psp.corpora.known import DOUBTFUL, LICENCES, SKIPPED, SYNTHETIC, TERMS
from psp.text.languages import NAMES, check_codes, opus_names

log = logging.getLogger(__name__)

#: Larger corpora are capped at this many pairs, like the paper's two largest, so that none dominates.
CAP = 4_000_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+@-]*")


@dataclass(frozen=True)
class Offer:
    """One corpus's archive of the pair, in Moses format."""

    corpus: str
    version: str
    names: tuple[str, str]  # OPUS's names of the two languages
    pairs: int | None
    bytes: int | None

    @property
    def pair(self) -> str:
        """The archive's name: the languages in alphabetical order."""
        return language_pair(self.names)

    @property
    def size(self) -> str:
        return "pairs not counted" if self.pairs is None else f"{self.pairs:,} pairs"


class Api:
    """OPUS's API at one address.

    Raises:
        DownloadError: (every method) it does not answer, or not as documented.
    """

    def __init__(self, address: str, timeout: float) -> None:
        self.address, self.timeout = address, timeout

    def languages(self, source: str) -> list[str]:
        """List OPUS's names of all languages that have an archive with ``source``."""
        names = self._ask("languages", {"languages": "True", "source": source, "version": "latest"})
        if not all(isinstance(name, str) for name in names):
            raise self._undocumented("languages that are not text")
        return [name for name in names if _NAME.fullmatch(name)]

    def corpora(self, names: tuple[str, str], corpus: str | None = None, version: str = "latest") -> list[Offer]:
        """List the archives of the pair ``names``: of all corpora in their latest release, or of one release."""
        query = {"source": names[0], "target": names[1], "version": version}
        offers = []
        for entry in self._ask("corpora", query | ({"corpus": corpus} if corpus else {})):
            if not isinstance(entry, Mapping):
                raise self._undocumented("a corpus that is not a mapping")
            fields = [entry.get(key) for key in ("corpus", "version", "source", "target")]
            corpus, version, source, target = (field if isinstance(field, str) else "" for field in fields)
            if not (corpus and version and source and target):
                raise self._undocumented("a corpus without corpus, version, source or target")
            if {source, target} != set(names) or not (_NAME.fullmatch(corpus) and _NAME.fullmatch(version)):
                continue
            size, pairs = _count(entry.get("size")), _count(entry.get("alignment_pairs"))
            offers.append(Offer(corpus, version, names, pairs, None if size is None else 1024 * size))
        return offers

    def _ask(self, key: str, query: Mapping[str, str]) -> list[Any]:
        import requests

        address = f"{self.address}?{urllib.parse.urlencode({**query, 'preprocessing': 'moses'})}"
        log.info("asking %s", address)
        try:
            answer = requests.get(address, timeout=self.timeout)
        except requests.RequestException as error:
            reason = "timed out" if isinstance(error, requests.Timeout) else "cannot be reached"
            raise DownloadError(f"{address}: OPUS's API {reason}; {_ADVICE}") from error
        if answer.status_code != 200:
            raise DownloadError(f"{address}: OPUS's API answered with status {answer.status_code}; {_ADVICE}")
        try:
            value = json.loads(answer.content)
        except ValueError:
            raise self._undocumented(f"not JSON but {' '.join(answer.text.split())[:40]!r}") from None
        if not isinstance(value, Mapping) or not isinstance(value.get(key), list):
            raise self._undocumented(f"JSON without a list of {key}")
        return list(value[key])

    def _undocumented(self, what: str) -> DownloadError:
        return DownloadError(f"{self.address}: OPUS's API returned {what}; {_ADVICE}")


_ADVICE = "try again later, or set its address in sources.opus.api"


def _count(value: Any) -> int | None:
    """Parse a number of the API, which gives "" if nothing was counted."""
    try:
        return max(0, int(value))
    except (TypeError, ValueError):
        return None


def suggest(config: Config, language: str, partner: str = "en") -> str:
    """Write the YAML to add to a config for a model of ``partner`` and ``language``: corpora, and a model of them.

    Left out, each with a reason, are test sets, corpora that do not hold sentences, those that are machine-translated
    or joined over a third language (:mod:`psp.corpora.known`), and those that the config does not allow. Mined corpora
    are commented out, unless there is nothing else. A corpus already in the config keeps its release, licence and cap,
    so that other models do not change; if that release lacks the pair, the newest is used for this pair only.

    Raises:
        ConfigError: a language is not named by its code, both are the same, or the config is offline.
        DownloadError: the API does not answer as documented.
        DataError: OPUS has no corpora for the pair, or none that can be suggested.
    """
    check_codes([language, partner], "psp languages suggest")
    if language == partner:
        raise ConfigError(f"{language} with itself is not a pair; name another language with --with, e.g. --with en")
    if config.offline:
        raise ConfigError("the config is offline, but suggestions come from OPUS's API; run without `offline: true`")
    api = Api(config.sources["opus"]["api"], config.sources["timeout"])
    return _Suggestion(config, api, (partner, language)).text()


class _Suggestion:
    def __init__(self, config: Config, api: Api, codes: tuple[str, str]) -> None:
        self.config, self.api, self.codes = config, api, codes
        self.left_out: list[str] = []
        self.others: dict[str, list[Offer]] = {}  # further names of the language in the same corpus
        offers = self._offers()
        self.places = {offer.corpus: self._place(offer) for offer in offers}
        chosen = [offer for offer in map(self._release, offers) if self._wanted(offer)]
        if not chosen:
            reasons = f" that can be used: {'; '.join(self.left_out)}" if self.left_out else ""
            raise DataError(f"OPUS has no corpora for {' and '.join(codes)}{reasons}; try another pair with --with")
        chosen.sort(key=lambda offer: (-(offer.pairs or 0), offer.corpus))
        self.corpora = chosen
        self.doubts = {offer.corpus: DOUBTFUL.get(offer.corpus.casefold()) for offer in chosen}
        self.nothing_else = all(self.doubts.values())

    # What OPUS offers.

    def _offers(self) -> list[Offer]:
        """One offer per corpus, under the names that :meth:`_rank` puts first."""
        partner, language = self.codes
        by_corpus: dict[str, list[Offer]] = {}
        for one in self._names(partner, language):
            for other in self._names(language, one):
                for offer in self.api.corpora((one, other)):
                    by_corpus.setdefault(offer.corpus, []).append(offer)
        for corpus, offers in by_corpus.items():
            offers.sort(key=self._rank)
            self.others[corpus] = offers[1:]
        return [offers[0] for offers in by_corpus.values()]

    def _rank(self, offer: Offer) -> tuple[Any, ...]:
        """Sort key: the config's own name first, then the language in its usual sense, then more pairs."""
        entries = self.config.entries(KINDS["opus"], offer.corpus).values()
        given: dict[str, str] = next((entry.get("names", {}) for entry in entries), {})
        foreign = sum(given.get(code, name) != name for code, name in zip(self.codes, offer.names, strict=True))
        variety = sum(opus_names(code)[name.casefold()] for code, name in zip(self.codes, offer.names, strict=True))
        return foreign, variety, -(offer.pairs or 0), offer.names

    def _names(self, language: str, beside: str) -> list[str]:
        """The names of ``language`` under which archives with ``beside`` exist."""
        known = opus_names(language)
        if len(known) == 1:
            return list(known)
        return sorted({name for name in self.api.languages(beside) if name.casefold() in known})

    def _place(self, offer: Offer) -> tuple[str, dict[str, Any]]:
        """The catalogue entry, with its name, that an offer belongs to; an empty one if it needs a new entry.

        Skips entries that would need other names for languages of their models.
        """
        models = [self.config.model(name) for name in self.config.models]
        for name, entry in sorted(
            self.config.entries(KINDS["opus"], offer.corpus).items(), key=lambda item: item[0] != offer.corpus
        ):
            used = {code for model in models for part in model.parts if part.corpus == name for code in part.languages}
            names = entry.get("names", {})
            if all(
                code not in used or names.get(code, code) == there
                for code, there in zip(self.codes, offer.names, strict=True)
            ):
                return name, entry
        further = (f"{offer.corpus}-{offer.pair}-{number}" for number in itertools.count(2))
        free = itertools.chain([offer.corpus, f"{offer.corpus}-{offer.pair}"], further)
        return next(name for name in free if name not in self.config.corpora), {}

    def _release(self, offer: Offer) -> Offer:
        """The offer in the config's release of the corpus, if that has the pair."""
        given = of_pair(self.places[offer.corpus][1], "version", offer.pair)
        if given in (None, offer.version):
            return offer
        same = self.api.corpora(offer.names, offer.corpus, given)
        if same:
            self.others[offer.corpus] = []
        return same[0] if same else offer

    def _wanted(self, offer: Offer) -> bool:
        corpus = offer.corpus.casefold()
        reason = SKIPPED.get(corpus) or (SYNTHETIC if offer.version.endswith("syn") else None)
        if offer.pairs == 0:
            reason = "it is empty"
        if reason is None and (forbidden := self.config.forbidden(self._licence(offer))):
            reason = f"it {forbidden}"
        if reason is not None:
            self.left_out.append(f"{offer.corpus} {offer.version}, {offer.size}: {reason}")
        return reason is None

    def _licence(self, offer: Offer) -> str | None:
        for entry in self.config.entries(KINDS["opus"], offer.corpus).values():
            return of_pair(entry, "licence", offer.pair)
        return LICENCES.get(offer.corpus.casefold())

    # How it is written.

    def text(self) -> str:
        name = self._model()
        first, second = (NAMES.get(code, code) for code in self.codes)
        pairs = sum(offer.pairs or 0 for offer in self.corpora)
        lines = [
            f"# {first} and {second}: {len(self.corpora)} corpora, {pairs:,} pairs, as listed by {self.api.address}",
            f"# As {name}.yaml: snakemake --cores 32 --configfile {name}.yaml -- results/{name}/eval.json",
            "corpora:",
            *itertools.chain.from_iterable(self._entry(offer) for offer in self.corpora),
            "models:",
            f"  {_yaml(name)}:",
            f"    languages: [{', '.join(map(_yaml, self.codes))}]",
            "    corpora:",
            *(self._item(offer) for offer in self.corpora),
        ]
        if self.left_out:
            lines += ["# Left out:", *(f"#   {line}" for line in self.left_out)]
        return "\n".join(lines) + "\n"

    def _model(self) -> str:
        """An unused model name: a suggestion must not change the corpora of an existing model."""
        plain = self.codes[1] if self.codes[0] == "en" else "-".join(self.codes)
        names = itertools.chain([plain, f"{plain}-opus"], (f"{plain}-opus{number}" for number in itertools.count(2)))
        return next(name for name in names if name not in self.config.models)

    def _entry(self, offer: Offer) -> Iterator[str]:
        name, known = self.places[offer.corpus]
        fields: dict[str, Any] = {} if name == offer.corpus else {"opus": offer.corpus}
        fields["version"] = known.get("version", offer.version)
        if of_pair(fields | known, "version", offer.pair) != offer.version:
            fields["versions"] = {offer.pair: offer.version}
        names = {code: name for code, name in zip(self.codes, offer.names, strict=True) if code != name}
        if names:
            fields["names"] = names
        cap = known.get("cap", CAP if (offer.pairs or 0) > CAP else None)
        if cap is not None:
            fields["cap"] = cap
        fields["licence"] = known["licence"] if "licence" in known else self._licence(offer)
        if offer.pairs is not None:
            fields["pairs"] = {offer.pair: offer.pairs}
        if offer.bytes is not None:
            fields["bytes"] = {offer.pair: offer.bytes}
        yield f"  {_yaml(name)}:"
        for key, value in fields.items():
            remark = ""
            if key == "licence" and value is None:
                remark = f" # none declared{': ' + terms if (terms := TERMS.get(offer.corpus.casefold())) else ''}"
            elif key == "versions":
                remark = f" # {of_pair(known, 'version', offer.pair)}, the config's release, lacks it"
            elif key == "pairs" and (others := self.others.get(offer.corpus)):
                remark = f" # also: {', '.join(f'{other.pair}, {other.size}' for other in others)}"
            yield f"    {key}: {_yaml(value)}{remark}"

    def _item(self, offer: Offer) -> str:
        doubt = self.doubts[offer.corpus]
        off = "# " if doubt and not self.nothing_else else ""
        return f"      {off}- {_yaml(self.places[offer.corpus][0])} # {offer.size}{'; ' + doubt if doubt else ''}"


def _yaml(value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, width=10**6, allow_unicode=True, sort_keys=False)
    return text.removesuffix("\n").removesuffix("\n...")
