import textwrap

import pytest

from psp.core import fingerprint as module


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A small package in psp's place: ``psp.step`` imports ``psp.tools.deep`` and logs through ``psp.core.logs``."""
    tmp_path = tmp_path / "psp"
    monkeypatch.setattr(module, "PACKAGE", tmp_path)
    monkeypatch.setattr(module, "CACHE", tmp_path / "__pycache__" / "fingerprints.json")
    module._cached.cache_clear()

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        module._read.cache_clear()

    write("__init__.py", "")
    write("core/__init__.py", "")
    write("core/logs.py", "x = 1\n")
    write("tools/__init__.py", "")
    write("tools/deep.py", "def depth():\n    return 3\n")
    write("step.py", "from psp.core import logs\nfrom psp.tools.deep import depth\n\ndef run():\n    return depth()\n")
    write("other.py", "y = 1\n")
    yield write
    module._read.cache_clear()
    module._cached.cache_clear()


def test_comments_docstrings_and_layout_change_nothing(package):
    before = module.fingerprint("psp.step")
    package(
        "step.py",
        '''
        """What this is."""
        from psp.core import logs
        from psp.tools.deep import depth

        # Why it is so.
        def run():
            """Run."""
            return depth()  # the depth
        ''',
    )
    assert module.fingerprint("psp.step") == before


def test_code_changes_it_also_in_what_is_imported(package):
    before = module.fingerprint("psp.step")
    package("tools/deep.py", "def depth():\n    return 4\n")
    changed = module.fingerprint("psp.step")
    assert changed != before
    package("tools/__init__.py", "import os\n")
    assert module.fingerprint("psp.step") not in (before, changed)


def test_other_modules_and_how_a_step_logs_change_nothing(package):
    before = module.fingerprint("psp.step")
    package("other.py", "y = 2\n")
    package("core/logs.py", "x = 2\n")
    assert module.fingerprint("psp.step") == before


def test_relative_imports_are_followed(package):
    package("tools/near.py", "from .deep import depth\nfrom . import deep\n")
    before = module.fingerprint("psp.tools.near")
    package("tools/deep.py", "def depth():\n    return 5\n")
    assert module.fingerprint("psp.tools.near") != before


def test_a_name_that_is_not_there_is_an_error(package):
    with pytest.raises(ModuleNotFoundError, match=r"psp\.nothing"):
        module.fingerprint("psp.nothing")


def again():
    """As another process would find it."""
    module._read.cache_clear()
    module._cached.cache_clear()
    return module.fingerprint("psp.step")


def test_sources_that_are_known_are_not_parsed_again(package, monkeypatch):
    before = module.fingerprint("psp.step")
    with monkeypatch.context() as patched:
        patched.setattr(module, "_parse", lambda *_: pytest.fail("parsed again"))
        assert again() == before
    package("tools/deep.py", "def depth():\n    return 6\n")
    changed = again()
    assert changed != before
    package("tools/deep.py", "def depth():\n    return 3\n")
    assert again() == before


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", None])
def test_a_damaged_cache_or_none_changes_nothing(package, content):
    before = module.fingerprint("psp.step")
    if content is None:
        module.CACHE.unlink()
        module.CACHE.mkdir()  # it cannot be written either
    else:
        module.CACHE.write_bytes(content)
    assert again() == before


def test_what_only_type_checkers_read_changes_nothing(package):
    package("step.py", "from typing import TYPE_CHECKING\n\ndef run():\n    return 3\n")
    package("step.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from psp.other import y\n")
    before = module.reached("psp.step")
    assert "psp.other" not in before
    package("step.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from psp.tools.deep import depth\n")
    assert module.reached("psp.step") == before
    package("step.py", "from typing import TYPE_CHECKING\nif not TYPE_CHECKING:\n    from psp.other import y\n")
    assert "psp.other" in module.reached("psp.step")
