"""The base layer: errors, files, logging, progress, compiled code, versions of what rules write; and psp's version."""

#: Defined only here.
__version__ = "0.3.0"
