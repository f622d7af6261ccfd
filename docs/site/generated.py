"""What only the site has: the pages of all settings and all commands, and the config's JSON Schema for editors."""

import json
from typing import Any

import commands  # MkDocs imports a hook with its folder on the path
import settings
from mkdocs.structure.files import File

from psp.config.blocks.entries import Document


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """Add the pages and the schema."""
    for name, module in (("settings.md", settings), ("commands.md", commands)):
        files.append(File.generated(config, name, content=module.page()))
    files.append(File.generated(config, "config.schema.json", content=json.dumps(Document.model_json_schema())))
    return files
