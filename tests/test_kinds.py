"""Code outside a kind's own files asks its class, and never compares with its name."""

import ast
import re
from pathlib import Path

import pytest

import psp.evaluation.tasks
import psp.models.combined
import psp.models.lstm
import psp.models.transformer
import psp.pairs.filters  # noqa: F401
from psp.config.model_kinds import KINDS
from psp.corpora.base import CorpusKind
from psp.corpora.kinds import registered
from psp.evaluation.tasks.base import Task
from psp.models.text_model import TextModel
from psp.pairs.filters.base import Filter
from psp.text.tokenizer import Tokenizer
from psp.text.tokenizer_kinds import kinds, of_kind
from psp.training import objectives
from psp.training.encoders import kinds as encoders
from psp.training.objectives.base import Objective

ROOT = Path(__file__).parents[1]
TOKENIZERS = {name for kind in kinds() for name in (kind, of_kind(kind).name_on_disk())}
CORPORA = {name for kind in registered() for name in (kind.kind, *kind.makes)}
NAMES = TOKENIZERS | CORPORA | {"transformer", "concat", "add", "joint"} | {*encoders.names(), *objectives.OBJECTIVES}
#: The files of the kinds: what they say of themselves, or what only they use.
OWN = (
    "psp/config/combination_entries.py", "psp/config/mined_entries.py", "psp/config/transformer_entries.py",
    "psp/config/translated_entries.py",
    # What a config may say, where their names are values.
    "psp/config/blocks/",
)  # fmt: skip
#: Comparisons with such a word that is not the name of a kind, or that is left for a reason.
OTHERWISE = {
    ("psp/cli/results.py", "csv"): "a form of tables",
    ("psp/config/downloads.py", "opus"): "a key of a catalogue's entry",
    ("psp/config/trained_entries.py", "transformer"): "the block of a variant",
    ("psp/inference/vectorfile.py", "parquet"): "a format of files of vectors",
    ("psp/report/summary.py", "mean"): "the mean of languages",
    ("workflow_scripts/stats.py", "text"): "a key of what the rule gives",
    ("psp/models/card.py", "add"): "how a combination joins its parts",
    ("psp/models/card.py", "lstm"): "a pooling of transformers",
}

BASES = (Tokenizer, CorpusKind, Task, Filter, TextModel, Objective)
#: Where code asks for the class of a kind, each with the reason.
ASKED = {
    ("psp/cli/model.py", "CombinedModel"): "shows its parts and weights",
    ("psp/evaluation/lexicon.py", "WordSimilarity"): "takes pairs of words, which only such a task has",
    ("psp/evaluation/speed/measure.py", "PartsTokenizer"): "a store's own word for what wrote it",
    ("psp/evaluation/speed/systems.py", "CombinedModel"): "joins its parts' vectors",
    ("psp/inference/serve/pieces.py", "CombinedModel"): "shows its parts by their weights",
    ("psp/models/combined.py", "CombinedModel"): "the file of that kind",
    ("psp/models/combined.py", "StaticModel"): "what a combination can save",
    ("psp/models/combined.py", "TokenModel"): "for mypy",
    ("psp/models/exports/__init__.py", "StaticModel"): "whose vectors others compute: a method is compared",
    ("psp/models/exports/common.py", "CombinedModel"): "tells its parts and weights",
    ("psp/models/exports/module.py", "CombinedModel"): "its parts and weights, in torch",
    ("psp/models/exports/onnx.py", "CombinedModel"): "its parts and weights, as a graph",
    ("psp/models/exports/sentence_transformers.py", "CombinedModel"): "saves as the class without a card",
    ("psp/models/exports/sentence_transformers.py", "StaticModel"): "for mypy",
    ("psp/models/static.py", "SentencepieceTokenizer"): "the property that is its own library's object",
    ("psp/text/tokenizer_kinds.py", "VocabularyTokenizer"): "the form of the file that is read or made",
    ("psp/text/vocabulary.py", "VocabularyTokenizer"): "the file of that base: a method is compared",
}
#: Where names of kinds stand together, each with the reason.
TOGETHER = {
    "psp/corpora/mined.py": "the file of that kind",
    "psp/models/lstm.py": "the file of that kind",
}


def classes():
    """The names of all classes of kinds."""

    def below(base):
        return {base, *(one for own in base.__subclasses__() for one in below(own))}

    found = {one for base in BASES for one in below(base)} - set(BASES)
    return {one.__name__ for one in (*found, *map(type, KINDS))}


def asked(path, names):
    """The classes of kinds that a module compares with, or asks whether something is one of."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
        inside = node.args[1] if called in ("isinstance", "issubclass") else node
        if inside is not node or isinstance(node, ast.Compare):
            yield from (part.id for part in ast.walk(inside) if isinstance(part, ast.Name) and part.id in names)


def together(path):
    """The names of kinds that a list, tuple or set of a module has, if it has nothing else."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.List | ast.Tuple | ast.Set) and len(node.elts) > 1:
            words = [one.value if isinstance(one, ast.Constant) else None for one in node.elts]
            if NAMES.issuperset(words):
                yield words


def compared(path):
    """The strings that a module compares with, and the patterns of its `match`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
        sides += [node.value] if isinstance(node, ast.MatchValue) else []
        for side in sides:
            yield from (part.value for part in ast.walk(side) if isinstance(part, ast.Constant))


def every_module():
    found = [
        *(ROOT / "psp").rglob("*.py"),
        *(ROOT / "workflow_scripts").glob("*.py"),
        *(ROOT / "phrasebook").glob("*.py"),
    ]
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def modules():
    return [name for name in every_module() if not name.startswith(OWN)]


def test_no_module_compares_with_the_name_of_a_kind():
    wrong = {(name, word) for name in modules() for word in compared(ROOT / name) if word in NAMES}
    assert wrong - OTHERWISE.keys() == set()
    assert wrong >= OTHERWISE.keys()  # what is no longer there leaves the list


def test_no_module_asks_for_the_class_of_a_kind():
    names = classes()
    wrong = {(name, one) for name in every_module() for one in asked(ROOT / name, names)}
    assert wrong - ASKED.keys() == set()
    assert wrong >= ASKED.keys()


def test_no_module_lists_the_names_of_kinds():
    assert {name for name in modules() if any(together(ROOT / name))} == TOGETHER.keys()


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
    path.write_text('LIST = ["word", "trigram"]\nOTHER = ["word", "x"]\n')
    assert list(together(path)) == [["word", "trigram"]]
    path.write_text("def f(one):\n    return isinstance(one, (A, WordTokenizer)) or type(one) is Parquet\n")
    assert set(asked(path, classes())) == {"WordTokenizer", "Parquet"}
