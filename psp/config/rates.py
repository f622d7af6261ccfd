"""Time and space that stages take per pair: for time limits, and for `psp plan`.

Measured by the workflow's benchmark files on the whole sample (en-fr, 610,616 pairs of 12 corpora; 2 cores, 1,024
dimensions, 50,000 pieces), process start-up included.
"""

from __future__ import annotations

#: Pairs per second of one job while two ran at once.
FILTER_RATE, DEDUPE_RATE = 43_000, 175_000
#: For a job that ran alone.
MIX_RATE, STORE_RATE = 180_000, 125_000
#: By the value that ranks (CPU time).
RANK_RATE = {"score": 150_000, "translation": 150_000, "overlap": 70_000, "length": 200_000}
#: For one that removes near-duplicates (30 us per pair).
NEARDUP_RATE = 33_000
#: Bytes of a pair: packed in an archive, and as text between the stages.
PACKED_BYTES, TEXT_BYTES = 38, 140


def minutes(megabytes: float, rate: float) -> int:
    """Estimate how long a stage takes.

    Args:
        megabytes: of the text that it reads, in units of 2**20 bytes.
        rate: pairs per second.
    """
    return int(megabytes * 2**20 / TEXT_BYTES / rate / 60)
