"""The report and the night's page in a real browser: axe-core finds nothing, and nothing runs over the edge."""

import importlib
import os
import re
import shutil
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from harness.model.findings import Contrast
from harness.model.reuse import Origin
from harness.model.waivers import Waiver, WaiverKind
from harness.nightly.judging import judge_night
from harness.nightly.night import VerificationStatus
from harness.nightly.nightpage import render_night
from harness.report import write_reports
from harness.report.rolloutpage import render_rollout
from harness.report.upgrade_page import render_upgrade
from harness.rundir.directory import RunDirectory
from harness.stages.judge import judge_run
from harness.upgrade.changes import operator_changes
from harness.upgrade.own_files import with_uses

pytestmark = pytest.mark.live

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (dev extra)")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed (dev extra)")
sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))
nightly_sample, sample_run, rollout_sample, upgrade_sample, test_gantt = map(
    importlib.import_module, ("nightly_sample", "sample_run", "rollout_sample", "upgrade_sample", "test_gantt")
)

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
VIEWS = [(width, scheme) for width in (400, 1280) for scheme in ("light", "dark")]
A4_WIDTH = 718  # what a browser's usual margins leave of 210 mm, in CSS pixels
PAGES = ("ship", "reused", "hold", "hostile", "night", "empty-night", "rollout-held", "rollout-stopped", "upgrade")


@pytest.fixture(scope="module")
def browser():
    """Return a headless Chromium of this host."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"this host has no browser: none of {', '.join(BROWSERS)} (Debian: apt-get install chromium)")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=found, args=arguments)
        yield started
        started.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Return the pages by name: reports of the sample run, a night with everything on it, and one with nothing."""
    made = {}
    for kind in ("ship", "hold", "hostile"):
        folder = sample_run.write_sample(tmp_path_factory.mktemp(kind), kind)
        made[kind] = write_reports(RunDirectory(folder), judge_run(RunDirectory(folder)))
    made["reused"] = _reused(tmp_path_factory.mktemp("reused"))
    for name, html in (("night", _full_night()), ("empty-night", _empty_night()), ("upgrade", _upgrade())):
        made[name] = tmp_path_factory.mktemp(name) / "index.html"
        made[name].write_text(html)
    for kind in ("held", "stopped"):
        made[f"rollout-{kind}"] = tmp_path_factory.mktemp(kind) / "report.html"
        made[f"rollout-{kind}"].write_text(_rollout(kind))
    return made


def _reused(folder):
    """Return the report of a second verification of the same jar, in which one asked where the time went."""
    directory = RunDirectory(sample_run.write_sample(folder))
    origin = Origin("/home/kim/out/20260301-100000-verify", "2026-03-01T10:03:00+00:00", "a" * 64, 43)
    for run in directory.runs():
        result = run.result.read()
        if result.role.is_control:
            run.result.write(replace(result, origin=origin))
    proof, coverage = directory.proof("patched").proof, directory.proof("patched").coverage
    proof.write(replace(proof.read(), tests=replace(proof.read().tests, origin=origin)))
    coverage.write(replace(coverage.read(), origin=origin))
    directory.times.write(test_gantt.BOOK)
    return write_reports(directory, judge_run(directory))


def _rollout(kind):
    journals = {"forward-and-back": rollout_sample.entries()}
    contrast = Contrast("control", "forward-and-back", sample_run.contrasts("hostile")[2].findings)
    return render_rollout(rollout_sample.rollout(kind), journals, contrast, ("rollout",))


def _upgrade():
    changes = operator_changes(upgrade_sample.BASE, upgrade_sample.CANDIDATE)
    return render_upgrade(with_uses(changes, {"server.properties": "zookeeper.connect=zk:2181"}))


def _full_night():
    documents = {
        "ships": nightly_sample.document("ship"),
        "holds": nightly_sample.document("hostile", nightly_sample.FAILED),
        "starves": nightly_sample.document("ship", nightly_sample.STARVED),
    }
    endings = {name: nightly_sample.ship_or(verdict) for name, verdict in documents.items()}
    of = nightly_sample.night(*documents, "fails", "missing", ended={**endings, "fails": VerificationStatus.ERROR})
    waivers = [
        Waiver(WaiverKind.OUTCOME, "*/turn2/patched-on", "FAILED(observer_recovers)", "known", "kim", date(2026, 4, 1)),
        Waiver(WaiverKind.FINDING, "*", "no such template", "old", "kim", date(2026, 1, 1)),
    ]
    first = judge_night(of, documents, (), waivers, date(2026, 3, 5))
    past = replace(first.entry, label="yesterday", started_at="2026-03-04", findings=first.entry.findings[:1])
    return render_night(judge_night(of, documents, [past], waivers, date(2026, 3, 5)))


def _empty_night():
    shipped = replace(nightly_sample.document("ship"), contrasts=(), proof=None)
    return render_night(judge_night(nightly_sample.night("a"), {"a": shipped}, (), (), date(2026, 3, 5)))


@pytest.fixture
def visit(browser, pages):
    """Return a function that opens a page in a window: (page, what the browser complained of)."""
    contexts = []

    def open_page(name, width, scheme, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **options)
        contexts.append(context)
        page, complaints = context.new_page(), []
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(pages[name].as_uri())
        return page, complaints

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(("width", "scheme"), VIEWS)
def test_axe_finds_no_violation(visit, name, width, scheme):
    page, _ = visit(name, width, scheme)
    for summary in page.query_selector_all("details:not([open]) > summary"):
        summary.evaluate("element => element.parentElement.setAttribute('open', '')")
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert len(found.response["passes"]) > 10, "axe looked at the page"


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(("width", "scheme"), VIEWS)
def test_nothing_runs_over_the_edge_and_the_browser_has_nothing_to_complain_of(visit, name, width, scheme):
    page, complaints = visit(name, width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert complaints == []


@pytest.mark.parametrize("name", PAGES)
def test_nothing_runs_over_the_edge_of_printed_paper(visit, name):
    page, _ = visit(name, A4_WIDTH, "light")
    page.emulate_media(media="print")
    over = f"all => all.filter(each => each.getBoundingClientRect().right > {A4_WIDTH + 1}).map(each => each.className)"
    assert page.locator("table, svg, pre, p, dd").evaluate_all(over) == []


def test_a_ship_prints_on_six_pages_at_most(visit):
    page, _ = visit("ship", 1280, "light")
    printed = page.pdf(format="A4")
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 6


@pytest.mark.parametrize("name", PAGES)
def test_the_page_says_the_same_without_javascript(visit, name):
    page, _ = visit(name, 1280, "light", java_script_enabled=False)
    assert page.locator("h1").is_visible()
    assert page.locator("main > section").count() >= 2
    hidden = page.locator("main > section").evaluate_all("all => all.filter(s => !s.offsetHeight).length")
    assert hidden == 0


def test_axe_would_find_a_picture_without_words_and_text_that_is_too_pale(visit):
    page, _ = visit("ship", 1280, "light")
    page.set_content(
        "<html lang=en><title>t</title><main><h1>h</h1><img src=x><p><font color=#dddddd>pale</font></p></main>"
    )
    broken = {violation["id"] for violation in axe.Axe().run(page).response["violations"]}
    assert {"image-alt", "color-contrast"} <= broken
