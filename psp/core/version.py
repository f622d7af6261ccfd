"""The version of psp; defined only here."""

__version__ = "0.1.0"
