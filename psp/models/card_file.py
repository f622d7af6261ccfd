"""The model card as a file with a checksum, so that edited cards are recognised and kept."""

from __future__ import annotations

import hashlib
import logging
import re
from pathlib import Path

from psp.core.errors import DataError
from psp.core.files import atomic_text, read_bytes

log = logging.getLogger(__name__)


NAME = "README.md"


_SEAL = re.compile(r"<!-- written by psp; kept once it is edited: ([0-9a-f]{16}) -->\n?\Z")


def sealed(text: str) -> str:
    """A card with its last line, by which it is known as unedited."""
    return f"{text}<!-- written by psp; kept once it is edited: {_checksum(text)} -->\n"


def is_generated(text: str) -> bool:
    """Whether psp wrote this card and nobody has edited it since."""
    text = text.replace("\r\n", "\n")  # an editor or git may change line endings; that is not an edit
    seal = _SEAL.search(text)
    return seal is not None and seal[1] == _checksum(text[: seal.start()])


def edited(folder: Path) -> bytes | None:
    """The card in a model's folder, if a person wrote or edited it; None otherwise.

    Raises:
        DataError: it cannot be read.
    """
    path = folder / NAME
    try:
        text = read_bytes(path) if path.exists() else None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from error
    return text if text is not None and not is_generated(text.decode("utf-8", "replace")) else None


def write(folder: Path, text: str) -> bool:
    """Write a card into a model's folder, unless its card was edited or is not psp's.

    Returns:
        Whether it was written.

    Raises:
        DataError: it cannot be read or written.
    """
    path = folder / NAME
    if edited(folder) is not None:
        log.warning("%s was edited by hand and is kept; remove it to get a new one", path)
        return False
    with atomic_text(path) as file:
        file.write(text)
    return True


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
