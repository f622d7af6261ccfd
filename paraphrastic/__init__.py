"""psp under the name of its distribution, which no other project has.

The package index has another project named psp. In one environment, either's files hide or overwrite the other's, and
an import of psp then finds a stranger. What starts from outside, the ``psp`` command and exported models, starts here
and says so in one sentence; ``import psp`` itself checks nothing.
"""

from __future__ import annotations

from typing import Any


class NotOurs(ImportError):
    """The psp that is imported is another project."""


def check() -> None:
    """Check that ``import psp`` finds this project.

    Raises:
        NotOurs: it does not; the message says what to run.
    """
    import psp

    if "load_model" not in getattr(psp, "__all__", ()):
        place = getattr(psp, "__file__", None) or "without files"
        raise NotOurs(
            f"the psp that Python finds here ({place}) is not paraphrastic's but another project of that name: run "
            "'pip uninstall psp', then 'pip install --force-reinstall --no-deps' with the paraphrastic that you had"
        )


def main() -> None:
    """The ``psp`` command."""
    try:
        check()
    except NotOurs as error:
        raise SystemExit(f"error: {error}") from None
    from psp.cli.main import main as command

    command()


def __getattr__(name: str) -> Any:
    if name not in {"Model", "load_model"}:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    check()
    import psp

    return getattr(psp, name)
