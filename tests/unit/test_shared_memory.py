"""What a library that is loaded into nodes leaves in shared memory: nothing, however often a node starts."""

import os
import subprocess
from types import SimpleNamespace

import pytest

from harness.base.processes import shared_memory
from harness.base.processes.shared_memory import sweep_shared
from harness.cluster.address import Address
from harness.cluster.config import NodeConfig
from harness.cluster.formatting import new_uuid
from harness.cluster.install import Install
from harness.cluster.node import Launch, Node
from harness.cluster.protocol import Wire
from harness.kafka.release_lines import line_of
from harness.model.setup import Profile

NAMES = ("faketime_shm_", "sem.faketime_sem_")


@pytest.fixture
def shared(tmp_path, monkeypatch):
    folder = tmp_path / "shm"
    folder.mkdir()
    monkeypatch.setattr(shared_memory, "SHARED", folder)
    return folder


def make(shared, pid):
    for name in NAMES:
        (shared / f"{name}{pid}").touch()


class Process(SimpleNamespace):
    """A process that lives until it is ended, and leaves names in shared memory."""

    code = None

    def poll(self):
        return self.code

    def terminate(self):
        self.code = 0

    def send_signal(self, number):
        self.code = -number

    def wait(self, *_, **__):
        return self.code


@pytest.fixture
def node(shared, tmp_path):
    """A node; each of its starts has the next process id, and leaves names for it."""
    pids = iter(range(4_000_001, 4_000_009))

    def spawn(_command, **_):
        process = Process(pid=next(pids))
        make(shared, process.pid)
        return process

    at = Address("127.0.0.1", 1)
    launch = Launch(tmp_path / "java", (), Profile.FAST, line_of("3.9.1"), None, {}, "127.0.0.1")
    jar = Install("stock", tmp_path / "x.jar", "a" * 64, "absent")
    made = Node(
        NodeConfig(0, at, at, {0: at}), new_uuid(), tmp_path / "0", launch, jar, Wire({}), lambda _: None, spawn
    )
    made.environment = {"LD_PRELOAD": "/lib/faketime.so"}
    made._listens = lambda: True
    return made


def becomes_ready(node):
    node.look()


def is_stopped(node):
    node.stop()


def is_killed(node):
    node.kill()


def dies(node):
    node._process.code = 1
    node.look()


@pytest.mark.parametrize("what_comes", [becomes_ready, is_stopped, is_killed, dies])
def test_names_are_forgotten_whatever_becomes_of_a_node_with_a_clock_of_its_own(node, shared, what_comes):
    make(shared, 4_100_000)  # somebody else's
    node.start()
    assert len(list(shared.iterdir())) == 4
    what_comes(node)
    assert sorted(path.name for path in shared.iterdir()) == [f"{name}4100000" for name in NAMES]


def test_a_node_that_is_killed_and_started_again_leaves_nothing_either(node, shared):
    for _ in range(2):
        node.start()
        node.kill()
    assert not list(shared.iterdir())


def test_names_of_processes_that_are_gone_are_swept_and_no_others(shared, monkeypatch):
    with subprocess.Popen(["/bin/true"]) as ended:
        ended.wait()
    make(shared, ended.pid)
    make(shared, os.getpid())
    (shared / "faketime_shm_other").touch()
    sweep_shared()
    left = {f"{name}{os.getpid()}" for name in NAMES} | {"faketime_shm_other"}
    assert {path.name for path in shared.iterdir()} == left
    make(shared, ended.pid)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    sweep_shared()
    assert len(list(shared.iterdir())) == 5
