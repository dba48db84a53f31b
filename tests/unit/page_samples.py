"""Every kind of page that the harness writes, made of samples: for tests in a browser, and for looking at them.

`python tests/unit/page_samples.py FOLDER` writes all of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path

import nightly_sample
import rollout_sample
import sample_run
import test_gantt
import test_report_kafkas
import upgrade_sample

from harness.judge.decision import decide
from harness.logs.count_cache import SCHEMA
from harness.model.arms import Role
from harness.model.candidate_kind import CandidateKind
from harness.model.declaration import DeclaredScenario
from harness.model.findings import Contrast, Significance
from harness.model.log_totals import FileTotal, Totals
from harness.model.reuse import Origin
from harness.model.runs import Outcome, Verdict
from harness.model.topic_ids import Finding, IdState, Place, TopicIdCheck
from harness.model.verdict import VerdictRecord
from harness.model.waivers import Waiver, WaiverKind
from harness.nightly.judging import judge_night
from harness.nightly.night import VerificationStatus
from harness.nightly.nightpage import render_night
from harness.report import write_reports
from harness.report.diffpage import render_diff
from harness.report.html import render_html
from harness.report.rolloutpage import render_rollout
from harness.report.topic_ids_page import render_topic_ids
from harness.report.upgrade_page import render_upgrade
from harness.rundir.directory import RunDirectory
from harness.scenario.registry import load_all, select
from harness.stages.compared_logs import note_comparison
from harness.stages.judge import judge_run
from harness.upgrade.changes import operator_changes
from harness.upgrade.own_files import with_uses

VERIFICATIONS = ("ship", "hold", "hostile", "cut")


def write_pages(folder: Path) -> dict[str, Path]:
    """Write every page below a folder; return them by name."""
    made = {kind: _verification(folder / kind, kind) for kind in VERIFICATIONS}
    made |= {"reused": _reused(folder / "reused"), "suite": _suite(folder / "suite")}
    for name, page in PAGES.items():
        made[name] = folder / name / "index.html"
        made[name].parent.mkdir(parents=True)
        made[name].write_text(page(), encoding="utf-8")
    return made


def _verification(folder: Path, kind: str) -> Path:
    directory = RunDirectory(sample_run.write_sample(folder, kind))
    return write_reports(directory, judge_run(directory))


def _reused(folder: Path) -> Path:
    """The second verification of the same jar, in which one asked where the time went."""
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
    note_comparison(directory)
    return write_reports(directory, judge_run(directory))


def _suite(folder: Path) -> Path:
    """A suite without a candidate, of which a scenario is not as expected."""
    directory = RunDirectory(sample_run.write_sample(folder, "cut"))
    declared = directory.declaration.read()
    stock = tuple(arm for arm in declared.arms if arm.role is Role.BASE)
    directory.declaration.write(replace(declared, arms=stock, claims=()))
    return write_reports(directory, judge_run(directory))


def standard() -> str:
    """A jar that nobody knows and that claims nothing, by the eleven scenarios of the standard suite: a SHIP."""
    flag = replace(sample_run.PATCHED.flag, known=False)
    given = replace(sample_run.PATCHED, flag=flag, builder="given", series=(), note="")
    arms = (sample_run.ARMS[0], replace(sample_run.ARMS[2], build=given))
    scenarios = tuple(DeclaredScenario(each.name, each.question) for each in select(load_all(), (), "standard", ()))
    plan = replace(sample_run.declaration(), arms=arms, scenarios=scenarios, claims=(), kind=CandidateKind.UNKNOWN)
    turn1 = [each for each in sample_run.results("ship") if each[0].scenario == "turn1"]
    compared = [(result, entries) for result, entries in turn1 if result.role is not Role.OFF]
    ran = [(replace(result, scenario=each.name), entries) for each in scenarios for result, entries in compared]
    proof = replace(sample_run.proof("ship"), chains=(), audit=())
    contrast = sample_run.contrasts("ship")[2]
    noise = tuple(replace(each, significance=Significance.WITHIN) for each in contrast.findings)
    found = replace(contrast, findings=noise)
    record = decide(plan, [result for result, _ in ran], proof, (found,), coverage=sample_run.coverage("ship"))
    assert record.verdict is Verdict.SHIP
    return render_html(record, {result.key.folder: entries for result, entries in ran})


def two_kafkas() -> str:
    """One release against another, with what changes for an operator."""
    passed = {"outcome": Outcome.PASSED, "expectation": "", "reason": "", "evidence": ()}
    ran = [
        (replace(result, **passed), entries)
        for result, entries in test_report_kafkas.of_arms(sample_run.results("ship"))
    ]
    declared = replace(sample_run.declaration(), arms=test_report_kafkas.ARMS, claims=(), kind=CandidateKind.UNKNOWN)
    record = test_report_kafkas.judged(declared, ran)
    journals = {result.key.folder: entries for result, entries in ran}
    return render_html(record, journals, upgrade=operator_changes(upgrade_sample.BASE, upgrade_sample.CANDIDATE))


def diff(*, repeated: bool = False) -> str:
    """Two folders of `kubectl logs`, with a log that fits no layout; or with further runs of both."""
    findings = sample_run.contrasts("ship")[2].findings
    if repeated:
        runs = {"base_runs": (0, 0, 1), "candidate_runs": (94, 90, 96)}
        significances = (Significance.BEYOND, Significance.WITHIN)
        pairs = zip(findings, significances, strict=True)
        findings = tuple(replace(each, significance=significance, **runs) for each, significance in pairs)
    unread = () if repeated else ("/home/kim/before/kafka-2.log",)
    left_out = tuple(f"{log} was not read: it fits no log layout, and its first line is '14:28 hi'." for log in unread)
    files = tuple(
        FileTotal(f"/home/kim/{side}/kafka-{node}.log", "kubectl | [%d] %p %m (%c)%n", 9000, 1 << 20, 8000, 8900, 1, 3)
        for side in ("before", "after")
        for node in range(3)
    )
    totals = Totals(SCHEMA, files, left_out, unread)
    return render_diff(Contrast("/home/kim/before", "/home/kim/after", findings), totals, Path("/home/kim/out/diff"))


def rollout(kind: str) -> str:
    """A rollout that passed or was stopped, or one of whole Kafkas."""
    journals = {"forward-and-back": rollout_sample.entries()}
    if kind == "whole":
        journals = {"forward-and-back": rollout_sample.mixed()}
    contrast = Contrast("control", "forward-and-back", sample_run.contrasts("hostile")[2].findings)
    found = rollout_sample.whole_rollout() if kind == "whole" else rollout_sample.rollout(kind)
    gaps = ("dies-on-load: Is it noticed?", "TLS, SASL, an authorizer and its ACLs: no --command-config was given.")
    told = replace(found, against="dies-on-load was not rehearsed.", not_rehearsed=gaps)
    return render_rollout(told, journals, contrast, ("rollout", "--jar", "kafka-raft-3.9.1.jar"))


def upgrade() -> str:
    """What changes for an operator, with a file of their own."""
    changes = operator_changes(upgrade_sample.BASE, upgrade_sample.CANDIDATE)
    return render_upgrade(with_uses(changes, {"server.properties": "zookeeper.connect=zk:2181"}))


def topic_ids() -> str:
    """A check that found an id that is not the cluster's, and could not look at a broker."""
    place = Place(3, "/var/lib/kafka/data", (0, 1, 2))
    findings = tuple(
        Finding(
            state, f"orders-{state.name.lower()}", "ozTkTKQ4Q5mIIR8HUQOlvQ", "9ZBgsF2dQGqzrdIIPvmKjA", "why", (place,)
        )
        for state in IdState
    )
    counts = dict.fromkeys(IdState, 3)
    gaps = ("Broker 4 was not looked at.",)
    return render_topic_ids(TopicIdCheck("ZooKeeper at zk:2181", True, "c1", (3,), 9, counts, findings, gaps))


def full_night() -> str:
    """A night with everything on it."""
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


def empty_night() -> str:
    """A night of which there is nothing to say."""
    shipped: VerdictRecord = replace(nightly_sample.document("ship"), contrasts=(), proof=None)
    return render_night(judge_night(nightly_sample.night("a"), {"a": shipped}, (), (), date(2026, 3, 5)))


PAGES: Mapping[str, Callable[[], str]] = {
    "standard": standard,
    "two-kafkas": two_kafkas,
    "diff": diff,
    "diff-repeated": lambda: diff(repeated=True),
    "rollout-passed": lambda: rollout("passed"),
    "rollout-stopped": lambda: rollout("stopped"),
    "rollout-whole": lambda: rollout("whole"),
    "upgrade": upgrade,
    "topic-ids": topic_ids,
    "night": full_night,
    "empty-night": empty_night,
}
NAMES = (*VERIFICATIONS, "reused", "suite", *PAGES)


if __name__ == "__main__":
    for name, path in write_pages(Path(sys.argv[1])).items():
        print(name, path)
