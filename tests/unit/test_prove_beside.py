"""Tests of the jar run beside clusters: what passes there counts, anything else is asked again on its own."""

import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from harness.base.errors import HarnessError
from harness.base.processes import bare_environment, run
from harness.base.processes.background import background_of_caller
from harness.base.progress import Reporter
from harness.base.waiting import wait_until
from harness.model.proof import FailedTest, TestClass, TestScope, TestsProof, TestSuite
from harness.stages import prove_beside
from harness.stages.prove_beside import proving_beside

PASSED = TestsProof(TestScope.RELATED, (TestClass(TestSuite.UPSTREAM, "a.ATest", 2, 0, 0, 0.1, ()),))
FAILED = TestsProof(
    TestScope.RELATED,
    (TestClass(TestSuite.UPSTREAM, "a.ATest", 2, 1, 0, 0.1, ()),),
    (FailedTest(TestSuite.UPSTREAM, "a.ATest", "waits()", "not within 15 s", ""),),
)


@dataclass(frozen=True)
class Case:
    """What a proof is about: enough of it."""

    later: tuple[str, ...] = ("3.9.2",)
    directory: None = None


FOUND = SimpleNamespace(dropin=SimpleNamespace(changed=frozenset({"a.A"}), changed_methods=()))


class Stage:
    """The stage with its parts replaced: each asking for tests is answered by the next of `answers`."""

    def __init__(self, monkeypatch, *answers):
        self.answers, self.beside, self.written, self.asked_later = list(answers), [], [], []
        self.said, self.known = StringIO(), None
        builds = SimpleNamespace(name="base"), SimpleNamespace(name="patched")
        declaration = SimpleNamespace(read=lambda: None)
        replaced = {
            "RunDirectory": lambda _: SimpleNamespace(declaration=declaration),
            "base_and_candidate": lambda _: builds,
            "proof_case": lambda *_: Case(),
            "compared": lambda _: FOUND,
            "timed": self.timed,
            "noted": self.timed,
            "note": lambda *_: None,
            "tested": self.tested,
            "proved_before": lambda *_: self.known,
            "write_proof": lambda _case, _found, tests, _reporter: self.written.append(tests),
        }
        for name, value in replaced.items():
            monkeypatch.setattr(prove_beside, name, value)

    @contextmanager
    def timed(self, *_):
        yield

    def tested(self, case, *_):
        self.asked_later.append(case.later)
        self.beside.append(background_of_caller() is not None)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer() if callable(answer) else answer

    def proving(self):
        return proving_beside(Path("x"), None, Reporter(Console(file=self.said)))


def test_tests_that_pass_beside_the_clusters_count(monkeypatch):
    stage = Stage(monkeypatch, PASSED)
    with stage.proving():
        assert not stage.written
    assert (stage.written, stage.beside) == ([PASSED], [True])
    assert "run beside the clusters: 2 tests, 0 failed" in stage.said.getvalue()


@pytest.mark.parametrize("answer", [FAILED, HarnessError("The tests cannot be counted."), OSError("broken")])
def test_whatever_else_comes_of_them_is_asked_again_on_its_own(monkeypatch, answer):
    stage = Stage(monkeypatch, answer, PASSED)
    with stage.proving():
        pass
    assert (stage.written, stage.beside) == ([PASSED], [True, False])
    assert stage.asked_later == [(), ("3.9.2",)], "what fails beside the clusters is nothing to ask others about"
    assert "all are run again, alone" in stage.said.getvalue()


def test_what_fails_on_its_own_too_is_the_answer(monkeypatch):
    stage = Stage(monkeypatch, FAILED, FAILED)
    with stage.proving():
        pass
    assert stage.written == [FAILED]
    broken = Stage(monkeypatch, OSError("broken"), HarnessError("The tests cannot be counted."))
    with pytest.raises(HarnessError, match="cannot be counted"), broken.proving():
        pass
    assert broken.written == []


def sleeps() -> TestsProof:
    run(["/bin/sleep", "60"], env=bare_environment(), timeout=90)
    return PASSED


def test_tests_for_which_the_host_has_no_time_are_ended_and_run_on_their_own(monkeypatch):
    monkeypatch.setattr(prove_beside, "_PATIENCE_SECONDS", 0.1)
    monkeypatch.setattr(prove_beside.Background, "lift", lambda _: False)
    stage, began = Stage(monkeypatch, sleeps, PASSED), time.monotonic()
    with stage.proving():
        pass
    assert stage.beside == [True, False]
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, HarnessError])
def test_an_interruption_ends_the_tests_also_while_they_are_held_and_nothing_is_written(monkeypatch, interruption):
    begun, children = threading.Event(), []

    def runs():
        children.append(background_of_caller())
        begun.set()
        return sleeps()

    stage, began = Stage(monkeypatch, runs), time.monotonic()

    def interrupted():
        with stage.proving() as beside, beside.quiet():
            assert begun.wait(10)
            assert wait_until(lambda: children[0]._children, 10)
            raise interruption("enough")

    with pytest.raises(interruption):
        interrupted()
    assert time.monotonic() - began < 30
    assert stage.written == []
    assert not [each for each in threading.enumerate() if each.name.startswith("tests")]
    (background,) = children
    assert background._children
    assert all(each.poll() is not None for each in background._children)


def test_a_jar_that_cannot_be_compared_ends_it_before_anything_runs(monkeypatch):
    stage = Stage(monkeypatch)

    def refuses(_):
        raise HarnessError("The jar cannot be read.")

    monkeypatch.setattr(prove_beside, "compared", refuses)
    with pytest.raises(HarnessError, match="cannot be read"), stage.proving():
        pytest.fail("the clusters were started")
    assert stage.beside == []


def test_tests_that_become_equals_of_everybody_are_waited_for(monkeypatch):
    monkeypatch.setattr(prove_beside, "_PATIENCE_SECONDS", 0.1)
    monkeypatch.setattr(prove_beside.Background, "lift", lambda _: True)
    stage = Stage(monkeypatch, lambda: time.sleep(1) or PASSED)
    with stage.proving():
        pass
    assert (stage.written, stage.beside) == ([PASSED], [True])


def test_tests_that_passed_on_this_very_jar_before_run_neither_beside_the_clusters_nor_after_them(monkeypatch):
    stage = Stage(monkeypatch)
    stage.known = FOUND, PASSED
    with stage.proving() as beside:
        assert stage.written == [PASSED], "there is nothing to wait for"
        assert beside.changed_methods == FOUND.dropin.changed_methods
    assert (stage.written, stage.beside) == ([PASSED], [])
