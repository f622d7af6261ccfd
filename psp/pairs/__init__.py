"""Pairs of texts: filtered, deduplicated, mixed, and encoded into the store that training reads."""
