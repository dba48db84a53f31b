"""Every kind of page in a real browser: axe-core finds nothing, nothing runs over the edge, and it prints well."""

import importlib
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.live

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (dev extra)")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed (dev extra)")
sys.path[:0] = [str(Path(__file__).parents[1] / "unit"), str(Path(__file__).parents[2] / "docs")]
page_samples, draw_report = map(importlib.import_module, ("page_samples", "draw_report"))

A4_WIDTH = 718  # what a browser's usual margins leave of 210 mm, in CSS pixels
SCREEN = 900  # CSS pixels of a laptop's screen
MOST_PRINTED = 6  # pages of a SHIP
LONGEST_WORD = 40  # letters; whatever is longer is no word, and fits into no column
SHIPS = ("ship", "cut", "reused", "standard", "two-kafkas")
PAGES = page_samples.NAMES
# Every page once, on a small screen in the dark, and both kinds of answer on a large one; the night looks at the rest.
ON_A_LARGE_SCREEN_TOO = ("hold", "rollout-stopped")
VIEWS = [(400, "dark", name) for name in PAGES] + [
    pytest.param(1280, "light", name, marks=() if name in ON_A_LARGE_SCREEN_TOO else pytest.mark.whole)
    for name in PAGES
]
VIEWS += [
    pytest.param(width, scheme, name, marks=pytest.mark.whole)
    for width, scheme in ((400, "light"), (1280, "dark"))
    for name in PAGES
]
# Words whose letters stand on more than one line, outside of what quotes logs, code and digests.
BROKEN_WORDS = r"""() => {
  const broken = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walk.nextNode(); text; text = walk.nextNode()) {
    if (text.parentElement.closest("script, style, pre, code, blockquote, svg, .template, .hidden")) continue;
    for (const word of text.data.matchAll(/\p{L}{2,}/gu)) {
      const range = document.createRange();
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].filter(each => each.width).map(each => Math.round(each.top)));
      if (lines.size > 1) broken.push(word[0]);
    }
  }
  return broken;
}"""


@pytest.fixture(scope="module")
def browser():
    """Return a headless Chromium of this host."""
    found = next(filter(None, map(shutil.which, draw_report.BROWSERS)), None)
    if found is None:
        named = ", ".join(draw_report.BROWSERS)
        pytest.skip(f"this host has no browser: none of {named} (Debian: apt-get install chromium)")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=found, args=arguments)
        yield started
        started.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Return the pages by name."""
    return page_samples.write_pages(tmp_path_factory.mktemp("pages"))


def test_the_readmes_picture_is_drawn_from_a_run_with_the_scenario_that_is_named(pages, tmp_path):
    """By a browser of its own: it comes before those that share one."""
    run = pages["ship"].parent
    draw_report.draw(run, "turn2", tmp_path / "turn2.png")
    png = (tmp_path / "turn2.png").read_bytes()
    width, height = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))
    assert (width, 1000 < height < 2500) == (draw_report.WIDTH, True)
    with pytest.raises(draw_report.DrawingError, match=r"no pictures of xyzzy\. It has: new-mechanism, turn1, turn2\."):
        draw_report.draw(run, "xyzzy", tmp_path / "none.png")
    with pytest.raises(draw_report.DrawingError, match="name the folder of a verification"):
        draw_report.draw(tmp_path)


@pytest.fixture
def visit(browser, pages):
    """Return a function that opens a page in a window: (page, what the browser complained of)."""
    contexts = []

    def open_page(name, width, scheme, **options):
        context = browser.new_context(viewport={"width": width, "height": SCREEN}, color_scheme=scheme, **options)
        contexts.append(context)
        page, complaints = context.new_page(), []
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(pages[name].as_uri())
        return page, complaints

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize(("width", "scheme", "name"), VIEWS)
def test_axe_finds_no_violation(visit, name, width, scheme):
    page, _ = visit(name, width, scheme)
    for summary in page.query_selector_all("details:not([open]) > summary"):
        summary.evaluate("element => element.parentElement.setAttribute('open', '')")
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert len(found.response["passes"]) > 10, "axe looked at the page"


@pytest.mark.parametrize(("width", "scheme", "name"), VIEWS)
def test_nothing_runs_over_the_edge_and_the_browser_has_nothing_to_complain_of(visit, name, width, scheme):
    page, complaints = visit(name, width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert complaints == []


def printed(page):
    """Let a page be as it is printed, on paper of A4."""
    page.set_viewport_size({"width": A4_WIDTH, "height": SCREEN})
    page.emulate_media(media="print")


@pytest.mark.parametrize("name", PAGES)
def test_nothing_runs_over_the_edge_of_printed_paper(visit, name):
    page, _ = visit(name, A4_WIDTH, "light")
    printed(page)
    over = f"all => all.filter(each => each.getBoundingClientRect().right > {A4_WIDTH + 1}).map(each => each.className)"
    assert page.locator("table, svg, pre, p, dd, li").evaluate_all(over) == []


@pytest.mark.parametrize("name", PAGES)
def test_no_word_is_broken_in_print(visit, name):
    page, _ = visit(name, A4_WIDTH, "light")
    printed(page)
    assert [word for word in page.evaluate(BROKEN_WORDS) if len(word) < LONGEST_WORD] == []


def test_a_word_that_is_broken_would_be_found(visit):
    page, _ = visit("ship", A4_WIDTH, "light")
    page = page.context.new_page()  # without the policy of a page of ours, which lets no style in
    page.set_content("<p style='width:3ch;overflow-wrap:anywhere'>reconfiguration</p>")
    assert page.evaluate(BROKEN_WORDS) == ["reconfiguration"]


@pytest.mark.parametrize("name", SHIPS)
def test_a_ship_prints_on_six_pages_at_most(visit, name):
    page, _ = visit(name, 1280, "light")
    assert page.locator("h1").inner_text() == "SHIP"
    assert page.locator("svg .answers").count() > 0, "clients are drawn, as of real runs"
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))) <= MOST_PRINTED


@pytest.mark.parametrize("name", ["ship", "hold", "cut", "reused", "standard", "two-kafkas", "suite"])
def test_the_answer_why_what_speaks_against_it_what_was_tested_and_what_not_stand_on_three_screens(visit, name):
    page, _ = visit(name, 1280, "light")
    ends = "id => Math.round(document.getElementById(id).getBoundingClientRect().bottom + scrollY)"
    assert page.evaluate(ends, "verdict") <= SCREEN
    assert page.evaluate(ends, "gaps") <= 2 * SCREEN
    assert page.evaluate(ends, "tested") <= 3 * SCREEN


@pytest.mark.parametrize("name", ["rollout-passed", "rollout-stopped", "rollout-whole"])
def test_of_a_rollout_the_answer_its_reason_and_what_was_not_rehearsed_stand_on_two_screens(visit, name):
    page, _ = visit(name, 1280, "light")
    ends = "id => Math.round(document.getElementById(id).getBoundingClientRect().bottom + scrollY)"
    assert page.evaluate(ends, "verdict") <= SCREEN
    assert page.evaluate(ends, "gaps") <= 2 * SCREEN


@pytest.mark.parametrize("name", PAGES)
def test_the_page_says_the_same_without_javascript(visit, name):
    page, _ = visit(name, 1280, "light", java_script_enabled=False)
    assert page.locator("h1").is_visible()
    assert page.locator("main > section").count() >= 2
    hidden = page.locator("main > section").evaluate_all("all => all.filter(s => !s.offsetHeight).length")
    assert hidden == 0


def test_a_search_opens_every_fold_around_what_it_finds(visit):
    page, complaints = visit("hold", 1280, "light")
    finding = page.locator("#findings .finding").first
    words = finding.evaluate(
        """finding => {
          for (const _ of ["inner", "outer"]) {
            const fold = Object.assign(document.createElement("details"), { className: "more" });
            const last = finding.closest(".more") || finding;
            last.before(fold);
            fold.append(last);
          }
          return finding.textContent.trim().slice(0, 12);
        }"""
    )
    assert not finding.is_visible()
    page.locator("#filter-find").fill(words)
    assert finding.is_visible()
    assert complaints == []


@pytest.mark.parametrize("name", PAGES)
def test_links_to_the_parts_of_a_page_lead_to_them(visit, name):
    page, _ = visit(name, 1280, "light")
    dead = "all => all.map(a => a.getAttribute('href')).filter(id => !document.getElementById(id.slice(1)))"
    assert page.locator("a[href^='#']").evaluate_all(dead) == []


def test_axe_would_find_a_picture_without_words_and_text_that_is_too_pale(visit):
    page, _ = visit("ship", 1280, "light")
    page.set_content(
        "<html lang=en><title>t</title><main><h1>h</h1><img src=x><p><font color=#dddddd>pale</font></p></main>"
    )
    broken = {violation["id"] for violation in axe.Axe().run(page).response["violations"]}
    assert {"image-alt", "color-contrast"} <= broken
