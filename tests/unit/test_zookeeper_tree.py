"""What the harness says of a ZooKeeper that does not answer; what one answers is asked of real ones (tests/live)."""

import socket

import pytest

from harness.cluster.address import Address
from harness.cluster.modes.zookeeper_tree import ZooKeeperTree
from harness.cluster.protocol import Unreachable


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    for name in ("_TIMEOUT_SECONDS", "_SESSION_SECONDS"):
        monkeypatch.setattr(f"harness.cluster.modes.zookeeper_tree.{name}", 0.3)


def test_a_server_that_is_not_there_is_named_and_nothing_else_is_printed(capfd):
    with socket.socket() as nobody:  # bound, and not listening
        nobody.bind(("127.0.0.1", 0))
        tree = ZooKeeperTree(Address("127.0.0.1", nobody.getsockname()[1]))
        with pytest.raises(Unreachable, match=rf"ZooKeeper at 127.0.0.1:{nobody.getsockname()[1]}: .+"):
            tree.get("/controller")
    assert capfd.readouterr() == ("", "")


def test_a_server_that_says_nothing_is_not_waited_for():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        tree = ZooKeeperTree(Address("127.0.0.1", silent.getsockname()[1]))
        with pytest.raises(Unreachable):
            tree.children("/")


def test_a_session_that_was_never_opened_needs_no_end():
    ZooKeeperTree(Address("127.0.0.1", 1)).close()
