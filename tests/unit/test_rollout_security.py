"""Of a user's --command-config a rehearsal goes by protocol and mechanism; nothing that is secret is kept or shown."""

import subprocess
from dataclasses import replace

import pytest
import rollout_sample as sample

from harness.base.errors import HarnessError
from harness.base.json import from_json, to_json
from harness.cli import rollout as command
from harness.model.request import Request
from harness.model.rollout import RolloutVerdict, RollPlan
from harness.model.security import Security
from harness.rollout.client_security import read_client_security, topology_of
from harness.rollout.runbook import runbook
from harness.rollout.runbook_markdown import markdown
from harness.rollout.runbook_shell import shell_script

SECRETS = ("hunter2", "s3cret-store", "MIIEvQIBADANBg")
CLIENT = f"""
security.protocol=SASL_SSL
sasl.mechanism=SCRAM-SHA-512
sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\
    username="admin" password="{SECRETS[0]}";
ssl.truststore.location=/etc/kafka/trust.jks
ssl.truststore.password={SECRETS[1]}
"""


@pytest.fixture
def client(tmp_path):
    """Return a function that writes a file of client properties."""

    def write(text):
        path = tmp_path / "client.properties"
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize(
    ("text", "security"),
    [
        (CLIENT, Security("SASL_SSL", "SCRAM-SHA-512", clients=True)),
        ("security.protocol=sasl_plaintext\nsasl.mechanism=PLAIN", Security("SASL_PLAINTEXT", "PLAIN", clients=True)),
        ("security.protocol=SSL", Security("SSL", "", clients=True)),
        (
            f"security.protocol: SSL\nssl.keystore.key={SECRETS[2]}\n",
            Security("SSL", "", certificates=True, clients=True),
        ),
        ("retries=3", Security("PLAINTEXT", "", clients=True)),
        ("sasl.mechanism=PLAIN\nssl.keystore.location=x", Security("PLAINTEXT", "", clients=True)),
        ("security.protocol=SSL\nssl.keystore.type=PKCS12\nssl.keystore.location=", Security("SSL", "", clients=True)),
    ],
)
def test_protocol_mechanism_and_whether_there_is_a_certificate_are_read(client, text, security):
    assert read_client_security(client(text)) == security


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("security.protocol=SASL_SSL\nsasl.mechanism=GSSAPI", "Kerberos (GSSAPI) cannot be rehearsed"),
        ("security.protocol=SASL_SSL", "GSSAPI, which Kafka takes where sasl.mechanism is not said"),
        ("security.protocol=SASL_SSL\nsasl.mechanism=OAUTHBEARER", "OAUTHBEARER cannot be rehearsed: the harness sets"),
        ("security.protocol=TLS", "security.protocol is TLS, which Kafka does not know"),
    ],
)
def test_what_cannot_be_rehearsed_is_refused_with_its_reason(client, text, words):
    with pytest.raises(HarnessError, match=r"--command-config .*client\.properties") as refused:
        read_client_security(client(text))
    assert words in str(refused.value)


def test_who_is_refused_learns_that_the_script_takes_the_file_all_the_same(client):
    with pytest.raises(HarnessError) as refused:
        read_client_security(client("security.protocol=SASL_SSL"))
    assert "COMMAND_CONFIG" in refused.value.hint


def test_a_file_that_cannot_be_read_is_named_and_not_quoted(client, tmp_path):
    for path in (client(f"sasl.password=\\u{SECRETS[0]}"), tmp_path / "nowhere"):
        with pytest.raises(HarnessError, match="cannot be read as a properties file") as refused:
            read_client_security(path)
        assert SECRETS[0][:4] not in f"{refused.value} {refused.value.__cause__}"


def test_no_secret_of_the_file_comes_into_the_run_folder_or_to_the_terminal(client, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(command, "_go_on", lambda _: 0)
    path = client(f"{CLIENT}ssl.keystore.key={SECRETS[2]}\n")
    out = tmp_path / "run"
    assert command._rollout(Request(), "5+3", "", None, 0.0, path, None, None, out) == 0
    kept = {file: file.read_text() for file in out.rglob("*") if file.is_file()}
    assert any(str(path) in text for text in kept.values()), "by its name it is known"
    assert any("SCRAM-SHA-512" in text for text in kept.values())
    said = capfd.readouterr()
    for secret in (*SECRETS, "admin"):
        assert not [file for file, text in kept.items() if secret in text]
        assert secret not in said.out + said.err


def test_the_cluster_of_a_rehearsal_is_secured_as_clients_expect_it():
    plan = RollPlan("5+3", (), (), 0.0, command_config="x", security=Security("SSL", "", clients=True))
    topology = topology_of(plan)
    assert (topology.controllers, topology.observers, topology.security) == (5, 3, plan.security)
    assert topology_of(RollPlan("3+3", (), (), 0.0)).security is None


def test_the_runbook_gives_the_file_to_every_command_and_says_what_of_it_was_rehearsed():
    text = markdown(runbook(sample.secured_rollout()))
    assert "COMMAND_CONFIG=conf/client.properties\n" in text
    commands = [line for line in text.splitlines() if line.strip().startswith("bin/kafka-")]
    assert len(commands) == 8 + 6 + 2
    for each in commands:
        option = "--admin.config" if "kafka-leader-election.sh" in each else "--command-config"
        assert f' {option} "$COMMAND_CONFIG"' in each
    assert "spoke SASL\\_SSL with SCRAM-SHA-512, as conf/client.properties says" in text
    assert "your certificates, host names, users and ACLs were not rehearsed" in text


def test_a_runbook_without_a_file_gives_none_and_its_script_takes_one_all_the_same():
    book = runbook(sample.rollout())
    assert "COMMAND_CONFIG" not in markdown(book)
    assert ': "${COMMAND_CONFIG=}"' in shell_script(book)


def test_a_path_that_would_be_more_than_a_path_is_none(tmp_path):
    found = sample.secured_rollout()
    hostile = 'x"$(touch owned)`touch owned`}'
    script = shell_script(runbook(replace(found, plan=replace(found.plan, command_config=hostile))))
    line = next(line for line in script.splitlines() if line.startswith(': "${COMMAND_CONFIG='))
    done = subprocess.run(
        ["sh", "-c", f'{line}\nprintf %s "$COMMAND_CONFIG"'], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == hostile
    assert not list(tmp_path.iterdir())


def test_what_rollout_json_says_of_security_can_be_read_again():
    found = sample.secured_rollout()
    assert from_json(RolloutVerdict, to_json(found)) == found
