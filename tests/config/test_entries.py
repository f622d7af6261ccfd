"""The declared settings."""

from pathlib import Path

import jsonschema  # which Snakemake brings
import yaml

from psp.config.blocks.base import Block
from psp.config.blocks.entries import Document
from psp.config.blocks.fields import RECIPES, about, block_in
from psp.evaluation.tasks import Task, names


def settings(block: type[Block]):
    for key, field in block.declared().items():
        below, _ = block_in(field.annotation)
        if below is not None:
            yield from settings(below)
        else:
            yield block, key, field


def test_every_default_is_a_value_that_its_setting_allows_and_has_a_sentence():
    found = [one for block in (Document, *(Task.classes[name].Settings for name in names())) for one in settings(block)]
    assert len(found) > 300
    for block, key, field in found:
        assert field.description and not field.description.endswith("."), key
        if not (field.is_required() or about(field, "absent")):
            for recipe in RECIPES:
                value = {key: block.default(key, recipe)}
                block.__pydantic_validator__.validate_assignment(block.model_construct(), key, value[key])
        assert set(about(field, "unstated") or ()) <= set(about(field, "recipes") or ()), key


def test_the_schema_for_editors_takes_the_projects_config_and_refuses_what_psp_refuses():
    schema = jsonschema.Draft202012Validator(Document.model_json_schema())
    config = yaml.safe_load((Path(__file__).parents[2] / "config/config.yaml").read_text())
    assert not list(schema.iter_errors(config))
    config["models"]["fr"]["train"] = {"epochs": 0, "epoch": 1}
    assert {error.validator for error in schema.iter_errors(config)} == {"minimum", "additionalProperties"}
