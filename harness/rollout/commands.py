"""The runbook's commands, each run once on a cluster at rest, its output compared with the protocol's answer."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.processes import bare_environment, run
from harness.cluster.address import listed
from harness.cluster.cluster import Cluster
from harness.model.events import CommandTried
from harness.rollout.health import Health, RollCheck

_SECONDS = 30
_MOST_OUTPUT = 2000


@dataclass(frozen=True, slots=True)
class Tools:
    """What Kafka's scripts start: a Java, a class path with the command line's jars, the main class of each script."""

    java: Path
    class_path: tuple[Path, ...]
    main_classes: Mapping[str, str]


def try_commands(tools: Tools, checks: Iterable[RollCheck], cluster: Cluster, health: Health) -> list[CommandTried]:
    """Run every command of the checks once and see whether it shows what the protocol says."""
    brokers, controllers = listed(cluster.brokers.values()), listed(cluster.controllers.values())
    by_command = {check.command: check for check in checks if check.command.startswith("bin/")}
    return [_try(tools, check, brokers, controllers, health) for check in by_command.values()]


def try_command(tools: Tools, command: str, cluster: Cluster, *, succeeds: bool = True) -> CommandTried:
    """Run a command, {brokers} in it being where they listen; it agrees when it succeeds, or fails, as expected."""
    began = time.monotonic()
    code, output, errors = _run(tools, command.format(brokers=listed(cluster.brokers.values())))
    shown = output.strip() or errors.strip()
    return CommandTried(command, _seconds_since(began), code, shown[:_MOST_OUTPUT], (code == 0) is succeeds)


def _try(tools: Tools, check: RollCheck, brokers: str, controllers: str, health: Health) -> CommandTried:
    command, _, only = check.command.partition(" | grep ")
    began = time.monotonic()
    code, output, _ = _run(tools, command.format(node="N", brokers=brokers, controllers=controllers))
    wanted = shlex.split(only)
    lines = [line.rstrip() for line in output.splitlines() if all(word in line for word in wanted)]
    shown = "\n".join(lines).strip()
    agrees = code == 0 and check.shown(shown, health)
    return CommandTried(check.command, _seconds_since(began), code, shown[:_MOST_OUTPUT], agrees)


def _run(tools: Tools, command: str) -> tuple[int, str, str]:
    """Return the exit code, -1 where there was no answer in time, and what the command wrote to both outputs."""
    script, *arguments = shlex.split(command)
    try:
        command_line = _java(tools, tools.main_classes[Path(script).name], arguments)
        done = run(command_line, env=bare_environment(), timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        return -1, f"no answer within {_SECONDS} s", ""
    return done.returncode, done.stdout, done.stderr


def _seconds_since(began: float) -> float:
    return round(time.monotonic() - began, 2)


def _java(tools: Tools, main_class: str, arguments: Sequence[str]) -> list[str]:
    path = os.pathsep.join(map(str, tools.class_path))
    return [str(tools.java), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", path, main_class, *arguments]
