"""`harness topic-ids` as an operator calls it, on the live cluster of a run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.processes import bare_environment, run
from harness.base.waiting import wait_until
from harness.cluster.modes.zookeeper import BROKERS
from harness.cluster.node import NodeState
from harness.scenario.steps import Fault
from harness.scenario.topic_ids import in_zookeeper
from harness.scenario.verbs import action, fault
from harness.scenario.world import ActionFailed, World

CHECK, PLAN = "check", "plan"
_ZOOKEEPER = "zookeeper"
_SECONDS = 120.0
_UP_SECONDS = 60.0
_WITHIN_ITS_RUN = "topic-ids"


@dataclass(frozen=True, slots=True)
class CheckIds:
    """Check all brokers, and keep the answer with its exit code."""

    description: str = "call `harness topic-ids check` for every broker"

    def perform(self, world: World) -> None:
        """Call it. Raises ActionFailed where it is no answer but an error."""
        code, said = _call(world, "check", *_configs(world))
        _keep(world, CHECK, code, said, fine=(0, 1, 3))


@dataclass(frozen=True, slots=True)
class PlanRepair:
    """Make a plan of the repair, and keep the answer with its exit code."""

    description: str = "call `harness topic-ids plan` for every broker"

    def perform(self, world: World) -> None:
        """Call it. Raises ActionFailed where it is no answer but an error."""
        code, said = _call(world, "plan", *_configs(world), "--out", str(_plan(world)))
        _keep(world, PLAN, code, said, fine=(0, 1, 3))


@dataclass(frozen=True, slots=True)
class PutBackIds(Fault):
    """Carry out what the plan has to do in ZooKeeper, with every broker's disks to compare."""

    description: str = "call `harness topic-ids repair` for ZooKeeper"

    def perform(self, world: World) -> None:
        """Call it. Raises ActionFailed when it is not done."""
        backup = str(_next_backup(world, _ZOOKEEPER))
        disks = _configs(world)
        _keep(world, "repair", *_call(world, "repair", str(_plan(world)), *disks, "--backup", backup, "--apply"))


@dataclass(frozen=True, slots=True)
class RepairBrokers(Fault):
    """Carry out what the plan has to do on every broker: stop it, repair, start it, and export for the next."""

    description: str = "call `harness topic-ids repair` for broker after broker, each stopped before and started after"

    def perform(self, world: World) -> None:
        """Do it in the plan's order. Raises ActionFailed when one step is not done."""
        exports: list[str] = []
        for broker in _order(world):
            _stop(world, broker)
            config = ("--config", str(world.cluster.nodes[broker].properties_file))
            backup = ("--backup", str(_next_backup(world, str(broker))))
            _keep(world, "repair", *_call(world, "repair", str(_plan(world)), *config, *backup, *exports, "--apply"))
            _start(world, broker)
            exports += _export(world, broker)


@dataclass(frozen=True, slots=True)
class RestoreIds(Fault):
    """Undo what the last repair has done in ZooKeeper."""

    description: str = "call `harness topic-ids restore` for ZooKeeper"

    def perform(self, world: World) -> None:
        """Call it. Raises ActionFailed when it is not done."""
        _restore(world, _ZOOKEEPER)


@dataclass(frozen=True, slots=True)
class RestoreBroker(Fault):
    """Undo what the last repair has done on the broker whose turn was first."""

    description: str = "call `harness topic-ids restore` for the first broker of the plan, stopped before, then started"

    def perform(self, world: World) -> None:
        """Do it. Raises ActionFailed when one step is not done."""
        broker, *_ = _order(world)
        _stop(world, broker)
        _restore(world, str(broker))
        _start(world, broker)


def _restore(world: World, whose: str) -> None:
    _keep(world, "restore", *_call(world, "restore", str(_backups(world, whose)[-1]), "--apply"))


def _stop(world: World, broker: int) -> None:
    """Stop a broker, and wait until ZooKeeper has let go of it. Raises ActionFailed."""
    tree = in_zookeeper(world).tree
    world.cluster.nodes[broker].stop()
    if not wait_until(lambda: tree.get(f"{BROKERS}/{broker}") is None, _UP_SECONDS):
        raise ActionFailed(f"ZooKeeper still has broker {broker}")


def _start(world: World, broker: int) -> None:
    node = world.cluster.nodes[broker]
    world.cluster.start([broker])
    if not wait_until(lambda: node.state is NodeState.READY, _UP_SECONDS):
        raise ActionFailed(f"broker {broker} did not come up after its repair")


def _export(world: World, broker: int) -> list[str]:
    """Return the option with the export of a broker that has just started, once its directories have ids again."""
    file = _folder(world) / f"broker-{broker}.jsonl"
    config = str(world.cluster.nodes[broker].properties_file)
    _keep(world, "export", *_call(world, "check", "--config", config, "--export", str(file)))
    return ["--merge", str(file)]


def _configs(world: World) -> list[str]:
    return [word for node in world.cluster.nodes.values() for word in ("--config", str(node.properties_file))]


def _folder(world: World) -> Path:
    folder = world.folder.path / _WITHIN_ITS_RUN
    folder.mkdir(exist_ok=True)
    return folder


def _plan(world: World) -> Path:
    return _folder(world) / "plan.json"


def _order(world: World) -> list[int]:
    """Return the brokers that the plan repairs, in their order."""
    return [int(each) for each in json.loads(_plan(world).read_text())["order"]]


def _backups(world: World, whose: str) -> list[Path]:
    """Return the backups of what was repaired of one broker, or in ZooKeeper; oldest first."""
    return sorted(_folder(world).glob(f"backup-{whose}-*"))


def _next_backup(world: World, whose: str) -> Path:
    """Return a folder for another one: each is of one plan."""
    return _folder(world) / f"backup-{whose}-{len(_backups(world, whose)) + 1:02}"


def _call(world: World, *words: str) -> tuple[int, str]:
    environment = bare_environment() | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "harness", "topic-ids", *words]
    try:
        done = run(command, cwd=_folder(world), env=environment, timeout=_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise ActionFailed(f"harness topic-ids {words[0]} did not end within {_SECONDS:g} s") from error
    return done.returncode, (done.stdout + done.stderr).strip()


def _keep(world: World, asked: str, code: int, said: str, fine: Sequence[int] = (0,)) -> None:
    world.answers[asked] = f"exit {code}: {said}"
    world.note(f"harness topic-ids {asked}: exit {code}: {said[-1500:]}")
    if code not in fine:
        raise ActionFailed(f"harness topic-ids {asked}: {said[-500:]}")


@action
def check_ids() -> CheckIds:
    """Call `harness topic-ids check` for every broker; `answered("check", …)` has the exit code and what it said."""
    return CheckIds()


@action
def plan_repair() -> PlanRepair:
    """Call `harness topic-ids plan` for every broker; `answered("plan", …)` has the exit code and what it said."""
    return PlanRepair()


@fault
def put_back_ids() -> PutBackIds:
    """Call `harness topic-ids repair` for what the plan has to do in ZooKeeper; every broker's disks are compared."""
    return PutBackIds()


@fault
def repair_brokers() -> RepairBrokers:
    """Call `harness topic-ids repair` for each broker in the plan's order, stopped before and started after."""
    return RepairBrokers()


@fault
def restore_ids() -> RestoreIds:
    """Call `harness topic-ids restore` for what the last repair has done in ZooKeeper."""
    return RestoreIds()


@fault
def restore_broker() -> RestoreBroker:
    """Call `harness topic-ids restore` for the first broker of the plan, stopped before and started after."""
    return RestoreBroker()
