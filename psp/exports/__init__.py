"""The names that models exported before :mod:`paraphrastic` have for psp's code."""
