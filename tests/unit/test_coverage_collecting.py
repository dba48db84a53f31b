"""Execution data on its way: JaCoCo's protocol, the collector of a run, and nodes that are asked before a kill."""

import io
import socket
import threading
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.waiting import wait_until
from harness.cluster.address import Address
from harness.cluster.config import NodeConfig
from harness.cluster.formatting import new_uuid
from harness.cluster.install import Install
from harness.cluster.node import Launch, Node, NodeState
from harness.cluster.protocol import Wire
from harness.coverage.agent import Agent, collecting, outermost_class
from harness.coverage.collector import Collector
from harness.coverage.jacoco_protocol import DUMP_COMMAND, GREETING, read_dump
from harness.kafka.release_lines import line_of
from harness.model.setup import Profile

SESSION = b"\x10" + b"\x00\x06node-3" + bytes(16)
CONFIRMED = b"\x20"


def data(name: bytes = b"org/apache/kafka/raft/QuorumConfig", probes: int = 9) -> bytes:
    """A block of execution data: a class's id, its name, and one bit a probe."""
    return b"\x11" + bytes(8) + len(name).to_bytes(2, "big") + name + bytes([probes]) + b"\xff" * ((probes + 7) // 8)


def test_a_dump_ends_with_its_confirmation_and_the_next_one_follows():
    stream = io.BytesIO(GREETING + SESSION + data() + CONFIRMED + SESSION + data(b"B") + CONFIRMED)
    assert read_dump(stream) == GREETING + SESSION + data()
    assert read_dump(stream) == SESSION + data(b"B")
    assert read_dump(stream) is None


def test_a_count_of_probes_may_take_several_bytes():
    many = b"\x11" + bytes(8) + b"\x00\x01A" + b"\xac\x02" + bytes(38)  # 300 probes
    assert read_dump(io.BytesIO(many + CONFIRMED)) == many


@given(st.integers(0, len(GREETING + SESSION + data())))
def test_a_dump_that_is_cut_short_does_not_count(length):
    assert read_dump(io.BytesIO((GREETING + SESSION + data())[:length])) is None


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        (b"GET / HTTP/1.1\r\n", "unknown block"),
        (b"\x01\xca\xfe\xba\xbe", "no execution data"),
        (b"\x11" + bytes(8) + b"\x00\x01A" + b"\xff\xff\xff\xff\x7f" + bytes(64), "a dump of more than"),
        (b"\x11" + bytes(8) + b"\x00\x01A" + b"\xff" * 2**12, "a number of more than"),
    ],
    ids=["another protocol", "another magic", "endless probes", "an endless number of probes"],
)
def test_what_is_no_dump_is_refused(sent, text):
    with pytest.raises(ValueError, match=text):
        read_dump(io.BytesIO(sent))


@given(st.binary(max_size=200))
def test_no_bytes_make_the_reader_fail_otherwise(sent):
    with suppress(ValueError):
        read_dump(io.BytesIO(sent))


class FakeAgent:
    """Speaks as the agent in a JVM: sends its header at once, its data when asked."""

    def __init__(self, port: int, answer: bytes = SESSION + data() + CONFIRMED) -> None:
        self.answer = answer
        self.connection = socket.create_connection(("127.0.0.1", port))
        self.connection.sendall(GREETING)
        self.heard = b""
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        # the collector may hang up at any moment: that is its affair, and what some of the tests are about
        with suppress(OSError), self.connection, self.connection.makefile("rb") as stream:
            stream.read(len(GREETING))
            while stream.read(len(DUMP_COMMAND)) == DUMP_COMMAND:
                self.connection.sendall(self.answer)

    def end(self) -> None:
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def collector(tmp_path):
    with Collector(tmp_path / "x.exec", "127.0.0.1") as collecting:
        yield collecting


def connected(collector: Collector, count: int) -> bool:
    return wait_until(lambda: len(collector._agents) == count, 5)


def test_every_connected_agent_is_asked_and_its_data_is_there_when_dump_returns(collector, tmp_path):
    agents = [FakeAgent(collector.address.port), FakeAgent(collector.address.port)]
    assert connected(collector, 2)
    collector.dump()
    assert (tmp_path / "x.exec").read_bytes() == (GREETING + SESSION + data()) * 2
    for agent in agents:
        agent.end()


def test_what_a_jvm_sends_when_it_shuts_down_is_kept_without_a_request(tmp_path):
    with Collector(tmp_path / "x.exec", "127.0.0.1") as collector:
        agent = FakeAgent(collector.address.port)
        agent.connection.sendall(SESSION + data() + CONFIRMED)
        agent.end()
        assert connected(collector, 1)
    assert (tmp_path / "x.exec").read_bytes() == GREETING + SESSION + data()


def test_a_jvm_that_never_answers_holds_a_kill_up_for_a_second_only(collector, tmp_path, monkeypatch):
    monkeypatch.setattr("harness.coverage.collector._DUMP_SECONDS", 1.0)
    stopped, fine = FakeAgent(collector.address.port, answer=b""), FakeAgent(collector.address.port)
    assert connected(collector, 2)
    collector.dump()
    assert (tmp_path / "x.exec").read_bytes() == GREETING + SESSION + data()
    stopped.end()
    fine.end()


def test_an_agent_that_sends_nonsense_or_has_gone_spoils_nothing(collector, tmp_path):
    nonsense, gone, fine = (FakeAgent(collector.address.port) for _ in range(3))
    assert connected(collector, 3)
    nonsense.connection.sendall(b"\xff\xff")
    gone.end()
    collector.dump()
    assert (tmp_path / "x.exec").read_bytes() == GREETING + SESSION + data()
    fine.end()


def test_data_beyond_any_reason_is_not_written(collector, tmp_path, monkeypatch):
    monkeypatch.setattr("harness.coverage.collector._MOST_BYTES", 10)
    agent = FakeAgent(collector.address.port)
    assert connected(collector, 1)
    collector.dump()
    assert not (tmp_path / "x.exec").exists() or not (tmp_path / "x.exec").read_bytes()
    agent.end()


JAR = Install("stock", Path("raft.jar"), "0" * 64, "absent")
CONFIG = NodeConfig(0, Address("127.0.0.1", 1), Address("127.0.0.1", 2), {0: Address("127.0.0.1", 2)})
LINE = line_of("3.9.1")
LAUNCH = Launch(Path("/bin/java"), (), Profile.FAST, LINE, None, {}, "127.0.0.1", ("-Xlog",))


def test_an_agent_instruments_the_changed_classes_with_their_nested_ones_and_connects_to_the_run(tmp_path):
    agent = Agent(Path("/cache/agent.jar"), ("a/b/One", "a/Two"))
    with collecting(agent, LAUNCH, tmp_path / "data") as launch:
        kept, flag = launch.extra_flags
        port = flag.partition("port=")[2].partition(",")[0]
        fake = FakeAgent(int(port))
        assert launch.before_kill is not None
        assert wait_until(lambda: launch.before_kill() or (tmp_path / "data").exists(), 5)
        fake.end()
    assert kept == "-Xlog"
    assert flag == (
        f"-javaagent:/cache/agent.jar=output=tcpclient,address=127.0.0.1,port={port},"
        "includes=a.b.One:a.b.One$*:a.Two:a.Two$*"
    )


@pytest.mark.parametrize(
    ("entry", "outermost"),
    [
        ("a/b/One.class", "a/b/One"),
        ("a/b/One$Two$3.class", "a/b/One"),
        ("$Odd$One.class", "$Odd"),
        ("module-info.class", ""),
        ("META-INF/versions/11/a/One.class", ""),
        ("a/One,output=file.class", ""),
        ("a/One.java", ""),
    ],
)
def test_the_class_around_a_class_file_is_known_by_its_name(entry, outermost):
    assert outermost_class(entry) == outermost


@pytest.fixture
def node(tmp_path):
    """Return a function that starts a node whose Java only sleeps; `hear` is called before it is killed."""

    def start(hear) -> Node:
        java = tmp_path / "java"
        java.write_text("#!/bin/sh\ntrap '' TERM\nexec sleep 60\n")
        java.chmod(0o755)
        launch = Launch(java, (), Profile.FAST, LINE, None, {}, "127.0.0.1", before_kill=hear)
        made = Node(CONFIG, new_uuid(), tmp_path / "0", launch, JAR, Wire({}), lambda _: None)
        made.start()
        return made

    return start


def test_a_node_is_asked_while_it_still_lives_and_killed_then(node):
    seen = []
    killed = node(lambda: seen.append(psutil.pid_exists(process.pid)))
    process = psutil.Process(killed.pid)
    killed.kill()
    assert seen == [True]
    assert killed.state is NodeState.KILLED


def test_a_node_that_does_not_stop_on_sigterm_is_asked_before_it_is_killed(node, monkeypatch):
    monkeypatch.setattr("harness.cluster.node.STOP_TIMEOUT_SECONDS", 0.3)
    seen = []
    stuck = node(lambda: seen.append("asked"))
    assert wait_until(lambda: psutil.Process(stuck.pid).name() == "sleep", 5)  # it ignores the signal from here on
    assert stuck.stop() is False
    assert seen == ["asked"]
