"""The tables of example sentences on a model's page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from psp.models.scores import direction
from psp.report import page
from psp.report.run import Run


def tables(run: Run) -> dict[str, Any] | None:
    if "examples" not in run:
        return None
    examples = run["examples"]

    def rated(rows: Sequence[Mapping[str, Any]]) -> Markup | None:
        head = ["set", "first sentence", "second", "people", "cosine"]
        cells = [
            [row["set"], page.foreign(row["a"]), page.foreign(row["b"]), f"{row['gold']:g}", f"{row['similarity']:.2f}"]
            for row in rows
        ]
        return page.table(head, cells, numbers=(3, 4)) if cells else None

    def directed(key: str, rows: Mapping[str, Any]) -> tuple[str, Markup | None, Markup | None]:
        wrong = [
            [
                page.foreign(row["query"]),
                page.foreign(row["found"]),
                f"{row['found_similarity']:.2f}",
                page.foreign(row["translation"]),
                f"{row['similarity']:.2f}",
            ]
            for row in rows["wrong"]
        ]
        right = [
            [page.foreign(row["query"]), page.foreign(row["translation"]), f"{row['similarity']:.2f}"]
            for row in rows["right"]
        ]
        return (
            direction(key),
            page.table(["sentence", "found", "cosine", "translation", "cosine"], wrong, numbers=(2, 4))
            if wrong
            else None,
            page.table(["sentence", "found", "cosine"], right, numbers=(2,)) if right else None,
        )

    neighbours = [
        [page.foreign(row["query"]), page.foreign(row["found"]), f"{row['similarity']:.2f}"]
        for row in examples["neighbours"]
    ]
    return {
        "overrated": rated(examples["overrated"]),
        "underrated": rated(examples["underrated"]),
        "retrieval": [directed(key, rows) for key, rows in examples["retrieval"].items()],
        "neighbours": page.table(["sentence", "nearest neighbour", "cosine"], neighbours, numbers=(2,))
        if neighbours
        else None,
    }
