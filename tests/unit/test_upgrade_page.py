"""What changes for an operator, as a whole: what comes first, the page, the files, and bad input."""

import re
from dataclasses import replace
from html import unescape

import pytest
import sample_run
from rich.console import Console
from upgrade_sample import BASE, CANDIDATE, SERVER

from harness.base.json import from_json, to_json
from harness.model.kafka_inventory import ConfigOwner, KafkaInventory
from harness.model.operator_changes import Area, OperatorChanges, Weight
from harness.report import write_reports
from harness.report.upgrade_page import render_upgrade, summary, upgrade_page
from harness.rundir.directory import RunDirectory
from harness.stages.judge import judge_run
from harness.stages.upgrade_notes import print_changes
from harness.upgrade.changes import operator_changes
from harness.upgrade.own_files import with_uses

CHANGES = operator_changes(BASE, CANDIDATE)
HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e"


def test_every_area_is_compared_and_what_stops_a_node_comes_first():
    assert {change.area for change in CHANGES.changes} == set(Area)
    assert [change.subject for change in CHANGES.changes[:3]] == ["Java of a node", "Java of clients", "logging"]
    weights = [change.weight for change in CHANGES.changes]
    assert weights == sorted(weights, key=list(Weight).index)


def test_nothing_changes_between_a_kafka_and_itself():
    same = operator_changes(BASE, BASE)
    assert same.changes == ()
    assert summary(same) == "Nothing that was compared changes."
    assert upgrade_page(same).tone == "ship"
    assert 'id="first"' not in render_upgrade(same), "a part of which there is nothing is not there"


@pytest.mark.parametrize(
    ("gaps", "files", "against"),
    [
        (("MirrorMaker is not compared.", "Nor is Connect."), {}, "MirrorMaker is not compared. And 1 thing more."),
        ((), {}, "None of your files was searched (--mine)"),
        ((), {"my.properties": "zookeeper.connect=zk:2181"}, "what a tool of yours makes of a changed value"),
    ],
)
def test_the_card_says_what_speaks_against_it(gaps, files, against):
    changes = replace(CHANGES, gaps=gaps)
    assert against in unescape(render_upgrade(with_uses(changes, files) if files else changes))


def test_boots_that_do_not_lie_apart_and_two_boots_say_nothing():
    slower = replace(BASE, boots=tuple(replace(boot, ready_seconds=boot.ready_seconds * 1.1) for boot in BASE.boots))
    twice = replace(BASE, boots=tuple(replace(boot, ready_seconds=99.0) for boot in BASE.boots[:2]))
    assert operator_changes(BASE, slower).changes == operator_changes(BASE, twice).changes == ()
    assert len(operator_changes(BASE, twice).figures) == 6


def test_a_figure_says_whether_boots_of_one_kafka_differ_as_much():
    rows = {row.name: row for row in upgrade_page(CHANGES).figures}
    start, heap = rows["start until clients are served"], rows["live heap"]
    assert (start.base, start.compares, start.apart) == ("4.1 s (4.0, 4.1, 4.2)", "1.49 ×", True)
    assert (heap.compares, heap.apart) == ("1.00 ×, no more than boots differ", False)


def test_what_was_asked_of_one_kafka_alone_is_compared_with_nothing():
    unasked = replace(CANDIDATE, metrics=(), apis=(), features=(), boots=(), statements=())
    areas = {change.area for change in operator_changes(BASE, unasked).changes}
    assert not areas & {Area.METRICS, Area.PROTOCOL, Area.LOGS, Area.FIGURES}


def test_a_class_that_one_kafka_could_not_load_has_lost_no_key():
    unread = replace(CANDIDATE, configuration=(), unread=(SERVER,))
    assert Area.CONFIGURATION not in {change.area for change in operator_changes(BASE, unread).changes}
    members = replace(BASE, configuration=(ConfigOwner(f"{SERVER}#X", BASE.configuration[0].keys),))
    assert Area.CONFIGURATION not in {change.area for change in operator_changes(members, unread).changes}


def test_records_are_read_back_as_they_were_written():
    assert from_json(KafkaInventory, to_json(CANDIDATE)) == CANDIDATE
    used = with_uses(CHANGES, {"mine": "zookeeper.connect=x"})
    assert from_json(OperatorChanges, to_json(used)) == used


def test_the_page_says_how_much_changes_and_shows_each_change_once_in_a_table():
    page = render_upgrade(CHANGES)
    shown = [change for change in CHANGES.changes if change.area is not Area.FIGURES]
    assert len(re.findall(r'<tr class="change">', page)) == len(shown) == len(CHANGES.changes) - 1
    assert '<tr class="is-over"><th scope="row">start until clients are served' in page
    assert summary(CHANGES) in page
    assert "<li><code>Java of a node</code> (a node): <code>Java 8</code> → <code>Java 17</code>." in page
    assert "MirrorMaker is not compared" in page
    assert 'id="used"' not in page


def test_lines_of_the_operators_own_files_are_shown_first():
    page = render_upgrade(with_uses(CHANGES, {"server.properties": "zookeeper.connect=zk:2181"}))
    assert "server.properties:1: zookeeper.connect=zk:2181" in page
    assert page.index('id="used"') < page.index('id="first"')
    assert "Your files name 1 of these." in page
    assert "is-hold" in page


def test_what_others_wrote_cannot_act_on_the_page():
    hostile = replace(BASE, description=HOSTILE, libraries={HOSTILE: HOSTILE}, gaps=(HOSTILE,))
    page = render_upgrade(operator_changes(hostile, BASE))
    assert "<script>alert" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page


def test_the_same_input_gives_the_same_bytes():
    assert render_upgrade(CHANGES) == render_upgrade(operator_changes(BASE, CANDIDATE))


def test_a_report_of_different_kafkas_has_what_breaks_first_and_a_link_to_all_of_it(tmp_path):
    folder = RunDirectory(sample_run.write_sample(tmp_path, "ship"))
    without = write_reports(folder, judge_run(folder)).read_text()
    folder.upgrade.changes.write(CHANGES)
    page = write_reports(folder, judge_run(folder)).read_text()
    assert 'id="operator"' not in without
    assert 'href="upgrade/upgrade.html"' in page
    assert "Java 8</code> → <code>Java 17" in page


def test_the_terminal_has_what_breaks_first_on_a_line_each_and_what_own_files_name_before(capsys, tmp_path):
    used = with_uses(CHANGES, {"server.properties": "zookeeper.connect=zk:2181"})
    print_changes(Console(soft_wrap=True), used, tmp_path / "upgrade.html")
    lines = capsys.readouterr().out.splitlines()
    own, first = lines.index("in your files"), lines.index("breaks first")
    assert lines[own + 1].startswith("  zookeeper.connect (server.properties): A file that still sets it has no effect")
    assert lines[own + 1].endswith("[server.properties:1]")
    assert lines[first + 1].startswith("  Java of a node (a node): Java 8 → Java 17.")
    assert sum("zookeeper.connect" in line for line in lines) == 1
    assert lines[-1].endswith("upgrade.html")
