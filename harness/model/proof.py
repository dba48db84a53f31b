"""What is proved of a candidate's jar: frozen records, the content of `proof/<build>/proof.json`; no I/O."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from harness.base.json_schema import Count, Keywords, Seconds, Sha256, Text
from harness.model.reuse import Origin
from harness.model.runs import Evidence
from harness.model.simulation import Simulation

EXPECTED_LEVEL = "info"  # of the log line that a claim expects, where it does not say otherwise
RuleName = Annotated[str, Keywords({"pattern": "^[a-z][a-z0-9-]*$"})]

NO_RUN_SHOWS = frozenset(["no-longer-durable", "no-longer-volatile", "no-longer-synchronized"])
"""Rules whose differences neither tests nor runs show: they take a power cut, or two threads and a weaker processor."""

ERROR_ADDED = "log-error-added"
"""The rule of statements at ERROR that base has not: `where` is its class, `candidate` its text (`{}`: a value)."""


class Severity(StrEnum):
    """How much a difference weighs."""

    NOTE = "note"  # expected: it lies inside what the series names
    WARNING = "warning"  # to be read; does not decide
    FAIL = "fail"  # the jar is not a drop-in


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between base's jar and the candidate's, under the rule that found it.

    `rule` is a stable name (`class-missing`, `default-changed`, …); `where` names the entry, class, member or
    configuration key; `base` and `candidate` are what each has, empty where it has nothing. `waived` is the
    reason, owner and expiry of the waiver that covers it, empty when none does.
    """

    rule: RuleName
    severity: Severity
    where: str
    detail: Text
    base: str = ""
    candidate: str = ""
    waived: str = ""

    @property
    def blocks(self) -> bool:
        """Whether this difference alone makes the jar no drop-in."""
        return self.severity is Severity.FAIL and not self.waived


class TestScope(StrEnum):
    """Which of the module's tests are run on the jar."""

    __test__ = False  # not a class of tests
    NONE = "none"
    RELATED = "related"  # those that touch what changed
    ALL = "all"


class TestSuite(StrEnum):
    """Whose tests they are."""

    __test__ = False
    UPSTREAM = "upstream"  # the released test jar of the module
    SERIES = "series"  # the new test files that come with the patch series
    RELEASE = "release"  # the released tests of the release that the jar names, where that is not the nodes'


@dataclass(frozen=True, slots=True)
class TestClass:
    """What one JUnit class showed; `seconds` is wall time, `methods` the test methods that ran, without parameters."""

    __test__ = False
    suite: TestSuite
    name: str
    tests: Count
    failures: Count
    skipped: Count
    seconds: Seconds
    methods: tuple[str, ...] = ()


DID_NOT_RUN = "did not run: "  # how the message of a test begins that was expected and has no result


@dataclass(frozen=True, slots=True)
class FailedTest:
    """A test that failed on the candidate; `fails_on_base` is None when it was not run on base (or cannot be).

    `excuse` says why it does not count against the candidate although base passes it, empty when it does. `display` is
    what the test calls itself, empty when that is its name.
    """

    suite: TestSuite
    class_name: str
    name: str
    message: str
    trace: str
    fails_on_base: bool | None = None
    excuse: str = ""
    display: str = ""

    @property
    def place(self) -> str:
        """The line of the test at which it failed (`KafkaRaftClientTest.java:712`), empty where the trace has none."""
        file = self.class_name.rpartition(".")[2].partition("$")[0]
        found = re.search(rf"\(({re.escape(file)}\.\w+:\d+)\)", self.trace)
        return found.group(1) if found else ""

    @property
    def key(self) -> tuple[str, str]:
        """What names the test in every run."""
        return self.class_name, self.name

    @property
    def ran(self) -> bool:
        """Whether it came to an end, which a test does not whose JVM died or hung."""
        return not self.message.startswith(DID_NOT_RUN)

    @property
    def behaviour(self) -> str:
        """What changed, in the test's own words: its names, what it expected, and where."""
        display = f" (“{self.display}”)" if self.display else ""
        place = f", at {self.place}" if self.place else ""
        return f"test {self.class_name}.{self.name}{display} fails: {self.message}{place}"

    @property
    def blocks(self) -> bool:
        """Whether it speaks against the candidate: a test that base fails too says nothing about the candidate."""
        return not self.fails_on_base and not self.excuse


@dataclass(frozen=True, slots=True)
class TestsProof:
    """The JUnit tests on the jar under test; `report` is a folder of JUnit XML in the run
    directory.

    `gap` says in a sentence what of them could not be run, empty when everything in scope was; `missing` why they
    could not be run at all though they were selected. `origin` is the earlier verification that ran them on this very
    jar, None where this one did.
    """

    __test__ = False
    scope: TestScope
    classes: tuple[TestClass, ...] = ()
    failed: tuple[FailedTest, ...] = ()
    gap: str = ""
    missing: str = ""
    report: str = ""
    seconds: Seconds = 0.0
    origin: Origin | None = None

    @property
    def count(self) -> int:
        """How many tests ran."""
        return sum(each.tests for each in self.classes)


class Answer(StrEnum):
    """What the source (or the bytecode) says to a question of the audit."""

    HOLDS = "holds"
    DOES_NOT_HOLD = "does not hold"
    UNTESTED = "untested"


@dataclass(frozen=True, slots=True)
class AuditAnswer:
    """One question put to the candidate's source, with its answer; `detail` is the answer in a sentence.

    `claim` is the id of the claim that promises it, empty where no claim does: such an answer is shown, and only a
    promise that does not hold blocks. `evidence` are places in the source (`path` relative to the source tree) or,
    without sources, methods of the jar.
    """

    question: str
    answer: Answer
    detail: Text
    claim: str = ""
    evidence: tuple[Evidence, ...] = ()

    @property
    def standing(self) -> str:
        """`holds`, `refuted`, `gap` (it does not hold, and nobody promised it) or `untested`."""
        if self.answer is Answer.DOES_NOT_HOLD:
            return "refuted" if self.claim else "gap"
        return "holds" if self.answer is Answer.HOLDS else "untested"

    @property
    def blocks(self) -> bool:
        """Whether a claim is refuted by it."""
        return self.standing == "refuted"


@dataclass(frozen=True, slots=True)
class ReachedLine:
    """A line of the candidate that base has not, with the scenarios whose candidate runs executed it, sorted.

    `path` and `line` are those of the patched source; `text` is the line, empty when there are no sources.
    """

    path: str
    line: Count
    text: str
    scenarios: tuple[str, ...]


_SPECIAL_METHODS = {"<init>": "constructor", "<clinit>": "static initialiser"}


@dataclass(frozen=True, slots=True)
class ChangedMethod:
    """A method of the candidate that does what base's does not, or that base has not.

    `class_name` is as in class files (`org/apache/kafka/raft/KafkaRaftClient$Builder`), `descriptor` its parameters and
    result.
    """

    class_name: str
    name: str
    descriptor: str

    @property
    def outermost(self) -> str:
        """The simple name of the top-level class that holds it."""
        return self.class_name.rpartition("/")[2].partition("$")[0]

    @property
    def label(self) -> str:
        """The method as people write it: `KafkaRaftClient.poll`."""
        simple = self.class_name.rpartition("/")[2].replace("$", ".")
        special = _SPECIAL_METHODS.get(self.name)
        return f"the {special} of {simple}" if special else f"{simple}.{self.name}"


@dataclass(frozen=True, slots=True)
class ReachedMethod(ChangedMethod):
    """A changed method with the scenarios whose candidate runs entered it, sorted."""

    scenarios: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Coverage:
    """Whether the changed code was reached at all: content of `proof/<build>/coverage.json`.

    `lines` are all changed lines that hold instructions, in order, `methods` the changed methods; `gap` says what could
    not be measured. `origin` is the earlier verification that measured it, None where this one did.
    """

    lines: tuple[ReachedLine, ...]
    gap: str = ""
    methods: tuple[ReachedMethod, ...] = ()
    origin: Origin | None = None

    @property
    def unreached(self) -> tuple[ReachedLine, ...]:
        """Return the changed lines that no scenario ran."""
        return tuple(line for line in self.lines if not line.scenarios)

    @property
    def unreached_methods(self) -> tuple[str, ...]:
        """Return the labels of the changed methods that no scenario entered, each once."""
        return tuple(dict.fromkeys(method.label for method in self.methods if not method.scenarios))


class TestStanding(StrEnum):
    """What became of a test that a claim names."""

    __test__ = False
    PASSED = "passed"
    FAILED = "failed"
    SAYS_NOTHING = "says nothing"  # the candidate fails it, and so does base, or it is excused
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class ClaimedTest:
    """A test that a claim rests on: `Class#method`."""

    name: str
    standing: TestStanding


@dataclass(frozen=True, slots=True)
class ClaimChain:
    """From a claim to its evidence: the questions to the source, the tests, the scenario, the line that logs hold.

    What a claim does not rest on is empty. `level` is the worst level at which it expects the line.
    """

    claim: str
    text: str
    source: str
    queries: tuple[str, ...]
    tests: tuple[ClaimedTest, ...]
    scenario: str
    evidence: str
    level: str = EXPECTED_LEVEL


@dataclass(frozen=True, slots=True)
class Proof:
    """Everything that was proved of one build against base, without a cluster.

    `base` and `candidate` are SHA-256 digests of the jars. `differences` are worst first. `looked_at` are the names of
    all rules that were applied, so that a rule without a difference is known to have been checked. `chains` are the
    claims in the order of their file. `kafka` is the version of the candidate's own Kafka, with whose raft jar its jar
    was compared; empty where that is base's. `simulation` is None where none was asked for.
    """

    build: Text
    base: Sha256
    candidate: Sha256
    looked_at: tuple[str, ...]
    differences: tuple[Difference, ...]
    tests: TestsProof
    audit: tuple[AuditAnswer, ...]
    notes: tuple[str, ...] = ()
    chains: tuple[ClaimChain, ...] = ()
    changed_methods: tuple[ChangedMethod, ...] = ()
    kafka: str = ""
    simulation: Simulation | None = None

    @property
    def blockers(self) -> tuple[str, ...]:
        """Return, in sentences, everything that makes the jar no sound drop-in; empty when it is one."""
        return (
            *(f"{each.rule}: {each.detail}" for each in self.differences if each.blocks),
            *(each.behaviour for each in self.tests.failed if each.blocks),
            *(self.simulation.blockers if self.simulation else ()),
            *(f"claim {each.claim} is refuted by the source: {each.detail}" for each in self.audit if each.blocks),
        )
