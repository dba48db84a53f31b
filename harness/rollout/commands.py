"""The runbook's commands, each run once on a cluster at rest, its output compared with the protocol's answer."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.base.processes import bare_environment, run
from harness.cluster.address import listed
from harness.cluster.cluster import Cluster
from harness.model.events import CommandTried
from harness.rollout.health import Health, RollCheck
from harness.rollout.script_calls import ScriptCall, with_config
from harness.scenario.world import World

_SECONDS = 30
_MOST_OUTPUT = 2000


@dataclass(frozen=True, slots=True)
class Tools:
    """What Kafka's scripts start: a Java, a class path with the command line's jars, the main class of each script.

    `config_options` are what scripts call the file of a client's properties where that is not --command-config.
    """

    java: Path
    class_path: tuple[Path, ...]
    main_classes: Mapping[str, str]
    config_options: Mapping[str, str] = field(default_factory=dict)


def try_checks(tools: Tools, checks: Iterable[RollCheck], world: World, health: Health) -> Iterator[CommandTried]:
    """Run every script of the checks once, as it is asked for; yields whether it shows what the protocol says."""
    by_call = {check.call: check for check in checks if check.call}
    for call, check in by_call.items():
        yield _try(tools, call, check, world, health)


def try_call(tools: Tools, call: ScriptCall, world: World, refused: Collection[str] = ()) -> CommandTried:
    """Run a script; it agrees when it succeeds, or with what is to be `refused` when it fails and names any of that.

    Else it may have failed for any reason: nobody answered, or knew the user.
    """
    began = time.monotonic()
    code, output, errors = _run(tools, call, world)
    shown = output.strip() or errors.strip()
    told = _text(tools, call, world.cluster)
    agrees = code > 0 and any(name in shown for name in refused) if refused else code == 0
    return CommandTried(told, _seconds_since(began), code, shown[:_MOST_OUTPUT], agrees)


def _try(tools: Tools, call: ScriptCall, check: RollCheck, world: World, health: Health) -> CommandTried:
    began = time.monotonic()
    code, output, _ = _run(tools, call, world)
    shown = "\n".join(line.rstrip() for line in output.splitlines() if call.only in line).strip()
    agrees = code == 0 and check.shown(shown, health)
    return CommandTried(_text(tools, call, world.cluster), _seconds_since(began), code, shown[:_MOST_OUTPUT], agrees)


def _text(tools: Tools, call: ScriptCall, cluster: Cluster) -> str:
    """Return the command line as the runbook has it: with a file of properties where clients need one."""
    security = cluster.topology.security
    needs_file = security is not None and security.clients
    return with_config(call, tools.config_options) if needs_file else call.text()


def _run(tools: Tools, call: ScriptCall, world: World) -> tuple[int, str, str]:
    """Return the exit code, -1 where there was no answer in time, and what the script wrote to both outputs."""
    cluster = world.cluster
    asked = (
        _text(tools, call, cluster)
        .partition(" | ")[0]
        .format(
            brokers=listed(cluster.client_brokers),
            controllers=listed(cluster.client_controllers),
            config=shlex.quote(str(cluster.client_file)),
        )
    )
    try:
        command = _java(tools, call.script, shlex.split(asked)[1:])
        done = run(command, env=bare_environment(), timeout=_SECONDS, is_over=world.is_over)
    except subprocess.TimeoutExpired:
        return -1, f"no answer within {_SECONDS} s", ""
    return done.returncode, done.stdout, done.stderr


def _seconds_since(began: float) -> float:
    return round(time.monotonic() - began, 2)


def _java(tools: Tools, script: str, arguments: Sequence[str]) -> list[str]:
    path, main = os.pathsep.join(map(str, tools.class_path)), tools.main_classes[script]
    return [str(tools.java), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", path, main, *arguments]
