"""Code outside a kind's own files asks its class, and never compares with its name."""

import ast
import re
from pathlib import Path

import pytest

from psp.corpora.kinds import registered
from psp.text.tokenizer_kinds import kinds, of_kind
from psp.training import objectives
from psp.training.encoders import kinds as encoders

ROOT = Path(__file__).parents[1]
TOKENIZERS = {name for kind in kinds() for name in (kind, of_kind(kind).name_on_disk())}
CORPORA = {name for kind in registered() for name in (kind.kind, *kind.makes)}
NAMES = TOKENIZERS | CORPORA | {"transformer", "concat", "add", "joint"} | {*encoders.names(), *objectives.names()}
#: The files of the kinds: what they say of themselves, or what only they use.
OWN = (
    "psp/config/combination_entries.py", "psp/config/mined_entries.py", "psp/config/transformer_entries.py",
    "psp/config/translated_entries.py",
)  # fmt: skip
#: Comparisons with such a word that is not the name of a kind, or that is left for a reason.
OTHERWISE = {
    ("psp/config/downloads.py", "opus"): "a key of a catalogue's entry",
    ("psp/config/trained_entries.py", "transformer"): "the block of a variant",
    ("psp/inference/streaming/vectorfile.py", "parquet"): "a format of files of vectors",
    ("psp/report/layout.py", "text"): "a form of tables",
    ("psp/report/summary.py", "mean"): "the mean of languages",
    ("psp/training/objectives/infonce.py", "mined"): "a value of `candidates`",
    ("workflow_scripts/stats.py", "text"): "a key of what the rule gives",
    ("psp/models/card.py", "add"): "how a combination joins its parts",
    ("psp/models/card.py", "lstm"): "a pooling of transformers",
}


def compared(path):
    """The strings that a module compares with, and the patterns of its `match`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
        sides += [node.value] if isinstance(node, ast.MatchValue) else []
        for side in sides:
            yield from (part.value for part in ast.walk(side) if isinstance(part, ast.Constant))


def modules():
    found = [
        *(ROOT / "psp").rglob("*.py"),
        *(ROOT / "workflow_scripts").glob("*.py"),
        *(ROOT / "phrasebook").glob("*.py"),
    ]
    names = sorted(path.relative_to(ROOT).as_posix() for path in found)
    return [name for name in names if not name.startswith(OWN)]


def test_no_module_compares_with_the_name_of_a_kind():
    wrong = {(name, word) for name in modules() for word in compared(ROOT / name) if word in NAMES}
    assert wrong - OTHERWISE.keys() == set()
    assert wrong >= OTHERWISE.keys()  # what is no longer there leaves the list


@pytest.mark.parametrize("file", sorted(ROOT.glob("rules/*.smk")), ids=lambda path: path.stem)
def test_no_rule_compares_with_the_name_of_a_kind(file):
    word = "|".join(sorted(NAMES))
    assert not re.findall(rf'(?:==|!=|\bin|\bnot in)\s*[(\[{{]*"(?:{word})"', file.read_text())


def test_it_sees_such_a_comparison(tmp_path):
    path = tmp_path / "module.py"
    path.write_text('def f(kind):\n    return kind == "trigram" or kind in ("word", "x")\n')
    assert set(compared(path)) == {"trigram", "word", "x"}
    path.write_text('def f(kind):\n    match kind:\n        case "opus":\n            return 1\n')
    assert set(compared(path)) == {"opus"}
