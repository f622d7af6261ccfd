"""A teacher: another encoder, whose cosines between sentences a model learns, with or without pairs.

:mod:`~psp.training.teaching.teach` embeds a model's sentences with it once, :mod:`~psp.training.teaching.targets` reads
the result, and :mod:`psp.training.losses.teacher` has the losses.
"""
