"""What a cluster's shape writes to disks and configurations: static voters, secured nodes, a disk that was wiped."""

import ssl
from pathlib import Path

import pytest
from test_cluster_formatting import snapshot

from harness.cluster.cluster import Cluster
from harness.cluster.config import METADATA_LOG, parse_properties, server_properties
from harness.cluster.formatting import kafka_uuid
from harness.cluster.install import Install
from harness.cluster.node import Launch, Node
from harness.cluster.security import (
    client_properties,
    librdkafka_settings,
    make_secrets,
    security_properties,
    without_security,
)
from harness.cluster.topology import Topology, describe_topology
from harness.kafka.release_lines import line_of
from harness.model.security import Security
from harness.model.setup import Profile
from harness.scenario import kraft
from harness.scenario.loads.readback import client_settings

STOCK = Install("stock", Path("x.jar"), "a" * 64, "absent")
LAUNCH = Launch(Path("java"), (), Profile.FAST, line_of("3.9.1"), None, {}, "127.0.0.1")


@pytest.fixture
def cluster(tmp_path):
    """Return a function that makes a cluster of some topology, of which nothing is started."""
    template, made = tmp_path / "template", []
    (template / METADATA_LOG).mkdir(parents=True)
    (template / "bootstrap.checkpoint").write_bytes(b"bootstrap")
    (template / METADATA_LOG / "00000000000000000000-0000000000.checkpoint").write_bytes(snapshot())

    def make(topology: Topology) -> Cluster:
        made.append(Cluster(topology, tmp_path / f"nodes{len(made)}", LAUNCH, STOCK, template, lambda _: None))
        return made[-1]

    yield make
    for each in made:
        each.close()


def properties(node):
    return parse_properties(server_properties(node.config, node.data_dir, {}))


def names_voters_on_disk(node) -> bool:
    return any((node.data_dir / METADATA_LOG).glob("*.checkpoint"))


def test_voters_are_on_the_disks_of_voters_unless_the_configuration_alone_says_who_votes(cluster):
    by_log, static = cluster(Topology(2, 1)), cluster(Topology(2, 1, static_voters=True))
    assert [names_voters_on_disk(node) for node in by_log.nodes.values()] == [True, True, False]
    assert [names_voters_on_disk(node) for node in static.nodes.values()] == [False, False, False]
    assert properties(static.nodes[2])["controller.quorum.voters"].startswith("0@127.0.0.1:")


def test_a_wiped_voter_knows_the_others_as_bootstrap_servers_and_not_as_voters(cluster):
    made = cluster(Topology(3, 1))
    voter, before = made.nodes[1], made.nodes[1].directory
    (voter.data_dir / "orders-0").mkdir()
    made.wipe(1, new_identity=False)
    assert sorted(each.name for each in voter.data_dir.iterdir()) == ["bootstrap.checkpoint", "meta.properties"]
    assert voter.directory == before
    assert "controller.quorum.voters" not in properties(voter)
    assert properties(voter)["controller.quorum.bootstrap.servers"].count("127.0.0.1:") == 3


def test_another_disk_is_another_identity_and_a_wiped_broker_keeps_its_configuration(cluster):
    made = cluster(Topology(3, 1))
    observer, before = made.nodes[3], made.nodes[3].directory
    made.wipe(3, new_identity=True)
    assert observer.directory != before
    assert f"directory.id={kafka_uuid(observer.directory)}" in (observer.data_dir / "meta.properties").read_text()
    assert "controller.quorum.voters" in properties(observer)


def test_secured_nodes_use_the_secured_listener_first_and_the_harness_the_plain_one(cluster):
    made = cluster(Topology(3, 1, security=Security()))
    voter, observer = made.nodes[0], made.nodes[3]
    assert list(voter.config.controller_listeners) == ["SECURE_CONTROLLER", "CONTROLLER"]
    said = properties(voter)
    assert said["controller.listener.names"] == "SECURE_CONTROLLER,CONTROLLER"
    assert said["inter.broker.listener.name"] == "SECURE_BROKER"
    assert "SECURE_CONTROLLER:SASL_SSL" in said["listener.security.protocol.map"]
    secure = {f"{n}@{node.config.controller_listeners['SECURE_CONTROLLER']}" for n, node in enumerate(made.voters)}
    assert set(properties(observer)["controller.quorum.voters"].split(",")) == secure
    assert made.controllers[0] == voter.config.controller_listeners["CONTROLLER"] == voter.config.listeners[1]


def test_a_secured_observer_knows_the_security_of_controllers_and_listens_as_none(cluster):
    observer = cluster(Topology(3, 1, security=Security())).nodes[3]
    said = properties(observer)
    assert "CONTROLLER" not in said["listeners"]
    assert "SECURE_CONTROLLER:SASL_SSL" in said["listener.security.protocol.map"]


def test_every_address_of_a_secured_cluster_has_a_name_in_its_logs(cluster):
    made = cluster(Topology(1, 0, security=Security()))
    made.nodes[0].configs.append(made.nodes[0].config)  # as when it is started
    listeners = {**made.nodes[0].config.broker_listeners, **made.nodes[0].config.controller_listeners}
    assert {made.names()[str(address)] for address in listeners.values()} == {
        "<voter's broker>",
        "<voter's controller>",
        "<voter's secure_broker>",
        "<voter's secure_controller>",
    }


def test_a_clusters_certificate_serves_its_host_and_is_trusted_by_who_has_it(tmp_path):
    made = make_secrets(tmp_path, ["127.0.0.1"])
    context = ssl.create_default_context(cafile=str(tmp_path / "trusted.pem"))
    context.load_cert_chain(made.pem)
    (certificate,) = context.get_ca_certs()
    assert certificate["subjectAltName"] == (("IP Address", "127.0.0.1"),)
    assert make_secrets(tmp_path / "other", ["127.0.0.1"]).password != made.password


def test_controllers_need_no_credentials_from_the_log_that_they_are_to_read(tmp_path):
    said = security_properties(make_secrets(tmp_path, ["127.0.0.1"]), Security())
    assert said["sasl.mechanism.controller.protocol"] == "PLAIN"
    assert said["sasl.mechanism.inter.broker.protocol"] == "SCRAM-SHA-256"


AS_CLIENTS = {
    "SASL_SSL": Security("SASL_SSL", "SCRAM-SHA-512", clients=True),
    "SASL_PLAINTEXT": Security("SASL_PLAINTEXT", "PLAIN", clients=True),
    "SSL": Security("SSL", "", certificates=True, clients=True),
    "PLAINTEXT": Security("PLAINTEXT", "", clients=True),
}


@pytest.mark.parametrize("security", AS_CLIENTS.values(), ids=AS_CLIENTS)
def test_clients_and_scripts_are_let_in_as_nodes_are(security, tmp_path):
    known = make_secrets(tmp_path, ["127.0.0.1"])
    node = security_properties(known, security)
    script, client = client_properties(known, security), librdkafka_settings(known, security)
    assert script["security.protocol"] == client["security.protocol"] == security.protocol
    assert ("ssl.truststore.location" in script) is ("ssl.ca.location" in client) is security.has_tls
    assert ("ssl.keystore.location" in script) is ("ssl.key.location" in client) is security.certificates
    assert ("listener.name.secure_broker.ssl.client.auth" in node) is security.certificates
    assert script.get("sasl.mechanism", "") == client.get("sasl.mechanism", "") == security.mechanism
    for listener in ("secure_broker", "secure_controller"):
        enabled = node.get(f"listener.name.{listener}.sasl.enabled.mechanisms", "").split(",")
        assert security.mechanism in enabled
        assert not security.mechanism or known.password in node[_jaas(listener, security.mechanism)]


def _jaas(listener, mechanism):
    return f"listener.name.{listener}.{mechanism.lower()}.sasl.jaas.config"


def test_clients_come_in_by_the_secured_listeners_only_where_those_are_theirs(cluster):
    of_nodes = cluster(Topology(3, 1, security=Security()))
    assert of_nodes.client_controllers == list(of_nodes.controllers.values())
    theirs = cluster(Topology(3, 1, security=AS_CLIENTS["SASL_SSL"]))
    secure = [node.config.secure.controller for node in theirs.voters]
    assert [(each.host, each.port) for each in theirs.client_controllers] == [(at.host, at.port) for at in secure]
    settings = client_settings(theirs.client_controllers)
    assert (settings["security.protocol"], settings["sasl.username"]) == ("SASL_SSL", "node")
    assert theirs.secrets.password not in repr(theirs.client_controllers)
    said = parse_properties(theirs.client_file.read_text())
    assert said["sasl.mechanism"] == "SCRAM-SHA-512"


def test_the_nodes_protocol_is_that_of_the_security(cluster):
    said = properties(cluster(Topology(3, 1, security=AS_CLIENTS["SSL"])).nodes[0])
    assert "SECURE_CONTROLLER:SSL" in said["listener.security.protocol.map"]
    assert ",CONTROLLER:PLAINTEXT" in said["listener.security.protocol.map"]


def test_a_users_stores_give_way_to_those_of_a_secured_cluster():
    theirs = {"ssl.keystore.password": "x", "sasl.enabled.mechanisms": "GSSAPI", "num.io.threads": "3"}
    assert without_security(theirs) == {"num.io.threads": "3"}


@pytest.mark.parametrize(
    ("topology", "words"),
    [
        (Topology(3, 1), "3 nodes that are controller and broker, 1 more broker"),
        (Topology(1, 2), "1 node that is controller and broker, 2 more brokers"),
        (Topology(3, 1, combined=False, static_voters=True), "3 controllers and 1 broker, voters by configuration"),
        (Topology(3, 0, security=Security()), "3 nodes that are controller and broker, 0 more brokers, TLS and SASL"),
        (
            Topology(5, 3, combined=False, security=AS_CLIENTS["SASL_SSL"]),
            "5 controllers and 3 brokers, SASL_SSL with SCRAM-SHA-512 for clients too",
        ),
        (
            Topology(3, 0, security=AS_CLIENTS["SSL"]),
            "3 nodes that are controller and broker, 0 more brokers, SSL with client certificates for clients too",
        ),
    ],
)
def test_a_topology_is_described_in_words(topology, words):
    assert describe_topology(topology) == words


def test_a_controller_in_reserve_is_on_no_disk_and_in_no_configuration_and_asks_the_voters(cluster):
    made = cluster(Topology(2, 1, combined=False, spares=1))
    spare = made.nodes[3]
    assert [names_voters_on_disk(node) for node in made.nodes.values()] == [True, True, False, False]
    assert properties(spare)["process.roles"] == "controller"
    assert properties(spare)["controller.quorum.bootstrap.servers"].count("127.0.0.1:") == 2
    assert str(spare.config.controller) not in properties(made.nodes[2])["controller.quorum.voters"]
    assert (sorted(made.controllers), sorted(made.quorum_addresses)) == ([0, 1, 3], [0, 1])
    assert describe_topology(made.topology) == "2 controllers and 1 broker, 1 controller in reserve"


def test_nodes_with_bootstrap_servers_know_addresses_and_no_voters(cluster):
    made = cluster(Topology(2, 1, bootstrap_servers=True))
    for node in made.nodes.values():
        assert "controller.quorum.voters" not in properties(node)
        assert properties(node)["controller.quorum.bootstrap.servers"].count("127.0.0.1:") == 2
    made.wipe(2, new_identity=True)
    assert "controller.quorum.voters" not in properties(made.nodes[2])


def resolved(node) -> dict[str, str]:
    lines = (node.folder / "hosts").read_text().splitlines()
    return {name: host for host, name in map(str.split, lines)}


def test_controllers_with_names_listen_by_address_and_are_known_by_name(cluster):
    made = cluster(Topology(1, 1, names=True))
    voter, observer = made.nodes[0], made.nodes[1]
    port = voter.config.controller.port
    assert f"CONTROLLER://127.0.0.1:{port}" in properties(voter)["listeners"]
    assert f"CONTROLLER://controller-0.kafka.test:{port}" in properties(voter)["advertised.listeners"]
    assert properties(observer)["controller.quorum.voters"] == f"0@controller-0.kafka.test:{port}"
    assert "advertised.listeners" not in properties(observer)
    assert resolved(observer)["controller-0.kafka.test"] == "127.0.0.1"
    voter.configs.append(voter.config)  # as when it is started
    assert made.names()[f"controller-0.kafka.test:{port}"] == "<voter's controller>"


@pytest.fixture
def started(monkeypatch):
    """Have no node start; return the configurations with which they would have."""
    configs = []
    monkeypatch.setattr(Node, "start", lambda node, config=None: configs.append(config or node.config))
    return configs


def test_a_name_leads_to_another_host_with_the_same_port_and_nobodys_configuration_changes(cluster, started):
    made = cluster(Topology(1, 1, names=True))
    before, announced = made.nodes[0].config.controller, dict(made.endpoints)
    made.change_host(0)
    (after,) = started
    assert after.controller.port == before.port
    assert after.controller.host != before.host
    assert (made.endpoints, made.has_moved(0)) == (announced, True)
    assert resolved(made.nodes[1])["controller-0.kafka.test"] == after.controller.host


def test_a_node_without_names_is_configured_with_addresses_and_hears_of_no_name_again(cluster, started):
    made = cluster(Topology(1, 1, names=True))
    made.start_without_names(1)
    assert [str(address) for address in started[0].voters.values()] == [str(made.controllers[0])]
    made.change_host(0)
    assert resolved(made.nodes[1]) == {}


def test_voters_that_move_at_once_are_configured_with_the_new_addresses_of_all(cluster, started):
    made = cluster(Topology(2, 1))
    before = made.quorum_addresses
    made.start_elsewhere([0, 1])
    assert not set(before.values()) & set(made.quorum_addresses.values())
    assert [config.voters for config in started] == [made.quorum_addresses] * 2


def test_a_controller_in_reserve_that_restarts_asks_whom_it_was_configured_to_ask(cluster, started):
    made = cluster(Topology(2, 1, spares=1))
    asked = dict(made.nodes[3].config.voters)
    made.restart(0, new_addresses=True)
    made.restart(3, new_addresses=False)
    assert (started[0].voters, started[1].voters) == (made.quorum_addresses, asked)


@pytest.mark.parametrize("shape", [{"names": True, "network": True}, {"static_voters": True, "spares": 1}])
def test_shapes_that_cannot_be_are_refused(shape):
    with pytest.raises(ValueError, match=r"leave network|nobody can be added"):
        kraft(controllers=3, observers=1, **shape)
