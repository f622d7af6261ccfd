"""The site of the documentation: whole, without a wrong link, and nothing in it comes from another host."""

import ast
import io
import itertools
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from docs.site import commands, flowchart
from psp.cli.main import COMMANDS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")]
#: What a browser loads by itself, unlike a link that a reader follows.
LOADED = re.compile(
    r'<(?:script|img|iframe|source)[^>]*?\ssrc="([^"]+)"'
    r'|<link(?=[^>]*rel="(?:stylesheet|icon|preload))[^>]*?\shref="([^"]+)"'
    r"""|@import\s*(?:url\()?["']?([^"')]+)"""
)
#: A file of the repository, by its path from the root.
NAMED = re.compile(
    r"(?<![\w/:.~}*-])(?:\.ci|benchmarks|config|docs|examples|phrasebook|profiles|psp|rules|tests|workflow_scripts)/"
    r"[\w./-]*\.(?:html|ipynb|json|md|png|py|smk|toml|tsv|yaml)\b"
)
#: Those that runs write.
WRITTEN = {"phrasebook/truth.json"}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("mkdocs", reason="mkdocs is not installed (the extra docs)")
    out = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", out],
        cwd=ROOT, capture_output=True, text=True, env={"NO_MKDOCS_2_WARNING": "1", "PATH": ""},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return out


def test_every_page_is_in_the_menu():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r": ([\w/-]+\.md)$", text, re.MULTILINE)
    assert sorted(listed) == sorted([*PAGES, "commands.md", "settings.md"])
    assert yaml.safe_load(text)["strict"] is True


def test_the_page_of_commands_has_each_and_what_each_option_does():
    found = dict(re.findall(r"^### `psp (\S+)`\n\n(.+)$", commands.page(), re.MULTILINE))
    assert len(found) == sum(map(len, COMMANDS.values())) and "|  |\n" not in commands.page()


def told(path: Path, text: str) -> Iterator[str]:
    """A page; or a file's comments and docstrings."""
    if path.suffix == ".md":
        yield text
    elif path.suffix == ".py":
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, documented):
                yield ast.get_docstring(node) or ""
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.string
    else:
        yield from re.findall("#.*", text)


def gone(path: Path, text: str, there: set[str]) -> set[str]:
    """The files that a file's prose names and that are not there."""
    if not set(NAMED.findall(text)) - there:  # nor in its code: nearly all files, which need not be parsed
        return set()
    return {name for part in told(path, text) for name in NAMED.findall(part)} - there


def test_the_files_that_prose_names_are_there():
    made = '"""See docs/old.md."""\n\nPATH = "config/my.yaml"  # as in psp/gone.py, docs/README.md, results/psp/x.py\n'
    assert gone(Path("one.py"), made, {"docs/README.md"}) == {"docs/old.md", "psp/gone.py"}
    assert gone(Path("one.md"), "`git show 12ab:docs/old.md`, rules/old.smk", set()) == {"rules/old.smk"}
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    if not listed:
        pytest.skip("not a clone")
    tracked = {*listed.splitlines(), *WRITTEN}
    found = {}
    for name in tracked - {"CHANGELOG.md"}:
        path = ROOT / name
        if path.suffix in {".md", ".py", ".smk", ".toml", ".yaml", ".yml", ""} and path.is_file():
            try:
                found[name] = gone(path, path.read_text(encoding="utf-8"), tracked)
            except UnicodeDecodeError:  # no text
                continue
    assert {name: names for name, names in found.items() if names} == {}


def boxes(chart):
    """A drawn chart's nodes, with the left, top, right and bottom of each, and the numbers of its paths."""
    number = r"([\d.]+)"
    shape = rf'<rect x="{number}" y="{number}" width="{number}" height="{number}"[^>]*/><text[^>]*>([^<]*)'
    found = {name: (float(x), float(y), float(x) + float(w), float(y) + float(h))
             for x, y, w, h, name in re.findall(shape, chart)}  # fmt: skip
    return found, [
        list(map(float, re.findall(number, path))) for path in re.findall(r'<path d="(M[^z"]*)" style', chart)
    ]


@pytest.mark.parametrize("down", [True, False])
def test_a_chart_is_drawn_with_its_arrows_between_boxes_that_do_not_touch(down):
    edges = [("a", "b"), ("b", "c"), ("c", "d & e"), ("a", "c"), ("a", "d & e"), ("b", "f")]
    chart = flowchart.draw("\n".join(f"  {start} --> {end}" for start, end in edges), down)
    found, paths = boxes(chart.replace("&amp;", "&"))
    assert list(found) == ["a", "b", "c", "f", "d & e"] and len(paths) == len(edges)
    for (start, end), path in zip(edges, paths, strict=True):
        for name, (x, y) in ((start, path[:2]), (end, path[-2:])):
            left, top, right, bottom = found[name]
            assert left <= x <= right and top <= y <= bottom
    for one, other in itertools.combinations(found.values(), 2):
        assert one[2] < other[0] or other[2] < one[0] or one[3] < other[1] or other[3] < one[1]


def test_it_is_whole_and_can_be_searched(site):
    names = {f"{page.removesuffix('.md')}.html" for page in PAGES} - {"README.html"}
    names |= {"index.html", "commands.html", "settings.html"}
    assert names <= {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    assert "psp.mine" in (site / "python.html").read_text() and ":meth:" not in (site / "python.html").read_text()
    architecture = (site / "architecture.html").read_text()
    assert "flowchart TD" not in architecture and "download to filter" in architecture
    assert "mega-batch" in (site / "search/search_index.json").read_text()


def test_nothing_is_loaded_from_another_host(site):
    files = [path for path in site.rglob("*") if path.suffix in (".html", ".css")]
    loaded = {
        name for path in files for found in LOADED.findall(path.read_text(encoding="utf-8")) for name in found if name
    }
    assert len(loaded) > 3
    assert not [name for name in loaded if name.startswith(("http:", "https:", "//"))]


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1440])
def test_a_browser_asks_no_other_host(site, browser, width):
    context = browser.new_context(viewport={"width": width, "height": 900})
    page, asked = context.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    names = ("index.html", "architecture.html", "results.html", "python.html", "commands.html")
    for name in (*names, "guide/first-model.html", "guide/evaluate.html"):
        page.goto((site / name).as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
    context.close()
    assert len(asked) > 4 and all(url.startswith(("file://", "data:")) for url in asked), asked
