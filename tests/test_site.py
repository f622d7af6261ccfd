"""The site of the documentation: whole, without a wrong link, and nothing in it comes from another host."""

import itertools
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from docs.site import commands, flowchart, settings
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
    assert sorted(listed) == sorted(PAGES)
    assert yaml.safe_load(text)["strict"] is True


def test_the_page_of_settings_is_that_of_their_declarations():
    assert settings.PAGE.read_text(encoding="utf-8") == settings.page(), "it is stale: run `make settings`"


def test_the_page_of_commands_is_that_of_their_parser():
    assert commands.PAGE.read_text(encoding="utf-8") == commands.page(), "it is stale: run `make settings`"
    found = dict(re.findall(r"^### `psp (\S+)`\n\n(.+)$", commands.page(), re.MULTILINE))
    assert len(found) == sum(map(len, COMMANDS.values())) and "|  |\n" not in commands.page()


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
    names = {f"{page.removesuffix('.md')}.html" for page in PAGES} - {"README.html"} | {"index.html"}
    assert names <= {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    assert "psp.mine" in (site / "python.html").read_text() and ":meth:" not in (site / "python.html").read_text()
    assert "flowchart TD" not in (site / "architecture.html").read_text()
    assert "download to filter" in (site / "running.html").read_text()
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
