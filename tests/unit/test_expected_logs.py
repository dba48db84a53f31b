"""A claim expects a line: the first one is quoted, from the arm on which the claim is to hold."""

import pytest

from harness.base.errors import HarnessError
from harness.base.json import to_json
from harness.logs.read.event_counts import WHOLE_LOG
from harness.model.arms import Role
from harness.model.node_logs import NodeLogs
from harness.model.proof import ClaimChain
from harness.model.runs import Outcome, RunResult
from harness.rundir.directory import RunDirectory
from harness.stages.expected_logs import expected_lines

CLAIM = ClaimChain("it-updates", "", "", (), (), "turn2", r"Updated (bootstrap|voter) servers")


@pytest.fixture
def runs(tmp_path):
    """Return the results of a run on each arm; each node says that it updated its servers."""
    results = []
    for arm, role in (("stock", Role.BASE), ("patched-on", Role.ON)):
        folder = tmp_path / "runs" / "turn2" / arm / "1"
        folder.mkdir(parents=True)
        logs = []
        for node, kind in ((0, "voter"), (3, "observer")):
            path = folder / f"{node}.log"
            path.write_text(
                f"{'x' * 20_001} Updated voter servers\n\n  Updated bootstrap servers of <{kind}> on {arm}\n"
            )
            name = str(path.relative_to(tmp_path))
            logs.append(NodeLogs("turn2", arm, 1, node, kind, (name,), "%m%n", (WHOLE_LOG,)))
        (folder / "logs.json").write_text(to_json(tuple(logs)))
        results.append(RunResult("turn2", arm, role, 1, Outcome.PASSED))
    return results


def test_the_first_line_of_an_observer_on_the_arm_with_the_flag_on_is_quoted(tmp_path, runs):
    (line,) = expected_lines(RunDirectory(tmp_path), runs, [CLAIM]).values()
    assert (line.path, line.line) == ("runs/turn2/patched-on/1/3.log", 3)
    assert line.excerpt == "Updated bootstrap servers of <observer> on patched-on"


def test_where_no_line_matches_or_none_is_expected_nothing_is_quoted(tmp_path, runs):
    assert expected_lines(RunDirectory(tmp_path), runs[:1], [CLAIM]) == {}
    for wanted in ("on stock", "Updated nothing", ""):
        chain = ClaimChain("it-updates", "", "", (), (), "turn2", wanted)
        assert expected_lines(RunDirectory(tmp_path), runs, [chain]) == {}


def test_a_run_whose_logs_are_gone_is_not_judged(tmp_path, runs):
    gone = tmp_path / "runs/turn2/patched-on/1/3.log"
    gone.unlink()
    with pytest.raises(HarnessError, match=r"3\.log is gone") as text:
        expected_lines(RunDirectory(tmp_path), runs, [CLAIM])
    assert "not judged" in text.value.hint
