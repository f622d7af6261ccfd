"""Encoders that are trained: ids in, one vector a sentence out."""
