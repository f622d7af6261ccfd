"""The version of psp; defined only here."""

__version__ = "0.2.0"
