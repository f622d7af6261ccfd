"""The pages that only the site has: all settings, and all commands."""

from typing import Any

import commands  # MkDocs imports a hook with its folder on the path
import settings
from mkdocs.structure.files import File


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """Add the pages."""
    for name, module in (("settings.md", settings), ("commands.md", commands)):
        files.append(File.generated(config, name, content=module.page()))
    return files
