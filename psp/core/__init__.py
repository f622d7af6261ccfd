"""The base layer: errors, files, logging, progress, compiled code, code fingerprints."""
