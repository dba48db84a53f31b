"""One ZooKeeper server as a process: started before the brokers, ended after them."""

from __future__ import annotations

import os
import time
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.processes import bare_environment
from harness.base.processes.leftovers import marked
from harness.base.tails import last_line
from harness.base.waiting import wait_until
from harness.cluster import config, jvm
from harness.cluster.address import Address
from harness.cluster.modes.zookeeper_tree import ZooKeeperTree
from harness.cluster.node import Launch
from harness.cluster.protocol import Unreachable
from harness.cluster.runtime.base import NodeProcess, Spawn, end_at_once
from harness.rundir.parts import NODE_DATA, NODE_LOG, NODE_OUTPUT

FOLDER = "zookeeper"
# Sessions end within this of their time-out: a server looks for expired ones every tick.
TICK_MS = 500
_MAIN_CLASS = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
_UP_SECONDS = 30.0


class ZooKeeperServer:
    """A server alone, from the jars that Kafka brings; `tree` is what it holds."""

    def __init__(self, folder: Path, launch: Launch, address: Address, spawn: Spawn) -> None:
        self.address = address
        self.tree = ZooKeeperTree(address)
        self._folder = folder / FOLDER
        self._marked_by = folder
        self._launch = launch
        self._spawn = spawn
        self._process: NodeProcess | None = None
        self._ended = False

    def start(self) -> None:
        """Start it, and return when it answers; nothing where it was started before. Raises HarnessError."""
        if self._process is not None or self._ended:
            return
        self._folder.mkdir(parents=True)
        properties, logging = self._folder / "zoo.cfg", self._folder / self._launch.line.logging.file
        properties.write_text(server_settings(self._folder / NODE_DATA, self.address), encoding="utf-8")
        logging.write_text(config.logging_text(self._launch.line), encoding="utf-8")
        self._process = self._spawn(
            self._command(properties, logging),
            cwd=self._folder,
            output=self._folder / NODE_OUTPUT,
            env=marked(bare_environment(), self._marked_by),
        )
        if not wait_until(self._answers_or_is_over, _UP_SECONDS) or not self._answers():
            self.check()
            raise HarnessError(
                f"ZooKeeper did not answer at {self.address} within {_UP_SECONDS:g} s.{self._last_line()}",
                "Run `harness doctor`: the host may be overloaded or its disk slow.",
            )

    def _command(self, properties: Path, logging: Path) -> list[str]:
        launch = self._launch
        return [
            str(launch.java),
            *jvm.flags(launch.profile, launch.line, launch.archive),
            launch.line.logging.flag(logging),
            f"-Dharness.log={self._folder / NODE_LOG}",
            # A host that loses power is no question of ours, and a slow disk must not end sessions.
            "-Dzookeeper.forceSync=no",
            "-cp",
            os.pathsep.join(map(str, launch.class_path)),
            _MAIN_CLASS,
            str(properties),
        ]

    def check(self) -> None:
        """See that it runs, if it was started. Raises HarnessError."""
        if self._process is not None and not self._ended and (code := self._process.poll()) is not None:
            raise HarnessError(
                f"ZooKeeper at {self.address} ended by itself (exit {code}).{self._last_line()}",
                f"Its log is {self._folder / NODE_LOG}.",
            )

    def close(self) -> None:
        """End it at once: the brokers have gone. Raises HarnessError where it does not end."""
        self._ended = True
        self.tree.close()
        if self._process is not None and self._process.poll() is None:
            end_at_once(self._process, "ZooKeeper")

    def await_gone(self, path: str, seconds: float) -> bool:
        """Return whether a node of the tree has gone within so many seconds. Raises Unreachable."""
        deadline = time.monotonic() + seconds
        while self.tree.get(path) is not None:
            if self._ended or time.monotonic() > deadline:
                return False
            time.sleep(TICK_MS / 5000)
        return True

    def _answers_or_is_over(self) -> bool:
        return self._ended or (self._process is not None and self._process.poll() is not None) or self._answers()

    def _answers(self) -> bool:
        try:
            return "zookeeper" in self.tree.children("/")
        except Unreachable:
            return False

    def _last_line(self) -> str:
        found = last_line(self._folder / NODE_OUTPUT, self._folder / NODE_LOG).strip()
        return f" Its last line: {found}" if found else ""


def server_settings(data: Path, address: Address) -> str:
    """Return what a server's configuration says (zoo.cfg). Pure.

    Sessions may be as short as two ticks, and as long as Kafka's default asks; no second port is opened.
    """
    settings = {
        "dataDir": str(data),
        "clientPort": str(address.port),
        "clientPortAddress": address.host,
        "tickTime": str(TICK_MS),
        "maxSessionTimeout": "60000",
        "maxClientCnxns": "0",
        "admin.enableServer": "false",
    }
    return "".join(f"{key}={value}\n" for key, value in settings.items())
