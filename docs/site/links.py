"""What the site needs changed: links to files outside docs/, which it does not have, and roles in docstrings."""

import re
from typing import Any

#: The project's own front page is the site's list of pages.
FRONT = "../README.md)"


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Take the links to files of the project away, which a reader of the site cannot follow."""
    up = "../" * page.file.src_uri.count("/")  # from the page's folder to docs/
    markdown = markdown.replace(f"({up}{FRONT}", f"({up}README.md)")
    return re.sub(rf"\[([^\]]+)\]\({re.escape(up)}\.\./[^)\s]+\)", r"\1", markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Take away what says of a name in a docstring that it is a class or a function: its text does."""
    return re.sub(r":(?:attr|class|data|func|meth|mod):(?=<code)", "", html)
