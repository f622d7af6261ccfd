"""A filter is a declaration and a file: in a copy of the package that has one more, all else follows."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import psp

FILTER = '''
"""Drop pairs in capitals."""

from psp.pairs.filters.base import SIDES, Batch, Filter


class ShoutingFilter(Filter):
    """Drops pairs with a side of at least ``min`` characters that is all in capitals."""

    name = "shouting"
    order = 14

    def __call__(self, batch: Batch) -> list[str | None]:
        sides = [getattr(batch, side) for side in SIDES[self.settings["sides"]]]
        return [
            "shouting" if any(len(text) >= self.settings["min"] and text.isupper() for text in pair) else None
            for pair in zip(*sides, strict=True)
        ]
'''

DECLARED = '''
class ShoutingBlock(FilterBlock):
    """Text in capitals."""

    KEY: ClassVar[str] = "shouting"

    enabled: bool = setting(False, "drop a pair with a side in capitals", recipes={"code": True})
    min: int = setting(5, "characters from which on a side counts as shouted", ge=1, recipes={"paper": 7})
    sides: Literal["both", "source", "target"] = setting("both", "which sides are looked at")


'''

USE = """
import json
from pathlib import Path
from docs.site import settings
from psp.config.config import Config
from psp.core.errors import ConfigError
from psp.pairs import filters

def config(**shouting):
    models = {"fr": {"languages": ["en", "fr"], "corpora": [{"path": "a.tsv"}], "filters": {"shouting": shouting}}}
    return {"corpora": {}, "models": models}

found = {recipe: Config({**config(), "recipe": recipe}).model("fr")["filters"]["shouting"]
         for recipe in ("psp", "paper", "code")}
try:
    Config(config(min=0))
except ConfigError as error:
    found["error"] = str(error)
block = Config(config(enabled=True)).model("fr").parts[0].filters
only = {"shouting": block["shouting"], "lower_case": block["lower_case"]}
pairs = [("hello there", "bonjour"), ("HELLO THERE", "bonjour"), ("no", "NON")]
found["report"] = filters.filter_corpus(
    pairs, Path("out.tsv"), Path("out.json"), Path("dropped.tsv"), corpus="a", languages=("en", "fr"),
    filters=filters.build(only, ("en", "fr")), lower_case=True,
)
found["page"] = settings.page()
print(json.dumps(found))
"""


def run(folder, code):
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_new_file_is_a_filter_for_config_stage_report_and_pages(tmp_path):
    shutil.copytree(Path(psp.__file__).parent, tmp_path / "psp", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(Path(psp.__file__).parents[1] / "docs/site", tmp_path / "docs/site")
    (tmp_path / "psp/pairs/filters/shouting.py").write_text(FILTER)
    declarations = tmp_path / "psp/config/blocks/filters.py"
    text = declarations.read_text()
    text = text.replace("class FiltersBlock(Block):", f"{DECLARED.lstrip()}class FiltersBlock(Block):")
    declarations.write_text(
        text.replace("    custom: list[", "    shouting: ShoutingBlock = ShoutingBlock()\n    custom: list[")
    )
    found = json.loads(run(tmp_path, USE))
    assert found["psp"] == {"enabled": False, "min": 5, "sides": "both"}
    assert (found["paper"]["min"], found["code"]["enabled"]) == (7, True)
    assert found["error"] == (
        "config: models.fr.filters.shouting.min is 0, but must be at least 1 "
        "(characters from which on a side counts as shouted); write e.g. `min: 5`"
    )
    report = found["report"]
    assert (report["kept"], report["dropped"]) == (2, {"shouting": 1})
    assert report["filters"]["shouting"] == {"min": 5, "sides": "both", "enabled": True}
    line = "| `min` | `5` | `7` |  | whole number ≥ 1 | characters from which on a side counts as shouted |"
    assert "### `filters.shouting`\n\nText in capitals.\n" in found["page"] and line in found["page"]
