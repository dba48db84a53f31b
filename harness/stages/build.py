"""The first stage: from the request in a run directory to builds, arms and a declared plan."""

from __future__ import annotations

import os
import platform
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import psutil

from harness.base.progress import Reporter
from harness.building.config_check import check_keys
from harness.building.pair import build_pair
from harness.building.server_keys import server_keys
from harness.model.arms import Arm, Build, ClaimedFlag, choose_arms, plan_arms, settings_of
from harness.model.declaration import SCHEMA, Declaration, DeclaredScenario
from harness.model.request import Request
from harness.model.waivers import load_waivers
from harness.rollout.rehearsals import KINDS
from harness.rundir.directory import RunDirectory
from harness.stages.candidate_kind import recognised
from harness.stages.inputs import Inputs, read_inputs
from harness.stages.preflight import check_host
from harness.stages.resume import describe_java
from harness.stages.timing import Stopwatch
from harness.toolbox.toolbox import Toolbox


def build(run_dir: Path, toolbox: Toolbox, reporter: Reporter) -> None:
    """Make the builds of request.json, and declare every run.

    Raises HarnessError for whatever does not fit together.
    """
    began, watch, directory = datetime.now(UTC), Stopwatch(), RunDirectory(run_dir)
    request = directory.request.read()
    check_host(request, run_dir, toolbox)
    inputs = read_inputs(request)
    if inputs.setup.waivers:
        load_waivers(Path(inputs.setup.waivers))  # the proof knows its rules, and comes later
    reporter.stage(f"building for Kafka {inputs.kafka_version}")
    inputs = recognised(request, inputs, toolbox, reporter)
    pair = build_pair(request, inputs.kafka_version, inputs.claims.flag, directory, toolbox, reporter.report)
    for made in pair:
        reporter.report(f"{made.name}: {made.builder}, sha256 {made.jar_sha256[:12]}…")
    for warning in _strange_keys(directory, inputs, pair, toolbox, reporter):
        reporter.report(warning)
    flag = ClaimedFlag(inputs.claims.flag, inputs.claims.flag_default == "true")
    arms = choose_arms(plan_arms(*pair, flag, describe_java(toolbox)), request.arms)
    settings = {arm.name: settings_of(arm, flag) for arm in arms}
    directory.setup.write(replace(inputs.setup, settings=settings))
    declared = _declaration(request, inputs, _scenarios(directory, inputs), arms, began)
    directory.declaration.write(watch.add_to(declared, "build"))


def _strange_keys(
    directory: RunDirectory, inputs: Inputs, pair: tuple[Build, Build], toolbox: Toolbox, reporter: Reporter
) -> tuple[str, ...]:
    """Return a sentence about each key of --config that neither build knows. Raises HarnessError for slips."""
    overlay, version = inputs.setup.overlay, inputs.kafka_version
    if not overlay:
        return ()
    jars = [directory.build(each.name).jar(version) for each in pair]
    known = server_keys(directory.request.read(), version, jars, toolbox, reporter.report)
    return check_keys(overlay, known) if known else ()


def _scenarios(directory: RunDirectory, inputs: Inputs) -> tuple[DeclaredScenario, ...]:
    """Return what is declared to run: the rehearsals of a rollout, or the scenarios of a verification."""
    if directory.roll_plan.exists:
        return tuple(DeclaredScenario(name, KINDS[name].question) for name in directory.roll_plan.read().rehearsals)
    return tuple(DeclaredScenario(each.name, each.question, each.budget) for each in inputs.scenarios)


def _declaration(
    request: Request, inputs: Inputs, scenarios: tuple[DeclaredScenario, ...], arms: tuple[Arm, ...], began: datetime
) -> Declaration:
    return Declaration(
        schema=SCHEMA,
        kafka_version=inputs.kafka_version,
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
    )
