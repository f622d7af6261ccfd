"""Hold pairs out of a translator's training by sentence: no training pair shares a side with a held-out pair.

Sides are compared by their letters and digits (:mod:`psp.text.keys`), since everyday sentences occur in many rows: in
half of Tatoeba's, with another translation. Otherwise a translator would be scored on sentences that it has read.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from psp.config.blocks.translator import REST
from psp.core.errors import ConfigError, DataError
from psp.core.files import atomic_bytes, atomic_text, folder_beside, write_json
from psp.core.logs import Progress
from psp.pairs.heldout import part
from psp.pairs.pair_file import blocks, read_mixed
from psp.text.keys import normalised_columns


class HeldOutCorpus(TypedDict):
    corpus: str
    pairs: int  # distinct pairs, those of earlier corpora left out
    heldout: int  # pairs held out
    neighbours: int  # pairs left out because they share a sentence with one of these
    kept: int  # pairs to train on


class HeldOutReport(TypedDict):
    """What was held out of a translator's training, by sentence."""

    format: int
    corpora: list[HeldOutCorpus]  # each corpus; kept, heldout and neighbours add up to pairs
    sets: dict[str, int]  # pairs of each held-out set by its name


log = logging.getLogger(__name__)

#: The set that training is steered by; the others are for the report.
DEVELOPMENT = "development"


def hold_out(
    mixed: Path,
    out: Path,
    heldout: Path,
    report: Path,
    *,
    corpora: Sequence[str],
    sets: Mapping[str, int],
    development: int,
) -> HeldOutReport:
    r"""Split mixed pairs into those for training and those held out.

    Args:
        mixed: a mixed pair file in random order, ``source \t target \t index \n``.
        out: the pairs for training, in the same format and order.
        heldout: the held-out pairs, ``source \t target \t set-corpus``: `development` or one of ``sets``, a tab-free
            name; then a slash and the corpus's index.
        report: JSON with the counts; the same is returned.
        corpora: the corpora's names, by index.
        sets: pairs to hold out by corpus's name, and under `rest` for all corpora that are not named; at most a tenth
            of those corpora's pairs.
        development: pairs to hold out for development, whatever their corpus; at most a hundredth of all pairs.

    Raises:
        ConfigError: ``sets`` names a corpus that is not there.
        DataError: the input is missing or invalid, or too few pairs are left to train on or hold out.
    """
    if strange := next((name for name in sets if name != REST and name not in corpora), None):
        raise ConfigError(
            f"translator.heldout: {strange} is not a corpus of this translator; there are {', '.join(corpora)}, and "
            f"`{REST}` for all others"
        )
    of_index = [name if name in sets else REST for name in corpora]
    counts, total = Counter[str](), Counter[int]()
    for _, _, index in read_mixed(mixed):  # checks all lines, too
        if not re.fullmatch("[0-9]{1,9}", index) or int(index) >= len(corpora):
            raise DataError(f"has the index {index} of a corpus, and there are {len(corpora)}; make it again", mixed)
        total[int(index)] += 1
        counts[of_index[int(index)]] += 1
    wanted = {name: min(number, counts[name] // 10) for name, number in sets.items()}
    wanted[DEVELOPMENT] = min(development, total.total() // 100)
    chosen: dict[str, dict[int, int]] = {name: {} for name in wanted}
    keys: set[str] = set()
    row = -1
    for _, block in blocks(mixed):
        columns = normalised_columns(block.decode())
        for source, target, index in zip(columns[0::3], columns[1::3], columns[2::3], strict=True):
            row += 1
            if not source or not target or source in keys or target in keys:
                continue
            for name in (of_index[int(index)], DEVELOPMENT):
                if len(chosen.get(name, ())) < wanted.get(name, 0):
                    chosen[name][row] = int(index)
                    keys.update((source, target))
                    break
    for name, rows in chosen.items():
        asked = development if name == DEVELOPMENT else sets[name]
        if len(rows) < asked:
            log.warning("%s: %s pairs are held out instead of %s", name, f"{len(rows):,}", f"{asked:,}")
    if not chosen[DEVELOPMENT]:
        raise DataError(
            f"holds {total.total():,} pairs, too few to train a translator on: none can be held out to tell when it is "
            "best; add corpora, or see what the filters dropped",
            mixed,
        )
    names = {row: f"{name}/{index}" for name, rows in chosen.items() for row, index in rows.items()}
    with folder_beside(out) as folder, atomic_bytes(out) as out_file, atomic_text(heldout) as heldout_file:
        aside = folder / "heldout"
        with aside.open("wb") as file, Progress("holding pairs out", "pairs", total.total()) as bar:
            _, neighbours = part(mixed, set(names), keys, out_file, file, bar)
        for name, (source, target, _) in zip((names[row] for row in sorted(names)), read_mixed(aside), strict=True):
            heldout_file.write(f"{source}\t{target}\t{name}\n")
        held = [sum(index == one for rows in chosen.values() for index in rows.values()) for one in range(len(corpora))]
        summary: HeldOutReport = {
            "format": 1,
            "corpora": [
                {
                    "corpus": name,
                    "pairs": total[index],
                    "heldout": held[index],
                    "neighbours": neighbours[index],
                    "kept": total[index] - held[index] - neighbours[index],
                }
                for index, name in enumerate(corpora)
            ],
            "sets": {name: len(rows) for name, rows in chosen.items()},
        }
        if not sum(one["kept"] for one in summary["corpora"]):
            raise DataError("no pairs are left to train a translator on; add corpora, or hold fewer out", mixed)
        write_json(report, summary)
    return summary


def read_heldout(path: Path) -> dict[str, list[tuple[str, str, int]]]:
    """Read what :func:`hold_out` held out: by set, (source, target, index of the corpus).

    Raises:
        DataError: no such file, or a line is not of this format.
    """
    pairs: dict[str, list[tuple[str, str, int]]] = {}
    for source, target, name in read_mixed(path):
        one, _, index = name.rpartition("/")
        if not one or not re.fullmatch("[0-9]{1,9}", index):
            raise DataError(f"has the set {name!r}, not a name and the index of a corpus; make it again", path)
        pairs.setdefault(one, []).append((source, target, int(index)))
    return pairs
