"""A small two-sided corpus and sentencepiece models trained on it, for the tests of what uses subwords."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterable
from pathlib import Path

import sentencepiece
from hypothesis import strategies as st

_SUBJECTS = [
    ("the cat", "le chat"),
    ("a dog", "un chien"),
    ("my sister", "ma sœur"),
    ("this old man", "ce vieil homme"),
]
_VERBS = [("eats", "mange"), ("sees", "voit"), ("finds", "trouve"), ("forgets", "oublie"), ("paints", "peint")]
_OBJECTS = [
    ("an apple", "une pomme"),
    ("the river", "la rivière"),
    ("two letters", "deux lettres"),
    ("bread", "du pain"),
]
_PLACES = [("here", "ici"), ("in the garden", "dans le jardin"), ("every morning", "chaque matin")]

PAIRS = [
    (" ".join(part[0] for part in parts), " ".join(part[1] for part in parts))
    for parts in itertools.product(_SUBJECTS, _VERBS, _OBJECTS, _PLACES)
]
SENTENCES = [side for pair in PAIRS for side in pair]

# Text that the model knows, text that it does not, and everything that breaks lines, columns and naive decoders.
_ODD = ["日本", "\u2028", "\x85", "\u200b", "🙂", "▁", " ⁇ ", "<unk>", "\r"]
odd_text = st.one_of(
    st.text(max_size=40),
    st.lists(st.sampled_from([*SENTENCES[:8], *_ODD]), max_size=5).map(" ".join),
)


def write_mixed(path: Path, rows: Iterable[tuple[str, str, object]]) -> Path:
    """A mixed pair file of ``rows``."""
    path.write_bytes("".join(f"{source}\t{target}\t{index}\n" for source, target, index in rows).encode())
    return path


def train_sentencepiece(path: Path, vocab_size: int = 150, model_type: str = "unigram", **settings: object) -> Path:
    """A sentencepiece model of the small corpus, trained in this process."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES),
        model_writer=model,
        model_type=model_type,
        vocab_size=vocab_size,
        hard_vocab_limit=False,
        minloglevel=2,
        **settings,
    )
    path.write_bytes(model.getvalue())
    return path


def reference_ids(processor: sentencepiece.SentencePieceProcessor, text: str) -> list[int]:
    """The ids of one sentence, the plain way."""
    pieces = processor.encode(text, out_type=int)
    known = [piece for piece in pieces if piece != processor.unk_id()]
    return known or pieces[:1]
