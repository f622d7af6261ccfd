"""A teacher: another encoder, whose cosines between sentences a model learns, beside its pairs or without any.

:mod:`~psp.training.teaching.teach` embeds a model's sentences by it once, :mod:`~psp.training.teaching.targets` reads
what that wrote, and :mod:`psp.training.losses.teacher` has the losses.
"""
