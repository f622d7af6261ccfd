"""The blocks ``report`` and ``release``."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from psp.config.blocks.base import Block
from psp.config.blocks.fields import Distinct, Name, matching, setting

Part = Literal["compare", "tasks", "variants", "quantize", "speed"]
#: What a page can ask for, and the files of it in a model's folder; those of tasks are named by the config.
PARTS: Mapping[Part, str] = {
    "compare": "compare.json",
    "tasks": "tasks/",
    "variants": "variants.json",
    "quantize": "quantized.json",
    "speed": "speed.json",
}


class ReportBlock(Block):
    """The pages results/<model>/report.html and results/report.html."""

    INERT: ClassVar[bool] = True

    include: Annotated[list[Part], Distinct] = setting(
        ["compare"], "what to make for a model's page; the page also shows all results made before"
    )
    models: Annotated[list[Name], Distinct] = setting(
        [], "models that results/report.html compares; at the top level of a config only"
    )


class ReleaseBlock(Block):
    """The folder to publish, results/<model>/release."""

    INERT: ClassVar[bool] = True

    repo: Annotated[str, matching(r"[\w.-]+/[\w.-]+", "a place on the Hub, user/name, or null")] | None = setting(
        None,
        "the model's name on the Hugging Face Hub, such as user/fr, which its card states; a smaller form "
        "is then user/fr-int8",
    )
