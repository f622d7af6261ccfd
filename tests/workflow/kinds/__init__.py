"""Kinds that psp has not, each the one file that adding it takes: test_new_kinds.py copies them into a copy of psp."""
