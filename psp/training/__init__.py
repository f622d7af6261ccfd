"""Training: from a store of encoded pairs to a model.

``loop`` trains from files to files, ``trainer`` makes the steps. Encoders and losses are chosen by name: see
``encoders`` and ``losses``. docs/architecture.md names all modules.
"""
