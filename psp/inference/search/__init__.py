"""Nearest neighbours: search indexes and bitext mining."""
