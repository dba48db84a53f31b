"""Prove the candidate's jar without a cluster: its differences from base, the tests, what its source says."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.text import Text

from harness.audit.answering import audit
from harness.audit.claims_file import Chain, ClaimSet, load_claims, outcomes_only
from harness.audit.jar_answers import JarContent
from harness.base.errors import HarnessError
from harness.base.progress import Reporter
from harness.base.text import visible
from harness.building.build_comparison import unpatched_jars
from harness.building.builders.base import BuildHost, compilers_at_hand
from harness.building.builders.ecj import ecj_of
from harness.building.compiling import Builder
from harness.building.configdef import read_keys
from harness.building.given import other_release, version_note
from harness.kafka.distribution import Distribution, distribution_of, locked_distribution
from harness.kafka.lock import locked_versions, read_lock
from harness.kafka.patching import load_series
from harness.kafka.release_lines import Line, line_of
from harness.kafka.release_tests import tests_of_release
from harness.kafka.series import series_folder
from harness.model.arms import Build, Role
from harness.model.declaration import Declaration
from harness.model.proof import (
    AuditAnswer,
    ClaimChain,
    ClaimedTest,
    Difference,
    Proof,
    TestScope,
    TestsProof,
)
from harness.model.setup import Setup
from harness.model.waivers import load_waivers
from harness.proof.bytecode import read_classes, read_statements
from harness.proof.dropin import (
    BaselineJar,
    DropIn,
    ProofTools,
    Subject,
    named_classes,
    prepare_tools,
    prove_dropin,
    worst_first,
)
from harness.proof.junit import OtherRelease, TestBench, run_tests
from harness.proof.proof_summary import describe_answers, describe_differences, describe_tests, headline
from harness.proof.waived_differences import waive_differences
from harness.rundir.directory import RunDirectory
from harness.stages.tests_weighed import excused, forgiving_foreign, standing_of, with_gap
from harness.stages.timing import timed
from harness.toolbox.downloads import Downloads
from harness.toolbox.java import JavaRuntime
from harness.toolbox.lockfile import Lock, Purpose
from harness.toolbox.toolbox import Toolbox

_MOST_BLOCKERS = 12


@dataclass(frozen=True, slots=True)
class _Release:
    """A locked release: the Kafka that its sources compile against, and the sources jar of its raft module."""

    distribution: Distribution
    sources: Path


@dataclass(frozen=True, slots=True)
class _Case:
    """What one proof is about, and everything it is made with; the jars are those in the run directory.

    `built_series` is the folder of the series that the candidate was built from here, None for a given jar.
    `java` is what nodes run on. `compilers` are those at hand, ecj last. `release` is the locked release where base's
    jar is that release's own, else None. `tests` are the jars of upstream's tests, empty where that version's are not
    pinned; `other` is the release that the jar names where that is not the nodes', with its tests, or in words why they
    cannot be run. `binding`: the candidate is made as its series makes it.
    """

    directory: RunDirectory
    line: Line
    cache: Path
    java: JavaRuntime
    setup: Setup
    scope: TestScope
    base: Build
    candidate: Build
    built_series: Path | None
    distribution: Distribution
    claims: ClaimSet
    compilers: tuple[Builder, ...]
    tools: ProofTools
    release: _Release | None
    tests: tuple[Path, ...]
    other: OtherRelease | str | None
    binding: bool

    @property
    def base_jar(self) -> Path:
        return (self.directory.path / self.base.jar).absolute()

    @property
    def jar(self) -> Path:
        return (self.directory.path / self.candidate.jar).absolute()

    @property
    def sources(self) -> Path | None:
        """The candidate's own sources, where the build (or the user) had them."""
        kept = self.directory.build(self.candidate.name).sources
        return kept if kept.is_dir() else None


def prove(run_dir: Path, toolbox: Toolbox, reporter: Reporter) -> Proof:
    """Prove the candidate of a run directory and write proof/<build>/proof.json.

    Raises HarnessError when the jar cannot be judged at all, or what judges it cannot be had.
    """
    directory = RunDirectory(run_dir)
    declaration, setup = directory.declaration.read(), directory.setup.read()
    base, candidate = _builds(declaration)
    reporter.stage(f"proving {candidate.name} against {base.name}, without a cluster")
    with timed(directory, "prove"):
        case = _case(directory, declaration, setup, base, candidate, toolbox, reporter)
        proof = _prove(case, reporter)
        directory.proof(candidate.name).proof.write(proof)
    return proof


def has_candidate(run_dir: Path) -> bool:
    """Return whether there is a base and something to prove against it; arms may have been narrowed to one."""
    declaration = RunDirectory(run_dir).declaration.read()
    return declaration.arm(Role.BASE) is not None and bool(declaration.candidate)


def print_proof(console: Console, proof: Proof, run_dir: Path) -> None:
    """Print the counts, everything that blocks, and where to read the rest."""
    summary = {
        "differences": describe_differences(proof),
        "tests": describe_tests(proof.tests),
        "source": describe_answers(proof.audit),
    }
    for name, figures in summary.items():
        console.print(Text(f"  {name:<12} {figures}"))
    for note in filter(None, (*proof.notes, proof.tests.gap, proof.tests.missing)):
        console.print(Text(f"  {visible(note)}", style="dim"))
    console.print(Text(f"\n{headline(proof)}", style=f"bold {_colour(proof)}"))
    for blocker in proof.blockers[:_MOST_BLOCKERS]:
        console.print(Text(f"  · {visible(blocker)}"))
    if len(proof.blockers) > _MOST_BLOCKERS:
        console.print(f"  … and {len(proof.blockers) - _MOST_BLOCKERS} more")
    console.print(f"\n{RunDirectory(run_dir).proof(proof.build).proof.path}")


def exit_code(proof: Proof) -> int:
    """Return the exit code of `harness prove`: 0 a sound drop-in, 1 it is none, 3 too little could be tested."""
    if proof.blockers:
        return 1
    return 3 if proof.tests.missing else 0


def _colour(proof: Proof) -> str:
    return ("green", "red", "", "yellow")[exit_code(proof)]


def _builds(declaration: Declaration) -> tuple[Build, Build]:
    base = declaration.arm(Role.BASE)
    candidate = next((arm.build for arm in declaration.arms if arm.build.name == declaration.candidate), None)
    if base is None or candidate is None:
        raise HarnessError("There is no candidate beside base, so that there is nothing to prove.", "Leave out --arms.")
    return base.build, candidate


def _case(
    directory: RunDirectory,
    declaration: Declaration,
    setup: Setup,
    base: Build,
    candidate: Build,
    toolbox: Toolbox,
    reporter: Reporter,
) -> _Case:
    """Fetch everything first: what may wait for the network does so before anything is judged."""
    lock = read_lock(declaration.kafka_version) if declaration.kafka_version in locked_versions() else None
    downloads = toolbox.downloads
    request = directory.request.read()
    distribution = distribution_of(request.base_dist, declaration.kafka_version, downloads)
    ecj, line = ecj_of(toolbox), line_of(declaration.kafka_version)
    return _Case(
        directory=directory,
        line=line,
        cache=toolbox.cache,
        java=toolbox.node_java(),
        setup=setup,
        scope=request.tests,
        base=base,
        candidate=candidate,
        built_series=None if request.jar else series_folder(declaration.kafka_version, request.series),
        distribution=distribution,
        claims=claims_upheld(declaration, setup),
        compilers=compilers_at_hand(BuildHost(toolbox, line.class_files, reporter.report)),
        tools=prepare_tools(ecj, toolbox, distribution),
        release=_release(lock, downloads) if lock and is_released_jar(base, lock) else None,
        tests=downloads.fetch_all(lock.of(Purpose.TESTS)) if lock and request.tests is not TestScope.NONE else (),
        other=_other_release(directory.path / candidate.jar, distribution.version, line, request.tests, downloads),
        binding=declaration.binding,
    )


def claims_upheld(declaration: Declaration, setup: Setup) -> ClaimSet:
    """Return the claims that the proof holds the jar to; what a series promises of its source binds its own builds.

    A claims file that no series brings is the user's own, and binds as a whole.
    """
    claims = load_claims(Path(setup.claims)) if setup.claims else ClaimSet("kafka-raft", "", "", ())
    return claims if declaration.binding or not setup.series else outcomes_only(claims)


def is_released_jar(build: Build, lock: Lock) -> bool:
    """Whether a build's jar is that of the locked release, wherever it came from: by its bytes."""
    return any(artifact.sha256 == build.jar_sha256 for artifact in lock.of(Purpose.RUNTIME))


def _release(lock: Lock, downloads: Downloads) -> _Release:
    return _Release(locked_distribution(lock, downloads), downloads.fetch(lock.one(Purpose.SOURCES)))


def _other_release(
    jar: Path, version: str, line: Line, scope: TestScope, downloads: Downloads
) -> OtherRelease | str | None:
    release = other_release(jar, version)
    if not release or scope is TestScope.NONE:
        return None
    try:
        return OtherRelease(release, tests_of_release(release, line.lock, downloads))
    except HarnessError as error:
        return f"The tests of Kafka {release}, which the jar names, were not run: {error} Try `harness lock {release}`."


def _prove(case: _Case, reporter: Reporter) -> Proof:
    with ThreadPoolExecutor(1, thread_name_prefix="audit") as pool:
        answers = pool.submit(_audit, case)
        found = prove_dropin(case.tools, case.base_jar, case.jar, _subject(case))
        differences = _waived(case, found)
        audited = answers.result()
    tests = _tests(case, found.changed, reporter)
    return Proof(
        build=case.candidate.name,
        base=case.base.jar_sha256,
        candidate=case.candidate.jar_sha256,
        looked_at=found.looked_at,
        changed_methods=found.changed_methods,
        differences=differences,
        tests=tests,
        audit=audited,
        notes=(
            *found.notes,
            *_not_binding(case),
            *filter(None, [version_note(case.jar, case.distribution.version)]),
        ),
        chains=tuple(_chain(chain, tests) for chain in case.claims.chains),
    )


def _not_binding(case: _Case) -> tuple[str, ...]:
    """Return what the proof asks only to show it."""
    if case.binding or not case.setup.series:
        return ()
    series = Path(case.setup.series).name
    return (
        f"the jar is not of the series {series}: its questions to the source and its tests are shown, not decisive",
    )


def _subject(case: _Case) -> Subject:
    may_change = classes_that_may_change(case.claims, case.built_series)
    return Subject(may_change, case.claims.flag, case.claims.flag_default, _baselines(case))


def classes_that_may_change(claims: ClaimSet, built_series: Path | None) -> frozenset[str] | None:
    """Return the classes that the claims list, else those of the series that was built here; None where none says."""
    if claims.classes:
        return frozenset(name.replace(".", "/") for name in claims.classes)
    return named_classes(load_series(built_series)) if built_series else None


def _baselines(case: _Case) -> tuple[BaselineJar, ...]:
    """Return unpatched builds by the compilers at hand; only of base's own sources, that is of the locked release."""
    release = case.release
    if release is None:
        return ()
    same = [each for each in case.compilers if each.label == case.candidate.builder]
    target = case.line.class_files
    made = unpatched_jars(same or case.compilers, release.distribution, release.sources, target, case.cache)
    return tuple(BaselineJar(label, jar) for label, jar in made)


def _audit(case: _Case) -> tuple[AuditAnswer, ...]:
    if case.sources:
        return tuple(_placed(case, answer) for answer in audit(case.claims, case.sources))
    return audit(case.claims, None, _content(case)) if case.claims.questions else ()


def _content(case: _Case) -> JarContent:
    (statements,) = read_statements(case.tools.bytecode, [case.jar])
    return JarContent(read_classes(case.tools.bytecode, case.jar), statements, _defaults(case))


def _defaults(case: _Case) -> Mapping[str, str] | None:
    try:
        keys = read_keys(case.tools.config, case.jar, case.distribution.others)
    except HarnessError:  # which the drop-in check reports
        return None
    return {each.name: each.default for each in keys}


def _placed(case: _Case, answer: AuditAnswer) -> AuditAnswer:
    """Return the answer with its places named from the run directory, where the sources are kept."""
    kept = case.directory.build(case.candidate.name).sources.relative_to(case.directory.path)
    return replace(answer, evidence=tuple(replace(e, path=(kept / e.path).as_posix()) for e in answer.evidence))


def _waived(case: _Case, found: DropIn) -> tuple[Difference, ...]:
    if not case.setup.waivers:
        return found.differences
    waivers = load_waivers(Path(case.setup.waivers), [*found.looked_at])
    return worst_first(waive_differences(found.differences, waivers, datetime.now(UTC).date()))


def _tests(case: _Case, changed: frozenset[str], reporter: Reporter) -> TestsProof:
    scope, version = case.scope, case.distribution.version
    if scope is TestScope.NONE:
        return TestsProof(scope)
    if not case.tests:
        missing = f"Upstream's tests of Kafka {version} are not pinned here: `harness lock {version}`, or --tests none."
        return TestsProof(scope, missing=missing)
    series = Path(case.setup.series) / "tests" if case.setup.series else None
    bench = TestBench(
        line=case.line,
        java=case.java,
        jars=case.tests,
        others=case.distribution.others,
        builder=case.compilers[-1],
        cache=case.cache,
        series_tests=series if series and series.is_dir() else None,
        changed=changed,
        other=case.other if isinstance(case.other, OtherRelease) else None,
    )
    out = case.directory.proof(case.candidate.name).junit
    reporter.report(f"upstream's raft tests on the jar ({scope})")
    with reporter.counted("tests") as progress:
        found = run_tests(bench, case.jar, case.base_jar, scope, out, progress)
    found = replace(found, report=out.relative_to(case.directory.path).as_posix())
    found = forgiving_foreign(found) if case.candidate.builder == "given" else found
    found = with_gap(found, case.other) if isinstance(case.other, str) else found
    return excused(found, case.claims.tests_changed, case.binding)


def _chain(chain: Chain, tests: TestsProof) -> ClaimChain:
    return ClaimChain(
        chain.claim,
        chain.says,
        chain.source,
        chain.queries,
        tuple(ClaimedTest(name, standing_of(name, tests)) for name in chain.tests),
        chain.scenario,
        chain.evidence,
        chain.level,
    )
