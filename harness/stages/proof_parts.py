"""The parts of a proof: differences and who accepts them, answers of the source, tests on the jar."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from harness.audit.answering import audit
from harness.audit.claims_file import ClaimSet
from harness.audit.jar_answers import JarContent
from harness.base.errors import HarnessError
from harness.base.progress import Reporter
from harness.building.build_comparison import unpatched_jars
from harness.building.configdef import read_keys
from harness.kafka.patching import load_series
from harness.kafka.versions import release_of
from harness.model.arms import GIVEN, RELEASE
from harness.model.proof import AuditAnswer, Difference, TestScope, TestsProof
from harness.model.simulation import Simulation
from harness.model.waivers import load_waivers
from harness.proof.bytecode import read_classes, read_statements
from harness.proof.dropin import BaselineJar, DropIn, Subject, named_classes, worst_first
from harness.proof.junit import OtherRelease, TestBench, run_tests
from harness.proof.junit.related import changed_classes
from harness.proof.simulation import simulate, simulated_jars
from harness.proof.waived_differences import waive_differences
from harness.scenario.bounds import seconds
from harness.stages.proof_case import ProofCase
from harness.stages.tests_weighed import excused, forgiving_foreign, with_gap


def subject_of(case: ProofCase) -> Subject:
    """Return what the candidate is meant to be."""
    may_change = classes_that_may_change(case.claims, case.built_series)
    builder = "" if case.candidate.builder in (GIVEN, RELEASE) else case.candidate.builder
    return Subject(may_change, case.claims.flag, case.claims.flag_default, _baselines(case), builder)


def classes_that_may_change(claims: ClaimSet, built_series: Path | None) -> frozenset[str] | None:
    """Return the classes that the claims list, else those of the series that was built here; None where none says."""
    if claims.classes:
        return frozenset(name.replace(".", "/") for name in claims.classes)
    return named_classes(load_series(built_series)) if built_series else None


def _baselines(case: ProofCase) -> tuple[BaselineJar, ...]:
    """Return unpatched builds by the compilers at hand; only of base's own sources, that is of the locked release.

    The very same jar needs none.
    """
    release = case.release
    if release is None or case.candidate.jar_sha256 == case.base.jar_sha256:
        return ()
    same = [each for each in case.compilers if each.label == case.candidate.builder]
    target = case.line.class_files
    made = unpatched_jars(same or case.compilers, release.distribution, release.sources, target, case.cache)
    return tuple(BaselineJar(label, jar) for label, jar in made)


def audited(case: ProofCase) -> tuple[AuditAnswer, ...]:
    """Return the answers of the candidate's source, or of its jar without one. Raises HarnessError."""
    if case.sources:
        return tuple(_placed(case, answer) for answer in audit(case.claims, case.sources))
    return audit(case.claims, None, _content(case)) if case.claims.questions else ()


def _content(case: ProofCase) -> JarContent:
    (statements,) = read_statements(case.tools.bytecode, [case.jar])
    return JarContent(read_classes(case.tools.bytecode, case.jar), statements, _defaults(case))


def _defaults(case: ProofCase) -> Mapping[str, str] | None:
    try:
        keys = read_keys(case.tools.config, case.jar, case.distribution.others)
    except HarnessError:  # which the drop-in check reports
        return None
    return {each.name: each.default for each in keys}


def _placed(case: ProofCase, answer: AuditAnswer) -> AuditAnswer:
    """Return the answer with its places named from the run directory, where the sources are kept."""
    kept = case.directory.build(case.candidate.name).sources.relative_to(case.directory.path)
    return replace(answer, evidence=tuple(replace(e, path=(kept / e.path).as_posix()) for e in answer.evidence))


def waived(case: ProofCase, found: DropIn) -> tuple[Difference, ...]:
    """Return the differences, with those that somebody has accepted. Raises HarnessError."""
    if not case.setup.waivers:
        return found.differences
    waivers = load_waivers(Path(case.setup.waivers), [*found.looked_at])
    return worst_first(waive_differences(found.differences, waivers, datetime.now(UTC).date()))


def tested(case: ProofCase, changed: frozenset[str], reporter: Reporter) -> TestsProof:
    """Return what upstream's and the series' tests say of the jar; `changed` are its changed classes."""
    scope = case.scope
    if scope is TestScope.NONE:
        return TestsProof(scope)
    if not case.tests:
        missing = f"Upstream's tests of {_not_pinned(case)}, or --tests none."
        return TestsProof(scope, missing=missing)
    bench = replace(
        bench_of(case),
        changed=changed if case.before is None else changed | changed_classes(case.before, case.jar),
        other=case.other if isinstance(case.other, OtherRelease) else None,
        later=case.later,
    )
    out = case.directory.proof(case.candidate.name).junit
    reporter.report(f"upstream's raft tests on the jar ({scope})")
    with reporter.counted("tests") as progress:
        found = run_tests(bench, case.jar, case.base_jar, scope, out, progress)
    found = replace(found, report=out.relative_to(case.directory.path).as_posix())
    found = forgiving_foreign(found, case.binding) if case.candidate.builder == GIVEN else found
    found = with_gap(found, case.other) if isinstance(case.other, str) else found
    return excused(found, case.claims.tests_changed, case.binding)


def simulated(case: ProofCase, reporter: Reporter) -> Simulation | None:
    """Return what upstream's simulations say of the jar, None where they were not asked for."""
    if not case.simulate:
        return None
    if not case.tests:
        return Simulation(case.simulate, gap=f"No simulation ran: the tests of {_not_pinned(case)}.")
    reporter.report(f"upstream's simulations on the jar, for {case.simulate}")
    jars = simulated_jars(bench_of(case), case.jar, case.base_jar)
    folder = case.directory.proof(case.candidate.name).simulation
    found = simulate(jars, case.simulate, seconds(case.simulate), folder)
    place = folder.relative_to(case.directory.path)
    failed = (replace(each, log=(place / each.log).as_posix() if each.log else "") for each in found.failed)
    return replace(found, failed=tuple(failed))


def _not_pinned(case: ProofCase) -> str:
    release = release_of(case.distribution.version)  # a vendor's own need not be in any repository
    return f"Kafka {release} are not pinned here: `harness lock {release}`"


def bench_of(case: ProofCase) -> TestBench:
    """Return what upstream's tests and simulations run with."""
    series = Path(case.setup.series) / "tests" if case.setup.series else None
    return TestBench(
        line=case.line,
        java=case.java,
        jars=case.tests,
        others=case.distribution.others,
        builder=case.compilers[-1],
        cache=case.cache,
        series_tests=series if series and series.is_dir() else None,
    )
