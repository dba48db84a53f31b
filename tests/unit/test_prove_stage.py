"""The stage prove: what becomes of the tests and questions that a claim names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from whole_kafka import whole_kafka

from harness.audit.claims_file import ClaimSet, load_claims
from harness.base.paths import data_root
from harness.kafka.distribution import as_declared, distribution_at
from harness.kafka.lock import read_lock
from harness.model.arms import GIVEN, Build, Flag
from harness.model.candidate_kind import CandidateKind
from harness.model.declaration import SCHEMA, Declaration
from harness.model.proof import (
    Answer,
    AuditAnswer,
    FailedTest,
    TestClass,
    TestScope,
    TestsProof,
    TestStanding,
    TestSuite,
)
from harness.model.request import Request
from harness.model.setup import Setup
from harness.proof.junit.proving import NOT_COMPILED, NOT_DISCOVERED
from harness.proof.proof_summary import describe_tests
from harness.rundir.directory import RunDirectory
from harness.stages import proof_case, proof_parts
from harness.stages.proof_case import claims_upheld, is_released_jar
from harness.stages.proof_parts import classes_that_may_change, subject_of
from harness.stages.tests_weighed import excused, forgiving_foreign, needless, standing_of
from harness.toolbox.lockfile import Artifact, Lock, Purpose

RAN = TestsProof(
    TestScope.RELATED,
    (TestClass(TestSuite.SERIES, "org.apache.kafka.raft.FlagTest", 2, 1, 0, 0.1, ("isOff", "isOn")),),
    (FailedTest(TestSuite.SERIES, "org.apache.kafka.raft.FlagTest", "isOff()", "expected true", "at …"),),
)


@pytest.mark.parametrize(
    ("name", "standing"),
    [
        ("FlagTest#isOff", TestStanding.FAILED),
        ("FlagTest#isOn", TestStanding.PASSED),
        ("org.apache.kafka.raft.FlagTest#isOn", TestStanding.PASSED),
        ("FlagTest#isOnn", TestStanding.NOT_RUN),  # a test that is not there has not passed
        ("OtherTest#isOn", TestStanding.NOT_RUN),
        ("lagTest#isOn", TestStanding.NOT_RUN),  # part of a name is no name
    ],
)
def test_a_test_that_a_claim_names_passed_failed_or_was_not_run(name: str, standing: TestStanding) -> None:
    assert standing_of(name, RAN) is standing


@pytest.mark.parametrize("how", [{"fails_on_base": True}, {"excuse": "changed by design"}], ids=["on base", "excused"])
def test_a_test_whose_failure_does_not_count_says_nothing_of_the_claim_that_names_it(how: dict[str, object]) -> None:
    tests = replace(RAN, failed=(replace(RAN.failed[0], **how),))
    assert standing_of("FlagTest#isOff", tests) is TestStanding.SAYS_NOTHING
    other = replace(RAN.failed[0], name="isOff(boolean)[2]")
    assert standing_of("FlagTest#isOff", replace(tests, failed=(*tests.failed, other))) is TestStanding.FAILED


def test_a_test_that_a_claims_file_excuses_in_vain_is_named() -> None:
    reasons = dict.fromkeys(("FlagTest#isOff", "FlagTest#isOn", "OtherTest#isOn"), "by design")
    assert needless(RAN, reasons) == (
        "the claims file says that FlagTest#isOn changes, and it passes: the entry can go",
    )


def test_classes_that_may_change_are_those_of_the_claims_else_of_the_series_built_here() -> None:
    series = data_root() / "patches/3.9.1/dynamic-bootstrap"
    listing = ClaimSet("kafka-raft", "", "", (), classes=("a.b.C",))
    silent = replace(listing, classes=())
    assert classes_that_may_change(listing, None) == classes_that_may_change(listing, series) == {"a/b/C"}
    assert "org/apache/kafka/raft/RequestManager" in (classes_that_may_change(silent, series) or ())
    assert classes_that_may_change(silent, None) is None


SHIPPED = data_root() / "patches/3.9.1/dynamic-bootstrap"


def upheld(kind: CandidateKind, claims: Path, series: Path | None = None) -> ClaimSet:
    declared = Declaration(SCHEMA, "3.9.1", (), (), 1, kind=kind)
    return claims_upheld(declared, Setup("", claims=str(claims), series=str(series or "")))


def test_a_jar_of_the_series_is_held_to_all_that_its_series_promises() -> None:
    assert upheld(CandidateKind.SERIES, SHIPPED / "claims.toml", SHIPPED) == load_claims(SHIPPED / "claims.toml")


def test_a_fix_by_another_mechanism_is_held_to_outcomes_alone() -> None:
    claims = upheld(CandidateKind.CLAIMED, SHIPPED / "claims.toml", SHIPPED)
    whole = load_claims(SHIPPED / "claims.toml")
    assert claims.claims == whole.claims
    assert [chain.scenario for chain in claims.chains] == [claim.scenario for claim in whole.claims] != []
    assert not any(chain.queries or chain.tests for chain in claims.chains)
    assert [question.id for question in claims.questions] == [question.id for question in whole.questions]
    refuted = [AuditAnswer(each.id, Answer.DOES_NOT_HOLD, "no", each.claim) for each in claims.questions]
    assert {answer.standing for answer in refuted} == {"gap"}
    assert not any(answer.blocks for answer in refuted)


def test_a_claims_file_of_the_users_own_binds_as_a_whole(tmp_path: Path) -> None:
    own = tmp_path / "claims.toml"
    own.write_bytes((SHIPPED / "claims.toml").read_bytes())
    assert upheld(CandidateKind.CLAIMED, own) == load_claims(own)


def test_a_failed_test_counts_unless_base_fails_it_too_or_something_excuses_it() -> None:
    (failed,) = RAN.failed
    assert failed.blocks
    assert not replace(failed, fails_on_base=True).blocks
    assert not replace(failed, fails_on_base=False, excuse="by design").blocks


def test_series_tests_that_do_not_compile_against_a_foreign_jar_are_a_gap_and_other_failures_stay() -> None:
    unmade = FailedTest(TestSuite.SERIES, NOT_COMPILED, "compilation", "cannot find symbol", "")
    ran = TestsProof(TestScope.ALL, RAN.classes, (unmade, *RAN.failed))
    seen = forgiving_foreign(ran, binding=False)
    assert seen.failed == RAN.failed
    assert ("cannot find symbol" in seen.gap, seen.missing) == (True, "")
    assert forgiving_foreign(RAN, binding=False) == forgiving_foreign(RAN, binding=True) == RAN


def test_of_a_jar_that_is_made_as_the_series_they_are_missing() -> None:
    unmade = FailedTest(TestSuite.SERIES, NOT_COMPILED, "compilation", "cannot find symbol", "")
    seen = forgiving_foreign(TestsProof(TestScope.ALL, RAN.classes, (unmade, *RAN.failed)), binding=True)
    assert (seen.failed, "cannot find symbol" in seen.missing) == (RAN.failed, True)


def test_series_tests_that_are_not_even_found_are_a_failure_of_whatever_jar() -> None:
    unfound = FailedTest(TestSuite.SERIES, NOT_DISCOVERED, "discovery", "the JVM ended", "")
    ran = TestsProof(TestScope.ALL, RAN.classes, (unfound,))
    assert forgiving_foreign(ran, binding=True) == forgiving_foreign(ran, binding=False) == ran


def test_a_jar_is_the_locked_releases_by_its_bytes_whoever_handed_it_over() -> None:
    """So that --base-dist and --base-jar have the same baselines as the release itself."""
    artifact = Artifact("org.apache.kafka:kafka-raft:jar:3.9.1", "ab" * 32, 7, Purpose.RUNTIME)
    sources = replace(artifact, sha256="ef" * 32, purpose=Purpose.SOURCES)
    lock, given = Lock("3.9.1", (artifact, sources)), Build("base", "3.9.1", "a.jar", "ab" * 32, "given", None)
    assert is_released_jar(given, lock)
    assert is_released_jar(replace(given, builder="release"), lock)
    assert not is_released_jar(replace(given, jar_sha256="cd" * 32), lock)
    assert not is_released_jar(replace(given, jar_sha256="ef" * 32), lock)


class PinnedFiles:
    """Names pinned files where a cache would have them, and fetches none."""

    def fetch(self, artifact: Artifact) -> Path:
        return Path("/cache") / artifact.path

    def fetch_all(self, artifacts: Iterable[Artifact]) -> tuple[Path, ...]:
        return tuple(map(self.fetch, artifacts))


@pytest.fixture
def baselines_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], dict[str, Path]]:
    """Return a function that gives the baselines of a jar by ecj beside a base in a folder of the user's own.

    It takes the digest of base's raft jar, and returns each baseline's label with the sources that it is made of.
    """
    place = whole_kafka(tmp_path / "kafka")
    own = as_declared(distribution_at(place, tmp_path), place)
    monkeypatch.setattr(proof_case, "ecj_of", lambda _: None)
    monkeypatch.setattr(proof_case, "prepare_tools", lambda *_: None)
    compilers = tuple(SimpleNamespace(label=label) for label in ("javac 17.0.15", "ecj 3.45"))
    monkeypatch.setattr(proof_case, "compilers_at_hand", lambda _: compilers)
    monkeypatch.setattr(
        proof_parts, "unpatched_jars", lambda made_by, _, sources, *__: [(each.label, sources) for each in made_by]
    )
    directory, toolbox = (
        RunDirectory(tmp_path / "run"),
        SimpleNamespace(cache=tmp_path, downloads=PinnedFiles(), node_java=lambda: None),
    )
    directory.request.write(Request(base_dist=place, tests=TestScope.NONE))
    directory.setup.write(Setup(""))
    directory.declaration.write(Declaration(SCHEMA, "3.9.1", (), (), 1))

    def baselines(digest: str) -> dict[str, Path]:
        jar = str(place / "libs" / own.raft_jar)
        base = Build("base", "3.9.1", jar, digest, GIVEN, Flag("", False), kafka=own)
        candidate = replace(base, name="patched", jar_sha256="cd" * 32, builder="ecj 3.45")
        case = proof_case.proof_case(directory, base, candidate, toolbox, SimpleNamespace(report=print))
        return {each.label: each.jar for each in subject_of(case).baselines}

    return baselines


def test_a_base_of_the_users_own_whose_raft_jar_is_the_locked_releases_has_that_releases_baselines(
    baselines_beside: Callable[[str], dict[str, Path]],
) -> None:
    lock = read_lock("3.9.1")
    (raft,) = (each for each in lock.of(Purpose.RUNTIME) if ":kafka-raft:" in each.coordinate)
    assert baselines_beside(raft.sha256) == {"ecj 3.45": Path("/cache") / lock.one(Purpose.SOURCES).path}
    assert baselines_beside("ab" * 32) == {}, "whose sources nobody knows"


FAILED = RAN.failed[0]
UPSTREAMS = replace(FAILED, suite=TestSuite.UPSTREAM, class_name="org.apache.kafka.raft.VoteTest", name="votes(int)[2]")


def test_a_claims_file_excuses_the_tests_that_it_names_and_no_others() -> None:
    tests = replace(RAN, failed=(UPSTREAMS, replace(UPSTREAMS, name="votesTwice()")))
    changed, other = excused(tests, {"VoteTest#votes": "one more vote is sent"}, binding=True).failed
    assert changed.excuse == "the claims file says that it changes: one more vote is sent"
    assert (changed.blocks, other.blocks, other.excuse) == (False, True, "")


def test_the_series_own_tests_decide_only_of_a_jar_that_is_made_from_it() -> None:
    tests = replace(RAN, failed=(UPSTREAMS, FAILED))
    assert [each.blocks for each in excused(tests, {}, binding=True).failed] == [True, True]
    assert [each.blocks for each in excused(tests, {}, binding=False).failed] == [True, False]


def test_failures_that_do_not_count_are_counted_apart() -> None:
    assert describe_tests(RAN) == "2 tests, 1 failed"
    assert describe_tests(replace(RAN, failed=(replace(FAILED, excuse="by design"),))) == (
        "2 tests, 1 failed (1 do not count)"
    )


def test_tests_that_are_not_pinned_are_locked_by_the_release_that_a_vendors_kafka_is_of():
    kafka = SimpleNamespace(version="3.9.3-acme")
    case = SimpleNamespace(scope=TestScope.RELATED, distribution=kafka, tests=(), simulate="5m")
    assert (
        "of Kafka 3.9.3 are not pinned here: `harness lock 3.9.3`, or --tests"
        in proof_parts.tested(case, frozenset(), None).missing
    )
    assert "of Kafka 3.9.3 are not pinned here: `harness lock 3.9.3`." in proof_parts.simulated(case, None).gap
