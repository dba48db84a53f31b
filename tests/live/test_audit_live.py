"""The audit of Kafka's real sources: what reading them by hand found, it finds by itself."""

from pathlib import Path

import pytest

from harness.audit.claims_file import load_claims
from harness.audit.stock_questions import stock_questions
from harness.kafka.distribution import Distribution
from harness.kafka.series import series_folder
from harness.model.proof import Answer, AuditAnswer
from harness.model.runs import Evidence
from harness.stages.audit import audit_jar, audit_release, audit_series
from harness.toolbox.toolbox import Toolbox

pytestmark = pytest.mark.live

CLAIMS = load_claims(series_folder("3.9.1") / "claims.toml")
ARITY = Path(__file__).parents[1] / "unit/audit-fixtures/constructor-arity"
RAFT = "raft/src/main/java/org/apache/kafka/raft"
CLIENT = f"{RAFT}/KafkaRaftClient.java"

# Where the released 3.9.1 does it, read by hand: methods with the first line, by question.
STOCK_USES = {
    "key-is-only-defined-and-named-in-errors": (
        "QuorumConfig.QUORUM_BOOTSTRAP_SERVERS_CONFIG",
        "QuorumConfig (QuorumConfig.java:104), KafkaRaftClient.initialize (KafkaRaftClient.java:497), "
        "QuorumConfig.parseBootstrapServer (QuorumConfig.java:241)",
    ),
    "list-is-made-at-the-start": (
        "RequestManager.new",
        "KafkaRaftClient (KafkaRaftClient.java:330), KafkaRaftClient.initialize (KafkaRaftClient.java:518)",
    ),
    "voters-record-becomes-the-voter-set": (
        "ControlRecordUtils.deserializeVotersRecord or VoterSet.fromVotersRecord or VotersRecord.voters",
        "RecordsIterator.decodeControlRecord (RecordsIterator.java:378), "
        "KRaftControlRecordStateMachine.handleBatch (KRaftControlRecordStateMachine.java:283), "
        "VoterSet.fromVotersRecord (VoterSet.java:420)",
    ),
    "voter-set-is-read-from-log-and-snapshot": (
        "KRaftControlRecordStateMachine.handleBatch",
        "KRaftControlRecordStateMachine.maybeLoadLog (KRaftControlRecordStateMachine.java:229), "
        "KRaftControlRecordStateMachine.maybeLoadSnapshot (KRaftControlRecordStateMachine.java:265)",
    ),
    "voter-set-follows-the-log": (
        "KRaftControlRecordStateMachine.updateState",
        "KafkaRaftClient.initialize (KafkaRaftClient.java:489), "
        "KafkaRaftClient.appendAsFollower (KafkaRaftClient.java:1733), "
        "KafkaRaftClient.appendAsLeader (KafkaRaftClient.java:1743), "
        "KafkaRaftClient.handleFetchSnapshotResponse (KafkaRaftClient.java:2078)",
    ),
    "raft-thread-polls": (
        "KafkaRaftClient.poll",
        "KafkaRaftClientDriver.doWork (KafkaRaftClientDriver.java:64)",
    ),
    "list-is-read-to-choose-a-server": (
        "RequestManager.bootstrapServers",
        "RequestManager (RequestManager.java:58), RequestManager.findReadyBootstrapServer (RequestManager.java:114), "
        "RequestManager.backoffBeforeAvailableBootstrapServer (RequestManager.java:166)",
    ),
    "servers-are-asked-in-one-place": (
        "RequestManager.findReadyBootstrapServer",
        "KafkaRaftClient.maybeSendFetchToAnyBootstrap (KafkaRaftClient.java:2783)",
    ),
    "ways-to-the-servers": (
        "KafkaRaftClient.maybeSendFetchToAnyBootstrap",
        "KafkaRaftClient.pollFollowerAsObserver (KafkaRaftClient.java:3086), "
        "KafkaRaftClient.maybeSendFetchToBestNode (KafkaRaftClient.java:3101), "
        "KafkaRaftClient.pollUnattachedCommon (KafkaRaftClient.java:3173)",
    ),
    "requests-and-their-senders": (
        "KafkaRaftClient.maybeSendRequest or KafkaRaftClient.maybeSendRequests",
        "KafkaRaftClient.maybeSendRequests (KafkaRaftClient.java:2714), "
        "KafkaRaftClient.maybeSendRequest (KafkaRaftClient.java:2730), "
        "KafkaRaftClient.maybeSendFetchToAnyBootstrap (KafkaRaftClient.java:2785), "
        "KafkaRaftClient.maybeSendBeginQuorumEpochRequests (KafkaRaftClient.java:2903), "
        "KafkaRaftClient.maybeSendVoteRequests (KafkaRaftClient.java:2992), "
        "KafkaRaftClient.maybeSendFetchOrFetchSnapshot (KafkaRaftClient.java:3124), "
        "KafkaRaftClient.maybeSendUpdateVoterRequest (KafkaRaftClient.java:3142), "
        "KafkaRaftClient.pollResigned (KafkaRaftClient.java:2920)",
    ),
    "requests-leave-in-two-places": (
        "NetworkChannel.send",
        "KafkaRaftClient.maybeSendRequest (KafkaRaftClient.java:2688), "
        "DefaultRequestSender.send (DefaultRequestSender.java:105)",
    ),
}
STOCK_SAYS = {
    "list-is-set-at-construction": (
        "RequestManager.bootstrapServers is written at construction alone: RequestManager (RequestManager.java:58). "
        "Nothing changes what it holds."
    ),
    "servers-are-configured": (
        "The key controller.quorum.bootstrap.servers is defined with the default []: QuorumConfig.java:104."
    ),
    **{name: f"{used} is used nowhere but in {where}." for name, (used, where) in STOCK_USES.items()},
}


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


@pytest.fixture(scope="module")
def stock(toolbox: Toolbox) -> dict[str, AuditAnswer]:
    return {each.question: each for each in audit_release("3.9.1", toolbox.downloads)}


def test_the_release_answers_what_was_read_in_it_by_hand(stock: dict[str, AuditAnswer]) -> None:
    assert {each.answer for each in stock.values()} == {Answer.HOLDS}
    threads = stock["one-thread-asks-for-servers"].detail
    assert threads.startswith(
        "Every call of RequestManager comes by way of KafkaRaftClient.initialize or KafkaRaftClient.poll: "
    )
    others = {name: each.detail for name, each in stock.items() if name != "one-thread-asks-for-servers"}
    assert others == STOCK_SAYS
    assert stock["list-is-set-at-construction"].evidence == (
        Evidence(f"{RAFT}/RequestManager.java", 58, "this.bootstrapServers = new ArrayList<>(bootstrapServers);"),
    )


def test_the_newest_release_has_a_list_as_fixed_and_other_ways_to_it(toolbox: Toolbox) -> None:
    found = {each.question: each for each in audit_release("4.3.1", toolbox.downloads)}
    assert {name: each.answer for name, each in found.items() if each.answer is not Answer.HOLDS} == {}
    assert "pollFollowerAsObserver" not in found["ways-to-the-servers"].detail
    assert "KafkaRaftClient.maybeSendAddVoterRequest" in found["requests-and-their-senders"].detail


def test_the_series_writes_the_list_where_the_release_does_not(toolbox: Toolbox) -> None:
    questions = stock_questions("3.9.1")
    assert questions is not None
    found = {each.question: each for each in audit_series(questions, series_folder("3.9.1"), toolbox.downloads)}
    differing = {name: each for name, each in found.items() if each.answer is not Answer.HOLDS}
    assert set(differing) == {"list-is-set-at-construction", "list-is-read-to-choose-a-server"}
    assert {each.answer for each in differing.values()} == {Answer.DOES_NOT_HOLD}
    assert all("RequestManager.updateBootstrapServers (" in each.detail for each in differing.values())


def test_the_released_jar_answers_as_its_sources_do(toolbox: Toolbox, kafka: Distribution) -> None:
    questions = stock_questions("3.9.1")
    assert questions is not None
    found = {each.question: each for each in audit_jar(questions, kafka.raft_jar, toolbox)}
    open_ones = {
        "list-is-set-at-construction",  # a list, which instructions might change
        "servers-are-configured",  # the configuration is not read here
        "key-is-only-defined-and-named-in-errors",  # a constant
        "one-thread-asks-for-servers",
    }
    assert {name for name, each in found.items() if each.answer is Answer.UNTESTED} == open_ones
    assert {each.answer for name, each in found.items() if name not in open_ones} == {Answer.HOLDS}
    ways = "maybeSendFetchToBestNode", "pollFollowerAsObserver", "pollUnattachedCommon"
    assert all(f"KafkaRaftClient.{way}" in found["ways-to-the-servers"].detail for way in ways)
