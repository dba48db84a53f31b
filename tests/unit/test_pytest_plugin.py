"""Scenarios as pytest items: as claimed is passed, undecided is an error, a missing arm is skipped."""

from pathlib import Path

import numpy as np  # noqa: F401 - it loads once in a process, and pytester forgets what was first imported in a run
import pytest

from harness import pytest_plugin
from harness.model.arms import Role
from harness.model.runs import Outcome
from harness.model.verdict import Check, JudgedRun
from harness.rundir.directory import RunDirectory

FILE = """
from harness.scenario import is_up, kraft, scenario

@scenario(kraft(controllers=1, observers=0), suite="s", budget="1m")
def my_question(plan, cluster):
    '''Does it?'''
    plan.expect(is_up(), within="30s", named="up")
"""


def run(check, role, outcome, reason=""):
    expectation = "" if outcome is Outcome.PASSED else "observer_recovers"
    return JudgedRun("my-question", f"arm-{role}", role, 1, outcome, expectation, reason, check=check)


@pytest.fixture
def shown(monkeypatch, pytester):
    """Return a function that makes a scenario file whose runs show the given, and runs pytest on it."""
    pytester.makepyfile(question=FILE)

    def run_pytest(runs, *, flag_known=True, options=()):
        def verify(session, _items):
            session.stash[pytest_plugin._RUN_DIR] = RunDirectory(Path("run"))
            session.stash[pytest_plugin._FLAG_KNOWN] = flag_known
            session.stash[pytest_plugin._RUNS] = {("my-question", str(run.role)): run for run in runs}

        monkeypatch.setattr(pytest_plugin, "_verify", verify)
        return pytester.runpytest_inprocess("question.py", *options)

    return run_pytest


def test_every_arm_of_a_scenario_is_one_item(shown):
    out = shown([], options=["--collect-only", "-q"])
    out.stdout.fnmatch_lines(["*my-question?base?", "*my-question?off?", "*my-question?on?"])


def test_what_is_as_claimed_passes_and_what_is_not_fails_with_its_evidence(shown):
    out = shown(
        [
            run(Check.PASSED, Role.BASE, Outcome.PASSED),
            run(Check.PASSED, Role.OFF, Outcome.FAILED),
            run(Check.FAILED, Role.ON, Outcome.FAILED, "not within 15 s"),
        ]
    )
    out.assert_outcomes(passed=2, failed=1)
    out.stdout.fnmatch_lines(["FAILED(observer_recovers), not as claimed: not within 15 s", "evidence: run/runs/*"])


def test_a_failure_that_the_claims_expect_is_an_expected_failure_with_its_reason(shown):
    out = shown(
        [
            run(Check.EXPECTED_FAILURE, Role.BASE, Outcome.FAILED, "not within 15 s"),
            run(Check.EXPECTED_FAILURE, Role.OFF, Outcome.FAILED, "not within 15 s"),
            run(Check.PASSED, Role.ON, Outcome.PASSED),
        ],
        options=["-rx"],
    )
    out.assert_outcomes(xfailed=2, passed=1)
    out.stdout.fnmatch_lines(["XFAIL *my-question?base? - *FAILED(observer_recovers), as claimed: not within 15 s"])


def test_what_says_nothing_about_the_build_is_an_error(shown):
    out = shown([run(Check.ERROR, role, Outcome.INCONCLUSIVE, "guard unmet") for role in Role])
    out.assert_outcomes(errors=3)


def test_a_run_without_a_result_is_an_error_and_never_skipped(shown):
    shown([run(Check.PASSED, Role.BASE, Outcome.PASSED)]).assert_outcomes(passed=1, errors=2)


def test_the_arm_off_of_a_jar_without_the_flag_is_skipped_with_its_reason(shown):
    held = [run(Check.PASSED, role, Outcome.PASSED) for role in (Role.BASE, Role.ON)]
    out = shown(held, flag_known=False, options=["-rs"])
    out.assert_outcomes(passed=2, skipped=1)
    out.stdout.fnmatch_lines(["*the candidate does not know the flag*"])


def test_a_scenario_that_bears_the_name_of_a_shipped_one_is_refused(pytester):
    pytester.makepyfile(turn2=FILE.replace("my_question", "turn2"))
    out = pytester.runpytest_inprocess("turn2.py")
    assert out.ret == pytest.ExitCode.USAGE_ERROR
    out.stderr.fnmatch_lines(["*Two scenarios are named turn2: */scenarios/turn2.py and *"])


def test_other_python_files_are_left_alone(pytester):
    pytester.makepyfile(helper="value = '@scenario('\n")
    assert pytester.runpytest_inprocess("helper.py").ret == pytest.ExitCode.NO_TESTS_COLLECTED
