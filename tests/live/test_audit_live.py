"""The audit of Kafka's real sources: what reading them by hand found, it finds by itself."""

from pathlib import Path

import pytest

from harness.audit.claims_file import load_claims
from harness.kafka.distribution import Distribution
from harness.kafka.series import series_folder
from harness.model.proof import Answer, AuditAnswer
from harness.model.runs import Evidence
from harness.stages.audit import audit_jar, audit_series
from harness.toolbox.toolbox import Toolbox

pytestmark = pytest.mark.live

CLAIMS = load_claims(series_folder("3.9.1") / "claims.toml")
ARITY = Path(__file__).parents[1] / "unit/audit-fixtures/constructor-arity"
CLIENT = "raft/src/main/java/org/apache/kafka/raft/KafkaRaftClient.java"


@pytest.fixture(scope="module")
def shipped(toolbox: Toolbox) -> dict[str, AuditAnswer]:
    return {each.question: each for each in audit_series(CLAIMS, series_folder("3.9.1"), toolbox.downloads)}


def test_the_shipped_series_keeps_its_promises(shipped: dict[str, AuditAnswer]) -> None:
    promised = {each.question: each.answer for each in shipped.values() if each.claim}
    assert set(promised.values()) == {Answer.HOLDS}
    assert len(promised) == 6


def test_what_the_shipped_series_leaves_open_is_found(shipped: dict[str, AuditAnswer]) -> None:
    open_points = {each.question: each for each in shipped.values() if each.answer is Answer.DOES_NOT_HOLD}
    assert set(open_points) == {
        "every-update-refreshes",
        "every-truncation-refreshes",
        "refresh-only-on-change",
        "log-only-on-change",
    }
    assert not any(each.blocks for each in open_points.values())
    assert shipped["one-thread-asks-for-servers"].answer is Answer.HOLDS
    assert "KafkaRaftClient.initialize" in open_points["every-update-refreshes"].detail
    assert open_points["every-update-refreshes"].evidence == (Evidence(CLIENT, 489, "partitionState.updateState();"),)
    assert "KafkaRaftClient.handleFetchResponse" in open_points["every-truncation-refreshes"].detail
    assert "logged at INFO after 3 of 4 calls" in open_points["log-only-on-change"].detail


def test_a_constructor_of_another_arity_is_found(toolbox: Toolbox) -> None:
    found = {each.question: each for each in audit_series(CLAIMS, ARITY, toolbox.downloads)}
    assert [name for name, each in found.items() if each.blocks] == ["released-constructor-is-kept"]
    assert "(int, int, int, int, int, int, boolean)" in found["released-constructor-is-kept"].detail


def test_the_released_jar_keeps_none_of_the_new_promises(toolbox: Toolbox, kafka: Distribution) -> None:
    found = {each.question: each for each in audit_jar(CLAIMS, kafka.raft_jar, toolbox)}
    assert found["appends-and-snapshots-refresh"].blocks
    assert found["released-constructor-is-kept"].answer is Answer.HOLDS
    assert found["flag-guards-the-refresh"].answer is Answer.UNTESTED
