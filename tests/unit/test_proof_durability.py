"""Writes that are no longer durable or atomic: told by what leads to what, on class facts made by hand."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_proof_blocking import HELPER, RUNNABLE, STATE, SUPPLIER, call, facts, made, method

from harness.proof.bytecode import Use
from harness.proof.dropin.durability import compare_durability

STORE = "org/apache/kafka/raft/FileQuorumStateStore"
PRIVATE, SYNTHETIC = 0x2, 0x1000
SYNC = call("java/io/FileDescriptor", "sync")
FLUSH_WRITER = call("java/io/BufferedWriter", "flush")
FORCE = call("java/nio/channels/FileChannel", "force", "(Z)V")
FLUSH = call("org/apache/kafka/raft/ReplicatedLog", "flush", "(Z)V")
PATHS = "Ljava/nio/file/Path;Ljava/nio/file/Path;"
MOVE = call("org/apache/kafka/common/utils/Utils", "atomicMoveWithFallback", f"({PATHS})V")
MOVE_ALONE = call("org/apache/kafka/common/utils/Utils", "atomicMoveWithFallback", f"({PATHS}Z)V")
FLUSH_DIR = call("org/apache/kafka/common/utils/Utils", "flushDir", "(Ljava/nio/file/Path;)V")
PLAIN_MOVE = call("java/nio/file/Files", "move")
ATOMIC = Use("get", "java/nio/file/StandardCopyOption", "ATOMIC_MOVE", "Ljava/nio/file/StandardCopyOption;", 1)
WRITE = call(STORE, "write")


def private(name, *uses):
    return replace(method(name, *uses), access=PRIVATE)


def jar(*classes):
    return {each.name: each for each in classes}


def store(*uses, more=()):
    return facts(STORE, method("write", *uses), *more)


def found(base, candidate):
    assert list(compare_durability(base, base)) == list(compare_durability(candidate, candidate)) == []
    return [(each.rule, each.severity.value, each.where) for each in compare_durability(base, candidate)]


FAILS = [("no-longer-durable", "fail", STORE.replace("/", "."))]
WARNS = [("no-longer-durable", "warning", STORE.replace("/", "."))]


@pytest.mark.parametrize(
    ("before", "after", "lost"),
    [
        ([SYNC], [], True),
        ([FORCE], [], True),
        ([FLUSH], [], True),
        ([MOVE_ALONE], [PLAIN_MOVE], True),
        ([PLAIN_MOVE, ATOMIC], [PLAIN_MOVE], True),
        ([MOVE], [MOVE_ALONE], True),  # which flushed the folder too
        ([MOVE], [MOVE_ALONE, FLUSH_DIR], False),
        ([SYNC], [FORCE], False),
        ([MOVE_ALONE], [PLAIN_MOVE, ATOMIC], False),
        ([FLUSH_WRITER, SYNC], [SYNC], True),  # what it writes is on its way when the file is synced
        ([FLUSH_WRITER], [], False),
        ([SYNC, FLUSH], [FLUSH], True),  # one stands for no other
        ([PLAIN_MOVE], [], False),
        ([], [SYNC], False),
    ],
)
def test_a_method_that_no_longer_makes_its_write_durable_or_atomic_fails(before, after, lost):
    assert found(jar(store(*before)), jar(store(*after))) == (FAILS if lost else [])


def test_what_was_lost_is_named_with_its_place_in_base_and_who_led_there():
    state = facts(STATE, *(method(name, WRITE) for name in ("a", "b", "c")))
    base = jar(store(call(STORE, "writeFile"), more=[private("writeFile", SYNC)]), state)
    candidate = jar(store(call(STORE, "writeFile"), more=[private("writeFile")]), state)
    (difference,) = compare_durability(base, candidate)
    assert difference.detail == (
        "FileQuorumStateStore.writeFile, FileQuorumStateStore.write, FollowerState.a and 2 more: base syncs a file "
        "there (FileDescriptor.sync in FileQuorumStateStore.writeFile), the candidate does not"
    )


@pytest.mark.parametrize(
    "candidate",
    [
        jar(store(call(STORE, "again"), more=[private("again", SYNC)])),
        jar(store(call(HELPER, "go")), facts(HELPER, method("go", SYNC))),
        jar(store(made(STORE, "lambda$write$0", SUPPLIER), more=[private("lambda$write$0", SYNC)])),
        jar(facts(STATE, method("write"))),  # the method is gone: its callers lead there or not
    ],
    ids=["helper", "another class", "lambda", "gone"],
)
def test_code_that_only_moved_down_makes_no_difference(candidate):
    assert found(jar(store(SYNC)), candidate) == []


def test_code_that_only_moved_up_makes_no_difference_and_is_a_warning_where_others_may_call_the_method():
    down, up = [call(STORE, "one")], [call(STORE, "two")]

    def whole(access, in_write, in_one, in_two):
        lowest = replace(method("two", *in_two), access=access)
        return jar(store(*down, *in_write, more=[private("one", *up, *in_one), lowest]))

    base = whole(PRIVATE, [], [], [SYNC])
    assert found(base, whole(PRIVATE, [], [SYNC], [])) == []
    assert found(base, whole(PRIVATE, [SYNC], [], [])) == [], "two callers up"
    assert found(base, whole(PRIVATE, [], [], [])) == FAILS
    assert found(whole(1, [], [], [SYNC]), whole(1, [SYNC], [], [])) == WARNS


def test_a_caller_that_does_so_for_other_reasons_stands_for_nothing():
    def client(*appends):
        parts = private("append", *appends), private("flushLog", FLUSH)
        return facts(STORE, method("poll", call(STORE, "append"), call(STORE, "flushLog")), *parts)

    assert found(jar(client(FLUSH)), jar(client())) == FAILS


def test_a_private_method_that_nobody_calls_any_more_says_nothing():
    assert (
        found(
            jar(store(call(STORE, "old"), SYNC, more=[private("old", SYNC)])), jar(store(SYNC, more=[private("old")]))
        )
        == []
    )


@pytest.mark.parametrize(
    ("newly", "expected"),
    [
        (call("org/apache/kafka/server/util/Files", "writeDurably"), WARNS),
        (call("java/io/RandomAccessFile", "<init>", "(Ljava/io/File;Ljava/lang/String;)V"), WARNS),
        (call("java/io/Writer", "flush"), FAILS),
        (call("org/apache/kafka/common/protocol/ApiKeys", "values", "()[Lorg/apache/kafka/Api;"), FAILS),  # a switch
        (call("org/slf4j/Logger", "info"), FAILS),
    ],
)
def test_what_another_jar_may_do_in_its_place_is_a_warning(newly, expected):
    assert found(jar(store(SYNC)), jar(store(newly))) == expected
    assert found(jar(store(newly, SYNC)), jar(store(newly))) == FAILS, "base calls it as well"


def test_what_another_jar_may_call_back_is_a_warning_where_it_could_not_in_base():
    task = facts(HELPER, method("<init>"), method("accept", SYNC), interfaces=["java/util/function/Consumer"])
    given = call("java/lang/Iterable", "forEach", "(Ljava/util/function/Consumer;)V")
    calls_back = [Use("new", HELPER, "", "", 1), call(HELPER, "<init>"), given]
    assert found(jar(store(SYNC), task), jar(store(*calls_back), task)) == WARNS
    assert found(jar(store(*calls_back, SYNC), task), jar(store(*calls_back), task)) == FAILS


def test_what_a_lambda_of_another_number_may_call_back_was_called_back_in_base_too():
    visitor = facts(HELPER, method("<init>"), method("accept", SYNC), interfaces=["java/util/function/Consumer"])
    given = call("java/lang/Iterable", "forEach", "(Ljava/util/function/Consumer;)V")

    def numbered(name, *uses):
        body = private(name, Use("new", HELPER, "", "", 1), call(HELPER, "<init>"), given)
        body = replace(body, access=PRIVATE | SYNTHETIC)
        return jar(store(made(STORE, name, SUPPLIER), *uses, more=[body]), visitor)

    assert found(numbered("lambda$write$0", SYNC), numbered("lambda$3")) == FAILS


def test_who_no_longer_calls_what_still_does_so_for_others_is_a_warning_and_fails_where_nobody_calls_it_any_more():
    def whole(*in_write, others):
        return jar(store(*in_write, more=[private("sync", SYNC), private("other", *([call(STORE, "sync")] * others))]))

    calls = call(STORE, "sync")
    assert found(whole(calls, others=True), whole(others=True)) == WARNS
    assert found(whole(calls, others=False), whole(others=False)) == FAILS


def test_a_lambda_of_another_number_does_not_stand_for_a_flush_that_is_gone():
    def whole(name, *in_append):
        parts = private("append", *in_append), replace(private(name, FLUSH), access=PRIVATE | SYNTHETIC)
        return jar(facts(STORE, method("poll", call(STORE, "append"), made(STORE, name, SUPPLIER)), *parts))

    base = whole("lambda$poll$0", FLUSH)
    assert [found(base, whole(name)) for name in ("lambda$poll$0", "lambda$poll$1", "lambda$7")] == [FAILS] * 3


def test_many_ways_up_are_walked_once_each():
    wide = range(6)
    layers = [
        private(f"m{layer}x{at}", *(call(STORE, f"m{layer + 1}x{to}") for to in wide))
        for layer in range(12)
        for at in wide
    ]
    ends = {uses: [private(f"m12x{at}", *uses) for at in wide] for uses in ((SYNC,), ())}
    calls = [call(STORE, f"m0x{at}") for at in wide]
    base, candidate = (store(*calls, *up, more=[*layers, *ends[down]]) for up, down in (([], (SYNC,)), ([SYNC], ())))
    assert found(jar(base), jar(candidate)) == []


def test_what_is_given_to_another_thread_does_not_make_this_write_durable():
    later = [made(STORE, "rest", RUNNABLE), call("java/util/concurrent/Executor", "execute", "(Ljava/lang/Runnable;)V")]
    rest = private("rest", SYNC)
    assert found(jar(store(SYNC, more=[rest])), jar(store(*later, more=[rest]))) == FAILS
    assert found(jar(store(*later, more=[rest])), jar(store())) == [], "as little as in base"


def test_an_implementation_stands_for_the_type_that_is_called():
    kind = facts("org/apache/kafka/raft/QuorumStateStore", method("write"))
    of = replace(store(SYNC), interfaces=(kind.name,))
    state = facts(STATE, method("next", call(kind.name, "write")))
    assert found(jar(kind, of, state), jar(kind, replace(store(), interfaces=(kind.name,)), state)) == FAILS


@given(
    st.lists(st.tuples(st.sampled_from("ABCD"), st.sampled_from("ABCD")), max_size=12),
    st.lists(st.tuples(st.sampled_from("ABCD"), st.sampled_from("ABCD")), max_size=12),
)
def test_any_graph_is_walked_to_its_end_and_differs_in_nothing_from_itself(before, after):
    def of(edges):
        uses = {name: [call(to, "go") for one, to in edges if one == name] for name in "ABCD"}
        return jar(*(facts(name, method("go", *uses[name], *([SYNC] if name == "A" else []))) for name in "ABCD"))

    found(of(before), of(after))
