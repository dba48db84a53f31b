"""The stages over a run directory: what is run again, what is timed, what the terminal is told."""

import hashlib
import io
import json
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType, SimpleNamespace

import pytest
from nightly_sample import document
from rich.console import Console
from sample_run import write_sample
from whole_kafka import whole_kafka

from harness.base.errors import HarnessError
from harness.base.files import write_bytes, write_text
from harness.base.json import from_json, to_json
from harness.base.progress import Reporter
from harness.engine.sealing import check_results, inputs_of, seal_of
from harness.judge.decision import decide
from harness.judge.reasons import rests_on
from harness.kafka.release_lines import line_of
from harness.model.arms import Arm, Build, Flag, Role
from harness.model.declaration import SCHEMA, Declaration, DeclaredScenario
from harness.model.node_logs import NodeLogs
from harness.model.request import Request
from harness.model.runs import Origin, Outcome, RunKey, RunResult, Verdict
from harness.model.setup import Setup
from harness.model.verdict import Reason, ReasonSource
from harness.rundir.directory import RunDirectory
from harness.stages import run as run_stage
from harness.stages.diff import diff
from harness.stages.inputs import read_inputs
from harness.stages.judge import judge_run
from harness.stages.timing import timed
from harness.stages.verify import matrix_lines, print_verdict
from harness.toolbox.toolbox import local_toolbox

JAR = b"not much of a jar"
DIGEST = hashlib.sha256(JAR).hexdigest()
BUILD = Build("stock", "3.9.1", "builds/stock/x.jar", DIGEST, "release", Flag("f", False))
ARMS = (Arm("stock", Role.BASE, BUILD, "absent"), Arm("patched-on", Role.ON, BUILD, "true"))
ASKED = Declaration(SCHEMA, "3.9.1", ARMS, (DeclaredScenario("turn1"), DeclaredScenario("turn2")), repeats=2)
SETUP = Setup("f", overlay={"a": "1"}, settings={"patched-on": {"f": "true"}})
OUTCOME = {"seq": 1, "t": 0, "at": "", "event": "outcome", "outcome": "PASSED", "expectation": "", "reason": ""}
QUIET = Reporter(Console(quiet=True))
TOOLBOX = local_toolbox()


@pytest.fixture
def run_dir(tmp_path):
    RunDirectory(tmp_path).declaration.write(ASKED)
    RunDirectory(tmp_path).request.write(Request())
    RunDirectory(tmp_path).setup.write(SETUP)
    write_bytes(tmp_path / BUILD.jar, JAR)
    return tmp_path


@pytest.fixture
def ran(monkeypatch):
    """Return the cells that would have been run."""
    cells = []
    monkeypatch.setattr(
        run_stage,
        "parts_of_arms",
        lambda arms, *_: {
            arm.name: SimpleNamespace(profile="fast", line=line_of("3.9.1"), java=Path("/jre/bin/java")) for arm in arms
        },
    )
    monkeypatch.setattr(run_stage, "run_cells", lambda todo, *_: cells.extend(todo) or [])
    monkeypatch.setattr(run_stage, "keep_noise", lambda *_: None)  # half a second each time, and other tests' subject
    return cells


def test_every_scenario_runs_on_every_arm_as_often_as_declared(run_dir, ran):
    run_stage.run(run_dir, TOOLBOX, QUIET)
    assert len({cell.key for cell in ran}) == 2 * 2 * 2
    assert {tuple(cell.settings.items()) for cell in ran} == {(("a", "1"),), (("a", "1"), ("f", "true"))}


def test_what_has_a_result_is_not_run_again_and_what_was_cut_short_begins_anew(run_dir, ran):
    run_stage.run(run_dir, TOOLBOX, QUIET)
    done, cut = ran[:2], ran[2]
    for cell in done:
        leave_result(run_dir, cell)
    (run_dir / cut.key.folder).mkdir(parents=True)
    ran.clear()
    run_stage.run(run_dir, TOOLBOX, QUIET)
    assert len(ran) == 6
    assert not {cell.key for cell in done} & {cell.key for cell in ran}
    assert not (run_dir / cut.key.folder).exists()


def test_a_round_that_was_cut_short_is_run_again_whole_but_for_what_an_earlier_verification_showed(run_dir, ran):
    """Costs are compared with what ran beside: not minutes, or a host, apart."""
    run_stage.run(run_dir, TOOLBOX, QUIET)
    half, lent = ran[0], ran[2]
    for cell in (half, lent):
        leave_result(run_dir, cell)
    taken = RunDirectory(run_dir).run(lent.key).result
    taken.write(replace(taken.read(), origin=Origin("/out/first", "2026-11-25T14:02:00+00:00", "a" * 64)))
    ran.clear()
    stream = io.StringIO()
    run_stage.run(run_dir, TOOLBOX, Reporter(Console(file=stream, width=300)))
    assert {half.key, lent.key} - {cell.key for cell in ran} == {lent.key}
    assert f"{half.key.folder} is run again, beside what was cut short" in stream.getvalue()


def test_a_second_round_of_costs_that_was_cut_short_is_run_again_whole(run_dir, ran, monkeypatch):
    RunDirectory(run_dir).declaration.write(replace(ASKED, repeats=1, has_spares=True))
    made, stops = [], [RunKey("turn1", "patched-on", 2)]

    def run(todo, *_):
        for cell in todo:
            if stops and cell.key == stops[0]:
                stops.clear()
                raise KeyboardInterrupt
            made.append(cell.key)
            busy = 97.0 if (cell.key.scenario, cell.key.arm) == ("turn1", "patched-on") else 1.0
            leave_result(run_dir, cell, measures={"observer_raft_busiest_percent": busy})
        return []

    monkeypatch.setattr(run_stage, "run_cells", run)
    with pytest.raises(KeyboardInterrupt):
        run_stage.run(run_dir, TOOLBOX, QUIET)
    made.clear()
    run_stage.run(run_dir, TOOLBOX, QUIET)
    assert made == [RunKey("turn1", "stock", 2), RunKey("turn1", "patched-on", 2)]


def leave_result(run_dir, cell, inputs=None, shown=(Outcome.PASSED, ""), measures=MappingProxyType({})):
    """Leave what a run of the cell leaves; with `inputs`, one that was made with something else."""
    key = cell.key
    folder = RunDirectory(run_dir).run(key)
    outcome, expectation = shown
    entry = {**OUTCOME, "outcome": str(outcome), "expectation": expectation}
    write_text(folder.journal, json.dumps(entry) + "\n")
    result = RunResult(key.scenario, key.arm, cell.role, key.repeat, outcome, expectation, measures=measures)
    seal = seal_of(cell, folder, result)
    folder.seal.write(replace(seal, inputs=replace(seal.inputs, **inputs or {})))
    folder.result.write(result)
    return folder.path


def test_what_a_known_crash_ended_or_the_host_spoiled_is_asked_once_more_alone_after_all_others_and_nothing_else_is(
    run_dir, ran, monkeypatch
):
    RunDirectory(run_dir).declaration.write(replace(ASKED, has_spares=True))
    batches, at_a_time = [], []

    def shows(cell):
        ends = {("stock", 1): "known_crash", ("patched-on", 2): "host_not_starved"}
        name = ends.get((cell.key.arm, cell.key.repeat), "") if cell.key.scenario == "turn2" else ""
        outcome = Outcome.INCONCLUSIVE if name or cell.key.repeat > 2 else Outcome.PASSED
        return outcome, name or "known_crash" * (cell.key.repeat > 2)

    def run(todo, _root, jobs, *_):
        batches.append([cell.key for cell in todo])
        at_a_time.append(jobs)
        for cell in todo:
            leave_result(run_dir, cell, shown=shows(cell))
        return todo

    monkeypatch.setattr(run_stage, "run_cells", run)
    assert len(run_stage.run(run_dir, TOOLBOX, QUIET)) == 10
    spares = [RunKey("turn2", "stock", 3), RunKey("turn2", "patched-on", 4)]
    assert (len(batches[0]), batches[1:], at_a_time) == (8, [spares], [2, 1])
    run_stage.run(run_dir, TOOLBOX, QUIET)  # gone on with: what the spares showed stands, though it was a crash again
    assert batches[2:] == [[]]


def test_what_costs_more_than_base_is_asked_once_more_beside_it_when_nothing_else_goes_on(run_dir, ran, monkeypatch):
    RunDirectory(run_dir).declaration.write(replace(ASKED, has_spares=True, repeats=1))
    done, at_a_time = [], []

    def run(todo, _root, jobs, *_):
        done.append([cell.key for cell in todo])
        at_a_time.append(jobs)
        for cell in todo:
            is_worse = (cell.key.scenario, cell.key.arm) == ("turn2", "patched-on")
            leave_result(run_dir, cell, measures={"observer_raft_busiest_percent": 97.0 if is_worse else 1.0})
        return todo

    monkeypatch.setattr(run_stage, "run_cells", run)
    run_stage.run(run_dir, TOOLBOX, QUIET, leave_alone=lambda: done.append("left alone"))
    again = [RunKey("turn2", "stock", 2), RunKey("turn2", "patched-on", 2)]
    assert (len(done[0]), done[1:], at_a_time) == (4, ["left alone", again], [2, 2])
    run_stage.run(run_dir, TOOLBOX, QUIET, leave_alone=lambda: done.append("left alone"))
    assert done[3:] == [[]], "what the second round showed stands"


@pytest.mark.parametrize(
    ("inputs", "why"),
    [
        ({"plan": "b" * 64}, "its plan was bbbbbbbbbbbb, declared is "),
        ({"jar": "c" * 64}, f"its jar was cccccccccccc, declared is {DIGEST[:12]}"),
        ({"java": "17.0.1 (bundled)"}, "its java was 17.0.1 (bundled), declared is "),
        ({"profile": "production"}, "its profile was production, declared is fast"),
        ({"repeat": 9}, "its repeat was 9, declared is 1"),
        ({"harness": "d" * 64}, "its harness was dddddddddddd, declared is "),
    ],
)
def test_a_result_of_something_else_is_not_used_again_and_the_user_reads_why(run_dir, ran, inputs, why):
    run_stage.run(run_dir, TOOLBOX, QUIET)
    leave_result(run_dir, ran[0], inputs)
    leave_result(run_dir, ran[1])
    ran.clear()
    stream = io.StringIO()
    run_stage.run(run_dir, TOOLBOX, Reporter(Console(file=stream, width=300)))
    assert len(ran) == 8
    assert f"runs/turn1/stock/1 is run again: {why}" in stream.getvalue()


def test_a_result_of_a_folder_of_before_of_which_nobody_knows_the_harness_is_used_again(run_dir, ran):
    run_stage.run(run_dir, TOOLBOX, QUIET)
    for cell in ran[:2]:
        leave_result(run_dir, cell, {"harness": ""})
    ran.clear()
    run_stage.run(run_dir, TOOLBOX, QUIET)
    assert len(ran) == 6


def test_another_plan_jar_or_setting_is_another_plan(run_dir, ran):
    run_stage.run(run_dir, TOOLBOX, QUIET)
    cell = ran[0]
    digests = {
        inputs_of(each).plan
        for each in (
            cell,
            replace(cell, overlay={"a": "2"}),
            replace(cell, scenario=ran[2].scenario),
            replace(cell, scenario=replace(cell.scenario, budget=1.0)),
        )
    }
    assert len(digests) == 4


def test_a_kafka_that_a_plan_may_install_is_part_of_what_a_run_was_made_with_and_base_installed_again_is_its_jar(
    run_dir, ran
):
    run_stage.run(run_dir, TOOLBOX, QUIET)
    cell = ran[0]

    def others(beside):
        return inputs_of(replace(cell, others={"another": replace(cell.install, beside=beside)})).other_jars

    assert others(cell.install.beside) == (cell.install.sha256,)
    assert others({"kafka-clients.jar": "a"}) != others({"kafka-clients.jar": "b"})


def test_a_jar_that_was_exchanged_after_it_was_declared_is_not_run(run_dir, ran):
    (run_dir / BUILD.jar).write_bytes(b"another")
    with pytest.raises(HarnessError, match=r"x\.jar is not the jar that run\.json declares"):
        run_stage.run(run_dir, TOOLBOX, QUIET)


def test_another_java_than_the_declared_one_is_not_taken_for_it(run_dir, ran):
    RunDirectory(run_dir).declaration.write(replace(ASKED, arms=(replace(ARMS[0], java="1.1.8 (bundled)"),)))
    with pytest.raises(HarnessError, match=r"declares Java 1\.1\.8 \(bundled\) for stock, and there is now"):
        run_stage.run(run_dir, TOOLBOX, QUIET)


@pytest.mark.parametrize(
    ("file", "content", "sentence"),
    [
        (
            "journal.jsonl",
            b'{"seq": 1, "event": "outcome", "outcome": "FAILED"}\n',
            "is not the journal that was written",
        ),
        ("result.json", b'{"scenario": "turn1",', "result.json is damaged. Not valid JSON"),
        ("result.json", b"[" * 100_000, "result.json is damaged. Not valid JSON"),
        ("seal.json", b"", "seal.json is damaged"),
        ("seal.json", None, "seal.json cannot be read: No such file"),
    ],
)
def test_what_was_changed_after_a_run_is_named_before_anything_is_judged(run_dir, ran, file, content, sentence):
    run_stage.run(run_dir, TOOLBOX, QUIET)
    folder = leave_result(run_dir, ran[0])
    check_results(run_dir)
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_bytes(content)
    with pytest.raises(HarnessError) as caught:
        check_results(run_dir)
    assert sentence in caught.value.message
    assert str(folder) in caught.value.message


def test_a_figure_that_was_edited_after_its_run_is_noticed_and_one_of_an_older_run_or_with_an_origin_is_not_forged(
    run_dir, ran
):
    run_stage.run(run_dir, TOOLBOX, QUIET)
    leave_result(run_dir, ran[0], measures={"node_cpu_seconds": 40})
    folder = RunDirectory(run_dir).run(ran[0].key)
    folder.result.write(
        replace(folder.result.read(), origin=Origin("/out/first", "2026-11-25T14:02:00+00:00", "a" * 64))
    )
    check_results(run_dir)
    folder.result.write(replace(folder.result.read(), measures={"node_cpu_seconds": 4.0}))
    with pytest.raises(HarnessError, match=r"result\.json is not the result that this run was given"):
        check_results(run_dir)
    folder.seal.write(replace(folder.seal.read(), result=""))
    check_results(run_dir)


@pytest.mark.parametrize("edited", ["nodes/0/server.log", "nodes/0/shutdown.log", "logs.json"])
def test_a_log_that_was_edited_after_its_run_is_noticed_and_one_that_is_gone_is_not_forged(run_dir, ran, edited):
    run_stage.run(run_dir, TOOLBOX, QUIET)
    folder = RunDirectory(run_dir).run(ran[0].key)
    log = f"{folder.name}/nodes/0/server.log"
    at_the_end = f"{folder.name}/nodes/0/shutdown.log"
    for name in (log, at_the_end):
        write_text(run_dir / name, "INFO fine\nERROR broken\n")
    folder.logs.write((NodeLogs("turn1", "stock", 1, 0, "voter", (log,), "%m%n", ()),))
    leave_result(run_dir, ran[0])
    assert [*folder.seal.read().logs] == [f"{folder.name}/logs.json", log, at_the_end]
    check_results(run_dir)
    (folder.path / edited).write_bytes((folder.path / edited).read_bytes().replace(b"ERROR broken\n", b"").rstrip())
    with pytest.raises(HarnessError, match=f"{edited} is not the log that was written in this run"):
        check_results(run_dir)
    with pytest.raises(HarnessError, match="it was changed afterwards"):
        diff(run_dir, TOOLBOX, QUIET)
    assert "it was changed afterwards" in RunDirectory(run_dir).logs.comparison.read().failed
    if edited != "logs.json":
        (folder.path / edited).unlink()
        check_results(run_dir)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"outcome": Outcome.FAILED}, "says FAILED, and the outcome in journal.jsonl differs"),
        ({"reason": "none"}, "the outcome in journal.jsonl differs"),
        ({"arm": "patched-on"}, "is the result of another run: it names runs/turn1/patched-on/1"),
    ],
)
def test_a_result_that_does_not_say_what_its_journal_says_is_refused(run_dir, ran, changes, sentence):
    run_stage.run(run_dir, TOOLBOX, QUIET)
    folder = leave_result(run_dir, ran[0])
    result = from_json(RunResult, (folder / "result.json").read_bytes())
    write_text(folder / "result.json", to_json(replace(result, **changes)))
    with pytest.raises(HarnessError, match=sentence):
        check_results(run_dir)


def test_a_scenario_that_is_gone_is_named(run_dir, ran):
    RunDirectory(run_dir).declaration.write(replace(ASKED, scenarios=(DeclaredScenario("turn9"),)))
    with pytest.raises(HarnessError, match="not there any more: turn9"):
        run_stage.run(run_dir, TOOLBOX, QUIET)


def test_the_seconds_of_a_stage_add_up_over_its_runs(run_dir):
    for _ in range(2):
        with timed(RunDirectory(run_dir), "diff"):
            pass
    assert RunDirectory(run_dir).declaration.read().timings["diff"] >= 0
    RunDirectory(run_dir).declaration.write(replace(ASKED, timings={"diff": 5.0}))
    with timed(RunDirectory(run_dir), "diff"):
        pass
    assert RunDirectory(run_dir).declaration.read().timings["diff"] >= 5.0


def test_setup_is_read_as_it_was_written(run_dir):
    assert RunDirectory(run_dir).setup.read() == SETUP


def test_a_folder_without_setup_is_no_run_directory(tmp_path):
    with pytest.raises(HarnessError, match=r"has no setup\.json"):
        RunDirectory(tmp_path).setup.read()


def versions(request):
    sides = read_inputs(request, TOOLBOX).sides
    return sides.base.version, sides.candidate.version


def test_the_version_is_the_users_or_that_of_the_default():
    assert versions(Request(claims="none")) == ("3.9.1", "3.9.1")
    assert versions(Request(claims="none", kafka_version="3.9.0")) == ("3.9.0", "3.9.0")


def test_a_vendors_unpacked_kafka_is_judged_as_the_release_that_it_is_a_build_of(tmp_path):
    whole_kafka(tmp_path, "3.9.1.redhat-00003")
    assert versions(Request(base_dist=tmp_path)) == ("3.9.1", "3.9.1")
    assert versions(Request(base_dist=tmp_path, kafka_version="3.9.1")) == ("3.9.1", "3.9.1")


def test_the_terminal_shows_verdict_reasons_and_report_and_no_control_characters(tmp_path):
    stream = io.StringIO()
    result = RunResult("turn2", "stock", Role.BASE, 1, Outcome.FAILED, "observer_recovers")
    reasons = [Reason(ReasonSource.FIGURES, Verdict.HOLD, None, f"reason {number}") for number in range(9)]
    record = replace(
        decide(replace(ASKED, scenarios=(DeclaredScenario("turn2"),), repeats=1), [result], None),
        verdict=Verdict.HOLD,
        sentence="turn2: it failed \x1b[2J",
        reasons=tuple(reasons),
        against="it ran once",
        not_fixed=("gap: patched-on fails it, as stock does.",),
    )
    record = replace(record, scenarios=(replace(record.scenarios[0], discriminates=False),))
    print_verdict(Console(file=stream, width=200), record, {"build": 5.0, "run": 70.0}, tmp_path / "report.html")
    text = stream.getvalue()
    assert "turn2  stock FAILED(observer_recovers)  patched-on MISSING\n" in text, "nothing is claimed"
    assert "HOLD  turn2: it failed" in text
    assert "reason 5" in text
    assert "reason 6" not in text
    assert "time: build 5 s, run 1 min 10 s; 1 min 15 s before judging" in text
    assert "strongest reason against it: it ran once" in text
    assert "not fixed: 1 of 1 scenario fails with the candidate as it does without it (gap)." in text
    assert "report.html" in text
    assert "\x1b" not in text


def test_a_scenario_is_marked_as_no_evidence_for_a_claim_where_there_is_one():
    shipped = document("ship")
    assert [line.endswith("  (no evidence)") for line in matrix_lines(shipped, None) if "  turn1 " in line] == [True]
    others = replace(shipped, claims=tuple(replace(each, scenario="turn1") for each in shipped.claims))
    assert [line for line in matrix_lines(others, None) if line.endswith("  (no claim is about it)")]
    unclaimed = matrix_lines(replace(shipped, claims=()), None)
    assert len(unclaimed) == 3
    assert not [line for line in unclaimed if "evidence" in line]


def test_where_every_run_has_its_result_that_is_said(run_dir, ran):
    run_stage.run(run_dir, TOOLBOX, QUIET)
    for cell in list(ran):
        leave_result(run_dir, cell)
    stream = io.StringIO()
    run_stage.run(run_dir, TOOLBOX, Reporter(Console(file=stream, width=300)))
    assert stream.getvalue() == "• no runs on live clusters are left to do\n"


def test_a_reason_that_the_sentence_says_is_not_said_twice(tmp_path):
    write_sample(tmp_path)
    record = judge_run(RunDirectory(tmp_path))
    reason = rests_on(record.verdict, record.reasons)[0]
    for sentence, times in (("It is so.", 1), (f"Too little. {reason}", 1)):
        stream = io.StringIO()
        print_verdict(Console(file=stream, width=500), replace(record, sentence=sentence), {}, tmp_path)
        assert stream.getvalue().count(reason) == times


def test_arms_stand_below_each_other_where_the_terminal_is_wide_enough(tmp_path):
    write_sample(tmp_path)
    record = judge_run(RunDirectory(tmp_path))
    names = [scenario.name for scenario in record.scenarios]
    wide = matrix_lines(record, 200)
    assert [line.split()[0] for line in wide] == names
    assert {line.index("patched-on ") for line in wide} == {wide[0].index("patched-on ")}
    assert matrix_lines(record, None) == wide, "a file has any width"
    narrow = matrix_lines(record, 60)
    assert max(map(len, narrow)) <= 60
    assert [line.split()[0] for line in narrow if not line.startswith("   ")] == names
    assert sum(line.startswith("    patched-on ") for line in narrow) == len(names)
