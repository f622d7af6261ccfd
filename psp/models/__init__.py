"""Models: load them, and embed text."""
