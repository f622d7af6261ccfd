"""Sentences of the phrasebook by themselves, such as a tokenizer is compared on when a model is exported."""

from __future__ import annotations

from random import Random

from psp.corpora.phrasebook.meaning import Sampler
from psp.corpora.phrasebook.say_english import Speaker as English
from psp.corpora.phrasebook.say_french import Speaker as French


def sample(size: int = 2000) -> list[str]:
    """English and French sentences of the phrasebook, in turn; always the same."""
    rng = Random("export")
    sampler, speakers = Sampler(rng, held=False), (English(rng), French(rng))
    return [speakers[number % 2].say(sampler.draw()) for number in range(size)]
