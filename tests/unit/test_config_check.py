"""Keys of a user's --config: a slip is refused with what was meant, a plugin's key passes with a warning."""

import pytest

from harness.base.errors import HarnessError
from harness.building.config_check import check_keys, one_sided_keys

KNOWN = ("log.retention.hours", "num.network.threads", "group.min.session.timeout.ms", "replica.fetch.min.bytes")


def test_keys_that_kafka_knows_and_those_of_listeners_and_remote_storage_pass_in_silence():
    free = (
        "listener.name.sasl_ssl.ssl.keystore.location",
        "rsm.config.bucket",
        "rlmm.config.x",
        "config.providers.f.c",
    )
    assert check_keys((*KNOWN, *free), KNOWN) == ()


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("log.retention.hourz", "log.retention.hours"),
        ("num.network.thread", "num.network.threads"),
        ("log_retention_hours", "log.retention.hours"),
        ("log.retentionHours", "log.retention.hours"),
        ("lgo.retention.hours", "log.retention.hours"),
    ],
)
def test_a_slip_is_refused_with_the_key_that_was_meant(key, meant):
    with pytest.raises(HarnessError, match=rf"does not know: {key} \(did you mean {meant}\?\)"):
        check_keys([key, "x.y"], KNOWN)


@pytest.mark.parametrize(
    "key", ["confluent.license", "group.max.session.timeout.ms", "replica.fetch.max.bytes", "my.log.retention.hours"]
)
def test_a_key_of_a_plugin_or_of_another_version_passes_and_is_named(key):
    (warning,) = check_keys([key], KNOWN)
    assert f"Kafka itself does not know {key}" in warning


def test_a_key_that_one_version_alone_knows_is_named_with_who_ignores_it():
    base, candidate = ("stock (Kafka 3.9.1)", ("a", "zookeeper.connect")), ("kafka (Kafka 4.1.0)", ("a", "b"))
    assert one_sided_keys(("a", "b", "zookeeper.connect", "my.plugin"), base, candidate) == (
        "--config: kafka (Kafka 4.1.0) does not know zookeeper.connect, which stock (Kafka 3.9.1) does: "
        "only there it has an effect",
        "--config: stock (Kafka 3.9.1) does not know b, which kafka (Kafka 4.1.0) does: only there it has an effect",
    )
