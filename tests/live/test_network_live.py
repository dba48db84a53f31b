"""Networks of the run's own, in this kernel: hosts, cuts, and that nothing is left, whatever ends them."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.base.waiting import wait_until
from harness.cluster.runtime.link_probes import Tries
from harness.cluster.runtime.links import Links, Quality
from harness.cluster.runtime.namespace_runtime import InNamespaces, why_not
from harness.cluster.runtime.namespaces import inhabitants
from harness.cluster.runtime.network import CLIENTS, HARNESS, Network, host_name
from harness.cluster.runtime.opening import in_runtime
from harness.cluster.runtime.rtnetlink import RuleAction, add_rule, delete_rule
from harness.cluster.topology import Topology
from harness.model.setup import NodeRuntime
from harness.scenario.actions.fill_disk import fill, move_to_memory, room
from harness.scenario.link_proof import burst_for, rate_flaw

pytestmark = [pytest.mark.live, pytest.mark.skipif(bool(why_not()), reason=f"no networks here: {why_not()}")]

ZERO, ONE, TWO = map(host_name, range(3))
PORT = 9092


@pytest.fixture
def network():
    made = Network(range(3))
    yield made
    made.close()


def own_network():
    return Path("/proc/thread-self/ns/net").stat().st_ino


def devices():
    return sorted(name for _, name in socket.if_nameindex())


def connects(network, source, target):
    def try_it():
        with socket.create_connection((network.hosts[target], PORT), 0.3):
            return "connected"

    try:
        return network.places[source].do(try_it)
    except OSError as error:
        return type(error).__name__ + (f" {error.errno}" if error.errno else "")


def listen(network, name):
    return network.places[name].do(lambda: socket.create_server((network.hosts[name], PORT)))


def test_every_host_hears_every_other_and_the_host_of_the_harness_sees_none_of_them(network):
    everybody = [(one, other) for one in network.hosts for other in network.hosts if one != other]
    assert network.heard(everybody, 1.0) == set(everybody)
    assert not [name for name in devices() if name.startswith(("h0", "eth0@"))]


def test_a_cut_takes_effect_at_once_in_the_directions_that_were_cut_and_in_no_other(network):
    assert not network.was_cut
    took = network.cut([(ZERO, ONE)], refuse=False)
    assert network.was_cut
    pairs = [(ZERO, ONE), (ONE, ZERO), (ZERO, TWO), (TWO, ONE), (HARNESS, ONE), (CLIENTS, ZERO)]
    assert took < 0.1
    assert network.heard(pairs, 0.3) == set(pairs[1:])


def test_what_is_dropped_waits_and_what_is_refused_fails_at_once(network):
    with listen(network, ONE):
        assert connects(network, ZERO, ONE) == "connected"
        network.cut([(ZERO, ONE), (ONE, ZERO)], refuse=False)
        assert connects(network, ZERO, ONE) == "TimeoutError"
        network.heal(network.cuts)
        assert connects(network, ZERO, ONE) == "connected"
        network.cut([(ZERO, ONE)], refuse=True)
        began = time.monotonic()
        assert connects(network, ZERO, ONE) == "OSError 113"
        assert time.monotonic() - began < 0.1


def test_a_heal_that_does_nothing_is_noticed(network, monkeypatch):
    network.cut([(ZERO, ONE)], refuse=False)
    monkeypatch.setattr(network.routing, "ask", lambda _: None)
    with pytest.raises(HarnessError, match="not healed: node 0 to node 1"):
        network.heal([(ZERO, ONE)])


def test_a_cut_that_does_nothing_is_noticed(network, monkeypatch):
    monkeypatch.setattr(network.routing, "ask", lambda _: None)
    with pytest.raises(HarnessError, match="not cut: node 0 to node 1"):
        network.cut([(ZERO, ONE)], refuse=False)


@pytest.fixture
def links(network):
    made = Links(network)
    yield made
    made.close()


def test_a_delayed_link_takes_longer_both_ways_and_no_other_does(links):
    links.degrade([(ZERO, ONE), (ONE, ZERO)], Quality(delay=0.05))
    seen = links.round_trips([(ZERO, ONE), (ZERO, TWO)], Tries(20))
    assert 0.1 <= seen[ZERO, ONE].round_trip < 0.15
    assert seen[ZERO, TWO].round_trip < 0.02
    links.mend([(ZERO, ONE), (ONE, ZERO)])
    assert links.round_trips([(ZERO, ONE)], Tries(20))[ZERO, ONE].round_trip < 0.02


def test_a_link_loses_the_share_that_was_asked_for_in_one_direction(links):
    links.degrade([(ZERO, ONE)], Quality(loss=0.3, seed=1))
    lost = links.round_trips([(ZERO, ONE)], Tries(200))[ZERO, ONE].lost
    assert 0.15 < lost < 0.45


def test_a_narrow_link_carries_what_it_has_room_for_and_whole_streams_come_through(links, network):
    links.degrade([(ZERO, ONE), (ONE, ZERO)], Quality(bits_per_second=3e6))
    sent = bytes(range(256)) * 3000
    with listen(network, ONE) as server:
        near = network.places[ZERO].do(lambda: socket.create_connection((network.hosts[ONE], PORT), 1))
        with near, server.accept()[0] as far:
            for end in (near, far):
                end.settimeout(30)
            threading.Thread(target=lambda: (near.sendall(sent), near.shutdown(socket.SHUT_WR))).start()
            began, got = time.monotonic(), bytearray()
            while part := far.recv(1 << 16):
                got += part
            took = time.monotonic() - began
    assert bytes(got) == sent
    assert 2.4e6 < 8 * len(sent) / took < 3.3e6


def test_a_burst_of_many_datagrams_comes_through_a_link_that_loses_none(links):
    links.degrade([(ZERO, ONE), (ONE, ZERO)], Quality(delay=0.02))
    assert links.round_trips([(ZERO, ONE)], Tries(1000))[ZERO, ONE].lost == 0


def test_a_burst_shows_how_much_a_narrow_link_lets_through(links):
    narrow = Quality(bits_per_second=5e5)
    assert "still good" in rate_flaw(narrow, links.rates([(ZERO, ONE)], burst_for(narrow))[ZERO, ONE])
    links.degrade([(ZERO, ONE)], narrow)
    assert rate_flaw(narrow, links.rates([(ZERO, ONE)], burst_for(narrow))[ZERO, ONE]) == ""


def test_a_forwarder_that_ended_is_told_when_the_run_ends(network):
    links = Links(network)
    links.degrade([(ZERO, ONE)], Quality(delay=0.01))
    links._forwarder.kill()
    links._forwarder.wait()
    with pytest.raises(HarnessError, match="ended too early"):
        links.close()


@pytest.mark.parametrize("quality", [Quality(delay=0.1), Quality(loss=0.9, seed=3)])
def test_a_cut_that_does_nothing_is_noticed_on_a_bad_link_too(links, network, monkeypatch, quality):
    links.degrade([(ZERO, ONE)], quality)
    monkeypatch.setattr(network.routing, "ask", lambda _: None)
    with pytest.raises(HarnessError, match="not cut: node 0 to node 1 still"):
        network.cut([(ZERO, ONE)], refuse=False)


def test_a_link_on_which_nothing_came_through_before_is_not_proved_to_be_cut(network, monkeypatch):
    monkeypatch.setattr("harness.cluster.runtime.network._HEARD_SECONDS", 0.1)
    network.routing.ask([add_rule(network._rule((ZERO, ONE), RuleAction.BLACKHOLE))])
    with pytest.raises(HarnessError, match="did not come through before"):
        network.cut([(ZERO, ONE)], refuse=False)


def test_a_drop_becomes_a_refusal_when_that_is_asked_for(network):
    network.cut([(ZERO, ONE)], refuse=False)
    network.cut([(ZERO, ONE)], refuse=True)
    assert connects(network, ZERO, ONE) == "OSError 113"
    network.heal([(ZERO, ONE)])
    assert network.heard([(ZERO, ONE)], 1.0)


def test_a_cut_that_the_kernel_refuses_in_part_is_undone(network, monkeypatch):
    ask = network.routing.ask

    def refusing(messages):
        ask(messages[:1])
        if len(messages) > 1:
            raise OSError(17, "File exists")

    monkeypatch.setattr(network.routing, "ask", refusing)
    with pytest.raises(HarnessError, match="not cut: "):
        network.cut([(ZERO, ONE), (ONE, ZERO)], refuse=False)
    assert not network.cuts
    assert network.heard([(ZERO, ONE)], 1.0)


def test_threads_may_ask_the_kernel_at_once(network):
    def change(pair):
        rule = network._rule(pair, RuleAction.BLACKHOLE)
        for _ in range(100):
            network.routing.ask([add_rule(rule)])
            network.routing.ask([delete_rule(rule)])
        return pair

    pairs = [(ZERO, ONE), (ONE, ZERO), (ZERO, TWO)]
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(change, pairs)) == pairs


def test_a_thread_left_in_a_network_is_a_fault_that_is_named(network, monkeypatch):
    monkeypatch.setattr("harness.cluster.runtime.network._LEAVE_SECONDS", 0.2)
    over = threading.Event()
    network.places[CLIENTS].do(threading.Thread(target=over.wait, name="client").start)
    try:
        with pytest.raises(HarnessError, match="threads were left in the network of the run: "):
            network.close()
    finally:
        over.set()


def test_a_cut_holds_on_a_bad_link_too(links, network):
    links.degrade([(ZERO, ONE)], Quality(delay=0.01))
    network.cut([(ZERO, ONE)], refuse=False)
    assert network.heard([(ZERO, ONE), (ZERO, TWO)], 0.1) == {(ZERO, TWO)}


def test_work_in_a_runtime_is_done_on_the_host_of_the_harness_and_comes_back(tmp_path):
    before = own_network()

    def work(runtime):
        at = runtime.take(1)
        server = runtime.network.places[ONE].do(lambda: socket.create_server((at.host, at.port)))
        with server, socket.create_connection((at.host, at.port), 1):
            return own_network(), str(at), runtime.take(1).port, runtime.host

    inside, at, another, host = in_runtime(NodeRuntime.PROCESS, Topology(3, 0, network=True), work)
    assert inside != before
    assert own_network() == before
    assert (at, another, host) == ("192.0.2.11:9092", 9093, "203.0.113.1")


def test_a_process_left_in_a_network_is_a_fault_that_is_named(network, monkeypatch, tmp_path):
    monkeypatch.setattr("harness.cluster.runtime.network._LEAVE_SECONDS", 0.2)
    left = network.places[ZERO].do(lambda: subprocess.Popen(["/bin/sleep", "60"]))
    try:
        with pytest.raises(HarnessError, match=rf"left in the network of the run: sleep \({left.pid}\)"):
            network.close()
    finally:
        left.kill()
        left.wait()


HELD = """
import sys, time
from pathlib import Path
from harness.cluster.runtime.namespaces import enter_user_namespace
enter_user_namespace()  # another program has not the rights of the one that starts it
from harness.cluster.runtime.namespace_runtime import InNamespaces
from harness.cluster.runtime.network import Network
network = Network([0])
spawn = InNamespaces(network).spawner(0)
spawn(["/bin/sleep", "60"], cwd=Path("/"), output=Path(sys.argv[1]), env={})
print(*(place.inode for place in [network.hub, *network.places.values()]), flush=True)
time.sleep(60)
"""


def test_a_small_disk_holds_what_was_there_is_filled_emptied_and_seen_by_nobody_else(network, tmp_path):
    data = tmp_path / "data"
    (data / "t-0").mkdir(parents=True)
    (data / "t-0" / "segment").write_bytes(b"x" * 5000)
    with (data / "t-0" / "index").open("wb") as sparse:
        sparse.truncate(10 * 2**20)  # as Kafka makes its indexes; a copy of it is none

    def work():
        move_to_memory(data, 2 * 2**20)
        written, full = fill(data), room(data)
        (data / ".harness-ballast").unlink()
        return written, full, room(data), (data / "t-0" / "segment").read_bytes(), data.is_mount()

    written, full, left, content, mounted = network.places[HARNESS].aside(work)
    assert (full, content, mounted) == (0, b"x" * 5000, True)
    assert 2 * 2**20 <= written < 3 * 2**20
    assert left >= 2 * 2**20
    assert network.places[ZERO].do(data.is_mount), "nodes must see it"
    assert not data.is_mount()
    assert str(data) not in Path("/proc/self/mounts").read_text()


def test_after_kill_9_no_namespace_and_no_process_is_left(tmp_path):
    command = [sys.executable, "-c", HELD, str(tmp_path / "output")]
    harness = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    inodes = set(map(int, harness.stdout.readline().split()))
    assert wait_until(lambda: "sleep" in inhabitants(inodes).values(), 5)
    harness.send_signal(signal.SIGKILL)
    harness.wait()
    harness.stdout.close()
    assert wait_until(lambda: not inhabitants(inodes), 5)


def test_a_node_starts_on_its_own_host(network, tmp_path):
    output = tmp_path / "output"
    spawn = InNamespaces(network).spawner(2)
    started = spawn(["/bin/cat", "/proc/net/fib_trie"], cwd=tmp_path, output=output, env={})
    assert started.wait(10) == 0
    assert "192.0.2.12" in Path(output).read_text()


AS_USER = """
import sys
from harness.cluster.runtime.namespaces import enter_user_namespace
import pytest
sys.exit(enter_user_namespace() or pytest.main(sys.argv[1:]))
"""


def as_nobody(*command, **settings):
    """Run a command as a user who may do nothing."""
    rights = ["--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"]
    where = Path(__file__).parents[2]
    whole = ["setpriv", *rights, *command]
    return subprocess.run(whole, cwd=where, capture_output=True, text=True, check=False, **settings)


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs root, and setpriv")
def test_an_ordinary_user_has_all_of_it_where_the_kernel_lets_users_have_namespaces():
    if as_nobody(sys.executable, "-B", "-c", "import harness, pytest").returncode:
        pytest.skip(f"nobody but its owner can use {sys.executable}: chmod o+x each folder on the way to it")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        own = ["-q", "-m", "live", "-p", "no:cacheprovider", f"--basetemp={folder}/own", "-k", "not ordinary_user"]
        done = as_nobody(sys.executable, "-B", "-c", AS_USER, *own, __file__, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout, done.stdout
