"""Limits on files from others, so that no file or archive fills the memory or the disk."""

from __future__ import annotations

#: Bytes of a line of text: no sentence is that long, and a file without line ends would be read into memory whole.
LINE_BYTES = 1 << 20
#: Bytes of an archive's member or of a compressed file, unpacked: more than the largest corpus, less than most disks.
UNPACKED_BYTES = 200_000_000_000
#: How many times its size a member or a compressed file may grow, far beyond what packed text does.
RATIO = 200
#: Files smaller than this when unpacked may have any ratio: a page of spaces is not a bomb.
HARMLESS_BYTES = 16 << 20


def unpacked_problem(size: int, packed: int) -> str | None:
    """Say in a few words why ``packed`` bytes may not unpack to ``size``; None if they may."""
    if size > UNPACKED_BYTES:
        return f"more than {UNPACKED_BYTES:,} bytes unpacked"
    if size > HARMLESS_BYTES and size > RATIO * max(packed, 1):
        return f"more than {RATIO:g} times its size unpacked"
    return None
