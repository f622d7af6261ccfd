"""All kinds of corpora that psp has, registered by importing this module."""

from __future__ import annotations

from psp.corpora import csv_file, jsonl, lines, local, mined, opus, paranmt, parquet, text, tmx
from psp.corpora.base import CorpusKind, of_kind, registered

__all__ = ["KINDS", "CorpusKind", "of_item", "of_kind", "registered"]

#: Imported for their registration; the first is the default of a catalogue's entry.
KINDS: tuple[type[CorpusKind], ...] = (
    opus.Opus, paranmt.ParaNmt, local.Local, lines.Lines, tmx.Tmx, csv_file.Csv, jsonl.JsonLines, text.Text,
    parquet.Parquet, mined.Mined, local.Translated,
)  # fmt: skip


def of_item(keys: object) -> list[type[CorpusKind]]:
    """The kinds whose file an item of ``corpora`` names, by the item's keys."""
    return [kind for kind in registered() if kind.item and next(iter(kind.item)) in keys]  # type: ignore[operator]
