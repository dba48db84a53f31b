"""File descriptors: as many as the host allows, also with numbers that select(2) does not take, and none left."""

import errno
import fcntl
import json
import os
import resource
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.cluster import descriptors, garbage
from harness.cluster.address import Address
from harness.cluster.descriptors import allow_many, raised, readable
from harness.cluster.probes import answers
from harness.cluster.protocol import Unreachable
from harness.cluster.runtime import forwarder
from harness.cluster.runtime.container_process import ContainerProcess
from harness.cluster.runtime.link_probes import Burst, Tries, rates, round_trips
from harness.engine import schedule

NOBODY = Address("127.0.0.1", 1)
HIGH = 1100
LIMITS = st.sampled_from([0, 256, 1024, 65536, 10**6, resource.RLIM_INFINITY])


@pytest.fixture
def many():
    """Let this process open more than select(2) takes, for one test."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    allow_many()
    if 0 <= resource.getrlimit(resource.RLIMIT_NOFILE)[0] <= HIGH + 9:
        pytest.skip("this host lets nobody open so many files")
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def high(number: int) -> int:
    return fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, HIGH)


def high_socket() -> socket.socket:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as low:
        low.bind(("127.0.0.1", 0))
        made = socket.socket(fileno=high(low.fileno()))
    made.settimeout(0.0)
    return made


@given(LIMITS, LIMITS)
def test_the_soft_limit_is_raised_to_the_hard_one_and_never_lowered(soft, hard):
    """No limit, which is -1 in Python, is the highest."""
    endless = resource.RLIM_INFINITY
    asked = raised(soft, hard)
    if soft == endless:
        assert asked == endless
    else:
        assert soft <= asked <= max(soft, 65536)
        assert asked == max(soft, 65536 if hard == endless else min(hard, 65536))


def test_runs_begin_with_as_many_files_as_the_host_allows(monkeypatch, tmp_path):
    limits = [(1024, 4096)]
    monkeypatch.setattr(descriptors.resource, "getrlimit", lambda _: limits[-1])
    monkeypatch.setattr(descriptors.resource, "setrlimit", lambda _, both: limits.append(both))
    schedule.run_cells([], tmp_path, 1, None)
    assert limits[-1] == (4096, 4096)


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE])
@pytest.mark.parametrize("ask", [answers, lambda address: garbage.reply(address, b"x")])
def test_a_node_that_was_not_asked_for_want_of_a_descriptor_does_not_pass_for_one_that_does_not_answer(
    ask, number, monkeypatch
):
    def create_connection(*_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(socket, "create_connection", create_connection)
    with pytest.raises(HarnessError, match=r"127\.0\.0\.1:1 was not asked: no file descriptor was left"):
        ask(NOBODY)


def test_a_node_that_refuses_is_still_one_that_does_not_answer():
    assert not answers(NOBODY)
    with pytest.raises(Unreachable):
        garbage.reply(NOBODY, b"x")


def test_whatever_its_number_what_can_be_read_is_found(many):
    reading, writing = os.pipe()
    try:
        numbered = high(reading)
        assert readable([reading, numbered], 0.0) == []
        os.write(writing, b"x")
        assert set(readable([reading, numbered], 0.0)) == {reading, numbered}
    finally:
        for each in (reading, writing, numbered):
            os.close(each)


def test_a_container_is_seen_to_run_whatever_the_number_of_its_descriptor(many, monkeypatch):
    opened = os.pidfd_open(os.getpid())
    numbered = high(opened)
    monkeypatch.setattr(os, "pidfd_open", lambda _: numbered)
    try:
        assert ContainerProcess(os.getpid(), lambda: 0).poll() is None
    finally:
        os.close(opened)
        os.close(numbered)


def test_links_are_probed_whatever_the_numbers_of_their_sockets(many):
    with high_socket() as near, high_socket() as far:
        links = {("a", "b"): (near, far)}
        assert round_trips(links, Tries(3, patience=5.0))["a", "b"].lost == 0
        assert rates(links, Burst(3, 100, 5.0))["a", "b"] > 0


def test_a_forwarder_answers_whatever_the_number_of_the_socket_that_it_is_handed(many):
    with high_socket() as wire:
        command = [sys.executable, "-I", "-S", str(Path(forwarder.__file__)), "eth0", str(wire.fileno())]
        ended = subprocess.run(
            command, input=json.dumps([]) + "\n", capture_output=True, text=True, pass_fds=[wire.fileno()], check=False
        )
    assert (ended.stdout, ended.returncode) == ("done\n", 0), ended.stderr
