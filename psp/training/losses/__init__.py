"""Training objectives: vectors of pairs in, a loss out."""
