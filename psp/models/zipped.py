"""A model packed as a .zip on the web, ``https://host/fr-int8.zip#sha256=...``, as a folder of the user's cache.

:func:`psp.report.release.pack` writes such files. Only the files that its config.json lists as the model's are
unpacked. Extra ``data``.
"""

from __future__ import annotations

import logging
import re
import shutil
from pathlib import Path

from psp.core.errors import DataError, from_extra
from psp.core.files import new_folder, read_json, user_cache
from psp.models import CONFIG, card_file, file_names, is_transformer
from psp.models.folder import check_weights
from psp.models.trust import check_folder

log = logging.getLogger(__name__)

_ADDRESS = re.compile(r"(https?://[^#\s]+)#sha256=([0-9a-f]{64})")


def cache() -> Path:
    """The folder of models from the web: ``$XDG_CACHE_HOME/psp/models``, or ``~/.cache/psp/models``."""
    return user_cache() / "models"


def fetch(address: str) -> Path:
    """Download and unpack a model, unless its files are in the cache, whole; return its folder there.

    Args:
        address: of a .zip, with the SHA-256 that the file must have after ``#sha256=``.

    Raises:
        DataError: the address has no checksum, or the file is not a psp model in a .zip.
        DownloadError: it cannot be downloaded, or has another checksum.
        PspError: requests is missing.
    """
    match = _ADDRESS.fullmatch(address)
    if match is None:
        raise DataError(
            "has no checksum; end it with #sha256= and the 64 hexadecimal digits that its publisher gives", address
        )
    folder = cache() / match[2]
    damaged = False
    if folder.is_dir():
        try:
            _check(folder)
            return folder
        except DataError as error:
            log.warning("%s; it is fetched again", error)
            damaged = True
    with from_extra("data", f"{address}: downloads need requests"):
        import requests  # noqa: F401  # needed for downloads
    from psp.config.blocks.sources import Remote
    from psp.corpora.download import fetch as download

    packed = folder.with_suffix(".zip")
    remote = Remote(match[1].rsplit("/", 1)[-1], (match[1],), sha256=match[2], advice="")
    download(remote, packed, folder.with_suffix(".json"))
    try:
        if damaged:  # otherwise, a folder that is there now is another process's, and whole
            shutil.rmtree(folder, ignore_errors=True)
        unpack(packed, folder)
    except DataError as error:
        if not folder.is_dir():  # another process may have been the first
            raise DataError(str(error).replace(f"{folder}: ", "").replace(f"{folder}/", ""), address) from error
    finally:
        packed.unlink(missing_ok=True)
    return folder


def _check(folder: Path) -> None:
    """Check that a model in the cache is whole.

    Raises:
        DataError: a file is missing, or the weights are not those of its config.json.
    """
    for name in file_names(read_json(folder / CONFIG), folder):
        if not (folder / name).is_file():
            raise DataError("missing", folder / name)
    check_weights(folder)


def unpack(packed: Path, folder: Path) -> None:
    """Unpack the model in a .zip, which lies at its top or in one folder, to a new folder.

    Raises:
        DataError: there is no complete psp model in it, it is refused (:mod:`psp.models.trust`), it is larger than
            :mod:`psp.core.files` allows, or the folder cannot be written. Nothing stays in the folder.
    """
    from psp.corpora.archive import open_member, open_zip

    with open_zip(packed) as archive, new_folder(folder) as made:
        names = set(archive.namelist())
        configs = [name for name in names if name.rsplit("/", 1)[-1] == CONFIG]
        if not configs:
            raise DataError(f"not a psp model: the zip has no {CONFIG}", packed)
        place = min(configs, key=lambda name: (name.count("/"), name)).removesuffix(CONFIG)

        def take(name: str) -> Path:
            if place + name not in names:
                raise DataError(f"has no {name}, but its {CONFIG} lists it; pack the whole model again", packed)
            path = made / name
            path.parent.mkdir(exist_ok=True)
            with open_member(archive, place + name, packed) as source, path.open("wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
            return path

        config = read_json(take(CONFIG))
        wanted = file_names(config, packed)[1:]
        for name in [*wanted, *({card_file.NAME} if place + card_file.NAME in names else ())]:
            take(name)
        if is_transformer(config):
            check_folder(made)
