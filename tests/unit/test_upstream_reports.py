"""Reports for upstream: each reproduction belongs to a report, and the table of versions has a row for each."""

import re
from pathlib import Path

import pytest

UPSTREAM = Path(__file__).parents[2] / "docs" / "upstream"
TESTS = sorted((UPSTREAM / "junit").glob("*.java"))
REPORTS = sorted(path for path in UPSTREAM.glob("*.md") if path.name not in ("README.md", "kip-dynamic-bootstrap.md"))
PARTS = ("What happens", "Shortest reproduction", "Evidence", "Proposed fix", "What upstream has done")


@pytest.mark.parametrize("test", TESTS, ids=lambda path: path.stem)
def test_each_reproduction_names_its_report_which_links_to_it_and_the_table_has_its_row(test):
    source = test.read_text("utf-8")
    (report,) = re.findall(r"docs/upstream/([\w-]+\.md)", source)
    assert f"](junit/{test.name})" in (UPSTREAM / report).read_text("utf-8")
    assert f"| `{test.stem}`" in (UPSTREAM / "README.md").read_text("utf-8")
    assert f"class {test.stem} {{" in source


@pytest.mark.parametrize("report", REPORTS, ids=lambda path: path.stem)
def test_each_report_says_what_happens_how_to_see_it_what_to_do_and_what_was_done(report):
    text = report.read_text("utf-8")
    parts = re.findall(r"^## (.+)$", text, re.MULTILINE)
    fixed = "**Fixed**" in text  # what upstream has done stands in its head
    assert [
        part for part in PARTS if not any(part in each for each in parts) and not (fixed and part == PARTS[-1])
    ] == []
    assert re.search(r"\*\*Component\*\* .+ \*\*Affects\*\* ", text)
    assert f"]({report.name})" in (UPSTREAM / "README.md").read_text("utf-8")
