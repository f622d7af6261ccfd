"""Embed or score lines in constant memory, with one process or several.

:mod:`~psp.inference.streaming.chunks` reads whole lines in chunks of a quarter of a megabyte,
:mod:`~psp.inference.streaming.processes` processes them and returns results in order,
:mod:`~psp.inference.streaming.vectorfile` writes vectors.
"""

#: The formats of vector files, and the types of their numbers.
FORMATS = ("npy", "parquet", "raw")
DTYPES = ("float32", "float16")
