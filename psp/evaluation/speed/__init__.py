"""Measure the embedding speed of a model and of other systems.

:mod:`psp.evaluation.speed.measure` runs the benchmark, each system in its own process
(:mod:`psp.evaluation.speed.worker`). The processes import this package, so it must cost no time or memory.
"""
