"""Training: from a store of encoded pairs to a model.

``loop`` trains from files to files, ``trainer`` makes the steps. Encoders and objectives are chosen by name: see
``encoders/kinds`` and ``objectives``. docs/architecture.md names all modules.
"""
