"""Masks replace what differs by chance and never what tells one state from another."""

import base64
import re

import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.logs.read.masks import MASKS, masked_again, template, template_of

# fmt: off
STATES = [
    "Leader", "Follower", "Candidate", "Unattached", "Resigned", "Voted", "Observer", "true", "false", "null",
    "NOT_LEADER_OR_FOLLOWER", "UNKNOWN_TOPIC_ID", "NotControllerException", "STARTING", "RUNNING", "SHUTDOWN",
    "starting", "shutdown", "completed", "Startup", "OptionalInt.empty", "controller.quorum.voters",
    "controller.quorum.dynamic.bootstrap.servers.enable", "RaftManager", "QuorumController", "ExpirationReaper",
    "NetworkClient", "TransactionCoordinator", "DefaultReplicaSelector",
]
# fmt: on

# Real lines of Kafka 3.9.1, and what is left of them.
REAL = [
    (
        "[RaftManager id=3] Connection to node 0 (/10.0.0.1:8101) could not be established. Node may not be available.",
        "[RaftManager id=<n>] Connection to node <n> (<addr>) could not be established. Node may not be available.",
    ),
    (
        "Updated bootstrap servers to: [127.0.0.1:8201 (id: 0 rack: null), b-2.example.com:8221 (id: 2 rack: null)]",
        "Updated bootstrap servers to: [<addr> (id: <n> rack: null), <addr> (id: <n> rack: null)]",
    ),
    (
        "controller.quorum.voters = [0@127.0.0.1:25014, 1@localhost:23947, 2@kafka-2:29754]",
        "controller.quorum.voters = [<n>@<addr>, <n>@<addr>, <n>@<addr>]",
    ),
    (
        "listeners=[Endpoint(listenerName='CONTROLLER', securityProtocol=PLAINTEXT, host='127.0.0.1', port=9093)]",
        "listeners=[Endpoint(listenerName='CONTROLLER', securityProtocol=PLAINTEXT, host='<addr>', port=<n>)]",
    ),
    (
        "endpoints={ListenerName(CONTROLLER)=localhost/127.0.0.1:9093, X=kafka-1/<unresolved>:9093}",
        "endpoints={ListenerName(CONTROLLER)=<addr>, X=<addr>}",
    ),
    (
        "advertised.listeners = PLAINTEXT://broker-1:9092,SSL://[::1]:9093",
        "advertised.listeners = PLAINTEXT://<addr>,SSL://<addr>",
    ),
    (
        "directoryId=Optional[3Db5QLSqSZieL3rJBUUegA], candidate Zk_TwPbURzWQ-kSmBo_rKQ",
        "directoryId=Optional[<uuid>], candidate <uuid>",
    ),
    ("MetadataLoader@1573472386, Foo$Bar@6d06d69c, [B@1a2b3c", "MetadataLoader@<hash>, Foo$Bar@<hash>, [B@<hash>"),
    (
        "[LogLoader partition=__cluster_metadata-0, dir=/tmp/kraft data/x-0] Recovered 0000000000000042.log in 12ms",
        "[LogLoader partition=__cluster_metadata-<n>, dir=<path> data/x-<n>] Recovered <n>.log in ⁿms",
    ),
    ("Kafka commitId: f745dfdcee2b9851, version: 3.9.1", "Kafka commitId: <n>, version: <n>"),
    ("[kafka-0-raft-io-thread]: Starting", "[kafka-<n>-raft-io-thread]: Starting"),
    ("baseOffset 12 and -1, took 0.25 s, 1.0E-4", "baseOffset <n> and -<n>, took <n> s, <n>"),
    ("voters=[0, 1, 2] highWatermark=Optional.empty", "voters=[<n>, …] highWatermark=Optional.empty"),
    ("cipher AES/CBC/PKCS5Padding for TLSv1.3", "cipher AES/CBC/PKCSⁿPadding for TLSvⁿ.<n>"),
    ("member 6ba7b810-9dad-11d1-80b4-00c04fd430c8 left", "member <uuid> left"),
]

text = st.text(st.characters(codec="utf-8"), max_size=200)
pieces = st.sampled_from(
    [*STATES, "0", "17", "3.9.1", "-", "-1", "@", "@1a2b", "/", ":", "://", " ", "=", "(", ")", "[", "]", ", ", ",",
     "127.0.0.1", ":9092", "localhost", " (id: ", "/var/x", "3Db5QLSqSZieL3rJBUUegA", "f745dfdc", "0x1F", "ms", "e5",
     "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "<n>", "<addr>", "…", "_", ".", "'", "::1", "a", "g"]
)  # fmt: skip
kafkaish = st.lists(pieces, max_size=25).map("".join)


@pytest.mark.parametrize(("message", "expected"), REAL)
def test_real_messages_keep_their_words_and_lose_their_values(message, expected):
    assert expected == template_of(message)


@given(st.one_of(text, kafkaish))
def test_masking_a_template_again_changes_nothing(message):
    once = template_of(message)
    assert once == template_of(once)


@given(
    st.lists(st.sampled_from(STATES), min_size=1, max_size=6), st.sampled_from([" ", ", ", "; ", "=", " to ", "|", "("])
)
def test_words_of_state_come_out_as_they_went_in(words, between):
    message = between.join(words)
    assert message == template_of(message)


@given(st.lists(st.one_of(st.sampled_from(STATES), st.integers(0, 10**12).map(str)), max_size=8))
def test_words_of_state_survive_among_numbers(words):
    found = [word for word in re.split(r"[ ,…]+", template_of(" ".join(words))) if word not in ("<n>", "")]
    assert [word for word in words if not word.isdigit()] == found


@given(kafkaish, st.randoms(use_true_random=False))
def test_a_template_does_not_depend_on_which_digits_a_message_has(message, random):
    other = re.sub(r"[0-9]", lambda _: random.choice("0123456789"), message)
    assert template_of(message) == template_of(other)


@given(st.binary(min_size=16, max_size=16))
def test_hardly_any_random_kafka_id_escapes(raw):
    uuid = base64.urlsafe_b64encode(raw).decode().rstrip("=")
    masked = template_of(f"topic id {uuid}.")
    odd = re.search(r"[A-Za-z]\d|\d[A-Za-z]|[a-z][A-Z]{2}|[A-Z][a-z][A-Z]|[A-Z][_-][a-z]", uuid[:21])
    assert uuid.startswith("-") or not odd or masked == "topic id <uuid>."


@given(st.lists(kafkaish, max_size=10))
def test_a_template_depends_on_its_own_message_only(messages):
    together = pl.DataFrame({"m": messages}, schema={"m": pl.String}).select(template(pl.col("m")))["m"].to_list()
    assert [template_of(message) for message in messages] == together


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("took 5s", "took 5.3s"),
        ("after PT1S", "after PT1.5S"),
        ("id 1a2b3c4d", "id 12345678"),
        ("id 1A2B3C4D5E", "id 1234567890"),
        ("id AAAAAAAA7", "id 12345678"),
        ("id 0x1f", "id 31"),
        ("sleeping until: Mon Jan 05 12:00:00 UTC 2026", "sleeping until: Tue Feb 17 03:04:05 GMT+01:00 2026"),
    ],
)
def test_the_same_words_around_other_values_are_one_template(one, other):
    assert template_of(one) == template_of(other)


def test_a_date_that_older_masks_left_words_of_is_one_value():
    assert masked_again("until: Mon Jan <n> <n>:<n>:<n> UTC <n>") == template_of("until: Mon Jan 05 12:00:00 UTC 2026")
    assert masked_again("at <n>:<n>:<n> in May") == "at <n>:<n>:<n> in May"


durations = st.builds(
    lambda whole, part, unit: f"{whole}{part}{unit}",
    st.integers(0, 10**6),
    st.one_of(st.just(""), st.integers(0, 10**6).map(lambda part: f".{part}")),
    st.just("ms"),
)


@given(durations, durations, st.sampled_from(["took {}.", "in {}, then", "(at {})", "PT{}"]))
def test_a_decimal_with_a_unit_is_one_value(one, other, words):
    assert template_of(words.format(one)) == template_of(words.format(other))


@given(st.integers(0, 2**128), st.integers(0, 2**128), st.sampled_from(["{:032x}", "{:032X}"]))
def test_hexadecimal_words_are_values_whatever_their_digits(one, other, form):
    words = [form.format(each) for each in (one, other)]
    assume(all(word.islower() or re.search("[0-9]", word) for word in words))  # upper-case letters alone: a constant
    assert {template_of(f"id {word} left") for word in words} == {"id <n> left"}


def test_no_digit_is_left_in_any_template_of_a_real_message():
    assert not [message for message, _ in REAL if re.search(r"\d", template_of(message))]


def test_masks_have_names_of_their_own():
    assert len(MASKS) == len({mask.name for mask in MASKS})
