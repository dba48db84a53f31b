"""The first stage: from a request to builds, arms and a declared plan in a new run directory."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import psutil

from harness.audit.claims_file import ClaimSet, load_claims
from harness.base.errors import HarnessError
from harness.base.progress import Reporter
from harness.building.build import Bench, Toolchain, build_series, given_jar, keep_sources, release_build
from harness.building.builders import GRADLE_BUILDERS, Builder, choose_builder, ecj_of
from harness.building.configdef import prepare_probe
from harness.cluster.config import load_overlay
from harness.kafka.distribution import Distribution, locked_distribution, unpacked_distribution
from harness.kafka.git import GitSource
from harness.kafka.lines import line_of
from harness.kafka.lock import read_lock
from harness.kafka.maven import MavenSources
from harness.kafka.patching import Series, load_patch, load_series
from harness.kafka.series import series_folder
from harness.kafka.tree import Source
from harness.model.arms import Arm, Build, Flagged, choose_arms, plan_arms, settings_of
from harness.model.declaration import SCHEMA, Declaration, DeclaredScenario
from harness.model.request import DEFAULT_KAFKA, NO_CLAIMS, Request, located
from harness.model.setup import Setup
from harness.rundir.directory import RunDirectory
from harness.scenario.plan import Scenario
from harness.scenario.registry import load_all, select
from harness.stages import preflight
from harness.stages.ground import distribution_of, java_of
from harness.stages.resume import describe_java
from harness.stages.timing import Stopwatch
from harness.toolbox.java import JavaRuntime
from harness.toolbox.lockfile import Purpose
from harness.toolbox.toolbox import Toolbox

_NO_CLAIMS = ClaimSet("kafka-raft", "", "", ())


def build(request: Request, run_dir: Path, toolbox: Toolbox, reporter: Reporter) -> None:
    """Make the builds and declare every run. Raises HarnessError for whatever does not fit together."""
    began, watch, directory = datetime.now(UTC), Stopwatch(), RunDirectory(run_dir)
    directory.request.write(located(request))
    version = _kafka_version(request)
    claims = claims_of(request, version)
    scenarios = select(load_all(), request.scenarios, request.suite)
    setup = setup_of(request, version, claims)
    target = line_of(version).class_files
    preflight.check(request, version, run_dir, toolbox.cache)
    java = java_of(setup, toolbox)
    reporter.stage(f"building for Kafka {version}")
    distribution = distribution_of(setup, version, toolbox.downloads)
    builder = _builder(request, target, toolbox)
    probe = prepare_probe(builder, java, distribution.jars, toolbox.cache)
    bench = Bench(directory, probe, claims.flag)
    base = _base(request, bench, distribution)
    candidate = _candidate(request, bench, builder, distribution, toolbox, reporter.say)
    for made in (base, candidate):
        reporter.say(f"{made.name}: {made.builder}, sha256 {made.jar_sha256[:12]}…")
    arms = _arms(request, setup, claims, base, candidate, java)
    settings = {arm.name: settings_of(arm, _flagged(claims)) for arm in arms}
    directory.setup.write(replace(setup, settings=settings))
    declared = _declare(request, version, claims, scenarios, arms, began)
    directory.declaration.write(watch.add_to(declared, "build"))


def _kafka_version(request: Request) -> str:
    """Return the version that was asked for; the control's own where the user brings one."""
    told = unpacked_distribution(request.base_dist).version if request.base_dist else ""
    if request.kafka_version and told and request.kafka_version != told:
        raise HarnessError(
            f"{request.base_dist} is Kafka {told}, not {request.kafka_version}.", "Leave out --kafka, or name another."
        )
    return request.kafka_version or told or DEFAULT_KAFKA


def setup_of(request: Request, version: str, claims: ClaimSet) -> Setup:
    """Return how the jar is proved and nodes are set up; a series brings its own waivers unless the user names others.

    Raises HarnessError for a --config that cannot be read, and for a series that is not clear.
    """
    owned = frozenset(filter(None, [claims.flag]))
    file = _claims_file(request, version)
    series = file.absolute().parent if file and (file.parent / "series").is_file() else None
    waivers = request.waivers or (series / "waivers.toml" if series and (series / "waivers.toml").is_file() else None)
    return Setup(
        java_home=str(request.java_home.absolute()) if request.java_home else "",
        base_dist=str(request.base_dist.absolute()) if request.base_dist else "",
        profile=str(request.profile),
        flag_key=claims.flag,
        jobs=request.jobs,
        offline=request.offline,
        overlay=load_overlay(request.config, owned) if request.config else {},
        claims=str(file.absolute()) if file else "",
        series=str(series or ""),
        waivers=str(waivers.absolute()) if waivers else "",
        tests=request.tests,
        coverage=request.coverage,
    )


def claims_of(request: Request, version: str) -> ClaimSet:
    """Return the claims that the candidate is judged by: the series' own unless the user says otherwise."""
    file = _claims_file(request, version)
    return load_claims(file) if file else _NO_CLAIMS


def _claims_file(request: Request, version: str) -> Path | None:
    if request.claims == NO_CLAIMS:
        return None
    return Path(request.claims) if request.claims else series_folder(version, request.series) / "claims.toml"


def _builder(request: Request, target: int, toolbox: Toolbox) -> Builder:
    """Return this host's compiler, which a probe needs whatever builds the jar."""
    name = "auto" if request.builder in GRADLE_BUILDERS else request.builder
    return choose_builder(name, lambda: ecj_of(toolbox), target, request.java_home)


def _base(request: Request, bench: Bench, distribution: Distribution) -> Build:
    if request.base_jar:
        return given_jar(bench, "base", request.base_jar, distribution)
    return release_build(bench, "base" if request.base_dist else "stock", distribution)


def _candidate(
    request: Request,
    bench: Bench,
    builder: Builder,
    distribution: Distribution,
    toolbox: Toolbox,
    say: Callable[[str], None],
) -> Build:
    if request.jar:
        given = given_jar(bench, "jar", request.jar, distribution)
        if request.sources:
            keep_sources(request.sources, bench.directory.build(given.name))
        return given
    from harness.building.containers.choosing import gradle_builder  # half a second that a given jar need not wait

    lock = read_lock(distribution.version)
    released, sources = locked_distribution(lock, toolbox.downloads), toolbox.downloads.fetch(lock.one(Purpose.SOURCES))
    series = series_of(request, distribution.version)
    with gradle_builder(request.builder, toolbox.cache, offline=toolbox.offline, hear=say) as gradle:
        tools = Toolchain(gradle or builder, released, sources, line_of(released.version).class_files)
        return build_series(bench, tools, "patched", source_of(request, tools), series)


def series_of(request: Request, version: str) -> Series:
    """Return the series of a Kafka version, with the patches that the user adds behind it."""
    series = load_series(series_folder(version, request.series))
    return replace(series, patches=(*series.patches, *(load_patch(p.parent, p.name) for p in request.patches)))


def source_of(request: Request, tools: Toolchain) -> Source:
    """Return where the sources come from. Raises HarnessError when --git cannot be read."""
    if not request.git:
        return MavenSources(tools.released.version, tools.released_sources)
    return GitSource(*preflight.url_and_ref(request.git))


def _flagged(claims: ClaimSet) -> Flagged:
    return Flagged(claims.flag, claims.flag_default == "true")


def _arms(
    request: Request, setup: Setup, claims: ClaimSet, base: Build, candidate: Build, java: JavaRuntime
) -> tuple[Arm, ...]:
    return choose_arms(plan_arms(base, candidate, _flagged(claims), describe_java(setup, java)), request.arms)


def _declare(
    request: Request,
    version: str,
    claims: ClaimSet,
    scenarios: list[Scenario],
    arms: tuple[Arm, ...],
    began: datetime,
) -> Declaration:
    return Declaration(
        schema=SCHEMA,
        kafka_version=version,
        arms=arms,
        scenarios=tuple(DeclaredScenario(s.name, s.question, s.budget) for s in scenarios),
        repeats=request.repeats,
        claims=claims.claims,
        argv=request.argv,
        started_at=began.isoformat(timespec="seconds"),
        host=_host(request),
    )


def _host(request: Request) -> dict[str, str]:
    return {
        "cpus": str(len(os.sched_getaffinity(0))),
        "memory": f"{psutil.virtual_memory().total / 2**30:.1f} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "jvm profile": str(request.profile),
        "clusters side by side": str(request.jobs),
    }
