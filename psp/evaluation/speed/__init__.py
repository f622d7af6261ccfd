"""Sentences per second of a model and of other systems, each in a process of its own."""
