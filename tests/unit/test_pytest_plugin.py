"""Scenarios as pytest items: as claimed is passed, undecided is an error, a missing arm is skipped."""

from pathlib import Path

import pytest

from harness import pytest_plugin
from harness.judge.checks import Check
from harness.model.arms import Role
from harness.model.runs import Outcome, RunResult

FILE = """
from harness.scenario import kraft, scenario

@scenario(kraft(controllers=1, observers=0), suite="s", budget="1m")
def my_question(plan, cluster):
    '''Does it?'''
"""


def result(role, outcome, reason=""):
    return RunResult("my-question", f"arm-{role}", role, 1, outcome, "observer_recovers", reason)


@pytest.fixture
def shown(monkeypatch, pytester):
    """Return a function that makes a scenario file whose runs show the given, and runs pytest on it."""
    pytester.makepyfile(question=FILE)

    def run(results, *, flag_known=True, options=()):
        def verify(session, _items):
            session.stash[pytest_plugin._RUN_DIR] = Path("run")
            session.stash[pytest_plugin._FLAG_KNOWN] = flag_known
            session.stash[pytest_plugin._SHOWN] = {("my-question", str(r.role)): (check, r) for check, r in results}

        monkeypatch.setattr(pytest_plugin, "_verify", verify)
        return pytester.runpytest_inprocess("question.py", *options)

    return run


def test_every_arm_of_a_scenario_is_one_item(shown):
    out = shown([], options=["--collect-only", "-q"])
    out.stdout.fnmatch_lines(["*my-question?base?", "*my-question?off?", "*my-question?on?"])


def test_what_is_as_claimed_passes_and_what_is_not_fails_with_its_evidence(shown):
    out = shown(
        [
            (Check.PASSED, result(Role.BASE, Outcome.FAILED)),
            (Check.PASSED, result(Role.OFF, Outcome.FAILED)),
            (Check.FAILED, result(Role.ON, Outcome.FAILED, "not within 15 s")),
        ]
    )
    out.assert_outcomes(passed=2, failed=1)
    out.stdout.fnmatch_lines(["FAILED(observer_recovers), not as claimed: not within 15 s", "evidence: run/runs/*"])


def test_what_says_nothing_about_the_build_is_an_error(shown):
    out = shown([(Check.ERROR, result(role, Outcome.INCONCLUSIVE, "guard unmet")) for role in Role])
    out.assert_outcomes(errors=3)


def test_a_run_without_a_result_is_an_error_and_never_skipped(shown):
    shown([(Check.PASSED, result(Role.BASE, Outcome.PASSED))]).assert_outcomes(passed=1, errors=2)


def test_the_arm_off_of_a_jar_without_the_flag_is_skipped_with_its_reason(shown):
    held = [(Check.PASSED, result(role, Outcome.PASSED)) for role in (Role.BASE, Role.ON)]
    out = shown(held, flag_known=False, options=["-rs"])
    out.assert_outcomes(passed=2, skipped=1)
    out.stdout.fnmatch_lines(["*the candidate does not know the flag*"])


def test_a_scenario_that_is_not_the_harness_s_own_is_refused(pytester):
    pytester.makepyfile(turn2=FILE.replace("my_question", "turn2"))
    out = pytester.runpytest_inprocess("turn2.py")
    assert out.ret == pytest.ExitCode.USAGE_ERROR
    out.stderr.fnmatch_lines(["*turn2 of *is not in the harness's own scenarios folder*"])


def test_other_python_files_are_left_alone(pytester):
    pytester.makepyfile(helper="value = '@scenario('\n")
    assert pytester.runpytest_inprocess("helper.py").ret == pytest.ExitCode.NO_TESTS_COLLECTED
