"""Every kind of page of the harness, as samples: within its size, by the policy of its own style and script alone."""

import re

import page_samples
import pytest

from harness.report.limits import BUDGET_BYTES


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Return the text of every page by its name."""
    written = page_samples.write_pages(tmp_path_factory.mktemp("pages"))
    return {name: path.read_text(encoding="utf-8") for name, path in written.items()}


@pytest.mark.parametrize("name", page_samples.NAMES)
def test_a_page_has_one_heading_an_answer_and_links_to_its_own_parts(pages, name):
    page = pages[name]
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert page.count("<h1") == 1
    assert '<section id="verdict"' in page
    assert len(ids) == len(set(ids)), "an id names one thing"
    assert {*re.findall(r'href="#([^"]+)"', page)} <= {*ids}
    assert len(page.encode()) <= BUDGET_BYTES


@pytest.mark.parametrize("name", page_samples.NAMES)
def test_the_card_of_a_page_says_what_speaks_against_its_answer(pages, name):
    assert name == "topic-ids" or '<div class="against">' in pages[name]


@pytest.mark.parametrize("name", page_samples.NAMES)
def test_no_link_of_a_page_leads_out_of_its_folder(pages, name):
    hrefs = re.findall(r'href="([^"#]+)"', pages[name])
    assert [href for href in hrefs if href.startswith(("/", "..")) or "://" in href] == []
