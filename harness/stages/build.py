"""The first stage: from the request in a run directory to builds, arms and a declared plan."""

from __future__ import annotations

import os
import platform
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import psutil

from harness.base.errors import HarnessError
from harness.base.progress import Reporter
from harness.building.config_check import check_keys, check_values, one_sided_keys
from harness.building.pair import Workplace, build_pair
from harness.building.server_keys import server_keys
from harness.kafka.release_lines import Mode
from harness.model.arms import RELEASE, Arm, Build, ClaimedFlag, choose_arms, is_base_itself, plan_arms, settings_of
from harness.model.declaration import SCHEMA, Declaration, DeclaredScenario
from harness.model.request import Request
from harness.model.sides import Sides
from harness.model.time_book import TimeKind
from harness.model.waivers import load_waivers
from harness.rollout.nodes import parse_topology
from harness.rollout.rehearsals import KINDS, rehearsals_of
from harness.rundir.directory import RunDirectory
from harness.scenario.plan import Scenario
from harness.scenario.registry import load_all
from harness.scenario.stock import PASSED
from harness.stages.arm_kafka import kafka_of, parts_of_arms
from harness.stages.candidate_kind import recognised
from harness.stages.claimed_scenarios import check_claimed_scenarios
from harness.stages.inputs import Inputs, read_inputs, what_lacks
from harness.stages.preflight import check_host, check_sides, check_sources
from harness.stages.resume import describe_java
from harness.stages.rollout_features import features_of_roll
from harness.stages.timing import Stopwatch, note
from harness.toolbox.toolbox import Toolbox


def build(run_dir: Path, toolbox: Toolbox, reporter: Reporter, *, nodes: bool = True) -> None:
    """Make the builds of request.json, and declare every run; without `nodes` none will be started.

    Raises HarnessError for whatever does not fit together.
    """
    began, watch, directory = datetime.now(UTC), Stopwatch(), RunDirectory(run_dir)
    request = directory.request.read()
    is_roll = directory.roll_plan.exists
    rolled = len(parse_topology(directory.roll_plan.read().topology).node_ids) if is_roll else 0
    check_host(request, run_dir, toolbox, rolled)
    inputs = read_inputs(request, toolbox)
    if not is_roll:  # its rehearsals are no scenarios
        check_claimed_scenarios(inputs.claims.claims, load_all(request.scenario_folders), inputs.setup.claims)
    modes = {Mode.KRAFT} if is_roll else {each.topology.mode for each in inputs.scenarios}
    check_sides(inputs.sides, request.arms, toolbox, is_roll=is_roll, modes=modes if nodes else ())
    check_sources(inputs.sides, offline=request.offline)
    if nodes and inputs.passed_over:
        reporter.report(f"scenarios not run, since no nodes are started in their mode: {', '.join(inputs.passed_over)}")
    if nodes and inputs.claims_elsewhere:
        told = (f"{claim} ({option})" for claim, option in inputs.claims_elsewhere.items())
        reporter.report(f"claims not tested, since their scenarios are of other suites: {', '.join(told)}")
    for line in what_lacks(inputs.sides, toolbox):
        reporter.report(line)
    if inputs.setup.waivers:
        load_waivers(Path(inputs.setup.waivers))  # the proof knows its rules, and comes later
    reporter.stage(f"building for Kafka {' and '.join(dict.fromkeys(_versions(inputs.sides)))}")
    inputs = recognised(request, inputs, toolbox, reporter)
    pair = build_pair(inputs.sides, _workplace(request, inputs, directory, toolbox, reporter))
    for made in pair:
        reporter.report(f"{made.name}: {made.builder}, sha256 {made.jar_sha256[:12]}…, in Kafka {made.kafka.version}")
    check_flag(pair[1], inputs.setup.claims)
    if said := flag_is_unknown(pair[1], inputs.setup.claims):
        reporter.report(said)
    for warning in _strange_keys(directory, inputs, pair, toolbox, reporter):
        reporter.report(warning)
    flag = ClaimedFlag(inputs.claims.flag, inputs.claims.flag_default == "true")
    arms = choose_arms(plan_arms(*pair, flag, describe_java(toolbox)), request.arms)
    if is_base_itself(arms):
        reporter.report("the candidate is base itself, byte for byte: what differs will be chance")
    settings = {arm.name: settings_of(arm, flag) for arm in arms}
    directory.setup.write(replace(inputs.setup, settings=settings))
    declared = _declaration(request, inputs, _scenarios(directory, inputs, pair, toolbox, reporter), arms, began)
    declared = watch.add_to(declared, "build")
    note(directory, watch, TimeKind.STAGE, "build", watch.cpu_seconds)
    if nodes:  # a Kafka of which no node starts is refused before anything is proved of it, and nothing is left of that
        watch = Stopwatch()
        parts_of_arms(arms, request, toolbox, reporter.report)
        declared = watch.add_to(declared, "prepare")
        note(directory, watch, TimeKind.STAGE, "prepare", watch.cpu_seconds)
    directory.declaration.write(declared)


def _versions(sides: Sides) -> tuple[str, str]:
    return sides.base.version, sides.candidate.version


def _workplace(
    request: Request, inputs: Inputs, directory: RunDirectory, toolbox: Toolbox, reporter: Reporter
) -> Workplace:
    return Workplace(
        directory, request.builder, inputs.claims.flag, toolbox, reporter.report, request.sources, request.patches
    )


def check_flag(candidate: Build, claims: str) -> None:
    """Raise HarnessError where a whole Kafka does not know the flag that the claims are about.

    Of a jar that is judged by claims that is a finding; a Kafka that nobody changed cannot be meant.
    """
    if candidate.builder == RELEASE and candidate.flag.key and not candidate.flag.known:
        raise HarnessError(
            f"{candidate.kafka.label} does not know the flag {candidate.flag.key}, which {claims} is about.",
            "Leave out --claims, or name a Kafka, a jar or a series that has the flag.",
        )


def flag_is_unknown(candidate: Build, claims: str) -> str:
    """Return in words that the candidate does not know the flag that the claims are about; else nothing."""
    if not candidate.flag.key or candidate.flag.known:
        return ""
    return (
        f"{candidate.name} does not know the flag {candidate.flag.key}, which {claims} is about: "
        "there is no arm with the flag off, and the claims count as for a flag that does nothing"
    )


def _strange_keys(
    directory: RunDirectory, inputs: Inputs, pair: tuple[Build, Build], toolbox: Toolbox, reporter: Reporter
) -> tuple[str, ...]:
    """Return a sentence about each key of --config that neither build knows, or only one.

    Raises HarnessError for slips, and for values that either refuses.
    """
    overlay, request = inputs.setup.overlay, directory.request.read()
    if not overlay:
        return ()
    known = [
        server_keys(
            kafka_of(each, request, toolbox), directory.path / each.jar, request.builder, toolbox, reporter.report
        )
        for each in pair
    ]
    if not all(known):
        return ()
    strange = check_keys(overlay, {**known[0], **known[1]})
    for each in known:
        check_values(overlay, each)
    return (
        *strange,
        *one_sided_keys(overlay, *zip(_labels(pair), known, strict=True)),
    )


def _labels(pair: tuple[Build, Build]) -> list[str]:
    return [f"{each.name} ({each.kafka.version})" for each in pair]


def _scenarios(
    directory: RunDirectory, inputs: Inputs, pair: tuple[Build, Build], toolbox: Toolbox, reporter: Reporter
) -> tuple[DeclaredScenario, ...]:
    """Return what is declared to run: the rehearsals of a rollout, or the scenarios of a verification."""
    if not directory.roll_plan.exists:
        return tuple(_declared(each, inputs.sides.base.version) for each in inputs.scenarios)
    features = features_of_roll(*pair, directory.request.read(), toolbox, reporter)
    if features:
        directory.features.write(features)
    names = rehearsals_of(directory.roll_plan.read().rehearsals, features)
    return tuple(DeclaredScenario(name, KINDS[name].question) for name in names)


def _declared(scenario: Scenario, version: str) -> DeclaredScenario:
    failure = scenario.failure_of(version)
    told = (failure.label, failure.known) if failure else (PASSED, "")
    return DeclaredScenario(scenario.name, scenario.question, scenario.budget, *told)


def _declaration(
    request: Request, inputs: Inputs, scenarios: tuple[DeclaredScenario, ...], arms: tuple[Arm, ...], began: datetime
) -> Declaration:
    return Declaration(
        schema=SCHEMA,
        kafka_version=inputs.sides.base.version,
        arms=arms,
        scenarios=scenarios,
        repeats=request.repeats,
        claims=inputs.claims.claims,
        argv=request.argv,
        started_at=began.isoformat(timespec="seconds"),
        host={
            "cpus": str(len(os.sched_getaffinity(0))),
            "memory": f"{psutil.virtual_memory().total / 2**30:.1f} GiB",
            "system": f"{platform.system()} {platform.release()}",
            "python": platform.python_version(),
            "jvm profile": str(request.profile),
            "clusters side by side": str(request.jobs),
        },
        kind=inputs.kind,
        has_spares=True,
    )
