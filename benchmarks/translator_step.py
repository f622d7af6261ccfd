"""How long one step of a translator's training takes, for docs/paraphrases.md.

    OMP_WAIT_POLICY=passive python benchmarks/translator_step.py [--threads 1]

Processor time of this process, the least of some steps, so that what else runs on the machine matters little; with more
threads that is the sum over them. Random ids, 98 pairs of 11 and 10 subwords as a batch of 1,024 subwords of everyday
sentences has, 8,000 pieces, 2 + 2 layers, width 256.
"""

from __future__ import annotations

import argparse
import time

import torch
from torch.nn import functional as F

from psp.training.translator.loss import smoothed_cross_entropy
from psp.training.translator.model import Flat, Sizes, TranslatorModel

PAIRS, SOURCE, TARGET, PIECES = 98, 11, 10, 8000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=12)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    for low in (False, True):
        for torchs_loss in (False, True):
            network = TranslatorModel(Sizes(PIECES, 2, 2, 256, 4, 1024), 0.1)
            network.initialise(torch.Generator().manual_seed(1))
            flat = Flat(network)
            lead = torch.nn.Parameter(flat.weights)
            lead.grad = flat.gradients
            adam = torch.optim.Adam([lead], lr=1e-4, fused=True)
            source = torch.randint(3, PIECES, (PAIRS, SOURCE))
            target = torch.randint(3, PIECES, (PAIRS, TARGET + 1))
            wanted = target[:, 1:].reshape(-1)
            times = []
            for _ in range(options.steps + 2):
                begun = time.process_time()
                flat.gradients.zero_()
                with torch.autocast("cpu", torch.bfloat16, enabled=low):
                    hidden = network(source, None, target[:, :-1]).reshape(-1, 256)
                    if torchs_loss:
                        logits = F.linear(hidden, network.output_weight).float()
                        loss = F.cross_entropy(logits, wanted, reduction="sum", label_smoothing=0.1)
                if not torchs_loss:
                    loss = smoothed_cross_entropy(hidden, network.output_weight, wanted, 0.1, bfloat16=low)
                (loss / len(wanted)).backward()
                adam.step()
                times.append(time.process_time() - begun)
            kind = "bfloat16" if low else "float32"
            print(f"{kind}, {'torch' if torchs_loss else 'psp'}'s loss: {1000 * min(times[2:]):.0f} ms a step")


if __name__ == "__main__":
    main()
