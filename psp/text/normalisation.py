"""sentencepiece's rules for normalising text, and further rules for Arabic.

A sentencepiece model holds its rules, so that whatever reads the model (psp, its exports, sentencepiece itself) applies
them. The rules called ``nmt_nfkc``, sentencepiece's default, leave Arabic as it is written: with and without vowel
marks, with hamza on alef or without, with digits of two kinds. Modern Arabic mixes these forms freely, and to a mean of
subwords they are different words: the vectors of a sentence with and without vowel marks have nothing in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt
import sentencepiece

#: Arabic's marks above and below letters (vowels, the Quran's signs, honorifics), and the stroke that lengthens words.
_MARKS = (
    (0x610, 0x61A), (0x640, 0x640), (0x64B, 0x65F), (0x670, 0x670), (0x6D6, 0x6DC), (0x6DF, 0x6E4), (0x6E7, 0x6E8),
    (0x6EA, 0x6ED), (0x8D3, 0x8E1), (0x8E3, 0x8FF),
)  # fmt: skip
#: How letter folding replaces Arabic characters: it drops marks, keeps one form each of alef, of the final ya and of
#: the ta marbuta, and writes ASCII digits. Hamza that sentencepiece's rules join to its letter stays there.
ARABIC: Mapping[str, str] = {
    **{chr(point): "" for first, last in _MARKS for point in range(first, last + 1)},
    **dict.fromkeys("أإآٱ", "ا"),
    "ى": "ي",
    "ة": "ه",
    **{chr(zero + number): str(number) for zero in (0x660, 0x6F0) for number in range(10)},
}


def rules_of(name: str = "nmt_nfkc") -> dict[str, str]:
    """sentencepiece's rules of that name, text -> replacement."""
    from psp.text.unigram_file import fields  # numba: not where the config is read

    message = sentencepiece.SentencePieceNormalizer(rule_name=name).serialized_model_proto()
    normaliser = dict(fields(bytes(dict(fields(message))[3])))
    charsmap = bytes(normaliser.get(2, b""))
    if not charsmap:
        return {}
    size = int.from_bytes(charsmap[:4], "little")
    units, values = np.frombuffer(charsmap, "<u4", size // 4, 4), charsmap[4 + size :]
    return {key.decode(): values[start : values.index(b"\0", start)].decode() for key, start in _keys(units)}


def with_rules(rules: Mapping[str, str], further: Mapping[str, str]) -> dict[str, str]:
    """Apply further rules, each for one character, to the results of rules and to all other text."""
    whole = {**{one: one for one in further}, **rules}
    return {key: "".join(further.get(letter, letter) for letter in value) for key, value in whole.items()}


def as_tsv(rules: Mapping[str, str]) -> str:
    """The rules as sentencepiece's option ``normalization_rule_tsv`` reads them: code points in hexadecimal."""
    return "".join(f"{_points(key)}\t{_points(value)}\n" for key, value in sorted(rules.items()))


def _points(text: str) -> str:
    return " ".join(f"{ord(character):X}" for character in text)


def _keys(units: npt.NDArray[np.uint32]) -> Iterator[tuple[bytes, int]]:
    """The keys of a double array (Darts) and their values.

    A node at index i with offset f has its child for byte b at i ^ f ^ b, which holds b in its lowest byte; a node with
    its bit 8 set has a leaf at i ^ f, which holds the value. All nodes of a depth are walked at once.
    """
    nodes, keys = np.zeros(1, np.int64), [b""]
    letters = np.arange(1, 256)
    while len(nodes):
        unit = units[nodes].astype(np.int64)
        bases = nodes ^ ((unit >> 10) << ((unit & 512) >> 6))
        for row in np.flatnonzero(unit & 256):
            yield keys[row], int(units[bases[row]]) & 0x7FFFFFFF
        nodes_below, below = [], []
        for start in range(0, len(nodes), 4096):
            children = bases[start : start + 4096, None] ^ letters
            there = children < len(units)
            there &= (units[np.where(there, children, 0)] & 0x800000FF) == letters
            rows, places = np.nonzero(there)
            nodes_below.append(children[rows, places])
            below += [keys[start + row] + bytes([place + 1]) for row, place in zip(rows, places, strict=True)]
        nodes, keys = np.concatenate(nodes_below), below
