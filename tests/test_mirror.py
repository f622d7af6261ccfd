"""tests/ mirrors psp/: a module with logic of its own has a test file of its name in the folder of its room."""

import io
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
#: Lines with code: a module of more has tests of its own.
SMALL = 80
#: Modules and packages whose tests stand under another name, each with where, and why.
ELSEWHERE = {
    "cli/model.py": ("cli/test_info.py", "a file of tests for each command"),
    "cli/project.py": ("cli/test_train.py", "a file of tests for each command"),
    "cli/results.py": ("cli/test_show.py", "a file of tests for each command"),
    "cli/vectors.py": ("cli/test_embed.py", "a file of tests for each command"),
    "cli/serve.py": ("inference/serve/test_app.py", "the command serves the application"),
    "cli/search.py": ("inference/search/test_index.py", "the command hands over to the index"),
    "config/blocks": ("config/test_entries.py", "lists of settings"),
    "config/trained_entries.py": ("config/test_config.py", "most models are of this kind"),
    "config/written.py": ("config/test_config.py", "entries that extend others, and their corpora"),
    "evaluation/task_files.py": ("evaluation/test_task.py", "what a task writes and what reads it"),
    "evaluation/speed": ("evaluation/test_speed.py", "one measurement in several processes"),
    "inference/serve": ("inference/serve/test_app.py", "what a request is answered"),
    "corpora/rows.py": ("corpora/test_paranmt.py", "every form that a row has, and how many may be bad"),
    "models/exports": ("models/exports/test_exports.py", "each export against the model"),
    "models/pooling.py": ("models/test_table.py", "its sums are the table's"),
    "models/text_model.py": ("models/test_model.py", "what every Model does"),
    "models/static.py": ("models/test_model.py", "a Model is a static one and the words around it"),
    "pairs/filters": ("pairs/filters/test_filters.py", "all filters of one contract"),
    "pairs/lexicon": ("pairs/lexicon/test_build.py", "each way of counting against plain dictionaries"),
    "report/comparison.py": ("evaluation/test_compare.py", "tables of files, with those that write them"),
    "text/vocabulary_ids.py": ("text/test_vocabulary.py", "compiled code against the tokenizers' definitions"),
    "training/saving/csv_log.py": ("training/test_trainer.py", "what a training writes"),
}


def code_lines(path: Path) -> int:
    """Lines with code: no comments, docstrings or blank lines."""
    found, statement = set(), True
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        if token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
            statement = True
        elif token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.ENDMARKER):
            if not (statement and token.type == tokenize.STRING):
                found.update(range(token.start[0], token.end[0] + 1))
            statement = False
    return len(found)


MODULES = [path.relative_to(ROOT / "psp") for path in sorted((ROOT / "psp").rglob("*.py"))]


@pytest.fixture(scope="module")
def large() -> list[str]:
    """Modules with logic of their own."""
    return [str(path) for path in MODULES if path.name != "__init__.py" and code_lines(ROOT / "psp" / path) > SMALL]


def elsewhere(module: str) -> str | None:
    return next((name for name in (module, *map(str, Path(module).parents)) if name in ELSEWHERE), None)


def test_a_module_with_logic_has_tests_under_its_name(large: list[str]) -> None:
    for module in large:
        own = Path("tests", module).with_name(f"test_{Path(module).name}")
        assert (ROOT / own).exists() or elsewhere(module), f"psp/{module} has no {own}; write it"


def test_what_is_tested_elsewhere_is_there_and_has_no_tests_under_its_name(large: list[str]) -> None:
    for module, (test, _) in ELSEWHERE.items():
        assert (ROOT / "psp" / module).exists(), module
        assert (ROOT / "tests" / test).exists(), test
        own = Path("tests", module).with_name(f"test_{Path(module).stem}.py")
        assert own == Path("tests", test) or not (ROOT / own).exists(), f"{own} is there: take {module} from the list"
        assert any(elsewhere(name) == module for name in large), f"psp/{module} is small: take it from the list"
