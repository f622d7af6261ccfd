"""Hard negatives: which sentences may be one, and which is nearest."""
