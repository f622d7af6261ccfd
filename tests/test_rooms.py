"""The rooms of psp/ and which may import which (docs/architecture.md): imports run down only, and in no circle."""

import ast
import re
from collections import defaultdict
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PSP = Path(__file__).parents[1] / "psp"

#: What each room may import beside itself. Rooms of one level are not in one another's line.
LOWEST = {"core"}
TEXT = LOWEST | {"text"}
BLOCKS = TEXT | {"config/blocks"}
SECOND = BLOCKS | {"corpora", "models"}
THIRD = SECOND | {"pairs", "inference"}
FOURTH = THIRD | {"evaluation"}
FIFTH = FOURTH | {"training", "report"}
MAY_IMPORT = {
    "core": set(),
    "text": LOWEST,
    "config/blocks": TEXT,
    "corpora": BLOCKS,
    "models": BLOCKS | {"corpora"},
    "pairs": SECOND,
    "inference": SECOND,
    "evaluation": THIRD,
    "training": FOURTH,
    "report": FOURTH,
    "config": FIFTH,
    "cli": FIFTH | {"config"},
    # The face, and the name that exported models have for their module.
    "": {"core", "models", "inference"},
    # A model in another library's form, imported by its users alone.
    "langchain": {"models"},
}
#: What others import, apart from the layers.
FACES = {"", "langchain"}


def modules():
    """Each module by its dotted name, packages under their own."""
    found = {}
    for path in sorted(PSP.rglob("*.py")):
        parts = ("psp", *path.relative_to(PSP).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def at_import(body):
    """The statements that run when a module is imported: not in functions, nor for type checkers."""
    for node in body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
            yield from at_import(getattr(node, "body", ()))


def imported(name, wherever=True):
    """The modules of psp that a module imports, wherever in it, or only when it is imported."""
    found = set()
    tree = ast.parse(MODULES[name].read_text(encoding="utf-8"))
    for node in ast.walk(tree) if wherever else at_import(tree.body):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name}: relative import of {node.module}"
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in MODULES else str(node.module) for name in names}
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            found |= {value.value for value in ast.walk(node) if isinstance(value, ast.Constant)}  # by its name
    return {module for module in found if module in MODULES and module != name}


def room(name):
    """The folder of a module; what a config may say lies below all that reads it."""
    if f"{name}.".startswith("psp.config.blocks."):
        return "config/blocks"
    return name.split(".")[1] if "." in name else ""


def test_every_room_is_in_the_table():
    assert {room(name) for name in MODULES} == MAY_IMPORT.keys()


@pytest.mark.parametrize("name", sorted(MAY_IMPORT))
def test_a_room_imports_what_lies_below_it(name):
    wrong = {
        f"{module} imports {other}"
        for module in MODULES
        if room(module) == name
        for other in imported(module) - {"psp"}
        if room(other) != name and room(other) not in MAY_IMPORT[name]
    }
    assert not wrong


@pytest.mark.parametrize("name", sorted(MAY_IMPORT.keys() - {""}))
def test_no_room_imports_the_face(name):
    assert not [module for module in MODULES if room(module) == name and "psp" in imported(module)]


def test_no_modules_import_one_another_in_a_circle():
    TopologicalSorter({name: imported(name, wherever=False) - {"psp"} for name in MODULES}).prepare()


PAGE = PSP.parent / "docs" / "architecture.md"


@pytest.mark.parametrize("name", sorted(MAY_IMPORT.keys() - FACES - {"cli"}))
def test_the_architecture_page_names_every_module_of_a_room(name):
    (section,) = re.findall(rf"^### `psp/{name}/`\n(.*?)(?=^##|\Z)", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    modules = {path.stem for path in (PSP / name).iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    modules -= {room.rpartition("/")[2] for room in MAY_IMPORT if room.startswith(f"{name}/")}
    assert set(re.findall(r"`(\w+)`", section)) == modules - {"__init__"}


def test_the_picture_of_the_rooms_is_the_table():
    (picture,) = re.findall(r"```mermaid\nflowchart TD\n(.*?)```", PAGE.read_text(), re.DOTALL)
    below = {}
    for line in picture.splitlines():
        upper, lower = (side.split(" & ") for side in line.strip().split(" --> "))
        for room_ in upper:
            below.setdefault(room_, set()).update(lower)

    def reached(room_):
        return set().union(*({lower} | reached(lower) for lower in below.get(room_, ())))

    assert {room_: reached(room_) for room_ in MAY_IMPORT.keys() - FACES} == {
        room_: MAY_IMPORT[room_] for room_ in MAY_IMPORT.keys() - FACES
    }


def test_a_class_name_stands_once():
    """Whoever searches for a name finds one thing."""
    places = defaultdict(list)
    for path in sorted(PSP.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(PSP)))
    assert not {name: found for name, found in places.items() if len(found) > 1}
