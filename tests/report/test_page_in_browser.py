"""Pages in a browser: on a phone and on a desktop, light and dark, sorted and printed."""

import itertools
import shutil

import pytest

from psp.report import inspect, report, several
from tests.report.test_inspect import REPORT

pytestmark = pytest.mark.slow  # a browser


@pytest.fixture
def pages(results):
    """A model's page, with text that would be a script, one of two models, and one of corpora."""
    report.write(results, results / "report.html", config="models: {}\n")
    several.write([results, shutil.copytree(results, results.with_name("copy"))], results.parent / "several.html")
    inspect.write(REPORT, results / "inspect.html")
    return [results / "report.html", results.parent / "several.html", results / "inspect.html"]


@pytest.fixture
def opened(browser):
    """Opens a page; at the test's end its console was silent, and nothing but the page was asked for."""
    contexts, said, asked = [], [], []

    def opener(path, width=1440, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        return page

    yield opener
    for context in contexts:
        context.close()
    assert said == []
    assert len(asked) == len(contexts) and all(url.startswith("file://") for url in asked)


@pytest.mark.parametrize(("width", "scheme"), list(itertools.product((390, 1440), ("light", "dark"))))
def test_a_page_fits_the_screen_and_is_readable(opened, pages, width, scheme):
    for path in pages:
        page = opened(path, width, scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width  # wide tables scroll in themselves
        tables, hidden = page.evaluate(HIDDEN)
        assert tables and hidden == []
        for element in ("body", "svg text", "td"):
            if not page.locator(element).count():
                continue
            colours = page.locator(element).first.evaluate(
                "element => { let back = element; while (back && getComputedStyle(back).backgroundColor === "
                "'rgba(0, 0, 0, 0)') back = back.parentElement; const style = getComputedStyle(element);"
                "return [element instanceof SVGElement ? style.fill : style.color, "
                "getComputedStyle(back).backgroundColor] }"
            )
            assert contrast(*colours) > 4.5, (element, colours)  # WCAG 2, AA


#: How many tables there are with all folds open, and which have cells that nobody can see: those beyond an edge without
#: a shade there, or that do not come into view by scrolling while the row's name stays.
HIDDEN = """() => {
  document.querySelectorAll("details").forEach((fold) => { fold.open = true; });
  const tables = [...document.querySelectorAll("table")].filter((table) => table.tBodies[0].rows.length);
  return [tables.length, tables.filter((table) => {
    const box = table.closest(".scroll"), edge = box.getBoundingClientRect();
    const cells = [...table.tBodies[0].rows[0].cells];
    const seen = (cell) => {
      const place = cell.getBoundingClientRect();
      return place.left >= edge.left - 1 && place.right <= edge.right + 1;
    };
    if (edge.left < 0 || edge.right > innerWidth) return true;
    if (cells.every(seen)) return false;
    const shaded = getComputedStyle(box).backgroundImage.includes("gradient");
    box.scrollLeft = box.scrollWidth;
    return !shaded || !seen(cells[0]) || !seen(cells.at(-1)) || cells[0].offsetWidth > edge.width / 2;
  }).map((table) => table.innerText.slice(0, 60))];
}"""


def contrast(one, other):
    """The contrast of two colours of CSS, such as rgb(0, 0, 0), by WCAG 2."""

    def luminance(colour):
        parts = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def test_a_table_is_sorted_by_number(opened, pages):
    page = opened(pages[0])
    table = page.locator("#scores table").first
    column = 1

    def values():
        cells = table.locator(f"tbody tr td:nth-child({column + 1})").all_inner_texts()
        return [float(cell.split(" ")[0].replace("−", "-").replace(",", "")) for cell in cells if cell != "–"]

    found = sorted(values())
    button = table.locator("th button").nth(column)
    button.click()
    assert values() == found[::-1] and values() != found
    button.click()
    assert values() == found
    assert table.locator("th").nth(column).get_attribute("aria-sort") == "ascending"


def test_a_page_prints(opened, pages, tmp_path):
    page = opened(pages[0])
    page.pdf(path=tmp_path / "page.pdf", format="A4")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible() and page.locator("h1").is_visible()


def test_what_corpora_hold_is_seen_and_does_nothing(opened, pages):
    page = opened(pages[0])
    page.locator("#data details").first.evaluate("element => { element.open = true }")
    assert "<script>alert(1)</script>" in page.locator("#data").inner_text()
