"""Translators behind one interface, which turn bitext into paraphrases."""

from psp.inference.translation.base import Hypothesis, Translator
from psp.inference.translation.load import load_translator

__all__ = ["Hypothesis", "Translator", "load_translator"]
