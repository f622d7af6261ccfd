"""Lines in, vectors or scores out, for more lines than memory holds, by one process or several.

:mod:`~psp.streaming.chunks` reads whole lines by the quarter of a megabyte, :mod:`~psp.streaming.processes` has them
worked on and gives the results in the order of the lines, :mod:`~psp.streaming.vectorfile` writes vectors.
"""
