"""A bare jar is asked the same questions, and what the order of instructions cannot tell stays untested."""

from dataclasses import replace
from types import MappingProxyType

import pytest

from harness.audit.answering import audit
from harness.audit.claims_file import load_claims
from harness.audit.jar_answers import JarContent, parameters_of
from harness.base.paths import data_root
from harness.model.proof import Answer
from harness.proof.bytecode import ClassFacts, FieldFacts, LogStatement, MethodFacts, Use

CLAIMS = load_claims(data_root() / "patches/3.9.1/dynamic-bootstrap/claims.toml")
PACKAGE = "org/apache/kafka/raft"
PRIVATE, PUBLIC, STATIC, SYNCHRONIZED, VOLATILE = 0x0002, 0x0001, 0x0008, 0x0020, 0x0040
STATE, LOG = "internals/KRaftControlRecordStateMachine", "ReplicatedLog"
SIX, SEVEN = "(IIIIII)V", "(IIIIIIZ)V"


def use(kind, member, line):
    owner, _, name = member.partition(".")
    return Use(kind, f"{PACKAGE}/{owner}", name, "()V", line)


def method(name, *uses, descriptor="()V", access=PRIVATE):
    """Return a method; uses are written `call Class.method`, and stand one a line from 10."""
    made = [use(*each.split(" "), line) for line, each in enumerate(uses, 10)]
    return MethodFacts(name, descriptor, access, (), "code", tuple(made))


def class_of(name, *methods, fields=()):
    return ClassFacts(f"{PACKAGE}/{name}", 52, PUBLIC, "java/lang/Object", (), fields, methods)


REFRESHED = LogStatement(f"{PACKAGE}/KafkaRaftClient", "INFO", "Updated bootstrap servers to: {}")
KEY = "controller.quorum.dynamic.bootstrap.servers.enable"


def jar(*classes, statements=(REFRESHED,), defaults=MappingProxyType({KEY: "true"})):
    return JarContent({each.name: each for each in classes}, frozenset(statements), defaults)


UPDATE, REFRESH = f"call {STATE}.updateState", "call KafkaRaftClient.maybeUpdateBootstrapServers"
CLIENT = class_of(
    "KafkaRaftClient",
    method("initialize", UPDATE, f"call {STATE}.lastVoterSet"),
    method("handleFetchResponse", f"call {STATE}.truncateNewEntries", "call KafkaRaftClient.appendAsFollower"),
    method("appendAsFollower", "call ReplicatedLog.appendAsFollower", UPDATE, REFRESH),
    method("appendAsLeader", UPDATE, REFRESH),
    method("handleFetchSnapshotResponse", f"call {LOG}.truncateToLatestSnapshot", UPDATE, REFRESH),
    method(
        "maybeUpdateBootstrapServers",
        "call QuorumConfig.dynamicBootstrapServersEnabled",
        "call RequestManager.updateBootstrapServers",
    ),
)
MANAGER = class_of(
    "RequestManager",
    method("<init>", "put RequestManager.bootstrapServers", access=PUBLIC),
    method("updateBootstrapServers", "put RequestManager.bootstrapServers", access=PUBLIC),
    method("findReadyBootstrapServer", "get RequestManager.bootstrapServers", access=PUBLIC),
    fields=(FieldFacts("bootstrapServers", "Ljava/util/List;", PRIVATE | VOLATILE, ""),),
)
CONFIG = class_of(
    "QuorumConfig",
    method("<init>", descriptor=SIX, access=PUBLIC),
    method("<init>", descriptor=SEVEN, access=PUBLIC),
    method("dynamicBootstrapServersEnabled", access=PUBLIC),
)
OTHERS = (class_of(STATE, method("updateState")), class_of(LOG, method("truncateToLatestSnapshot")))


def answers_in(*classes, **read):
    return {each.question: each for each in audit(CLAIMS, None, jar(*classes, *OTHERS, **read))}


def with_method(owner, changed):
    kept = [each for each in owner.methods if (each.name, each.descriptor) != (changed.name, changed.descriptor)]
    return replace(owner, methods=(*kept, changed))


def test_what_order_can_show_is_reported():
    found = answers_in(CLIENT, MANAGER, CONFIG)
    assert {name: each.answer for name, each in found.items()} == {
        "appends-and-snapshots-refresh": Answer.HOLDS,
        "list-is-read-once": Answer.HOLDS,
        "flag-guards-the-refresh": Answer.HOLDS,
        "flag-is-on-by-default": Answer.HOLDS,
        "refresh-is-logged-quietly": Answer.HOLDS,
        "released-constructor-is-kept": Answer.HOLDS,
        "one-thread-asks-for-servers": Answer.UNTESTED,
        "every-update-refreshes": Answer.DOES_NOT_HOLD,
        "every-truncation-refreshes": Answer.UNTESTED,
        "every-snapshot-truncation-refreshes": Answer.HOLDS,
        "refresh-only-on-change": Answer.UNTESTED,
        "log-only-on-change": Answer.UNTESTED,
    }
    assert "KafkaRaftClient.initialize (line 10)" in found["every-update-refreshes"].detail
    assert "There are no sources" in found["log-only-on-change"].detail
    place = found["every-update-refreshes"].evidence[0]
    assert (place.path, place.line, place.excerpt) == (
        f"{PACKAGE}/KafkaRaftClient.class",
        10,
        "KafkaRaftClient.initialize",
    )


def test_classes_without_a_name_of_their_own_are_read_although_they_share_one():
    unguarded = method("run", "call RequestManager.updateBootstrapServers")
    named = class_of("KafkaRaftClient$1", unguarded), class_of("LeaderState$1", method("run"))
    for more in (named[:1], named):
        found = answers_in(CLIENT, MANAGER, CONFIG, *more)["flag-guards-the-refresh"]
        assert found.answer is Answer.DOES_NOT_HOLD
        assert found.evidence[0].path == f"{PACKAGE}/KafkaRaftClient$1.class"


READ, WRITTEN = ("findReadyBootstrapServer", "get"), ("updateBootstrapServers", "put")
MONITOR = ("op 194",)


@pytest.mark.parametrize(
    ("reading", "writing", "operations", "answer"),
    [
        (SYNCHRONIZED, SYNCHRONIZED, (), Answer.HOLDS),
        (0, 0, (), Answer.DOES_NOT_HOLD),
        (0, SYNCHRONIZED, (), Answer.DOES_NOT_HOLD),
        (SYNCHRONIZED, 0, (), Answer.DOES_NOT_HOLD),
        (SYNCHRONIZED | STATIC, SYNCHRONIZED, (), Answer.DOES_NOT_HOLD),  # the lock of the class, not of the object
        (0, SYNCHRONIZED, MONITOR, Answer.UNTESTED),  # which lock, and around what, instructions do not show
    ],
)
def test_a_list_that_is_not_volatile_is_read_once_where_all_that_use_it_are_synchronized(
    reading, writing, operations, answer
):
    used = (
        replace(method(name, f"{kind} RequestManager.bootstrapServers", access=PUBLIC | access), operations=operations)
        for (name, kind), access in ((READ, reading), (WRITTEN, writing))
    )
    manager = replace(MANAGER, fields=(replace(MANAGER.fields[0], access=PRIVATE),), methods=tuple(used))
    assert answers_in(CLIENT, manager, CONFIG)["list-is-read-once"].answer is answer


def test_a_class_that_uses_the_list_of_another_object_holds_another_lock():
    plain = replace(MANAGER, fields=(replace(MANAGER.fields[0], access=0),))
    used = replace(plain, methods=(method(READ[0], "get RequestManager.bootstrapServers", access=SYNCHRONIZED),))
    peeking = with_method(CLIENT, method("peek", "get RequestManager.bootstrapServers", access=SYNCHRONIZED))
    assert answers_in(CLIENT, used, CONFIG)["list-is-read-once"].answer is Answer.HOLDS
    assert answers_in(peeking, used, CONFIG)["list-is-read-once"].answer is Answer.DOES_NOT_HOLD


@pytest.mark.parametrize(
    ("levels", "answer"),
    [
        (["INFO"], Answer.HOLDS),
        (["DEBUG", "INFO"], Answer.HOLDS),
        (["ERROR"], Answer.DOES_NOT_HOLD),
        (["INFO", "WARN"], Answer.DOES_NOT_HOLD),
        (["FATAL"], Answer.DOES_NOT_HOLD),
        ([], Answer.UNTESTED),
    ],
)
def test_a_jar_shows_at_which_levels_it_logs_a_line(levels, answer):
    other = replace(REFRESHED, level="ERROR", text="Failed to update")
    statements = [other, *(replace(REFRESHED, level=level) for level in levels)]
    found = answers_in(CLIENT, MANAGER, CONFIG, statements=statements)["refresh-is-logged-quietly"]
    assert found.answer is answer
    assert all(level in found.detail for level in levels)


@pytest.mark.parametrize(
    ("defaults", "answer"),
    [
        ({KEY: "true"}, Answer.HOLDS),
        ({KEY: "false"}, Answer.DOES_NOT_HOLD),
        ({}, Answer.DOES_NOT_HOLD),
        (None, Answer.UNTESTED),
    ],
)
def test_a_jar_shows_its_configurations_defaults(defaults, answer):
    assert answers_in(CLIENT, MANAGER, CONFIG, defaults=defaults)["flag-is-on-by-default"].answer is answer


@pytest.mark.parametrize(
    ("broken", "question"),
    [
        (with_method(CLIENT, method("appendAsLeader", UPDATE)), "appends-and-snapshots-refresh"),
        (with_method(CLIENT, method("appendAsLeader", REFRESH, UPDATE)), "appends-and-snapshots-refresh"),
        (
            with_method(CLIENT, method("maybeUpdateBootstrapServers", "call RequestManager.updateBootstrapServers")),
            "flag-guards-the-refresh",
        ),
        (with_method(MANAGER, method("isReady", *["get RequestManager.bootstrapServers"] * 2)), "list-is-read-once"),
        (replace(MANAGER, fields=(FieldFacts("bootstrapServers", "L;", PRIVATE, ""),)), "list-is-read-once"),
        (with_method(CONFIG, method("<init>", descriptor=SIX, access=PRIVATE)), "released-constructor-is-kept"),
        (replace(CONFIG, methods=CONFIG.methods[1:]), "released-constructor-is-kept"),
    ],
)
def test_a_broken_promise_shows_in_the_bytecode_too(broken, question):
    others = [each for each in (CLIENT, MANAGER, CONFIG) if each.name != broken.name]
    found = answers_in(broken, *others)[question]
    assert found.blocks, found.detail


def test_what_a_method_writes_itself_follows_too():
    direct = method("appendAsLeader", UPDATE, "put RequestManager.bootstrapServers")
    found = answers_in(with_method(CLIENT, direct), MANAGER, CONFIG)["appends-and-snapshots-refresh"]
    assert found.answer is Answer.HOLDS, found.detail


def test_of_a_field_that_only_constructors_write_nobody_knows_once_what_it_holds_is_changed():
    kept = with_method(MANAGER, method("updateBootstrapServers", "get RequestManager.bootstrapServers"))
    changed = with_method(
        kept, method("updateBootstrapServers", "get RequestManager.bootstrapServers", "call List.addAll")
    )
    answers = [answers_in(CLIENT, each, CONFIG)["appends-and-snapshots-refresh"].answer for each in (kept, changed)]
    assert answers == [Answer.DOES_NOT_HOLD, Answer.UNTESTED]


def test_a_getter_that_is_called_twice_reads_twice_and_what_has_no_lines_is_not_known():
    getter = method("servers", "get RequestManager.bootstrapServers")
    twice = with_method(with_method(MANAGER, getter), method("isReady", *["call RequestManager.servers"] * 2))
    assert answers_in(CLIENT, twice, CONFIG)["list-is-read-once"].blocks
    bare = [replace(each, uses=tuple(replace(use, line=0) for use in each.uses)) for each in twice.methods]
    found = answers_in(CLIENT, replace(twice, methods=tuple(bare)), CONFIG)["list-is-read-once"]
    assert found.answer is Answer.UNTESTED, found.detail


def test_a_flag_that_a_constructor_keeps_may_be_asked_as_a_field():
    keeps = method("<init>", "call QuorumConfig.dynamicBootstrapServersEnabled", access=PUBLIC)
    refreshes = method("maybeUpdateBootstrapServers", "call RequestManager.updateBootstrapServers")
    found = answers_in(with_method(with_method(CLIENT, keeps), refreshes), MANAGER, CONFIG)["flag-guards-the-refresh"]
    assert found.answer is Answer.UNTESTED, found.detail


def test_a_refresh_that_only_a_detour_may_bring_is_neither_held_nor_refuted():
    detour = method("appendAsLeader", UPDATE, "call KafkaRaftClient.appendAsFollower")
    found = answers_in(with_method(CLIENT, detour), MANAGER, CONFIG)["appends-and-snapshots-refresh"]
    assert found.answer is Answer.UNTESTED
    assert "KafkaRaftClient.appendAsLeader" in found.detail


def test_the_flag_may_be_asked_by_whoever_calls_the_refresh():
    asking = ["call QuorumConfig.dynamicBootstrapServersEnabled", REFRESH]
    client = class_of(
        "KafkaRaftClient",
        method("appendAsLeader", UPDATE, *asking),
        method("maybeUpdateBootstrapServers", "call RequestManager.updateBootstrapServers"),
    )
    assert answers_in(client, MANAGER, CONFIG)["flag-guards-the-refresh"].answer is Answer.HOLDS


def test_a_class_that_is_not_there_leaves_its_questions_untested():
    found = answers_in(CLIENT, MANAGER)["released-constructor-is-kept"]
    assert (found.answer, found.detail) == (Answer.UNTESTED, "The jar has no class QuorumConfig, or several.")


@pytest.mark.parametrize(
    ("descriptor", "types"),
    [
        ("()V", ()),
        ("(IJZ)V", ("int", "long", "boolean")),
        ("(Ljava/lang/String;[[ILa/B$C;)I", ("String", "int[][]", "C")),
        ("([Ljava/util/List;D)Ljava/lang/Object;", ("List[]", "double")),
    ],
)
def test_a_descriptor_is_read_as_simple_types(descriptor, types):
    assert parameters_of(descriptor) == types
