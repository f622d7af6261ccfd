"""Join trained models into one."""

from pathlib import Path

from psp.core.scripts import job
from psp.models.combined import CombinedModel
from psp.models.folder import load

with job(snakemake) as snakemake:
    params = snakemake.params
    models = [load(f"results/{part}/model") for part in params.parts]
    CombinedModel(models, params.weights).save(Path(snakemake.output[0]).parent, card=False)
