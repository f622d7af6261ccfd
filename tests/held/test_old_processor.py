"""Training and embedding on a processor without vector instructions: each library is told to use none."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from tests.held import make

#: What each library is to believe that it runs on: x86 of 2003. (On another processor these change nothing.)
OLD = {
    "NUMBA_CPU_NAME": "x86-64",
    "NUMBA_CPU_FEATURES": "",
    "ATEN_CPU_CAPABILITY": "default",
    "ONEDNN_MAX_CPU_ISA": "SSE41",
    "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
    "OPENBLAS_CORETYPE": "Nehalem",
    "FAISS_OPT_LEVEL": "generic",
}
CODE = """
import json, sys
from pathlib import Path
import numpy as np
import psp
from psp.inference import halves
from tests.held import make

found = {kind: make.vectors(make.train(kind, Path(sys.argv[1], kind))) for kind in make.TRAINED}
for dtype in ("float32", "float16", "int8"):
    models = [psp.load_model(Path(sys.argv[1], "subword"), dtype=dtype, accelerate=way) for way in (False, True)]
    plain, compiled = (model.embed_raw_text(make.TEXTS) for model in models)
    assert plain.tobytes() == compiled.tobytes(), dtype
out = np.empty(plain.shape, np.float16)
halves.write(plain, out)
assert out.tobytes() == plain.astype(np.float16).tobytes()
print(json.dumps(found))
"""


@pytest.mark.slow
def test_a_processor_without_vector_instructions_gives_the_same_vectors(tmp_path) -> None:
    environment = {**os.environ, **OLD, "NUMBA_CACHE_DIR": str(tmp_path / "numba")}
    command = [sys.executable, "-c", CODE, str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])  # -11: an instruction or a function is missing
    expected = json.loads(make.EXPECTED.read_text("utf-8"))["trained"]
    for kind, found in json.loads(done.stdout.splitlines()[-1]).items():
        np.testing.assert_allclose(found, expected[kind]["vectors"], atol=1e-3, err_msg=kind)
