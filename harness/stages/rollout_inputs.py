"""What every rehearsal of a rollout needs: both builds with the Kafka around each, the plan, tools, limits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from harness.base.errors import HarnessError
from harness.base.files import sha256_of
from harness.base.progress import Reporter
from harness.cluster.install import Install
from harness.cluster.prepare import NodeParts
from harness.engine.planned_run import PlannedRun
from harness.kafka.lock import locked_as, read_lock
from harness.model.arms import ABSENT, Arm, Build, Role
from harness.model.declaration import Declaration
from harness.model.features import FeaturePlan
from harness.model.request import Request
from harness.model.rollout import RollPlan
from harness.model.runs import RunKey
from harness.model.setup import Setup
from harness.rollout.baseline import Baseline, stall_budget
from harness.rollout.builds import BASE, CANDIDATE, DIES_ON_LOAD, WITH_KEY, WITH_KEY_LEFT
from harness.rollout.client_security import topology_of
from harness.rollout.commands import Tools
from harness.rollout.finalising import FEATURES_SCRIPT, Finalising
from harness.rollout.health import AFTER, BEFORE, PREFERRED_LEADERS
from harness.rollout.nodes import First, usual_order
from harness.rollout.rehearsals import CONTROL, PROPERTIES, rehearsal
from harness.rollout.roll import RollConfig
from harness.rollout.sabotage import without_class
from harness.rollout.script_calls import ELECTION
from harness.rundir.directory import RunDirectory
from harness.stages.arm_kafka import kafka_of, parts_of_arms
from harness.stages.reuse_digests import files_of_java, libraries
from harness.stages.rollout_result import ARM
from harness.stages.rules_digest import digest_of_texts, making_digest
from harness.stages.run import installed
from harness.stages.timing import timed
from harness.toolbox.lockfile import Purpose
from harness.toolbox.toolbox import Toolbox

# Of a key that it does not know, Kafka says that it is set, and not to what: it might be a secret.
_SET_TO_SOMETHING = "None"
_CHECKS = (*BEFORE, *AFTER, PREFERRED_LEADERS)
_RUNBOOK_SCRIPTS = tuple({call.script: call for call in (*(each.call for each in _CHECKS), ELECTION) if call})


@dataclass(frozen=True, slots=True)
class RollInputs:
    """What every rehearsal of a rollout needs; `finalising` is None where there is nothing to finalise."""

    directory: RunDirectory
    plan: RollPlan
    declared: Declaration
    setup: Setup
    base: Arm
    candidate: Arm
    parts_of_base: NodeParts
    parts_of_candidate: NodeParts
    tools: Tools
    finalising: Finalising | None

    @property
    def whole_kafkas(self) -> bool:
        """Whether more than the raft jar is replaced."""
        return not self.candidate.build.kafka.is_same(self.base.build.kafka)

    @property
    def first(self) -> First:
        """Who comes first, where the user named no node ids."""
        return First(self.plan.first) if self.plan.first else usual_order(whole_kafkas=self.whole_kafkas)

    def budget(self, rehearsal: str, baseline: Baseline | None) -> float:
        """Return how long a client may wait in a rehearsal, in seconds."""
        return stall_budget(rehearsal, self.plan.stall_budget, baseline, self.setup.overlay)


def roll_inputs(directory: RunDirectory, toolbox: Toolbox, reporter: Reporter) -> RollInputs:
    """Prepare what nodes of both builds are made of. Raises HarnessError."""
    declared, request = directory.declaration.read(), directory.request.read()
    base, candidate = _arm(declared, Role.BASE), _arm(declared, Role.ON)
    with timed(directory, "prepare"):
        parts = parts_of_arms((base, candidate), request, toolbox, reporter.report)
    return RollInputs(
        directory,
        directory.roll_plan.read(),
        declared,
        directory.setup.read(),
        base,
        candidate,
        parts[base.name],
        parts[candidate.name],
        _tools(request, base.build, parts[base.name], toolbox),
        _finalising(directory, request, candidate.build, parts[candidate.name], toolbox),
    )


def _arm(declared: Declaration, role: Role) -> Arm:
    """Return an arm; a rollout declares base and the candidate."""
    arm = declared.arm(role)
    assert arm is not None
    return arm


def _finalising(
    directory: RunDirectory, request: Request, candidate: Build, parts: NodeParts, toolbox: Toolbox
) -> Finalising | None:
    plan: FeaturePlan | None = directory.features.read_if_exists()
    if plan is None or not plan.changes:
        return None
    return Finalising(plan, _tools(request, candidate, parts, toolbox, [FEATURES_SCRIPT]))


def _tools(
    request: Request, build: Build, parts: NodeParts, toolbox: Toolbox, scripts: Iterable[str] = _RUNBOOK_SCRIPTS
) -> Tools:
    """Return what these scripts of a Kafka start; one that was unpacked brings it along. Raises HarnessError."""
    for script in scripts:
        if script not in parts.line.commands:
            raise HarnessError(
                f"The file of release line {parts.line.name} does not say what {script} starts.",
                "Name it under [commands]; docs/release-lines.md explains it.",
            )
    distribution = kafka_of(build, request, toolbox)
    of_somebody = build.kafka.place or (request.base_dist and not build.kafka.jars)
    lock = None if of_somebody else read_lock(locked_as(build))
    more = toolbox.downloads.fetch_all(lock.of(Purpose.COMMANDS)) if lock else ()
    return Tools(parts.java, (*more, *distribution.jars), parts.line.commands, parts.line.config_options)


def planned_rehearsal(inputs: RollInputs, name: str, baseline: Baseline | None) -> PlannedRun:
    """Return a rehearsal as a run, with all builds that it may install."""
    base, candidate, key = _install(inputs, Role.BASE), _install(inputs, Role.ON), inputs.setup.flag_key
    with_key = _with_key(candidate, key)
    key_left = _with_key_left(base, with_key, key)
    config = RollConfig(
        topology_of(inputs.plan),
        inputs.tools,
        inputs.plan.order,
        inputs.first,
        inputs.budget(name, baseline),
        baseline.errors if baseline else frozenset(),
        judge_errors=name != CONTROL,
        flag_key=key,
        key_is_silent=key_left.flag == _SET_TO_SOMETHING,
        finalising=inputs.finalising,
    )
    others = {
        BASE: base,
        CANDIDATE: candidate,
        WITH_KEY: with_key,
        WITH_KEY_LEFT: key_left,
        DIES_ON_LOAD: _sabotaged(candidate, inputs.directory),
    }
    run, overlay = RunKey(name, ARM, 1), {**PROPERTIES, **inputs.setup.overlay}
    return PlannedRun(
        run,
        rehearsal(name, config),
        Role.ON,
        inputs.parts_of_base,
        base,
        overlay,
        key,
        inputs.base.java,
        others,
        harness=digest_of_texts(
            (making_digest(), libraries(), *files_of_java(inputs.parts_of_base.java), *sorted(config.known_errors))
        ),
    )


def _install(inputs: RollInputs, role: Role) -> Install:
    """Return what an arm installs, under the name that it has in a roll and the file name that its Kafka gives it."""
    is_base = role is Role.BASE
    arm, name = (inputs.base, BASE) if is_base else (inputs.candidate, CANDIDATE)
    made = installed(inputs.declared, arm, name, inputs.setup, inputs.directory.path)
    file = arm.build.kafka.raft_jar or inputs.base.build.jar.rpartition("/")[2]
    kafka = inputs.parts_of_candidate.kafka if inputs.whole_kafkas and not is_base else None
    return replace(made, file=file, kafka=kafka)


def _sabotaged(candidate: Install, directory: RunDirectory) -> Install:
    jar = directory.build("dies-on-load").path.absolute() / candidate.file
    sabotaged = without_class(candidate.jar, jar)
    return replace(candidate, name=DIES_ON_LOAD, jar=sabotaged, sha256=sha256_of(sabotaged), settings={})


def _with_key(candidate: Install, key: str) -> Install:
    """Return the candidate with the flag written into server.properties, as an operator may well leave it there."""
    if not key or candidate.flag == ABSENT:
        return candidate
    return replace(candidate, settings={**candidate.settings, key: candidate.flag})


def _with_key_left(base: Install, candidate: Install, key: str) -> Install:
    """Return base with what the candidate left in server.properties, and what it then reports of the flag."""
    if key not in candidate.settings:
        return base
    flag = _SET_TO_SOMETHING if base.flag == ABSENT else candidate.settings[key]
    return replace(base, settings=candidate.settings, flag=flag)
