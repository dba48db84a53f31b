"""Ports are held from the moment they are chosen, yet the node can listen on them."""

import socket

import pytest

from harness.cluster.loopback import Loopback


@pytest.fixture
def pool():
    pool = Loopback()
    yield pool
    pool.close()


def connect(address):
    with socket.create_connection((address.host, address.port), timeout=1):
        pass


def test_a_port_lies_below_the_range_of_outgoing_connections(pool):
    assert all(15000 <= pool.take().port < 32768 for _ in range(50))


def test_a_held_port_refuses_connections(pool):
    with pytest.raises(ConnectionRefusedError):
        connect(pool.take())


def test_nobody_else_can_choose_a_held_port(pool):
    address = pool.take()
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind((address.host, address.port))


def test_a_node_can_listen_on_a_held_port_and_leaves_it_dead_when_it_ends(pool):
    address = pool.take()
    with socket.socket() as node:
        node.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the JVM does
        node.bind((address.host, address.port))
        node.listen()
        connect(address)
    with pytest.raises(ConnectionRefusedError):
        connect(address)


def test_closing_the_pool_lets_go_of_every_port():
    pool = Loopback()
    address = pool.take()
    pool.close()
    with socket.socket() as other:
        other.bind((address.host, address.port))
