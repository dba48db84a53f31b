"""The first stage: from a request to builds, arms and a declared plan in a new run directory."""

from __future__ import annotations

import os
import platform
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import psutil

from harness.arms import Flagged, Setup, choose_arms, plan_arms, settings_of
from harness.building.build import Bench, Toolchain, build_series, given_jar, release_build
from harness.building.builders import choose_builder
from harness.building.configdef import prepare_probe
from harness.claims import ClaimSet, load_claims
from harness.cluster.config import load_overlay
from harness.errors import HarnessError
from harness.java import bundled_runtime
from harness.judge import SCHEMA, Asked, ScenarioAsked
from harness.model import Arm, Build
from harness.patching import load_series
from harness.plan.api import Scenario
from harness.plan.registry import load_all, select
from harness.progress import Reporter
from harness.resources import cache_root, data_root
from harness.sources.distribution import Distribution, locked_distribution
from harness.sources.downloads import Downloads
from harness.sources.git import GitSource
from harness.sources.lock import Purpose, read_lock
from harness.sources.maven import MavenSources
from harness.sources.tree import Source
from harness.stages.ground import distribution_of, java_of
from harness.stages.request import NO_CLAIMS, Request
from harness.stages.rundir import write_asked, write_setup

_NO_CLAIMS = ClaimSet("kafka-raft", "", "", ())


def build(request: Request, run_dir: Path, reporter: Reporter) -> None:
    """Make the builds and declare every run. Raises HarnessError for whatever does not fit together."""
    claims = claims_of(request)
    scenarios = select(load_all(), request.scenarios, request.suite)
    overlay = load_overlay(request.config, frozenset(filter(None, [claims.flag]))) if request.config else {}
    setup = Setup(
        java_home=str(request.java_home.absolute()) if request.java_home else "",
        base_dist=str(request.base_dist.absolute()) if request.base_dist else "",
        profile=str(request.profile),
        flag_key=claims.flag,
        jobs=request.jobs,
        offline=request.offline,
        overlay=overlay,
    )
    reporter.stage(f"building for Kafka {request.kafka_version}")
    began = datetime.now(UTC)
    distribution = distribution_of(setup, request.kafka_version, reporter)
    _check_version(distribution, request)
    tools = _toolchain(request, reporter)
    probe = prepare_probe(tools.builder, java_of(setup), tools.released.jars, cache_root())
    bench = Bench(run_dir, probe, claims.flag)
    base, candidate = _base(request, bench, distribution), _candidate(request, bench, tools, distribution)
    for made in (base, candidate):
        reporter.say(f"{made.name}: {made.builder}, sha256 {made.jar_sha256[:12]}…")
    arms = _arms(request, setup, claims, base, candidate)
    flagged = _flagged(claims)
    settings = {arm.name: settings_of(arm, flagged) for arm in arms}
    asked = _declare(request, distribution, claims, scenarios, arms, began)
    write_setup(run_dir, replace(setup, settings=settings))
    took = (datetime.now(UTC) - began).total_seconds()
    write_asked(run_dir, replace(asked, timings={"build": round(took, 2)}))


def claims_of(request: Request) -> ClaimSet:
    """Return the claims that the candidate is judged by: the series' own unless the user says otherwise."""
    if request.claims == NO_CLAIMS:
        return _NO_CLAIMS
    return load_claims(Path(request.claims) if request.claims else _series_folder(request) / "claims.toml")


def _series_folder(request: Request) -> Path:
    found = sorted(path.parent for path in (data_root() / "patches" / request.kafka_version).glob("*/series"))
    if len(found) != 1:
        raise HarnessError(
            f"There is no patch series for Kafka {request.kafka_version}.",
            "Give a finished jar by --jar, and its claims by --claims FILE or --claims none.",
        )
    return found[0]


def _check_version(distribution: Distribution, request: Request) -> None:
    if distribution.version != request.kafka_version:
        raise HarnessError(
            f"{distribution.description} is Kafka {distribution.version}, not {request.kafka_version}.",
            f"Say which Kafka you mean: --kafka {distribution.version}",
        )


def _toolchain(request: Request, reporter: Reporter) -> Toolchain:
    lock = read_lock(request.kafka_version)
    with reporter.downloads() as progress:
        downloads = Downloads(cache_root() / "maven", offline=request.offline, progress=progress)
        released = locked_distribution(lock, downloads)
        sources = downloads.fetch(lock.one(Purpose.SOURCES))
        builder = choose_builder(
            request.builder,
            bundled_runtime(),
            lambda: downloads.fetch(lock.one(Purpose.COMPILER)),
            request.java_home,
        )
    return Toolchain(builder, released, sources)


def _base(request: Request, bench: Bench, distribution: Distribution) -> Build:
    if request.base_jar:
        return given_jar(bench, "base", request.base_jar, distribution)
    return release_build(bench, "base" if request.base_dist else "stock", distribution)


def _candidate(request: Request, bench: Bench, tools: Toolchain, distribution: Distribution) -> Build:
    if request.jar:
        return given_jar(bench, "jar", request.jar, distribution)
    return build_series(bench, tools, "patched", _source(request, tools), load_series(_series_folder(request)))


def _source(request: Request, tools: Toolchain) -> Source:
    if not request.git:
        return MavenSources(request.kafka_version, tools.released_sources)
    url, _, ref = request.git.rpartition("@")
    if not url or not ref:
        raise HarnessError(f"--git {request.git} names no ref.", "Write URL@REF, such as /src/kafka@3.9.1.")
    return GitSource(url, ref)


def _flagged(claims: ClaimSet) -> Flagged:
    return Flagged(claims.flag, claims.flag_default == "true")


def _arms(request: Request, setup: Setup, claims: ClaimSet, base: Build, candidate: Build) -> tuple[Arm, ...]:
    runtime = java_of(setup)
    java = f"{runtime.version} ({'bundled' if not setup.java_home else setup.java_home})"
    return choose_arms(plan_arms(base, candidate, _flagged(claims), java), request.arms)


def _declare(
    request: Request,
    distribution: Distribution,
    claims: ClaimSet,
    scenarios: list[Scenario],
    arms: tuple[Arm, ...],
    began: datetime,
) -> Asked:
    return Asked(
        schema=SCHEMA,
        kafka_version=distribution.version,
        arms=arms,
        scenarios=tuple(ScenarioAsked(s.name, s.question, s.budget) for s in scenarios),
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
