"""Evaluation: the paper's STS and Tatoeba protocols, baselines, and the development score that models are chosen by.

:func:`psp.evaluation.run.evaluate_model` writes eval.json. Nothing is imported here: training uses the development
score alone, and must not rerun because of a change in how eval.json is put together.
"""
