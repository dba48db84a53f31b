"""What pages name is there: commands with their options, events with their fields, files, links."""

import re
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest
import typer

from harness.audit.questions import ASKS
from harness.cli.app import app
from harness.model.events import Event, Unknown
from harness.proof.dropin import rules
from harness.proof.waived_differences import WAIVER_EXPIRED, WAIVER_STALE

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")])


def commands():
    """Return the options of each command by its words."""
    group = typer.main.get_command(app)
    found = {"": group}
    for name, command in group.commands.items():
        found |= {f"{name} {sub}": each for sub, each in getattr(command, "commands", {}).items()}
        found[name] = command
    return {
        name: {option for each in found[name].params for option in (*each.opts, *each.secondary_opts)} for name in found
    }


KNOWN = commands()


def called_in(page):
    """Yield the command and the options of every line of code that calls `harness`."""
    text = page.read_text("utf-8")
    code = [*re.findall(r"```\w*\n(.*?)```", text, re.DOTALL), *re.findall(r"`([^`\n]+)`", text)]
    for line in "\n".join(code).replace("\\\n", " ").splitlines():
        for call in re.split(r"&&|;|#|\|", line):
            words = call.split()
            if words[:1] == ["harness"]:
                two, one = " ".join(words[1:3]), " ".join(words[1:2])
                yield two if two in KNOWN else one, [word.split("=")[0] for word in words if word.startswith("--")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_and_options_of_a_page_are_there(page):
    unknown = [
        f"harness {name} {option}"
        for name, options in called_in(page)
        for option in options or [""]
        if name.isalpha() and (name not in KNOWN or (option and option not in KNOWN[name] | {"--help"}))
    ]
    assert unknown == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_of_a_page_lead_to_files(page):
    links = [link.split("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8"))]
    assert [link for link in links if link and "://" not in link and not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_files_of_the_project_that_a_page_names_are_there(page):
    named = re.findall(
        r"`((?:harness|tests|builds|patches|reports|benchmarks|docs)/[\w./-]+\.\w+)", page.read_text("utf-8")
    )
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_page_about_the_run_directory_has_every_event_of_a_journal_with_its_fields():
    page = (ROOT / "docs/run-directory.md").read_text("utf-8")
    section = page.partition("## Journal events")[2].partition("\n## ")[0]
    table = dict(re.findall(r"^\| `([\w-]+)` \| (.*) \|$", section, re.MULTILINE))
    known = {event.kind: event for event in get_args(Event) if event is not Unknown}
    assert table.keys() == known.keys()
    missing = [(kind, field.name) for kind in known for field in fields(known[kind]) if field.name not in table[kind]]
    assert missing == []


def test_the_page_about_the_drop_in_proof_has_every_rule_with_what_it_weighs():
    table = re.findall(r"^\| `([\w-]+)` \| (\w+) \| ", (ROOT / "docs/drop-in.md").read_text("utf-8"), re.MULTILINE)
    known = [each for each in vars(rules).values() if isinstance(each, rules.Rule)]
    of_waivers = dict.fromkeys((WAIVER_EXPIRED, WAIVER_STALE), "fail")
    assert dict(table) == {rule.name: str(rule.severity) for rule in known} | of_waivers


def test_the_page_about_the_audit_has_every_kind_of_question_with_its_keys():
    rows = re.findall(r"^\| `([\w-]+)` \| (.*?) \| .* \|$", (ROOT / "docs/audit.md").read_text("utf-8"), re.MULTILINE)
    found = {kind: re.findall(r"`(\w+)`", keys) for kind, keys in rows if kind in ASKS}
    assert found == {kind: [field.name for field in fields(ask)] for kind, ask in ASKS.items()}


def test_every_fragment_of_the_changelog_has_a_kind_that_the_changelog_shows():
    towncrier = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["towncrier"]
    kinds = {each["directory"] for each in towncrier["type"]}
    fragments = [path for path in (ROOT / towncrier["directory"]).iterdir() if not path.name.startswith(".")]
    assert [path.name for path in fragments if path.name.split(".")[1:] not in [[kind, "md"] for kind in kinds]] == []


def test_every_page_is_reached_from_the_readme():
    reached, left = set(), [ROOT / "README.md"]
    while left:
        page = left.pop()
        if page not in reached and page.suffix == ".md" and page.exists():
            reached.add(page)
            links = re.findall(r"\]\(([^)\s#]+)", page.read_text("utf-8"))
            left += [(page.parent / link).resolve() for link in links if "://" not in link]
    assert [str(page.relative_to(ROOT)) for page in PAGES if page not in reached] == []


def test_the_index_of_decisions_has_each_by_its_title():
    index = (ROOT / "docs/adr/README.md").read_text("utf-8")
    titles = {path.name: path.read_text("utf-8").split("\n")[0] for path in ROOT.glob("docs/adr/0*.md")}
    rows = {
        name: f"| {title.partition('. ')[0][2:]} | [{title.partition('. ')[2]}]({name}) |"
        for name, title in titles.items()
    }
    assert [name for name, row in sorted(rows.items()) if row not in index] == []
