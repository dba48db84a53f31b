"""`harness topic-ids check` and a real ZooKeeper: of many topics, behind a chroot, secured, and gone."""

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from kazoo.security import make_digest_acl
from zookeeper_server import writer, zookeeper_server

from harness.base.errors import HarnessError
from harness.base.kafka_id import kafka_id
from harness.cluster.loopback import Loopback
from harness.cluster.security import make_secrets
from harness.topicids.zookeeper import connected, read_topics
from harness.topicids.zookeeper_security import Login, Tls, ZooKeeperSecurity

pytestmark = pytest.mark.live

V, X, Y, Z = "ozTkTKQ4Q5mIIR8HUQOlvQ", "9ZBgsF2dQGqzrdIIPvmKjA", "hQ1lhUIiT3Wm5nlIkXDTyQ", "Vb1sVo9MQ6qUlkIuG8UUsw"
TOPICS = 3000
JAAS = """
Server { org.apache.zookeeper.server.auth.DigestLoginModule required user_kafka="secret"; };
"""


def topic_json(topic_id: str, partitions: int = 1) -> bytes:
    numbers = {str(number): [1] for number in range(partitions)}
    return json.dumps({"version": 3, "topic_id": topic_id, "partitions": numbers}).encode()


def fill(connect: str, topics: dict[str, bytes], **login: object) -> None:
    with writer(connect, **login) as client:
        client.ensure_path("/brokers/topics")
        client.create("/cluster/id", b'{"version":"1","id":"c1"}', makepath=True)
        done = [client.create_async(f"/brokers/topics/{name}", data) for name, data in topics.items()]
        for each in done:
            each.get(timeout=30)


def disk(folder: Path, topics: dict[str, str], broker: int = 1) -> Path:
    folder.mkdir()
    (folder / "meta.properties").write_text(f"version=0\nbroker.id={broker}\ncluster.id=c1\n")
    for name, topic_id in topics.items():
        (folder / name).mkdir()
        (folder / name / "partition.metadata").write_text(f"version: 0\ntopic_id: {topic_id}\n")
    return folder


def properties(data: Path, zookeeper: str, broker: int = 1) -> Path:
    """Write the server.properties of a broker, by which its settings are known too."""
    file = data.with_name(f"{data.name}.properties")
    file.write_text(f"broker.id={broker}\nlog.dirs={data}\nzookeeper.connect={zookeeper}\n")
    return file


def harness(*words: object) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "harness", "topic-ids", *map(str, words)], capture_output=True, text=True, env=os.environ
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(params=["2.8.2", "3.9.1"])
def zookeeper(request, toolbox, tmp_path):
    with zookeeper_server(request.param, toolbox, tmp_path / "zk") as address:
        yield address


def test_a_healthy_cluster_of_thousands_of_topics_behind_a_chroot_is_one_line(zookeeper, tmp_path):
    names = [f"topic-{number}" for number in range(TOPICS)]
    fill_at = f"{zookeeper}/kafka"
    with writer(zookeeper) as client:
        client.ensure_path("/kafka")
    ids = {name: kafka_id((number + 1).to_bytes(16)) for number, name in enumerate(names)}
    fill(fill_at, {name: topic_json(topic_id) for name, topic_id in ids.items()})
    data = disk(tmp_path / "d", {f"{name}-0": topic_id for name, topic_id in ids.items()})
    code, said = harness("check", "--zookeeper", fill_at, "--data", data)
    assert (code, said.splitlines()) == (
        0,
        [f"Healthy: 3,000 directories of broker 1 have the ids that ZooKeeper at {fill_at} has."],
    )
    assert harness("check", "--zookeeper", zookeeper, "--data", data)[1].startswith(
        f"error: ZooKeeper at {zookeeper} has no Kafka cluster: neither /brokers/topics nor /cluster/id is there."
    )


def test_each_state_is_told_from_a_real_ensemble(zookeeper, tmp_path):
    fill(zookeeper, {"mixed": topic_json(Y, 2), "lost": b'{"version":1,"partitions":{"0":[1]}}', "bad": b"{"})
    data = disk(tmp_path / "d", {"mixed-0": X, "mixed-1": Y, "lost-0": Z, "bad-0": X, "gone-0": X})
    code, said = harness("check", "--zookeeper", zookeeper, "--data", data, "-o", "json")
    found = json.loads(said)
    assert code == 1
    assert {each["topic"]: each["state"] for each in found["findings"]} == {
        "mixed": "different",
        "lost": "missing in ZooKeeper",
        "bad": "unreadable",
        "gone": "orphan directory",
    }


def test_a_node_that_needs_a_login_is_a_sentence_and_read_with_it(zookeeper, tmp_path):
    fill(zookeeper, {"t": topic_json(X)})
    with writer(zookeeper) as client:
        client.set_acls("/brokers/topics/t", [make_digest_acl("kafka", "secret", all=True)])
    data = disk(tmp_path / "d", {"t-0": X})
    code, said = harness("check", "--zookeeper", zookeeper, "--data", data)
    assert (code, said.splitlines()[0]) == (2, f"error: ZooKeeper at {zookeeper} refuses access to /brokers/topics/t.")
    (tmp_path / "zk.toml").write_text('[digest]\nusername = "kafka"\npassword = "secret"\n')
    code, said = harness(
        "check", "--zookeeper", zookeeper, "--data", data, "--zookeeper-security", tmp_path / "zk.toml"
    )
    assert (code, said.startswith("Healthy: 1 directory")) == (0, True), said


def test_sasl_is_spoken_where_the_ensemble_demands_it(toolbox, tmp_path):
    pytest.importorskip("puresasl")
    jaas = tmp_path / "jaas.conf"
    jaas.write_text(JAAS)
    system = {
        "java.security.auth.login.config": str(jaas),
        "zookeeper.authProvider.sasl": "org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
        "zookeeper.sessionRequireClientSASLAuth": "true",
    }
    with zookeeper_server("3.9.1", toolbox, tmp_path / "zk", system=system) as address:
        options = {"mechanism": "DIGEST-MD5", "username": "kafka", "password": "secret"}
        fill(address, {"t": topic_json(X)}, sasl_options=options)
        with connected(address, ZooKeeperSecurity(sasl=Login("kafka", "secret"))) as connection:
            assert read_topics(connection).topics["t"].topic_id == X
        for login, says in ((None, "demands a SASL login"), (Login("kafka", "wrong"), "refuses the SASL login")):
            with (
                pytest.raises(HarnessError, match=f"ZooKeeper at {address} .*: it {says}"),
                connected(address, ZooKeeperSecurity(sasl=login)) as connection,
            ):
                read_topics(connection)
        config, security = tmp_path / "server.properties", tmp_path / "zk.toml"
        data = disk(tmp_path / "d", {"t-0": X})
        config.write_text(f"broker.id=1\nlog.dirs={data}\nzookeeper.connect={address}\n")
        security.write_text('[sasl]\nusername = "kafka"\npassword = "secret"\n')
        doctor = [sys.executable, "-m", "harness", "doctor", "--cluster", config]
        asked = {}
        for more in ((), ("--zookeeper-security", security)):
            done = subprocess.run([*doctor, *more], capture_output=True, text=True, env=os.environ)
            asked[bool(more)] = done.returncode, (done.stdout + done.stderr).splitlines()[-1]
        assert asked[True] == (0, f"Healthy: 1 directory of broker 1 has the ids that ZooKeeper at {address} has.")
        assert asked[False][0] == 2


NETTY = """serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory
ssl.keyStore.location={folder}/tls.pem
ssl.trustStore.location={folder}/trusted.pem
ssl.clientAuth={client}
"""


@pytest.mark.parametrize("version", [pytest.param("2.8.2", marks=pytest.mark.whole), "3.9.1"])
def test_tls_is_spoken_and_what_is_refused_in_it_is_said(toolbox, tmp_path, version):
    ours, other = (make_secrets(tmp_path / name, ["127.0.0.1"]).pem.parent for name in ("ours", "other"))
    tls = {
        "": Tls(ours / "trusted.pem", ours / "tls.pem", ours / "tls.pem"),
        "its certificate is not trusted": Tls(other / "trusted.pem"),
        "its port speaks TLS, and was spoken to in plain text": None,
        "(it ends the connection once TLS is spoken|it refuses us in the TLS handshake)": Tls(ours / "trusted.pem"),
    }
    config = NETTY.format(folder=ours, client="need")
    with zookeeper_server(version, toolbox, tmp_path / "zk", config=config, secure=True) as address:
        for says, files in tls.items():
            if not says:
                with connected(address, ZooKeeperSecurity(files)) as connection:
                    assert connection.children("/") == ["zookeeper"]
                continue
            with (
                pytest.raises(HarnessError, match=f"ZooKeeper at {address} gives no session: {says}"),
                connected(address, ZooKeeperSecurity(files)),
            ):
                pass
    with (
        zookeeper_server(version, toolbox, tmp_path / "plain") as address,
        pytest.raises(HarnessError, match="its port does not speak TLS"),
        connected(address, ZooKeeperSecurity(tls[""])),
    ):
        pass


@contextmanager
def controllers(connect: str):
    """Have somebody become the controller whenever nobody is, as brokers do."""
    with writer(connect) as client:
        epoch = 0

        def elect(event: object = None) -> None:
            nonlocal epoch
            if client.exists("/controller", watch=elect) is None:
                epoch += 1
                client.retry(client.ensure_path, "/controller_epoch")
                client.set("/controller_epoch", str(epoch).encode())
                client.create("/controller", b'{"version":1,"brokerid":1}', ephemeral=True)
                client.exists("/controller", watch=elect)

        elect()
        yield client


def test_an_id_is_put_back_for_a_later_controller_and_taken_back(zookeeper, tmp_path):
    lost = b'{"version":1,"partitions":{"0":[1],"1":[1]},"adding_replicas":{}}'
    fill(zookeeper, {"lost": lost, "other": topic_json(Y, 2), "fine": topic_json(V)})
    data = disk(tmp_path / "d", {"lost-0": X, "lost-1": X, "other-0": Z, "other-1": Z, "fine-0": V})
    plan, backup, export = tmp_path / "plan.json", tmp_path / "backup", tmp_path / "broker-1.jsonl"
    config = properties(data, zookeeper)
    with controllers(zookeeper) as client:
        client.ensure_path("/brokers/ids/1")
        code, said = harness("plan", "--config", config, "--out", plan)
        assert (code, said.splitlines()[-1]) == (1, "A repair: put the old id back in ZooKeeper (2 topics).")
        code, said = harness("repair", plan, "--config", config, "--backup", backup)
        assert (code, said.splitlines()[-1].endswith("Do it with --apply."), backup.exists()) == (0, True, False)
        assert client.get("/brokers/topics/lost")[0] == lost
        harness("check", "--config", config, "--export", export)
        code, said = harness("repair", plan, "--merge", export, "--backup", backup, "--apply")
        assert (code, said.splitlines()[-2:]) == (
            0,
            [
                "2 topics put back; a new controller (epoch 2) was elected and kept these ids.",
                "No directory of broker 1 differs from them.",
            ],
        )
        put = json.loads(client.get("/brokers/topics/lost")[0])
        assert put == {**json.loads(lost), "version": 3, "topic_id": X}
        assert harness("check", "--zookeeper", zookeeper, "--data", data)[0] == 0
        assert harness("repair", plan, "--backup", backup, "--apply")[0] == 0  # as after a cut: nothing is left to do
        did = [json.loads(line)["does"] for line in (backup / "journal.jsonl").read_text().splitlines()]
        assert did == ["set", "set", "delete", "delete"]
        code, said = harness("restore", backup, "--apply")
        assert (code, "the controller was left, lest it make new ids" in said) == (0, True), said
        assert client.get("/brokers/topics/lost")[0] == lost
        assert json.loads(client.get("/brokers/topics/other")[0])["topic_id"] == Y


def test_files_are_deleted_broker_by_broker_each_in_its_turn_and_while_it_is_down(zookeeper, tmp_path):
    both = json.dumps({"version": 3, "topic_id": Y, "partitions": {"0": [1, 2], "1": [1, 2]}}).encode()
    state = b'{"leader":1,"isr":[1,2],"leader_epoch":1,"version":1,"controller_epoch":1}'
    fill(zookeeper, {"mixed": both})
    data = {broker: disk(tmp_path / str(broker), {"mixed-0": X, "mixed-1": Y}, broker) for broker in (1, 2)}
    config = {broker: properties(data[broker], zookeeper, broker) for broker in data}
    every = [word for file in config.values() for word in ("--config", file)]
    plan, export = tmp_path / "plan.json", tmp_path / "2.jsonl"
    with controllers(zookeeper) as client:
        for path in ("/brokers/ids/1", "/brokers/ids/2"):
            client.ensure_path(path)
        for number in (0, 1):
            client.create(f"/brokers/topics/mixed/partitions/{number}/state", state, makepath=True)
        code, said = harness("plan", *every, "--out", plan)
        assert (code, said.splitlines()[-1]) == (1, "A repair: delete the files with the old id (1 topic)."), said
        second = ("repair", plan, "--config", config[2], "--backup", tmp_path / "b2")
        assert "Broker 2 runs, by ZooKeeper's account" in harness(*second, "--apply")[1]
        client.delete("/brokers/ids/2")
        assert harness(*second)[1].splitlines()[-1] == "1 file of broker 2. Nothing was changed. Do it with --apply."
        assert harness(*second, "--apply")[0] == 0
        assert [each.name for each in sorted(data[2].glob("*/partition.metadata"))] == ["partition.metadata"]
        (data[2] / "mixed-0" / "partition.metadata").write_text(f"version: 0\ntopic_id: {Y}\n")  # as its start does
        client.create("/brokers/ids/2")
        client.delete("/brokers/ids/1")
        first = ("repair", plan, "--config", config[1], "--backup", tmp_path / "b1", "--apply")
        assert "Broker 2 comes first: name by --merge" in harness(*first)[1]
        harness("check", "--config", config[2], "--export", export)
        assert harness(*first, "--merge", export)[0] == 0
        assert harness("check", *every)[1].splitlines()[-1].startswith("Healthy: 3 directories of brokers 1, 2 have")
        assert harness("restore", tmp_path / "b2", "--apply")[0] == 0
        assert X in (data[2] / "mixed-0" / "partition.metadata").read_text()


def test_a_topic_that_changes_after_the_plan_is_left(zookeeper, tmp_path):
    fill(zookeeper, {"other": topic_json(Y)})
    config = properties(disk(tmp_path / "d", {"other-0": X}), zookeeper)
    with controllers(zookeeper) as client:
        client.ensure_path("/brokers/ids/1")
        harness("plan", "--config", config, "--out", tmp_path / "plan.json")
        client.set("/brokers/topics/other", topic_json(Z))
        code, said = harness(
            "repair", tmp_path / "plan.json", "--config", config, "--backup", tmp_path / "backup", "--apply"
        )
        assert (code, "is not as the plan has it in ZooKeeper" in said) == (2, True), said
        assert not (tmp_path / "backup").exists()


def test_partitions_that_were_added_after_the_plan_are_no_reason_for_a_new_mix(zookeeper, tmp_path):
    fill(zookeeper, {"t": topic_json(Y)})
    config = properties(disk(tmp_path / "d", {"t-0": X}), zookeeper)
    with controllers(zookeeper) as client:
        client.ensure_path("/brokers/ids/1")
        harness("plan", "--config", config, "--out", tmp_path / "plan.json")
        client.set("/brokers/topics/t", topic_json(Y, 3))
        code, said = harness(
            "repair", tmp_path / "plan.json", "--config", config, "--backup", tmp_path / "backup", "--apply"
        )
        assert (code, "it has partitions 1-2 too. Nothing was changed." in said) == (2, True), said
        assert json.loads(client.get("/brokers/topics/t")[0])["topic_id"] == Y
        assert not (tmp_path / "backup").exists()


def test_a_plan_is_carried_out_on_its_own_cluster_only(zookeeper, tmp_path):
    fill(zookeeper, {"t": topic_json(Y)})
    config = properties(disk(tmp_path / "d", {"t-0": X}), zookeeper)
    with controllers(zookeeper) as client:
        client.ensure_path("/brokers/ids/1")
        harness("plan", "--config", config, "--out", tmp_path / "plan.json")
        client.set("/cluster/id", b'{"version":"1","id":"c2"}')
        code, said = harness(
            "repair", tmp_path / "plan.json", "--config", config, "--backup", tmp_path / "backup", "--apply"
        )
        assert (code, "is that of cluster c2, and this is about cluster c1. Nothing was changed." in said) == (2, True)
        assert json.loads(client.get("/brokers/topics/t")[0])["topic_id"] == Y
        assert not (tmp_path / "backup").exists()


def test_two_topics_of_one_id_are_a_mismatch_and_no_plan_is_made(zookeeper, tmp_path):
    fill(zookeeper, {"t": topic_json(X), "u": topic_json(X)})
    data = disk(tmp_path / "d", {"t-0": X, "u-0": X})
    code, said = harness("check", "--zookeeper", zookeeper, "--data", data)
    assert (code, said.splitlines()[-1]) == (
        1,
        "Mismatch: restart no broker. 2 directories of 2 topics have the id that another topic has too.",
    )
    code, said = harness("plan", "--zookeeper", zookeeper, "--data", data, "--out", tmp_path / "plan.json")
    assert (code, f"refused: Topic t and another have one id, {X}: u has that id too." in said) == (3, True)


def test_an_ensemble_that_is_not_there_is_a_sentence(tmp_path):
    loopback = Loopback()
    address = loopback.take()
    data = disk(tmp_path / "d", {"t-0": X})
    code, said = harness("check", "--zookeeper", address, "--data", data)
    loopback.close()
    assert code == 2
    assert said.startswith(f"error: ZooKeeper at {address} gives no session: nobody listens there.")
    assert "Traceback" not in said
