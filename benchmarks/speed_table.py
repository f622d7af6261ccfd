"""speed.json as Markdown tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

#: The system with which the others are compared.
OURS = "psp float32, numba"
_MB = 1e6


def markdown(result: Mapping[str, Any]) -> str:
    """Render speed.json: one table per number of cores, one row per system, and the conditions below."""
    parts = []
    for cores in dict.fromkeys(row["cores"] for row in result["systems"]):
        rows = [row for row in result["systems"] if row["cores"] == cores]
        parts.append("\n".join(_table(rows, cores)))
    parts.append("\n".join(_notes(result)))
    return "\n\n".join(parts) + "\n"


def _table(rows: list[Mapping[str, Any]], cores: int) -> Iterator[str]:
    ours = next((row for row in rows if row["name"] == OURS), rows[0])
    said = "one core" if cores == 1 else f"{cores} cores"
    heads = [
        f"{said}, sentences/s: median (min to max)",
        "text in, cold",
        "text in, warm",
        "text to ids alone",
        "ids in",
        "embeddings read, GB/s (share of copying speed)",
        "times slower, cold, warm",
        "load, s",
        "memory, MB",
        "cosine",
        "busy cores",
        "sentences",
    ]
    yield "| " + " | ".join(heads) + " |"
    yield "|---" * len(heads) + "|"
    for row in rows:
        gathered = "-" if row["gathered"] is None else f"{row['gathered'] / 1e9:.1f} ({row['of_copy']:.2f})"
        times = ", ".join(f"{ours[key]['median'] / row[key]['median']:.1f}" for key in ("cold", "warm"))
        resident = "-" if row["resident_bytes"] is None else f"{row['resident_bytes'] / _MB:,.0f}"
        cells = [
            f"{row['name']} ({row['backend']}; {row['dim']:,} dimensions)",
            _rates(row["cold"]),
            _rates(row["warm"]),
            "-" if row["split"] is None else _rates(row["split"]),
            "-" if row["forward"] is None else _rates(row["forward"]),
            gathered,
            times,
            f"{row['load_seconds']:.2f}",
            resident,
            "-" if row["agreement"] is None else f"{row['agreement']:.4f}",
            f"{row['busy_cores']:.2f}",
            f"{row['sentences']:,}",
        ]
        yield "| " + " | ".join(cells) + " |"


def _rates(found: Mapping[str, Any]) -> str:
    return f"{found['median']:,.0f} ({found['min']:,.0f} to {found['max']:,.0f})"


def _notes(result: Mapping[str, Any]) -> Iterator[str]:
    conditions = result["conditions"]
    if (several := result["processes"]) is not None:
        yield (
            f"{several['processes']} processes of {several['name']}, each on its own core: {_rates(several['all'])} "
            f"sentences/s, {several['efficiency']:.2f} of {several['processes']} times a single one "
            f"({_rates(several['one'])})."
        )
    for one in result["memory"]:
        yield f"Copying memory, one thread bound to {one['cores']} cores: {one['copy']['median'] / 1e9:.1f} GB/s."
    for one in result["missing"]:
        yield f"Not measured: {one['name']}: {one['why']}."
    size = conditions["rows_in_use"] * conditions["dim"] * 4 / _MB
    yield (
        f"{result['sentences']:,} sentences: {result['source']}. {conditions['mean_pieces']:.1f} pieces per sentence, "
        f"{conditions['dim']:,} dimensions, {conditions['vocab_size']:,} pieces, of which "
        f"{conditions['rows_in_use']:,} occur ({size:,.0f} MB of embeddings in float32)."
    )
    yield (
        f"{conditions['cpu']}, {conditions['usable_cores']} cores; {conditions['repeats']} rounds; load average "
        f"{conditions['load_before']} before, {conditions['load_after']} after; ids in batches of "
        f"{conditions['batch_size']}; "
        + ", ".join(f"{name} {version}" for name, version in conditions["versions"].items())
        + "."
    )
