"""The part of the model card about the training data and its licences."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from psp.models import licence as licences
from psp.text import markup

#: The columns of the table of corpora.
COLUMNS = ("corpus", "languages", "release", "pairs", "licence", "source")


def licence(text: str) -> str | None:
    """The licence in a card's front matter, which may be anybody's card; None without one."""
    front = re.match(r"---\r?\n(.*?)^---", text, re.DOTALL | re.MULTILINE)
    match = front and re.search(r"""^license:[ \t]*["']?([^\s"'#]+)""", front[1], re.MULTILINE)
    return match[1] if match else None


def corpora(text: str) -> list[dict[str, str]]:
    """The rows of a card's tables of corpora, by :data:`COLUMNS`, each once; none without such a table."""
    _, *tables = text.replace("\r\n", "\n").split(f"\n| {' | '.join(COLUMNS)} |\n")
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for rest in tables:
        for line in rest.split("\n")[1:]:  # after the rule below the names
            cells = [markup.unmarked(cell.strip()) for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if len(cells) != len(COLUMNS):
                break
            rows.setdefault(tuple(cells), dict(zip(COLUMNS, cells, strict=True)))
    return list(rows.values())


def together(data: Mapping[str, Any]) -> licences.Licence:
    """The licences of all corpora in data.json."""
    return licences.together((corpus["corpus"], corpus["licence"]["declared"]) for corpus in data["corpora"])


def section(models: Sequence[Mapping[str, Any]], whole: Mapping[str, Any], given: str | None) -> str:
    """The corpora of a model, or of each of several, whose corpora together are ``whole``."""
    tables = [_table_of_corpora(data) for data in models]
    if len(set(tables)) == 1:
        body = "All its parts were trained on the same.\n\n" * (len(models) > 1) + tables[0]
    else:
        heads = (f"### {markup.markdown(data['model'])}" for data in models)
        body = "\n\n".join(f"{head}\n\n{own}" for head, own in zip(heads, tables, strict=True))
    terms_text = "Licences are those that the corpora declare, as far as psp's config knows them."
    if given is None:
        terms = together(whole)
        if terms.expression:
            terms_text += f" Together: {markup.markdown(terms.expression)}."
        if terms.undeclared:
            names = ", ".join(map(markup.markdown, terms.undeclared))
            terms_text += f" No licence is declared by {names}: find out what may be done with a model of such text."
    return f"## Data\n\n{body}\n\n{terms_text}"


def _table_of_corpora(data: Mapping[str, Any]) -> str:
    body = [
        (
            markup.markdown(corpus["corpus"]),
            "-".join(corpus["languages"]),
            markup.markdown(corpus["version"] or "-"),
            f"{corpus['kept']:,}",
            markup.markdown(corpus["licence"]["declared"] or "none declared"),
            public_address(corpus["source"]["address"]) or "not on the web",
        )
        for corpus in data["corpora"]
    ]
    return markup.rows(COLUMNS, body)


def public_address(address: str) -> str | None:
    """A corpus's address as others can use it, safe in Markdown; None for one that is not on the web.

    A path on one's own machine is useless to others and reveals too much; so do a user name and a password.
    """
    if not address.startswith(("https://", "http://")):
        return None
    scheme, _, rest = address.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}://{quote(host.rpartition('@')[2], safe=':.[]-')}{slash}{quote(path, safe=_SAFE)}"


#: Of the characters that an address may hold, those that Markdown leaves alone.
_SAFE = "/:?#@!&'(),;=%+-._"
