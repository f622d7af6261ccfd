"""The page of ``psp serve`` in a real browser, as a person uses it."""

from __future__ import annotations

import http
import http.server
import json
import re
import shlex
import threading

import numpy as np
import pytest

from tests.conftest import SENTENCES, served, write_model

pytest.importorskip("starlette", reason="the page's server needs pip install 'paraphrastic[serve]'")
pytest.importorskip("playwright", reason="the page's tests need pip install playwright")
from playwright.sync_api import expect

from psp.models.folder import load_model

pytestmark = pytest.mark.slow  # a browser

#: What would run if any text of the user's, or the model's name, were read as HTML.
EVIL = [
    "<img src=x onerror=alert(1)>",
    "</textarea><script>alert(2)</script>",
    "<svg onload=alert(3)>",
    "\"'><b>bold</b>",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page") / EVIL[0]
    folder.mkdir()
    return write_model(folder)


@pytest.fixture(scope="module")
def model(folder):
    return load_model(folder)


@pytest.fixture(scope="module")
def server(folder, browser):
    with served(folder, "--max-text-bytes", "2000") as server:
        yield server


@pytest.fixture
def opened(browser, server):
    """Opens the page; at the test's end its console held what was expected, and nobody else was asked for anything."""
    pages = []

    def opened(expected=(), **options):
        page = browser.new_page(**options)
        page.set_default_timeout(10_000)
        seen = {"problems": [], "requests": []}
        page.on("console", lambda message: seen["problems"].append(message.text))
        page.on("pageerror", lambda error: seen["problems"].append(str(error)))
        page.on("dialog", lambda dialog: (seen["problems"].append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: seen["requests"].append(request.url))
        page.goto(server.address)
        pages.append((page, seen, expected))
        return page

    yield opened
    for page, seen, expected in pages:
        page.close()
        assert set(seen["problems"]) == set(expected)  # a slow machine asks between two keys
        assert seen["requests"]
        assert all(url.startswith((server.address, "data:")) for url in seen["requests"])


@pytest.fixture
def page(opened):
    return opened()


def compare(page, first, second):
    page.get_by_label("First text", exact=True).fill(first)
    page.get_by_label("Second text", exact=True).fill(second)


def test_two_texts_have_the_models_cosine_and_show_their_pieces(page, model):
    pair = ("The cat eats 日 bread", "le chat mange du pain")
    compare(page, *pair)
    expect(page.get_by_label("Cosine")).to_have_text(f"{model.score_raw_text([pair])[0]:.4f}")
    for side, text in zip("ab", pair, strict=True):
        spans = page.locator(f"#pieces-{side} > span")
        expected = model.sentencepiece.encode(text.lower(), out_type=str)
        expect(spans).to_have_count(len(expected))
        assert [span.get_attribute("data-piece") for span in spans.all()] == expected
        unknown = [piece for piece in expected if model.sentencepiece.piece_to_id(piece) == model.unknown_id]
        assert page.locator(f"#pieces-{side} > .unknown").count() == len(unknown)
        shares = [span.locator("small").inner_text() for span in spans.all()]
        assert shares.count("unknown") == len(unknown)
        total = sum(float(share) for share in shares if share != "unknown")
        assert abs(total - model.score_raw_text([pair])[0]) <= 0.0005 * len(shares) + 1e-4
    assert page.locator("#pieces-a > .unknown").get_attribute("data-piece") == "日"


def test_two_sentences_are_there_at_first_and_give_way(page, model):
    first, second = (page.get_by_label(f"{name} text", exact=True) for name in ("First", "Second"))
    expect(first).to_have_value("She bought a red car.")
    pair = (first.input_value(), second.input_value())
    expect(page.get_by_label("Cosine")).to_have_text(f"{model.score_raw_text([pair])[0]:.4f}")
    # Below, the first one is searched for in sentences of the model's languages.
    expect(page.get_by_role("list", name="Sentences found").get_by_role("listitem")).to_have_count(4)
    assert "Elle a acheté une voiture rouge." in page.get_by_label("In these sentences").input_value().splitlines()
    page.keyboard.type("The cat")
    expect(first).to_have_value("The cat")


def test_the_cosine_follows_what_is_typed(page, model):
    compare(page, "the cat", "the c")
    page.get_by_label("Second text", exact=True).press_sequentially("at")
    expect(page.get_by_label("Cosine")).to_have_text("1.0000")
    page.get_by_label("Second text", exact=True).fill("")
    expect(page.get_by_label("Cosine")).to_have_text("–")
    expect(page.locator("#pieces-b > span")).to_have_count(0)


def test_search_finds_what_the_model_finds_and_a_sentence_can_be_compared(page, model):
    query, sentences = "a dog eats bread", SENTENCES[1::2]
    page.get_by_label("In these sentences").fill("\n\n".join(sentences))
    page.get_by_label("Look for").fill(query)
    page.get_by_label("Show").fill("7")
    cosines = model.score_raw_text([(query, sentence) for sentence in sentences])
    best = sorted(range(len(sentences)), key=lambda index: -cosines[index])[:7]
    rows = page.get_by_role("list", name="Sentences found").get_by_role("listitem")
    expect(rows).to_have_count(7)
    expect(page.locator("#count")).to_contain_text(f"The nearest 7 of {len(sentences)}.")
    shown = [row.locator(".cosine").inner_text() for row in rows.all()]
    assert shown == [f"{cosines[index]:.4f}" for index in best]
    assert [row.get_by_role("button").inner_text() for row in rows.all()] == [sentences[index] for index in best]
    widths = [row.locator(".bar i").bounding_box()["width"] for row in rows.all()]
    whole = rows.first.locator(".bar").bounding_box()["width"]
    np.testing.assert_allclose(np.array(widths) / whole, [abs(cosines[index]) for index in best], atol=0.01)
    # By the keyboard alone: from the field of sentences to the second one found.
    page.get_by_label("In these sentences").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Second text", exact=True)).to_have_value(sentences[best[1]])
    expect(page.get_by_label("Second text", exact=True)).to_be_focused()
    expect(page.get_by_label("Cosine")).to_have_text(f"{cosines[best[1]]:.4f}")


def test_a_number_of_sentences_that_cannot_be_shown_is_told(page):
    page.get_by_label("In these sentences").fill("the cat\na dog")
    page.get_by_label("Look for").fill("a cat")
    rows = page.get_by_role("list", name="Sentences found").get_by_role("listitem")
    for number in ("0", "-1", "1.5", "1001"):
        page.get_by_label("Show").fill("1")
        expect(rows).to_have_count(1)
        page.get_by_label("Show").fill(number)
        expect(page.locator("#count")).to_have_text("Show takes an integer from 1 to 1000.")
        expect(rows).to_have_count(0)


def test_text_is_shown_as_text_whatever_it_holds(page, model):
    compare(page, EVIL[0], EVIL[1])
    expect(page.get_by_label("Cosine")).to_have_text(f"{model.score_raw_text([(EVIL[0], EVIL[1])])[0]:.4f}")
    page.get_by_label("In these sentences").fill("\n".join(EVIL))
    page.get_by_label("Look for").fill(EVIL[0])
    buttons = page.get_by_role("list", name="Sentences found").get_by_role("button")
    expect(buttons.filter(has_text="voiture")).to_have_count(0)  # those found in the page's own sentences
    expect(buttons).to_have_count(len(EVIL))
    assert sorted(buttons.all_inner_texts()) == sorted(EVIL)
    expect(page.get_by_role("heading", level=1)).to_have_text(EVIL[0])  # the name of the model's folder
    for element in ("img", "b", "svg", "script >> nth=1"):
        assert page.locator(element).count() == 0


def test_the_models_facts_are_shown(page, model):
    facts = page.locator("#facts")
    for fact in ("English, French", f"{model.vocab_size}", "12", "float32", "ignored"):
        expect(facts).to_contain_text(fact)


def test_arabic_is_written_from_right_to_left(page):
    compare(page, "القطة تأكل الخبز", "the cat")
    for element, direction in (("#a", "rtl"), ("#pieces-a", "rtl"), ("#b", "ltr"), ("#pieces-b", "ltr")):
        expect(page.locator(element)).to_have_css("direction", direction)
    first, second, *_ = page.locator("#pieces-a > span").all()
    assert first.bounding_box()["x"] > second.bounding_box()["x"]


def test_an_error_is_told_and_goes_away(opened):
    reason = http.HTTPStatus(413).phrase  # which has changed with Python's version
    refused = f"Failed to load resource: the server responded with a status of 413 ({reason})"
    page = opened(expected=[refused])
    compare(page, "bread", "river")
    expect(page.locator("#pieces-b > span").first).to_be_visible()
    compare(page, "a" * 2001, "bread")
    alert = page.locator("#compare-fault")
    expect(alert).to_have_text("pair[0] has 2,001 bytes, but the limit is 2,000 per text; split it")
    expect(page.get_by_role("alert").filter(has_text="pair[0]")).to_be_visible()
    expect(page.get_by_label("Cosine")).to_have_text("–")  # and not that of other texts
    expect(page.locator(".piece")).to_have_count(0)
    compare(page, "bread", "bread")
    expect(alert).to_have_text("")
    expect(page.get_by_label("Cosine")).to_have_text("1.0000")


def test_light_and_dark(opened):
    page = opened(color_scheme="light")
    expect(page.locator("body")).to_have_css("background-color", "rgb(247, 246, 242)")
    expect(opened(color_scheme="dark").locator("body")).to_have_css("background-color", "rgb(20, 22, 26)")


def test_a_narrow_screen_needs_no_scrolling_sideways(opened):
    page = opened(viewport={"width": 320, "height": 640})
    compare(page, "m" * 60, "日" * 60)
    page.get_by_label("In these sentences").fill("bread" * 60)
    page.get_by_label("Look for").fill("bread")
    expect(page.get_by_role("list", name="Sentences found").get_by_role("button")).to_have_count(1)
    page.locator("#pieces-b > span").first.wait_for()
    page.get_by_text("Use the API").click()
    assert page.evaluate("document.documentElement.scrollWidth") == 320


def test_the_commands_that_the_page_shows_do_what_they_say(page, server):
    page.get_by_text("Use the API").click()
    words = shlex.split(page.locator("#curl").inner_text().replace("\\\n", ""))
    commands = " ".join(words).count("curl ")
    assert commands == words.count("curl") == 4
    for start in (index for index, word in enumerate(words) if word == "curl"):
        _, address, header, content_type, data, body = words[start : start + 6]
        assert (header, content_type, data) == ("-H", "Content-Type: application/json", "-d")
        assert address.startswith(server.address)
        status, _ = server.ask(address.removeprefix(server.address), json.loads(body))
        assert status == 200


def test_a_server_that_has_ended_is_told(folder, browser):
    with served(folder) as server:
        page = browser.new_page()
        page.goto(server.address)
        expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("img"))
        server.end(15)
        compare(page, "bread", "bread")
        expect(page.locator("#compare-fault")).to_have_text("The server does not respond. Is psp serve still running?")
        page.close()


@pytest.fixture
def elsewhere(browser):
    """A page of another site, whose server is on this machine too: what is elsewhere Chromium itself keeps out."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()

        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        page = browser.new_page()
        page.goto(f"http://evil.example:{other.server_port}/")
        yield page
        page.close()
        other.shutdown()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"method": "POST", "headers": {"Content-Type": "application/json"}, "body": '{"texts": []}'},
        {"mode": "no-cors"},
        {"mode": "no-cors", "method": "POST", "body": '{"texts": []}'},
    ],
)
def test_another_sites_page_is_answered_nothing(elsewhere, server, options):
    arguments = f"{json.dumps(server.address + 'api/embed')}, {json.dumps(options)}"
    got = elsewhere.evaluate(f"fetch({arguments}).then(answer => 'an answer', error => 'refused')")
    assert got == "refused"


def test_another_sites_page_cannot_frame_it(elsewhere, server):
    elsewhere.set_content(f'<iframe src="{server.address}"></iframe>')
    elsewhere.frame_locator("iframe").locator("body.neterror").wait_for(state="attached", timeout=10_000)
    assert elsewhere.frame_locator("iframe").locator("#facts").count() == 0


def test_a_name_that_was_made_to_point_here_does_not_reach_it(browser, server):
    page = browser.new_page()
    port = server.address.rstrip("/").rpartition(":")[2]
    answer = page.goto(f"http://evil.example:{port}/api/model")
    assert answer.status == 403
    assert "unknown host name 'evil.example'" in page.locator("body").inner_text()
    page.close()
