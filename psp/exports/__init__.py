"""The name that exported models have for psp's code; the code itself is in :mod:`psp.models.exports`."""
