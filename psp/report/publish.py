"""Mined pairs for others to use: a file with the shared sentence, the cosine and the corpora of each pair, and a card.

The card is in the layout of a data set's on the Hugging Face Hub, Markdown below YAML. The same pairs give the same
bytes.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from psp.core.errors import DataError, from_extra
from psp.core.files import atomic, atomic_text, read_json
from psp.core.progress import Progress
from psp.models.embedding_cache import cached
from psp.models.similarity import cosines
from psp.pairs.pair_file import blocks, columns_of, own_layout
from psp.text.languages import NAMES
from psp.text.lines import read_lines
from psp.text.words import clean

JSONL, PARQUET = FORMATS = (".jsonl", ".parquet")
#: Pairs that are embedded and written together.
_BLOCK = 4096
_SAMPLES = 10

Row = dict[str, Any]


class Published(NamedTuple):
    """What the card says besides the counts."""

    name: str
    licence: str
    sources: Sequence[Mapping[str, Any]]
    """Of each corpus of bitext: ``label``, ``version`` and ``licence``."""


def publish(
    mined: Path,
    filtered: Path,
    report: Path,
    out: Path,
    card: Path,
    about: Published,
    *,
    encoder: str | None = None,
    cache: Path | None = None,
) -> int:
    r"""Write mined pairs and their card; both completely, or the card not at all.

    Args:
        mined: what :func:`psp.pairs.pivot.mine` wrote.
        filtered: its pairs that are published, in their own case, ``source \t target``, in the same order.
        report: the report of mining.
        out: ends in .jsonl or .parquet. Columns: ``source``, ``target``, ``shared`` (text); ``cosine`` of the two
            sentences, rounded to 4 places, if there is an encoder; ``corpora``, a list of names.
        card: Markdown.
        about: what else the card says.
        encoder: gives cosines, as for :func:`psp.models.registry.load_encoder`.
        cache: a folder for its vectors; None for none.

    Returns:
        The number of pairs.

    Raises:
        DataError: ``filtered`` is not part of ``mined``, or a file cannot be read or written.
        PspError: pyarrow is missing, or the encoder cannot be loaded.
    """
    if out.suffix not in FORMATS:
        raise DataError(f"ends in neither {' nor '.join(FORMATS)}; give it one of these endings", out)
    embed = None if encoder is None else cached(encoder, cache).embed
    rows = _with_cosines(_kept(mined, filtered), embed)
    count, sample, total = 0, list[Row](), 0.0
    with Progress(f"publishing {out.name}", "pairs") as bar, _writer(out, embed is not None) as write:
        while block := list(itertools.islice(rows, _BLOCK)):
            write(block)
            sample += block[: _SAMPLES - len(sample)]
            total += sum(row.get("cosine", 0.0) for row in block)
            count += len(block)
            bar.add(len(block))
    mean = round(total / count, 3) if count and encoder is not None else None
    with atomic_text(card) as file:
        file.write(_card(out, about, read_json(report), count, sample, encoder, mean))
    return count


def _kept(mined: Path, filtered: Path) -> Iterator[Row]:
    """The mined rows whose pair was kept; both files have them in one order."""
    layout = own_layout(filtered) if filtered.stat().st_size else None
    with mined.open("rb") as file:
        lines = read_lines(file, mined)
        for number, block in blocks(filtered):
            assert layout is not None
            for pair in zip(*columns_of(block, filtered, number, layout)[:2], strict=True):
                for line in lines:
                    source, target, shared, corpora = line.split("\t")
                    if (clean(source), clean(target)) == pair:
                        yield {"source": pair[0], "target": pair[1], "shared": shared, "corpora": corpora.split("+")}
                        break
                else:
                    raise DataError(f"holds a pair that was not mined ({pair[0]!r}); make both files again", filtered)


def _with_cosines(rows: Iterator[Row], embed: Callable[[Sequence[str]], Any] | None) -> Iterator[Row]:
    while block := list(itertools.islice(rows, _BLOCK)):
        if embed is not None:
            scores = cosines(*(embed([row[side] for row in block]) for side in ("source", "target")))
            for row, score in zip(block, scores, strict=True):
                row["cosine"] = round(float(score), 4)
        yield from block


@contextlib.contextmanager
def _writer(out: Path, scored: bool) -> Iterator[Callable[[list[Row]], None]]:
    keys = ("source", "target", "shared", *(["cosine"] if scored else []), "corpora")
    if out.suffix == JSONL:
        with atomic_text(out) as file:

            def write_lines(rows: list[Row]) -> None:
                for row in rows:
                    file.write(json.dumps({key: row[key] for key in keys}, ensure_ascii=False) + "\n")

            yield write_lines
        return
    with from_extra("parquet", "writing .parquet needs pyarrow"):
        import pyarrow  # type: ignore[import-untyped]
        import pyarrow.parquet  # type: ignore[import-untyped]
    kinds = {"cosine": pyarrow.float64(), "corpora": pyarrow.list_(pyarrow.string())}
    schema = pyarrow.schema([(key, kinds.get(key, pyarrow.string())) for key in keys])
    with atomic(out) as temporary, pyarrow.parquet.ParquetWriter(temporary, schema, compression="zstd") as inner:

        def write_group(rows: list[Row]) -> None:
            inner.write_table(pyarrow.Table.from_pylist([{key: row[key] for key in keys} for row in rows], schema))

        yield write_group


def _card(
    out: Path,
    about: Published,
    report: Mapping[str, Any],
    count: int,
    sample: Sequence[Row],
    encoder: str | None,
    mean: float | None,
) -> str:
    languages = list(dict.fromkeys(report["languages"]))
    names = " and ".join(NAMES.get(code, code) for code in languages)
    through = NAMES.get(report["through"], report["through"])
    what = "Paraphrases" if len(languages) == 1 else "Sentence pairs"
    identifiers = about.licence.replace("(", " ").replace(")", " ").split()
    single = len(identifiers) == 1
    lines = [
        "---",
        "language:",
        *(f"- {json.dumps(code)}" for code in languages),
        f"license: {about.licence.lower() if single else 'other'}",
        *([] if single else [f"license_name: {json.dumps(about.licence)}"]),
        "task_categories:",
        "- sentence-similarity",
        "configs:",
        "- config_name: default",
        f"  data_files: {json.dumps(out.name)}",
        "---",
        "",
        f"# {what} in {names}, mined through {through}",
        "",
        f"{count:,} pairs of sentences that share a translation in bitext, as in Dadas (2022). They were mined by "
        "machine, and some are not paraphrases: a translation is ambiguous (he or she, a tense), or a line is "
        "misaligned.",
        "",
        "| column | |",
        "|---|---|",
        "| `source`, `target` | the two sentences |",
        f"| `shared` | the translation that they share, in {through} |",
    ]
    if encoder is not None:
        lines.append(f"| `cosine` | of the two, by {encoder}; {mean} on average |")
    lines += ["| `corpora` | where they are from |", "", "## How they were mined", ""]
    settings, compared = report["settings"], report["translations"]
    lines.append(
        f"{sum(report['read'].values()):,} pairs of bitext have {report['keys']:,} distinct translations; "
        f"{report['groups']:,} of these are shared by several sentences, which gave {report['pairs']:,} pairs "
        f"(`pairs: {settings['pairs']}`). After filters {count:,} are left."
    )
    if compared is not None:
        lines.append(
            f"Sentences were left out whose cosine to their translation, by {settings['encoder']}, is below "
            f"{settings['min_cosine']}: {compared['kept']:,} of {compared['compared']:,} were kept."
        )
    lines += ["", f"Licence: {about.licence}, that of all the bitext together.", "", "| bitext | release | licence |"]
    lines += ["|---|---|---|"]
    lines += [f"| {one['label']} | {one['version'] or ''} | {one['licence']} |" for one in about.sources]
    if sample:
        lines += ["", "## The first pairs", "", "| source | target | shared |", "|---|---|---|"]
        cells = ([row[key].replace("|", "\\|") for key in ("source", "target", "shared")] for row in sample)
        lines += [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join(lines) + "\n"
