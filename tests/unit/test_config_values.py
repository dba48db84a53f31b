"""Values of a user's server properties: those with which no node starts are refused before anything is run."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.building.config_check import check_values
from harness.building.configdef import ConfigKey

KNOWN = {
    key.name: key
    for key in (
        ConfigKey("num.network.threads", "INT", "3", "HIGH", "[1,...]"),
        ConfigKey("log.retention.ms", "LONG", "", "HIGH"),
        ConfigKey("ratio", "DOUBLE", "0.5", "HIGH", "[0,...,1]"),
        ConfigKey("auto.create.topics.enable", "BOOLEAN", "true", "HIGH"),
        ConfigKey("log.cleanup.policy", "LIST", "delete", "HIGH", "[compact, delete]"),
    )
}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("num.network.threads", " 8 "),
        ("num.network.threads", "+8"),
        ("log.retention.ms", "-1"),
        ("log.retention.ms", str(2**63 - 1)),
        ("ratio", "1e-3"),
        ("auto.create.topics.enable", "True"),
        ("log.cleanup.policy", "anything"),  # Kafka's own words are for this
        ("num.network.threads", "${file:/etc/x:threads}"),
        ("my.plugin.size", "abc"),
    ],
)
def test_what_kafka_takes_and_what_only_kafka_can_tell_passes(key, value):
    check_values({key: value}, KNOWN)


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("num.network.threads", "abc", "is no INT"),
        ("num.network.threads", "", "is no INT"),
        ("num.network.threads", "3.0", "is no INT"),
        ("num.network.threads", str(2**31), "is no INT"),
        ("num.network.threads", "٣", "is no INT"),
        ("num.network.threads", "0", "is not in [1,...]"),
        ("log.retention.ms", str(2**63), "is no LONG"),
        ("ratio", "half", "is no number"),
        ("ratio", "1.5", "is not in [0,...,1]"),
        ("ratio", "NaN", "is not in [0,...,1]"),
        ("auto.create.topics.enable", "yes", "is neither true nor false"),
    ],
)
def test_a_value_with_which_no_node_starts_is_refused_with_its_key(key, value, why):
    with pytest.raises(HarnessError) as refused:
        check_values({"log.retention.ms": "5", key: value}, KNOWN)
    assert refused.value.message == f"--config sets what Kafka refuses: {key} = {value} {why}."


@given(st.text(max_size=60))
def test_no_value_is_too_strange_to_be_judged(value):
    for key in KNOWN:
        with suppress(HarnessError):
            check_values({key: value}, KNOWN)
