"""Training: from the store of encoded pairs to the table of subword vectors.

The modules, in the order in which data meets them: ``settings`` (the config's keys, checked), ``batches`` (pairs in
a seeded order), ``schedule`` (how many mini-batches make a mega-batch), ``mining`` (the hardest negatives of a
mega-batch), ``encoder`` (ids in, one vector a sentence out), ``loss`` (the margin), ``optimiser`` (Adam over the
table's rows), ``initial`` (the table before training), ``records`` (what is written on the way) and ``loop`` (all of
them together: :func:`psp.training.loop.train`).

Nothing is imported here, so that the config can be checked without torch.
"""
