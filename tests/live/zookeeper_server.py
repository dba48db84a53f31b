"""A real ZooKeeper server of a Kafka's own jars, on loopback, for as long as a test needs it."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from kazoo.client import KazooClient

from harness.base.waiting import wait_until
from harness.cluster.loopback import Loopback
from harness.kafka.distribution import distribution_of
from harness.toolbox.toolbox import Toolbox

_MAIN = "org.apache.zookeeper.server.ZooKeeperServerMain"


@contextmanager
def zookeeper_server(
    version: str,
    toolbox: Toolbox,
    folder: Path,
    config: str = "",
    system: Mapping[str, str] | None = None,
    secure: bool = False,
) -> Iterator[str]:
    """Yield the address of a ZooKeeper of a Kafka version's dependencies."""
    folder.mkdir(parents=True, exist_ok=True)
    loopback = Loopback()
    address = loopback.take()
    port = "secureClientPort" if secure else "clientPort"
    file = folder / "zookeeper.properties"
    file.write_text(
        f"dataDir={folder}/data\n{port}={address.port}\n{port}Address=127.0.0.1\nadmin.enableServer=false\n{config}"
    )
    jars = distribution_of(None, version, toolbox).jars
    flags = [f"-D{key}={value}" for key, value in (system or {}).items()]
    command = [str(toolbox.java().java), "-Xmx256m", *flags, "-cp", os.pathsep.join(map(str, jars)), _MAIN, str(file)]
    with (folder / "zookeeper.log").open("w") as log:
        server = subprocess.Popen(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT)
    try:
        assert wait_until(lambda: _listens(address.port) or server.poll() is not None, 60)
        assert server.poll() is None, (folder / "zookeeper.log").read_text()[-2000:]
        yield f"127.0.0.1:{address.port}"
    finally:
        server.kill()
        server.wait()
        loopback.close()


@contextmanager
def writer(connect: str, **login: object) -> Iterator[KazooClient]:
    client = KazooClient(connect, **login)
    client.start(timeout=20)
    try:
        yield client
    finally:
        client.stop()
        client.close()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
