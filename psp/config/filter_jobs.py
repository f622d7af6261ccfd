"""Turn the inputs and params of a job that filters corpora into arguments of the library's functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psp.corpora import open_corpus
from psp.evaluation.scored import scored
from psp.pairs import filters
from psp.pairs.filters.language import needs_lid
from psp.text.segment import Segmenter

if TYPE_CHECKING:
    from psp.pairs.filters.stage import FilterReport


def corpus_filters(inputs: Any, corpus: Mapping[str, Any]) -> list[filters.Filter]:
    """The filters of a corpus.

    Args:
        inputs: ``lid``, fastText's model in a list, if a filter needs it.
        corpus: its ``filters`` (their settings), ``tests`` (kept out of training) and ``part``, of a filter job's
            params.
    """
    resources: dict[str, Any] = {"lid": inputs.lid[0]} if needs_lid(corpus["filters"]) else {}
    if corpus["tests"]:
        resources["tests"] = list(scored(corpus["tests"]))
    return filters.build(corpus["filters"], tuple(corpus["part"]["languages"]), resources)


def filter_corpus(
    inputs: Any, file: str, outputs: Sequence[Path], params: Any, corpus: Mapping[str, Any], *, processes: int
) -> FilterReport:
    """Filter a corpus as :func:`psp.pairs.filters.filter_corpus` does.

    Args:
        inputs, corpus: as for :func:`corpus_filters`; also ``segment``, the segmenters' settings by language.
        file: the corpus.
        outputs: the pairs, the report, and the dropped pairs.
        params: ``rows``, ``prepared``, ``normalisation`` and ``seed``.
    """
    settings, part = corpus["filters"], corpus["part"]
    return filters.filter_corpus(
        open_corpus(
            part["kind"], Path(file), part["opus"], tuple(part["names"]), max_bad_rows=settings["max_bad_rows"]
        ),
        *outputs,
        corpus=part["corpus"],
        languages=tuple(part["languages"]),
        filters=corpus_filters(inputs, corpus),
        segmenters={
            language: Segmenter(how["segmenter"], cut_all=how["cut_all"]) for language, how in corpus["segment"].items()
        },
        lower_case=settings["lower_case"],
        clean=settings["clean"],
        normalisation=params.normalisation if params.prepared else None,
        prepared=params.prepared,
        seed=params.seed,
        processes=processes,
        shard=params.rows and tuple(params.rows),
    )
