"""Evaluation: the paper's STS and Tatoeba protocols, baselines, and the validation score for model selection.

:func:`psp.evaluation.evaluate.evaluate_model` writes eval.json. Nothing is imported here: training uses only the
validation score.
"""
