"""The table of versions is what the verdicts of a night say, release by release; prose of the page stays as it is."""

import importlib
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from nightly_sample import document, night, write_night_folder

from harness.base.errors import HarnessError
from harness.model.arms import Arm, Build, Flag, Kafka, Role
from harness.model.costs import Cost
from harness.model.kafka_inventory import Boot, KafkaInventory
from harness.model.runs import Outcome, Verdict
from harness.model.verdict import Check, JudgedRun, Reason, ReasonSource
from harness.rundir.directory import RunDirectory

ROOT = Path(__file__).parents[2]
LOST = "observer_recovers"
OVER = Cost("turn2", "kafka", "stock", "x", "a poll takes", "ms", 2.0, 90.0, 10.0, over=True)


@pytest.fixture(scope="module")
def versions():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    yield importlib.import_module("versions")
    sys.path.remove(str(ROOT / "benchmarks"))
    for name in ("versions", "versions_releases", "versions_predictions", "pages"):
        del sys.modules[name]


def arm(name, role, version, builder="release"):
    kafka = Kafka(version, "", f"kafka-raft-{version}.jar", {f"kafka-clients-{version}.jar": "a" * 64})
    return Arm(
        name, role, Build(name, version, "x.jar", "b" * 64, builder, Flag("", False), kafka=kafka), "absent", "21"
    )


def run(scenario, arm, expectation="", role=Role.ON, **measures):
    outcome = Outcome.FAILED if expectation else Outcome.PASSED
    figures = {"leaderless_seconds": 2.0, "elections_per_fault": 1.0, **measures}
    return JudgedRun(scenario, arm, role, 1, outcome, expectation, measures=figures, check=Check.PASSED)


def verdict(version, *runs, costs=(), builder="release"):
    """Return a verdict on a release beside 3.9.1, which loses its observer in turn2 and passes snapshots."""
    base = [run("turn2", "stock", LOST, Role.BASE, observer_cpu_busiest_percent=5.0)]
    base += [run("snapshots", "stock", role=Role.BASE, leaderless_seconds=8.0)]
    arms = (arm("stock", Role.BASE, "3.9.1"), arm("kafka", Role.ON, version, builder))
    host = {"cpus": "2", "memory": "8 GiB", "jvm profile": "fast", "clusters side by side": "2"}
    return replace(document("ship"), arms=arms, runs=(*base, *runs), costs=tuple(costs), host=host)


def page_of(versions, folder, documents, *missing, page=None):
    of = night(*documents, *missing, ended=dict.fromkeys(documents, "SHIP"), name="lines")
    write_night_folder(folder, of, documents)
    return versions.written_anew(page or (ROOT / "docs/versions.md").read_text("utf-8"), folder)


def rows(page, first):
    """Return the rows of a release in the table, or of a prediction, by cell."""
    return [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith(f"| {first} |")]


def test_a_row_says_how_the_runs_of_a_release_ended_and_what_they_cost(versions, tmp_path):
    busy = run("turn2", "kafka", LOST, observer_cpu_busiest_percent=98.0, elections_per_fault=4.0)
    page = page_of(
        versions, tmp_path, {"a": verdict("4.2.1", busy, run("snapshots", "kafka", leader_heap_megabytes=150))}
    )
    row, fixed = rows(page, "4.2.1")
    assert fixed == ["4.2.1", "—", "—", "—", "—"]
    assert row == [
        *("4.2.1", "—", "FAILED(observer_recovers)", "—", "1 of 1 pass", "2.0; 2.0 (snapshots)", "turn2 98"),
        *("2.5; 4.0 (turn2)", "150", "—", "2"),
    ]


def test_a_scenario_that_failed_is_named_with_what_was_expected_and_the_others_are_counted(versions, tmp_path):
    page = page_of(
        versions, tmp_path, {"a": verdict("4.0.2", run("snapshots", "kafka", "log_is_cut"), run("x", "kafka"))}
    )
    assert rows(page, "4.0.2")[0][4] == "1 of 2 pass; snapshots: FAILED(log_is_cut)"


def test_3_9_1_has_the_runs_of_all_verifications_and_a_release_is_ordered_by_its_numbers(versions, tmp_path):
    documents = {name: verdict(name, run("turn2", "kafka", LOST)) for name in ("4.10.0", "3.9.0", "4.2.1")}
    page = page_of(versions, tmp_path, documents)
    table = page.partition("<!-- table -->")[2].partition("<!-- end of table -->")[0]
    assert [line.split()[1] for line in table.splitlines()[3:]] == ["3.9.0", "3.9.1", "4.2.1", "4.10.0"]
    assert rows(page, "3.9.1")[0][-1] == "6"


def test_repeats_that_differ_are_counted_and_an_observer_that_recovers_is_not_lost(versions, tmp_path):
    twice = [run("turn2", "kafka", end, observer_cpu_busiest_percent=cpu) for end, cpu in (("", 90.0), (LOST, 4.0))]
    row, _ = rows(page_of(versions, tmp_path, {"a": verdict("4.2.1", *twice)}), "4.2.1")
    assert set(row[2].split(", ")) == {"1 × PASSED", "1 × FAILED(observer_recovers)"}
    assert row[6] == "turn2 4"


def test_what_is_different_from_3_9_1_is_told_and_what_is_not_is_said(versions, tmp_path):
    other = verdict("4.0.2", run("turn2", "kafka"), costs=[OVER, replace(OVER, over=False, figure="y")])
    page = page_of(versions, tmp_path, {"a": other, "b": verdict("3.9.2", run("turn2", "kafka", LOST))})
    assert "turn2 is PASSED, on 3.9.1 2 × " not in page
    assert "turn2 is PASSED, on 3.9.1 FAILED(observer_recovers); a poll takes in turn2: 2 → 90 ms." in page
    assert "**3.9.2** (SHIP): every scenario ends as on 3.9.1; no figure is over its limit." in page
    warns = Reason(ReasonSource.LOGS, Verdict.HOLD, None, "busy-cluster: kafka logs a line at WARN, 116 times")
    held = replace(verdict("4.0.2", run("turn2", "kafka", LOST)), reasons=(warns, replace(warns, weight=Verdict.SHIP)))
    assert "no figure is over its limit; busy-cluster: kafka logs a line at WARN, 116 times." in page_of(
        versions, tmp_path / "logs", {"a": held}
    )


def test_a_prediction_is_held_against_the_releases_that_it_is_about(versions, tmp_path):
    documents = {
        "a": verdict("4.2.1", run("observer-cut", "kafka", observer_raft_busiest_percent=3.0)),
        "b": verdict("4.3.1", run("observer-cut", "kafka", observer_raft_busiest_percent=97.0)),
        "c": verdict("4.1.2", run("turn2", "kafka", LOST, observer_cpu_busiest_percent=64.0)),
        "d": verdict("4.0.2", run("observer-cut", "kafka", LOST, observer_raft_busiest_percent=4.0)),
    }
    page = page_of(versions, tmp_path, documents)
    busy, waits, told, loses = (
        rows(page, says)[0]
        for says in (
            "from 4.2 on that one asks in a busy loop",
            "up to 4.1 so does one that hears nothing any more",
            "an observer that was told of an epoch without a leader waits between its tries",
            "turn2 loses the observer on every release",
        )
    )
    assert busy[2:] == ["4.2.1: observer-cut 3; 4.3.1: observer-cut 97", "**no**: 4.2.1; yes: 4.3.1"]
    assert waits[2:] == ["3.9.1, 4.1.2: —; 4.0.2: observer-cut 4", "not asked: 3.9.1, 4.1.2; yes: 4.0.2"]
    assert told[3] == "yes: 3.9.1; not asked: 4.0.2, 4.2.1, 4.3.1; **no**: 4.1.2"
    assert loses[3] == "yes: 3.9.1, 4.1.2; not asked: 4.0.2, 4.2.1, 4.3.1"


def beside_suite(version, *, held="", cut="", endpoint="", on="kafka"):
    """Return runs of what is asked beside the suite: by what each failed, if it did."""
    role = Role.BASE if on == "stock" else Role.ON
    ends = {"observer-held": held, "observer-cut": cut, "unregistered-endpoint": endpoint}
    return [run(each, on, failed, role, elections_per_fault=9.0) for each, failed in ends.items()]


OF_3_9_1 = {"held": "observer_follows_after_pause", "cut": LOST, "endpoint": "endpoint_is_registered", "on": "stock"}


def test_several_verifications_of_a_release_are_one_row_and_what_it_fixed_a_table_of_its_own(versions, tmp_path):
    suite = verdict("4.2.1", run("turn2", "kafka", LOST), costs=[OVER])
    fixes = verdict("4.2.1", *beside_suite("4.2.1"), *beside_suite("3.9.1", **OF_3_9_1))
    fixes = replace(fixes, verdict=Verdict.HOLD)
    for documents in ({"a": suite, "b": fixes}, {"a": fixes, "b": suite}):
        page = page_of(versions, tmp_path / next(iter(documents)), documents)
        table, fixed = (page.partition(f"<!-- {name} -->")[2].partition("<!-- end")[0] for name in ("table", "fixed"))
        (row,) = rows(table, "4.2.1")
        assert row[4] == "—", "what is asked beside the suite is none of its scenarios"
        assert row[7] == "1.0; 1.0 (turn2)", "nor are its figures"
        assert rows(fixed, "4.2.1") == [["4.2.1", "PASSED", "PASSED", "PASSED", "—"]]
        assert rows(fixed, "3.9.1")[0][1] == "FAILED(observer_follows_after_pause)"
        line = next(each for each in page.splitlines() if each.startswith("- **4.2.1**"))
        assert "SHIP" in line
        assert "HOLD" in line
        assert "a poll takes in turn2: 2 → 90 ms" in line
        assert "observer-held is PASSED, on 3.9.1 FAILED(observer_follows_after_pause)" in line


def test_what_a_line_fixed_is_held_against_what_its_tickets_say(versions, tmp_path):
    documents = {
        "a": verdict("4.0.2", *beside_suite("4.0.2", **{**OF_3_9_1, "on": "kafka"})),
        "b": verdict("4.1.2", *beside_suite("4.1.2", held="observer_follows_after_pause", cut=LOST)),
        "c": verdict("4.2.1", *beside_suite("4.2.1", cut=LOST)),
        "d": verdict("4.3.1", run("observer-held", "kafka")),
    }
    page = page_of(versions, tmp_path, documents)
    says = {
        "up to 4.1 an observer that stood still, or was cut off, does not find its leader again": "yes: 4.0.2, 4.1.2",
        "from 4.2 on it does": "**no**: 4.2.1; yes: 4.3.1",
        "up to 4.0 a voter that moved stays in the voter set with its old address": "yes: 4.0.2",
        "from 4.1 on it gets its new one told": "yes: 4.1.2, 4.2.1; not asked: 4.3.1",
    }
    for prediction, answer in says.items():
        assert rows(page, prediction)[0][3].replace("not asked: 3.9.1; ", "") == answer
    shown = rows(page, "from 4.2 on it does")[0][2]
    assert shown.startswith("4.2.1: observer-held PASSED, observer-cut FAILED(observer_recovers); 4.3.1: observer-held")


def test_runs_that_showed_nothing_neither_hold_nor_refute_a_prediction(versions, tmp_path):
    starved = replace(run("turn2", "kafka"), outcome=Outcome.INCONCLUSIVE, expectation="host_not_starved")
    page = page_of(versions, tmp_path, {"a": verdict("4.2.1", starved)})
    assert rows(page, "4.2.1")[0][2] == "INCONCLUSIVE(host_not_starved)"
    assert rows(page, "turn2 loses the observer on every release")[0][3] == "yes: 3.9.1; not asked: 4.2.1"


def test_boots_of_the_upgrade_notes_are_the_seconds_of_the_start(versions, tmp_path):
    folder = tmp_path / "a"
    for file, version, seconds in (("base", "3.9.1", (2.0, 2.2, 9.0)), ("candidate", "4.2.1", (3.04,))):
        boots = tuple(Boot(each, 3.0, 2.0, 100.0, 300.0, 90) for each in seconds)
        inventory = KafkaInventory(1, version, "", "c" * 64, {}, "", {}, boots=boots)
        getattr(RunDirectory(folder).upgrade, file).write(inventory)
    page = page_of(versions, tmp_path, {"a": verdict("4.2.1", run("turn2", "kafka", LOST))})
    assert (rows(page, "3.9.1")[0][-2], rows(page, "4.2.1")[0][-2]) == ("2.2", "3.0")


def test_the_page_says_which_night_it_was_on_what_and_what_is_not_in_it(versions, tmp_path):
    built = verdict("4.1.2", run("turn2", "kafka"), builder="javac 21")
    page = page_of(versions, tmp_path, {"a": verdict("4.2.1", run("turn2", "kafka")), "b": built}, "c")
    assert "The night *lines*, begun 2026-03-05: 1 of 3 verifications" in page
    assert "2 cores, 8 GiB; JVM profile fast, Java 21" in page
    assert "Without a verdict on releases: `b`, `c`." in page


def test_only_what_stands_between_the_markers_changes(versions, tmp_path):
    documents = {"a": verdict("4.2.1", run("turn2", "kafka"))}
    page = page_of(versions, tmp_path, documents)
    assert page_of(versions, tmp_path, documents, page=page.replace("PASSED", "changed by hand")) == page
    assert page.startswith("# Kafka's releases beside each other\n")


@pytest.mark.parametrize(
    ("page", "documents", "sentence"),
    [
        ("# no markers", {"a": verdict("4.2.1", run("turn2", "kafka"))}, "The page has no place for the night"),
        (None, {"a": document("ship")}, "holds no verdict on a release beside 3.9.1"),
        (None, {}, "holds no verdict on a release beside 3.9.1"),
    ],
)
def test_what_cannot_be_written_is_a_sentence(versions, tmp_path, page, documents, sentence):
    with pytest.raises(HarnessError, match=sentence):
        page_of(versions, tmp_path, documents, page=page)


def test_every_release_that_the_matrix_asks_is_in_the_shipped_table_or_named_as_missing():
    import tomllib

    page = (ROOT / "docs/versions.md").read_text("utf-8")
    builds = tomllib.loads((ROOT / "builds/versions.toml").read_text("utf-8"))["builds"]
    asked = {each["kafka"] for each in builds.values()}
    assert [each for each in asked if not (rows(page, each) or f"`{each}_" in page)] == []
