"""Statistics of a corpus of pairs: tables 1 and 3 of ParaNMT-50M (Wieting and Gimpel 2018) for any corpus.

:mod:`~psp.pairs.stats.sample` reads a corpus once, counts its scores and draws pairs; :mod:`~psp.pairs.stats.measures`
has lengths, IDF, entropies and overlap of the sample; :mod:`~psp.pairs.stats.parses` reads constituent trees;
:mod:`~psp.pairs.stats.annotation_form` writes the form on which people judge pairs, reads filled ones, and measures
agreement; :mod:`~psp.pairs.stats.run` puts it together; :mod:`~psp.pairs.stats.settings` has the block ``stats``.
"""
