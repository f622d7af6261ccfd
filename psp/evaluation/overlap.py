"""How many sentences of a test set are among a model's training pairs, counted in its store.

Sentences match as in the filter ``decontaminate``: the same letters and digits, ignoring case. The store holds piece
ids, so both sides are compared as the tokenizer decodes them, without unknown pieces.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterable
from pathlib import Path

from psp.core.logs import Progress
from psp.pairs.pair_file import read_mixed
from psp.text.keys import KeyFinder, normalised_keys
from psp.text.tokenizer import Tokenizer

log = logging.getLogger(__name__)

#: Pairs decoded at a time: some 30 MB of text.
_BLOCK = 100_000


def overlap(store: Path | str, tokenizer: Tokenizer, sentences: Iterable[str]) -> dict[str, int]:
    """Count the sentences that a test set and a store share.

    Args:
        store: the model's training store.
        tokenizer: the model's, with its lower-casing and segmentation.
        sentences: those that the model is scored on.

    Returns:
        ``sentences``, distinct ones with a letter or digit that the tokenizer knows; ``in_training``, those of them
        that are a side of a training pair; ``pairs``, the training pairs with such a side.

    Raises:
        DataError: the store cannot be read, or was encoded with another tokenizer.
    """
    from psp.pairs.store import Store  # needs h5py, which scoring a model without a store does not

    texts = tokenizer.decode(tokenizer.encode(list(dict.fromkeys(sentences))))
    with Store(store) as stored:
        stored.check_vocabulary(tokenizer)
        starts = range(0, len(stored), _BLOCK)
        blocks = (stored.read(start, min(start + _BLOCK, len(stored))) for start in starts)
        sides = ([_lines(tokenizer.decode(side)) for side in (block.source, block.target)] for block in blocks)
        return _counted(texts, sides, len(stored))


def overlap_of_text(pairs: Path | str, sentences: Iterable[str]) -> dict[str, int]:
    """Count the same in a mixed pair file.

    Raises:
        DataError: the file cannot be read.
    """
    rows = read_mixed(Path(pairs))
    blocks = iter(lambda: list(itertools.islice(rows, _BLOCK)), [])
    sides = ([[row[side] for row in block] for side in (0, 1)] for block in blocks)
    return _counted(list(dict.fromkeys(sentences)), sides)


def _counted(texts: list[str], blocks: Iterable[list[list[str]]], total: int | None = None) -> dict[str, int]:
    """The counts for some texts, in blocks of pairs' sources and targets."""
    keys = set(normalised_keys(_lines(texts))) - {""}
    finder, shared, pairs = KeyFinder(keys), set[str](), 0
    with Progress("looking for test sentences", "pairs", total) as bar:
        for sides in blocks:
            found = [one for side in sides for one in finder.find(side)]
            shared |= {key for _, key in found}
            pairs += len({row for row, _ in found})
            bar.add(len(sides[0]))
    log.info("%d of %d test sentences are in %d training pairs", len(shared), len(keys), pairs)
    return {"sentences": len(keys), "in_training": len(shared), "pairs": pairs}


def _lines(texts: list[str]) -> list[str]:
    """Texts without tabs and line feeds, which a decoded piece could be."""
    return [text.replace("\t", " ").replace("\n", " ") for text in texts]
