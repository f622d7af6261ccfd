"""Combine the scores of a model's tasks, or score a variant of one."""

from pathlib import Path
from typing import Any

from psp.config.blocks.vocabulary import PIECES
from psp.config.jobs import gathered, tests
from psp.core.files import read_json
from psp.core.scripts import job
from psp.evaluation.evaluate import decontaminated, evaluate_model, gather
from psp.training.grid import differences

with job(snakemake) as snakemake:
    inputs, params = snakemake.input, snakemake.params
    filtered, trained = [read_json(file) for file in inputs.filter], read_json(inputs.train)
    vocabulary = {}  # a transformer's is its base's
    if inputs.vocabulary:
        made_by = {Path(kind.file).stem: kind.block for kind in PIECES.values()}
        vocabulary[made_by[Path(inputs.vocabulary).stem]] = read_json(inputs.vocabulary)
    made: dict[str, list[Any]] = {}
    for kind, file in zip(params.made, inputs.made, strict=True):
        report = read_json(file)
        if isinstance(report["sample"], list):
            report["sample"] = []  # pairs, shown to people
        made.setdefault(kind, []).append(report)
    about = {"name": snakemake.wildcards.model, "resampled": Path(snakemake.output.resamples)}
    info = {
        "languages": list(params.languages),
        "recipe": params.recipe,
        "differences": differences(params.differences, params.tuned, trained["settings"]),
        "unpinned": params.unpinned,
        "decontaminated": decontaminated(params.decontaminate, filtered),
        "data": {
            "filter": filtered,
            **({"rank": [read_json(file) for file in inputs.rank]} if inputs.rank else {}),
            "dedupe": [read_json(file) for file in inputs.dedupe],
            "mix": read_json(inputs.mix),
            **({"near_duplicates": read_json(inputs.near)} if inputs.near else {}),
            **made,
        },
        **vocabulary,
        "train": trained,
    }
    if model := inputs.get("model"):
        evaluate_model(Path(model[0]).parent, Path(snakemake.output.json), info=info, **about, **tests(inputs, params))
    else:  # of the tasks in the model's languages, of which there may be none
        gather(out=Path(snakemake.output.json), info=info, **about, **gathered(inputs, params))
