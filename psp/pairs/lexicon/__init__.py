"""A lexicon from pairs of sentences: words that translate or paraphrase one another (Wieting and Gimpel 2018, A.1).

:mod:`psp.pairs.lexicon.build` makes it; :mod:`psp.pairs.lexicon.settings` declares the block ``lexicon``.
"""
