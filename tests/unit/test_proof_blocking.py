"""Calls that block: told apart by the thread that makes them, on class facts made by hand."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.proof.bytecode import ClassFacts, MethodFacts, Use
from harness.proof.dropin.blocking import compare_blocking
from harness.proof.dropin.call_graph import CallGraph
from harness.proof.dropin.class_changes import CompiledBaseline

CLIENT = "org/apache/kafka/raft/KafkaRaftClient"
DRIVER = "org/apache/kafka/raft/KafkaRaftClientDriver"
STATE = "org/apache/kafka/raft/FollowerState"
HELPER = "org/apache/kafka/raft/internals/Helper"
RUNNABLE, SUPPLIER = "java/lang/Runnable", "java/util/function/Supplier"
EXECUTE = "(Ljava/lang/Runnable;)V"


def call(owner, name, descriptor="()V", line=1):
    return Use("call", owner, name, descriptor, line)


def made(owner, name, interface, descriptor="()V"):
    """A lambda or method reference: nothing is called yet."""
    return Use("call", owner, name, descriptor, 1, interface)


def new(owner):
    return Use("new", owner, "", "", 1)


SLEEP = call("java/lang/Thread", "sleep", "(J)V")


def method(name, *uses, descriptor="()V"):
    return MethodFacts(name, descriptor, 1, (), "c1", uses)


def facts(name, *methods, superclass="java/lang/Object", interfaces=()):
    return ClassFacts(name, 52, 1, superclass, tuple(interfaces), (), methods, f"{name}.class")


def jar(*classes, poll=()):
    """Classes beside a client whose round makes these calls."""
    return {each.name: each for each in (facts(CLIENT, method("poll", *poll)), *classes)}


BASE = jar(facts(STATE, method("size")), poll=[call(STATE, "size")])


def compared(candidate, base=BASE):
    return [(each.rule, each.detail) for each in compare_blocking(candidate, [CompiledBaseline("base", base)])]


def rules(candidate, base=BASE):
    return [rule for rule, _ in compared(candidate, base)]


FAILS, WARNS = ["blocks-or-ends"], ["blocks-elsewhere"]


@pytest.mark.parametrize(
    ("owner", "name", "descriptor", "fails"),
    [
        ("java/lang/Thread", "sleep", "()V", True),
        ("org/apache/kafka/common/utils/Utils", "sleep", "()V", True),
        ("java/util/concurrent/CompletableFuture", "get", "()V", True),
        ("java/lang/System", "exit", "()V", True),
        ("java/lang/Thread", "currentThread", "()V", False),
        ("java/util/Map", "get", "()V", False),
        ("java/util/concurrent/TimeUnit", "sleep", "(J)V", True),
        ("java/util/concurrent/BlockingQueue", "take", "()Ljava/lang/Object;", True),
        ("java/util/concurrent/LinkedBlockingDeque", "putFirst", "(Ljava/lang/Object;)V", True),
        ("java/util/concurrent/BlockingQueue", "poll", "(JLjava/util/concurrent/TimeUnit;)Ljava/lang/Object;", True),
        ("java/util/concurrent/BlockingQueue", "poll", "()Ljava/lang/Object;", False),
        ("java/util/concurrent/ConcurrentLinkedQueue", "offer", "(Ljava/lang/Object;)Z", False),
        ("java/util/concurrent/locks/Condition", "await", "()V", True),
        ("java/util/concurrent/locks/Condition", "signalAll", "()V", False),
        ("java/util/concurrent/locks/ReentrantLock", "tryLock", "(JLjava/util/concurrent/TimeUnit;)Z", True),
        ("java/util/concurrent/locks/ReentrantLock", "tryLock", "()Z", False),
        ("java/util/concurrent/locks/ReentrantLock", "lock", "()V", False),
        ("java/util/concurrent/CompletableFuture", "getNow", "(Ljava/lang/Object;)Ljava/lang/Object;", False),
        ("java/util/concurrent/Semaphore", "tryAcquire", "()Z", False),
        ("java/util/concurrent/Semaphore", "acquire", "()V", True),
        ("java/lang/Object", "wait", "(J)V", True),
        ("java/lang/Object", "notifyAll", "()V", False),
        ("java/net/InetAddress", "getByName", "(Ljava/lang/String;)Ljava/net/InetAddress;", True),
        ("java/net/InetSocketAddress", "<init>", "(Ljava/lang/String;I)V", True),
        ("java/net/InetSocketAddress", "<init>", "(Ljava/net/InetAddress;I)V", False),
        ("java/net/InetSocketAddress", "getHostName", "()Ljava/lang/String;", True),
        ("java/net/InetSocketAddress", "getHostString", "()Ljava/lang/String;", False),
        ("java/net/InetSocketAddress", "createUnresolved", "(Ljava/lang/String;I)V", False),
        ("java/net/Socket", "connect", "(Ljava/net/SocketAddress;)V", True),
        ("java/nio/channels/Selector", "selectNow", "()I", False),
        ("org/apache/kafka/common/KafkaFuture", "get", "()Ljava/lang/Object;", True),
        ("org/apache/kafka/common/utils/Time", "sleep", "(J)V", True),
        ("org/apache/kafka/common/utils/Time", "milliseconds", "()J", False),
        ("org/apache/kafka/common/utils/Exit", "halt", "(I)V", True),
    ],
)
def test_a_class_that_newly_sleeps_waits_or_ends_the_jvm_on_the_raft_thread_fails(owner, name, descriptor, fails):
    candidate = jar(facts(STATE, method("size", call(owner, name, descriptor))), poll=[call(STATE, "size")])
    assert rules(candidate) == (FAILS if fails else [])
    assert rules(candidate, candidate) == [], "what base does too is not new"


def test_the_way_from_the_loop_to_the_call_is_shown():
    candidate = jar(
        facts(STATE, method("size", call(HELPER, "pause"))),
        facts(HELPER, method("pause", made(HELPER, "lambda$pause$0", SUPPLIER)), method("lambda$pause$0", SLEEP)),
        poll=[call(STATE, "size")],
    )
    assert compared(candidate) == [
        (
            "blocks-or-ends",
            "org.apache.kafka.raft.internals.Helper newly calls java.lang.Thread.sleep on the raft thread "
            "(KafkaRaftClient.poll → FollowerState.size → Helper.pause)",
        )
    ]


def test_what_only_other_threads_call_is_a_warning():
    assert compared(jar(facts(STATE, method("size"), method("register", SLEEP)), poll=[call(STATE, "size")])) == [
        ("blocks-elsewhere", f"{STATE.replace('/', '.')} newly calls java.lang.Thread.sleep, not on the raft thread")
    ]


def test_an_override_of_what_the_loop_calls_is_on_the_raft_thread():
    sub = facts(HELPER, method("size", SLEEP), superclass=STATE)
    assert rules(jar(facts(STATE, method("size")), sub, poll=[call(STATE, "size")])) == FAILS


def test_what_a_class_implements_of_another_jar_is_reached_by_calls_of_that():
    implements = facts(HELPER, method("get", SLEEP), interfaces=[SUPPLIER])
    assert rules(jar(implements, poll=[call(SUPPLIER, "get")])) == FAILS
    assert rules(jar(implements, poll=[call("java/lang/AutoCloseable", "close")])) == WARNS


def test_a_static_initializer_runs_where_its_class_is_first_used():
    lazy = facts(HELPER, method("<clinit>", SLEEP))
    assert rules(jar(lazy, poll=[Use("get", HELPER, "X", "I", 1)])) == FAILS
    assert rules(jar(lazy)) == WARNS


def test_the_loop_of_the_driving_thread_is_on_the_raft_thread_and_what_ends_it_is_not():
    def driver(**uses):
        methods = (method(name, call(CLIENT, "poll"), *more) for name, more in uses.items())
        return jar(facts(DRIVER, *methods, superclass="org/apache/kafka/server/util/ShutdownableThread"))

    assert rules(driver(doWork=[SLEEP], shutdown=[])) == FAILS
    assert rules(driver(doWork=[], shutdown=[SLEEP])) == WARNS


@pytest.mark.parametrize(
    "taker",
    [
        call("java/util/concurrent/ExecutorService", "execute", EXECUTE),
        call("java/util/concurrent/CompletableFuture", "runAsync", EXECUTE),
        call("java/lang/Thread", "<init>", EXECUTE),
        call(DRIVER, "<init>", EXECUTE),  # a thread by what it extends
        call(HELPER, "inBackground", EXECUTE),  # which starts a thread with it
    ],
)
def test_what_is_handed_to_another_thread_does_not_block_this_one(taker):
    started = method("inBackground", call("java/lang/Thread", "<init>", EXECUTE), descriptor=EXECUTE)
    others = (
        facts(HELPER, started),
        facts(DRIVER, method("<init>", descriptor=EXECUTE), superclass="java/lang/Thread"),
    )
    task = facts(STATE, method("rest", SLEEP), method("size"))
    assert rules(jar(task, *others, poll=[made(STATE, "rest", RUNNABLE), taker])) == WARNS
    runnable = facts(STATE, method("<init>"), method("run", SLEEP), method("size"), interfaces=[RUNNABLE])
    poll = [new(STATE), call(STATE, "<init>"), taker, call(RUNNABLE, "run")]
    assert rules(jar(runnable, *others, poll=poll)) == WARNS


def test_a_blocking_method_itself_may_be_handed_over():
    submit = call("java/util/concurrent/ExecutorService", "execute", EXECUTE)
    assert rules(jar(poll=[made("java/lang/Thread", "sleep", RUNNABLE, "(J)V"), submit])) == WARNS
    assert rules(jar(poll=[made("java/lang/Thread", "sleep", RUNNABLE, "(J)V"), call(RUNNABLE, "run")])) == FAILS


def test_a_helper_that_runs_a_task_itself_as_well_hands_nothing_over():
    both = method("both", call(RUNNABLE, "run"), call("java/lang/Thread", "<init>", EXECUTE), descriptor=EXECUTE)
    task = facts(STATE, method("rest", SLEEP), method("size"))
    candidate = jar(task, facts(HELPER, both), poll=[made(STATE, "rest", RUNNABLE), call(HELPER, "both", EXECUTE)])
    assert rules(candidate) == FAILS


def test_a_lambda_that_is_kept_runs_where_its_interface_is_called():
    def kept(*after):
        return facts(STATE, method("<init>", made(STATE, "rest", SUPPLIER), *after), method("rest", SLEEP))

    assert rules(jar(kept(Use("put", STATE, "s", "LX;", 1)), poll=[call(SUPPLIER, "get")])) == FAILS
    streamed = call("java/util/stream/Stream", "generate", f"(L{SUPPLIER};)V")
    assert rules(jar(kept(streamed), poll=[call(SUPPLIER, "get")])) == WARNS, "a stream ran it where it was made"


def test_an_object_that_another_jar_is_given_is_called_back_at_once():
    visitor = facts(HELPER, method("<init>"), method("accept", SLEEP), interfaces=["java/util/function/Consumer"])
    given = call("java/lang/Iterable", "forEach", "(Ljava/util/function/Consumer;)V")
    assert rules(jar(visitor, poll=[new(HELPER), call(HELPER, "<init>"), given])) == FAILS


def test_a_class_that_extends_what_blocks_blocks_by_what_it_inherits():
    queue = facts(HELPER, superclass="java/util/concurrent/LinkedBlockingQueue")
    assert rules(jar(queue, poll=[call(HELPER, "take")])) == FAILS
    own = facts(HELPER, method("take"), superclass="java/util/concurrent/LinkedBlockingQueue")
    assert rules(jar(own, poll=[call(HELPER, "take")])) == []


def test_a_call_that_moves_within_its_class_or_is_written_twice_by_a_compiler_is_not_new():
    base = jar(facts(STATE, method("size", SLEEP), method("next")), poll=[call(STATE, "size")])
    moved = jar(facts(STATE, method("size", call(STATE, "next")), method("next", SLEEP)), poll=[call(STATE, "size")])
    assert rules(moved, base) == rules(base, moved) == []
    in_finally = jar(facts(STATE, method("size", SLEEP, SLEEP), method("next")), poll=[call(STATE, "size")])
    assert rules(in_finally, base) == []


def test_a_second_call_in_the_same_class_is_new():
    base = jar(facts(STATE, method("size", SLEEP)), poll=[call(STATE, "size")])
    again = call("java/lang/Thread", "sleep", "(J)V", line=2)
    assert rules(jar(facts(STATE, method("size", SLEEP, again)), poll=[call(STATE, "size")]), base) == FAILS


def test_a_second_call_is_new_in_a_jar_without_line_numbers_too():
    base = jar(facts(STATE, method("size", SLEEP)), poll=[call(STATE, "size")])
    bare = replace(SLEEP, line=0)
    sleeping = [
        jar(facts(STATE, method("size", *calls)), poll=[call(STATE, "size", line=0)])
        for calls in ([bare], [bare, bare])
    ]
    assert [rules(each, base) for each in sleeping] == [[], FAILS]


def test_a_call_that_moves_to_another_class_is_not_new_and_one_in_addition_is():
    base = jar(facts(STATE, method("size", SLEEP)), poll=[call(STATE, "size")])

    def moved(*more, poll=()):
        state = facts(STATE, method("size", call(HELPER, "pause")))
        return jar(state, facts(HELPER, method("pause", SLEEP, *more)), poll=[call(STATE, "size"), *poll])

    assert rules(moved(), base) == []
    for also in (moved(call("java/lang/Thread", "sleep", "(J)V", line=2)), moved(poll=[SLEEP])):
        assert set(rules(also, base)) == set(FAILS)


def test_a_call_that_moves_to_the_raft_thread_is_new_there():
    base = jar(facts(STATE, method("size"), method("register", SLEEP)), poll=[call(STATE, "size")])
    moved = jar(facts(STATE, method("size", call(HELPER, "pause"))), facts(HELPER, method("pause", SLEEP)))
    assert rules(moved, base) == []
    on_raft_thread = {**moved, **jar(poll=[call(STATE, "size")])}
    assert rules(on_raft_thread, base) == FAILS


def test_a_blocking_method_of_base_that_the_loop_newly_calls_is_found_though_its_class_is_unchanged():
    base = jar(facts(STATE, method("size"), method("awaitEnd", SLEEP)), poll=[call(STATE, "size")])
    candidate = {**base, **jar(poll=[call(STATE, "size"), call(STATE, "awaitEnd")])}
    assert [detail.partition(" on ")[0] for _, detail in compared(candidate, base)] == [
        "org.apache.kafka.raft.FollowerState newly calls java.lang.Thread.sleep",
        "org.apache.kafka.raft.KafkaRaftClient newly calls org.apache.kafka.raft.FollowerState.awaitEnd",
    ]


def test_one_baseline_that_makes_the_call_suffices():
    candidate = jar(facts(STATE, method("size", SLEEP)), poll=[call(STATE, "size")])
    baselines = [CompiledBaseline("base", BASE), CompiledBaseline("ecj", candidate)]
    assert list(compare_blocking(candidate, baselines)) == []


@given(st.lists(st.tuples(st.sampled_from("ABCD"), st.sampled_from("ABCD"), st.booleans()), max_size=12))
def test_any_graph_is_walked_to_its_end(edges):
    uses = {name: [call(to, "go") for one, to, _ in edges if one == name] for name in "ABCD"}
    uses["A"].append(SLEEP)
    parents = {one: to for one, to, extends in edges if extends}
    classes = [facts(name, method("go", *uses[name]), superclass=parents.get(name, "")) for name in "ABCD"]
    graph = CallGraph(jar(*classes, poll=[call("D", "go")]))
    assert {("D", "go", "()V"), (CLIENT, "poll", "()V")} <= graph.raft_thread.keys() <= graph.methods.keys()
    assert set(rules(jar(*classes, poll=[call("D", "go")]))) <= {*FAILS, *WARNS}
