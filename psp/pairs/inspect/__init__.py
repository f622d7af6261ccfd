"""A look at a model's corpora before anything is trained: what they hold, what filters would take, what looks wrong.

:mod:`~psp.pairs.inspect.reading` reads each file once and keeps a random sample; :mod:`~psp.pairs.inspect.alignment`
tells pairs that belong together from pairs that do not; :mod:`~psp.pairs.inspect.content` describes the sample;
:mod:`~psp.pairs.inspect.findings` says what a person should look at; :mod:`~psp.pairs.inspect.run` puts it together.
"""
