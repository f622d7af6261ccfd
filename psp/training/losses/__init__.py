"""Losses: vectors of pairs in, a scalar and its gradient out."""
