"""jsonschema, without a format that psp's schemas do not use.

Where its extra ``format-nongpl`` is installed, as with JupyterLab, it builds the grammar of internationalised addresses
(``iri``) when it is imported: 1.0 s at the start of each job, on one core of an AMD EPYC.
"""

import sys

_GRAMMAR = "rfc3987_syntax"

_hidden = _GRAMMAR not in sys.modules
if _hidden:
    sys.modules[_GRAMMAR] = None  # type: ignore[assignment]  # so that an import of it fails
try:
    from jsonschema import Draft202012Validator, ValidationError
    from jsonschema.validators import extend
finally:
    if _hidden:
        del sys.modules[_GRAMMAR]

__all__ = ["Draft202012Validator", "ValidationError", "extend"]
