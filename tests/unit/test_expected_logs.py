"""A claim expects a line: the first is quoted, from the arm on which it is to hold, and from that with the flag off."""

from dataclasses import replace

import pytest
from test_judge import ARMS, BASE_HAS_FLAG, FLAG, declare

from harness.base.errors import HarnessError
from harness.base.json import to_json
from harness.logs.read.event_counts import WHOLE_LOG
from harness.model.arms import Role
from harness.model.node_logs import NodeLogs
from harness.model.proof import ClaimChain
from harness.model.runs import Evidence, Outcome, RunResult
from harness.rundir.directory import RunDirectory
from harness.stages.expected_logs import expected_lines, lines_with_flag_off

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


def test_a_pattern_may_be_any_that_matches_text(tmp_path, runs):
    chain = ClaimChain("it-updates", "", "", (), (), "turn2", r"(?u)\N{LATIN CAPITAL LETTER U}pdated\u0020boot")
    assert [line.line for line in expected_lines(RunDirectory(tmp_path), runs, [chain]).values()] == [3]


def test_a_run_whose_logs_are_gone_is_not_judged(tmp_path, runs):
    gone = tmp_path / "runs/turn2/patched-on/1/3.log"
    gone.unlink()
    with pytest.raises(HarnessError, match=r"3\.log is gone") as text:
        expected_lines(RunDirectory(tmp_path), runs, [CLAIM])
    assert "not judged" in text.value.hint


SAID = "Updated bootstrap servers to: [a]"


@pytest.fixture
def judged(tmp_path):
    """Return what is found of the line with the flag off, given what each run of an arm logs, by scenario and arm."""

    def find(said, arms=ARMS, chain=CLAIM):
        results = []
        for (scenario, arm, outcome), text in said.items():
            key = f"runs/{scenario}/{arm}/1"
            (tmp_path / key).mkdir(parents=True)
            (tmp_path / key / "3.log").write_text(f"INFO up\n{text}\n")
            logs = (NodeLogs(scenario, arm, 1, 3, "observer", (f"{key}/3.log",), "%m%n", (WHOLE_LOG,)),)
            (tmp_path / key / "logs.json").write_text(to_json(logs))
            role = next(each.role for each in arms if each.name == arm)
            results.append(RunResult(scenario, arm, role, 1, outcome))
        return lines_with_flag_off(RunDirectory(tmp_path), declare("turn2", "turn1", arms=arms), results, [chain])

    return find


def turn2(arm, outcome=Outcome.PASSED):
    return ("turn2", arm, outcome)


def test_a_line_with_the_flag_off_that_no_run_of_base_has_is_quoted(judged):
    assert judged({turn2("stock"): "INFO fine", turn2("patched-off"): SAID, turn2("patched-on"): SAID}) == {
        CLAIM.claim: Evidence("runs/turn2/patched-off/1/3.log", 2, SAID)
    }


@pytest.mark.parametrize(
    "said",
    [
        {turn2("stock"): "INFO fine", turn2("patched-off"): "INFO fine", turn2("patched-on"): SAID},
        {turn2("stock"): SAID, turn2("patched-off"): SAID},
        {turn2("stock"): "INFO fine", ("turn1", "stock", Outcome.PASSED): SAID, turn2("patched-off"): SAID},
        {turn2("patched-off"): SAID},
        {turn2("stock", Outcome.BROKEN): "INFO fine", turn2("patched-off"): SAID},
        {turn2("stock"): "INFO fine", ("turn1", "patched-off", Outcome.PASSED): SAID},
        {turn2("stock"): "INFO fine", turn2("patched-off"): f"{FLAG.key} = false: {SAID}"},
    ],
    ids=[
        "not logged",
        "base logs it too",
        "base logs it elsewhere",
        "base did not run",
        "base did not come to its end",
        "not in the claim's scenario",
        "it names the flag itself",
    ],
)
def test_what_base_may_log_too_or_what_tells_of_the_flag_alone_is_no_effect_of_the_change(judged, said):
    assert judged(said) == {}


def test_a_base_that_has_the_flag_on_is_no_control_of_the_flag_and_one_with_it_off_is(judged):
    said = {turn2("base"): SAID, turn2("base-off"): "INFO fine", turn2("patched-off"): SAID}
    assert [*judged(said, BASE_HAS_FLAG)] == [CLAIM.claim]


def test_a_line_that_base_logs_with_its_own_flag_off_is_no_effect_of_the_change(judged):
    assert judged({turn2("base-off"): SAID, turn2("patched-off"): SAID}, BASE_HAS_FLAG) == {}


def test_a_claim_that_expects_no_line_has_none_with_the_flag_off(judged):
    said = {turn2("stock"): "INFO fine", turn2("patched-off"): SAID}
    assert judged(said, chain=replace(CLAIM, evidence="")) == {}
