"""Inspect a model's corpora before training: what they hold, what filters would drop, what looks wrong.

:mod:`~psp.pairs.inspect.reading` reads each file once and keeps a random sample; :mod:`~psp.pairs.inspect.alignment`
tells translations from other pairs; :mod:`~psp.pairs.inspect.content` describes the sample;
:mod:`~psp.pairs.inspect.findings` lists what a person should look at; :mod:`~psp.pairs.inspect.run` puts it together.
"""
