"""Hard negatives: which sentences are allowed, and which of them is nearest."""
