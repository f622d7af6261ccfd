"""The many exceptions that libraries raise on damaged files, which become one exception of ours."""

import lzma
import struct
import tokenize
import zipfile
import zlib

#: Found by changing each byte of small archives in four compressions:
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    NotImplementedError,  # an unknown compression or zip version
    OSError,  # from bz2, and from seeking to a wrong offset
    ValueError,  # not seen, but a member's name may be marked as UTF-8 without being so
)

#: The same for NumPy's own files: their header is read as Python, and memory is allocated for the size that it states.
ARRAY_DAMAGE = (
    OSError,
    ValueError,
    EOFError,
    OverflowError,
    MemoryError,
    SyntaxError,
    tokenize.TokenError,
    zipfile.BadZipFile,
)
