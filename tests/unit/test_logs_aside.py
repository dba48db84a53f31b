"""ERROR lines of nodes that are stopped after the plan, and of runs that were made again: what base never writes."""

from dataclasses import replace

import pyarrow as pa
import pytest
from test_judge import CRASH, FIX, GUARD, SOUND, H, R, declare, ran

from harness.judge.decision import decide
from harness.logs.aside import errors_aside, new_errors
from harness.logs.compare.counts import Count, Where
from harness.logs.compare.template_families import family
from harness.logs.read.blocks import LogFile, whole
from harness.logs.read.event_counts import Reading
from harness.logs.read.layout import compile_layout
from harness.logs.read.library import library
from harness.model.findings import Contrast, FindingKind
from harness.model.node_logs import NodeLogs
from harness.model.proof import ERROR_ADDED, Difference, Severity
from harness.model.runs import Outcome, RunKey, Verdict
from harness.rundir.directory import RunDirectory

RAFT = "org.apache.kafka.raft.KafkaRaftClient"
STAMP = "[2026-11-29 02:00:00,000]"
ERROR = f"{STAMP} ERROR [RaftManager id=1] Could not close batch 17 ({RAFT})\n"
INFO = f"{STAMP} INFO Nobody cares about this ERROR ({RAFT})\n"
ADDED = Difference(ERROR_ADDED, Severity.NOTE, RAFT, "", "", "Could not close batch {}")
KNOWN = (Outcome.INCONCLUSIVE, "known_crash", "node 1 crashed as released jars do now and then (docs/x.md): Unexpected")
STOCK, OFF, ON = "stock", "patched-off", "patched-on"


@pytest.fixture
def directory(tmp_path):
    """A run directory of turn2, in which every arm passes at once."""
    return filled(RunDirectory(tmp_path), ran("turn2", R, R, H))


def filled(directory, results):
    directory.declaration.write(replace(declare("turn2", claims=(FIX,)), has_spares=True))
    for result in results:
        run = directory.run(result.key)
        run.result.write(result)
        log = run.node_log(1)
        log.parent.mkdir(parents=True)
        log.write_text(INFO)
        name = log.relative_to(directory.path).as_posix()
        run.logs.write((NodeLogs("turn2", result.arm, result.repeat, 1, "voter", (name,), "[%d] %p %m (%c)%n", ()),))
    return directory


def logged(directory, arm, name, text, repeat=1):
    log = directory.path / f"runs/turn2/{arm}/{repeat}/nodes/1/{name}"
    log.write_text(text)


def found(directory, arm=ON, counts=()):
    return new_errors(STOCK, arm, errors_aside(directory), counts)


def test_what_a_node_logs_at_error_while_it_is_stopped_is_a_finding_with_its_place(directory):
    logged(directory, ON, "shutdown.log", INFO + ERROR + ERROR)
    (finding,) = found(directory)
    assert (finding.kind, finding.level, finding.logger, finding.scenario) == (FindingKind.NEW, "ERROR", RAFT, "turn2")
    assert (finding.phase, finding.node_kind) == ("stopped after the plan", "voter")
    assert (finding.base_count, finding.candidate_count, finding.candidate_runs) == (0, 2, (2,))
    assert finding.template == "[RaftManager id=<n>] Could not close batch <n>"
    assert finding.evidence[0].place == "runs/turn2/patched-on/1/nodes/1/shutdown.log:2"
    assert found(directory, OFF) == ()


def test_what_base_logs_as_it_stops_or_anywhere_else_is_none(directory):
    logged(directory, ON, "shutdown.log", ERROR)
    where = Where(STOCK, "turn1", "observer", "start")
    count = Count(where, "WARN", RAFT, "[RaftManager id=<n>] Could not close batch <n>", 1, "x", 1, "")
    assert found(directory, counts=[replace(count, template="another")])
    assert found(directory, counts=[count]) == ()
    logged(directory, STOCK, "shutdown.log", ERROR.replace("17", "4"))
    assert found(directory) == ()


TRACE = "org.apache.kafka.raft.errors.NotLeaderException: Append failed\n\tat a.B.c(B.java:7)\n"


@pytest.mark.parametrize(
    ("here", "there"),
    [
        (ERROR + TRACE, ERROR.replace("17", "4") + TRACE),
        (ERROR.replace("batch 17", "127.0.0.1:22001"), ERROR.replace("batch 17", "127.0.0.1:22001")),
        (ERROR.replace("17", "17 (x=true)"), ERROR.replace("17", "3 (x=false)")),
    ],
    ids=["an exception below it", "a node's address in it", "other values in its brackets"],
)
def test_the_same_line_is_the_same_in_a_log_that_counts_and_in_one_that_does_not(directory, here, there):
    (node,) = directory.run(RunKey("turn2", STOCK, 1)).logs.read()
    node = replace(node, names={"127.0.0.1:22001": "<voter's controller>"})
    for arm in (STOCK, ON):
        of_arm = replace(node, arm=arm, files=(node.files[0].replace(STOCK, arm),))
        directory.run(RunKey("turn2", arm, 1)).logs.write((of_arm,))
    logged(directory, ON, "shutdown.log", here)
    assert len(found(directory)) == 1
    reading = Reading(compile_layout(node.pattern), (), node.names)
    rows = whole(pa.scalar(there.encode()), LogFile("server.log", reading)).filter(level="ERROR", part="event")
    (row,) = rows.iter_rows(named=True)
    where, template = Where(STOCK, "turn1", "voter", "start"), row["template"]
    count = Count(where, "ERROR", RAFT, template, 1, "x", 1, "", family=family(template))
    assert found(directory, counts=[count]) == ()


def test_an_error_of_several_lines_is_one_and_its_logger_stands_on_the_last(directory):
    logged(directory, ON, "shutdown.log", INFO + ERROR.replace("batch 17", "batch 17:\nits writer is gone"))
    (finding,) = found(directory)
    assert (finding.logger, finding.evidence[0].line) == (RAFT, 2)
    assert "its writer is gone" in finding.template


def test_however_many_known_errors_come_first_the_one_that_base_cannot_write_is_found(directory):
    logged(directory, STOCK, "shutdown.log", ERROR)
    logged(directory, ON, "shutdown.log", ERROR * 3000 + ERROR.replace("Could not close", "Lost"))
    (finding,) = found(directory)
    assert finding.template.endswith("Lost batch <n>")


def test_what_the_logs_that_count_show_of_the_candidate_is_not_told_twice(directory):
    logged(directory, ON, "shutdown.log", ERROR)
    where = Where(ON, "turn2", "voter", "start")
    count = Count(where, "ERROR", RAFT, "[RaftManager id=<n>] Could not close batch <n>", 1, "x", 1, "")
    assert found(directory, counts=[count]) == ()


def test_a_run_in_whose_place_a_spare_stands_is_read_whole_and_the_spare_to_its_end_alone(tmp_path):
    directory = filled(RunDirectory(tmp_path), ran("turn2", R, R, [GUARD, H]))
    logged(directory, ON, "server.log", ERROR)
    (finding,) = found(directory)
    assert (finding.phase, finding.evidence[0].line) == ("a run that was made again", 1)
    logged(directory, ON, "server.log", INFO)
    logged(directory, ON, "server.log", ERROR, repeat=2)
    assert found(directory) == ()  # that one is counted as every log is


@pytest.mark.parametrize("ended", [KNOWN, CRASH])
def test_of_a_crash_that_released_jars_have_too_nothing_is_read(tmp_path, ended):
    directory = filled(RunDirectory(tmp_path), ran("turn2", R, R, [ended, H]))
    logged(directory, ON, "shutdown.log", ERROR)
    assert len(found(directory)) == (0 if ended is KNOWN else 1)


@pytest.mark.parametrize(
    "text",
    [b"", b"\xff\xfe ERROR \x00", ERROR.encode()[:40], f"{STAMP} ERROR a line without a logger".encode()],
)
def test_what_is_no_line_of_a_log_is_none_and_ends_nothing(directory, text):
    log = directory.path / f"runs/turn2/{ON}/1/nodes/1/shutdown.log"
    log.write_bytes(text)
    assert found(directory) == ()


@pytest.mark.parametrize(("errors", "verdict"), [((ADDED,), Verdict.HOLD), ((), Verdict.SHIP)])
def test_it_weighs_where_a_statement_of_the_candidate_writes_it_that_base_has_not(directory, errors, verdict):
    logged(directory, ON, "shutdown.log", ERROR)
    contrast = Contrast(STOCK, ON, found(directory))
    record = decide(
        declare("turn2", claims=(FIX,)), ran("turn2", R, R, H), replace(SOUND, differences=errors), [contrast]
    )
    assert record.verdict is verdict


def test_an_error_of_base_s_own_is_no_added_statement_of_another_class(directory):
    """“Unexpected error {}” of KafkaRaftClient would read like it, were it not known whose line it is."""
    added = replace(ADDED, candidate="Unexpected error {}")
    line = "Unexpected error handling maybeFenceReplicas"
    logged(directory, ON, "shutdown.log", f"{STAMP} ERROR {line} (org.apache.kafka.controller.QuorumController)\n")
    known = {arm: library("3.9.1") for arm in (STOCK, OFF, ON)}
    verdicts = {}
    for name, aside in (("untraced", errors_aside(directory)), ("traced", errors_aside(directory, known))):
        contrasts = [Contrast(STOCK, arm, new_errors(STOCK, arm, aside, ())) for arm in (OFF, ON)]
        proof = replace(SOUND, differences=(added,))
        verdicts[name] = decide(directory.declaration.read(), directory.results(), proof, contrasts).verdict
    assert verdicts == {"untraced": Verdict.HOLD, "traced": Verdict.SHIP}
