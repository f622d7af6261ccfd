"""Compare what is trained, byte by byte, with another commit on this machine: ``python -m tests.held.compare COMMIT``.

Bytes differ between processors, so no file in git can hold them for all. A worktree of COMMIT and this tree each run
their own tests/held/stages.py and train each kind of model of tests/held/make.py, in one thread.

Without COMMIT, say what test_held.py compares on this machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.held import make, stages

ROOT = Path(__file__).parents[2]


def trained(tree: Path, out: Path) -> dict[str, Any]:
    """What a tree's stages and trainings make."""
    out.mkdir()
    own = {**os.environ, "PYTHONPATH": str(tree)}
    for module in ("stages", "make"):
        subprocess.run([sys.executable, "-m", f"tests.held.{module}", str(out)], cwd=tree, env=own, check=True)
    return {file.name: json.loads(file.read_text()) for file in sorted(out.glob("*.json"))}


def differing(before: Any, now: Any, name: str = "") -> list[str]:
    """The names of the values that differ."""
    if isinstance(before, dict) and isinstance(now, dict):
        return [
            one
            for key in {**before, **now}
            for one in differing(before.get(key), now.get(key), f"{name} {key}".strip())
        ]
    return [] if before == now else [name]


def main() -> None:
    if not sys.argv[1:]:
        same = make.processor() == json.loads(stages.EXPECTED.read_text("utf-8"))["processor"]
        sys.stdout.write(f"tests/held compared {'bytes' if same else 'vectors: its bytes are of another processor'}\n")
        return
    with TemporaryDirectory() as folder:
        there = Path(folder, "tree")
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", there, sys.argv[1]], cwd=ROOT, check=True)
        try:
            before, now = trained(there, Path(folder, "before")), trained(ROOT, Path(folder, "now"))
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", there], cwd=ROOT, check=True)
    wrong = differing(before, now)
    sys.stdout.writelines(f"differs: {name}\n" for name in wrong)
    result = f"{len(wrong)} values differ" if wrong else "the same bytes"
    sys.stdout.write(f"{', '.join(now)}: {result} as {sys.argv[1]}\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
