r"""Read OPUS archives (Moses format): two aligned text members in a zip, one sentence per line.

Both members are decompressed on the fly, side by side, so memory and disk do not grow with the corpus. Layout:
``<Corpus>.<l1>-<l2>.<lang>`` for both languages, l1 before l2 alphabetically, in any folder, beside README, LICENSE and
often ``.xml`` and ``.scores`` members, which are ignored.
"""

from __future__ import annotations

import contextlib
import zipfile
from collections.abc import Iterator
from pathlib import Path

from psp.config.blocks.corpora import language_pair
from psp.core.errors import ConfigError, DataError
from psp.corpora.archive import listed, open_member, open_zip
from psp.corpora.estimate import count_lines
from psp.corpora.lines import aligned
from psp.corpora.rows import Row


def member_names(corpus: str, languages: tuple[str, ...]) -> tuple[str, str]:
    """Return the names of the two text members, in the order of ``languages``."""
    pair = language_pair(languages)
    return f"{corpus}.{pair}.{languages[0]}", f"{corpus}.{pair}.{languages[1]}"


def read(path: Path | str, corpus: str, names: tuple[str, ...]) -> Iterator[Row]:
    r"""Yield the pairs of an archive in order, unmodified; cleaning is left to the filter stage.

    Only ``\n`` ends a line, so that a lone CR, U+2028, U+0085 and the like inside a sentence do not break the
    alignment; a CR before ``\n`` is kept. A zip's checksum is verified only at the end of a member, so an error may
    come after pairs were yielded: write results with :func:`psp.core.files.atomic`.

    Args:
        path: the zip.
        corpus: OPUS's name of the corpus, e.g. ``"OpenSubtitles"``.
        names: OPUS's own of the languages of source and target, e.g. ``("en", "zh_cn")``, in any order.

    Yields:
        (source, target), in the order of ``names``; or a bad row where a side is not UTF-8.

    Raises:
        ConfigError: the two languages are the same.
        DataError: the archive is missing, damaged, encrypted, lacks a member, or has sides of unequal length.
    """
    path = Path(path)
    if names[0] == names[1]:
        raise ConfigError(f"{corpus}: an OPUS corpus needs two languages, not {names[0]} twice")
    names = member_names(corpus, names)
    with contextlib.ExitStack() as stack:
        archive = stack.enter_context(open_zip(path))
        members = _members(archive, names, path)
        streams = [stack.enter_context(open_member(archive, name, path)) for name in members]
        yield from aligned(streams, members, path, "download the archive again, or leave this corpus out")


def count(path: Path, corpus: str, names: tuple[str, ...]) -> tuple[int, bool]:
    name = member_names(corpus, names)[0]
    if path.is_dir():  # a mirror, to be packed
        return count_lines(next(path.rglob(name), path / name))
    with open_zip(path) as archive:
        (member,) = _members(archive, (name,), path)
    return count_lines(path, member)


def _members(archive: zipfile.ZipFile, names: tuple[str, ...], path: Path) -> list[str]:
    """The full names of members, which may be in a folder, as in a zip that packs one."""
    present = archive.namelist()
    found = [[full for full in present if f"/{full}".endswith(f"/{name}")] for name in names]
    if wrong := [
        f"{'two members' if full else 'no member'} {name}"
        for name, full in zip(names, found, strict=True)
        if len(full) != 1
    ]:
        raise DataError(
            f"{' and '.join(wrong)} (the zip has: {listed(present)}); "
            "check the corpus's name and OPUS's names of the languages in the config",
            path,
        )
    return [full for (full,) in found]
