"""Ports are held from the moment they are chosen, yet the node can listen on them."""

import socket

import pytest

from harness.cluster.ports import HOST, PortPool


@pytest.fixture
def pool():
    pool = PortPool()
    yield pool
    pool.close()


def connect(port):
    with socket.create_connection((HOST, port), timeout=1):
        pass


def test_a_port_lies_below_the_range_of_outgoing_connections(pool):
    assert all(15000 <= pool.take() < 32768 for _ in range(50))


def test_a_held_port_refuses_connections(pool):
    with pytest.raises(ConnectionRefusedError):
        connect(pool.take())


def test_nobody_else_can_choose_a_held_port(pool):
    port = pool.take()
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind((HOST, port))


def test_a_node_can_listen_on_a_held_port_and_leaves_it_dead_when_it_ends(pool):
    port = pool.take()
    with socket.socket() as node:
        node.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the JVM does
        node.bind((HOST, port))
        node.listen()
        connect(port)
    with pytest.raises(ConnectionRefusedError):
        connect(port)


def test_closing_the_pool_lets_go_of_every_port():
    pool = PortPool()
    port = pool.take()
    pool.close()
    with socket.socket() as other:
        other.bind((HOST, port))
