"""How fast a model embeds, beside its peers in the same run, as tables.

    python benchmarks/speed.py results/fr/model results/fr/store.h5

Every peer should be installed (`pip install 'paraphrastic[peers]'`); those that are not are named. Three rounds of
120,000 sentences with a table of 50,000 x 1,024 take less than ten minutes on 2 cores. The machine should do nothing
else: `busy cores` tells how much of its cores each system really had. What is measured:
`psp/evaluation/speed/measure.py`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from speed_table import markdown

from psp.core.logs import job
from psp.evaluation.speed.measure import measure_speed
from psp.evaluation.speed.systems import PEERS
from psp.report.speed_chart import draw


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="a model folder")
    parser.add_argument("store", type=Path, help="the store.h5 that it was trained on, for its sentences")
    parser.add_argument("--out", type=Path, default=Path("speed.json"), help="the JSON; a .png is put beside it")
    parser.add_argument("--sentences", type=int, default=120_000, help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=3, help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=2.0, help="of a pass of MiniLM and USE (default: %(default)s)")
    parser.add_argument("--peers", nargs="*", default=PEERS, metavar="NAME", help=f"of {', '.join(PEERS)}")
    parser.add_argument("--exports", type=Path, help="a folder with exports of this model, by their form's name")
    options = parser.parse_args()
    with job():
        result = measure_speed(
            options.model,
            options.store,
            options.out,
            sentences=options.sentences,
            repeats=options.rounds,
            seconds=options.seconds,
            peers=options.peers,
            exports=options.exports,
        )
        draw(result, options.out.with_suffix(".png"))
    print(markdown(result), end="")


if __name__ == "__main__":
    main()
