"""Blocking calls in variants of the real raft client: caught on the raft thread however they are written."""

from collections.abc import Mapping
from pathlib import Path
from zipfile import ZipFile

import pytest

from harness.building.builders.ecj import Ecj, ecj_of
from harness.building.jars import classes_in, resources_of, write_jar
from harness.kafka.distribution import Distribution
from harness.kafka.lock import read_lock
from harness.proof.bytecode import BytecodeTools, Classes, prepare_bytecode, read_classes
from harness.proof.dropin.blocking import compare_blocking
from harness.proof.dropin.class_changes import CompiledBaseline
from harness.toolbox.lockfile import Purpose
from harness.toolbox.toolbox import Toolbox

pytestmark = pytest.mark.live

VERSION, CLIENT = "3.9.1", "org/apache/kafka/raft/KafkaRaftClient.java"
QUEUE = "org/apache/kafka/raft/internals/BlockingMessageQueue.java"
CONFIG = "org/apache/kafka/raft/QuorumConfig.java"
APPEND = "    private void appendAsFollower(Records records) {\n"  # on the raft thread
REGISTER = "    public void register(Listener<T> listener) {\n"  # on whichever thread registers
RESULT = "try { %s } catch (Exception e) { throw new RuntimeException(e); }"
JUC = "java.util.concurrent"
UTILS = "org.apache.kafka.common.utils.Utils"


def appending(code: str, members: str = "") -> Mapping[str, tuple[str, str]]:
    """Return the edit that puts code into what the raft thread does for every append, and members beside it."""
    return {CLIENT: (APPEND, f"{members}\n{APPEND}{code}\n")}


def tried(code: str) -> Mapping[str, tuple[str, str]]:
    return appending(RESULT % code)


ON_THE_RAFT_THREAD: Mapping[str, tuple[Mapping[str, tuple[str, str]], str]] = {
    "Utils.sleep": (appending(f"{UTILS}.sleep(200);"), "Utils.sleep"),
    "TimeUnit.sleep": (tried(f"{JUC}.TimeUnit.MILLISECONDS.sleep(200);"), "TimeUnit.sleep"),
    "time.sleep": (appending("time.sleep(200);"), "Time.sleep"),
    "BlockingQueue.take": (tried(f"new {JUC}.LinkedBlockingQueue<String>().take();"), "LinkedBlockingQueue.take"),
    "a queue's poll with a time-out": (
        tried(f"new {JUC}.SynchronousQueue<String>().poll(200, {JUC}.TimeUnit.MILLISECONDS);"),
        "SynchronousQueue.poll",
    ),
    "Condition.await": (
        tried(f"{JUC}.locks.Lock l = new {JUC}.locks.ReentrantLock(); l.lock(); l.newCondition().await();"),
        "Condition.await",
    ),
    "Condition.awaitNanos": (
        tried(f"{JUC}.locks.Lock l = new {JUC}.locks.ReentrantLock(); l.lock(); l.newCondition().awaitNanos(9L);"),
        "Condition.awaitNanos",
    ),
    "Object.wait": (tried("synchronized (this) { this.wait(200); }"), "Object.wait"),
    "InetAddress.getByName": (tried('java.net.InetAddress.getByName("a.example");'), "InetAddress.getByName"),
    "KafkaFuture.get": (
        tried("new org.apache.kafka.common.internals.KafkaFutureImpl<String>().get();"),
        "KafkaFutureImpl.get",
    ),
    "CompletableFuture.join": (appending(f"new {JUC}.CompletableFuture<String>().join();"), "CompletableFuture.join"),
    "a park": (appending(f"{JUC}.locks.LockSupport.parkNanos(9L);"), "LockSupport.parkNanos"),
    "the end of the JVM": (appending("if (records == null) Runtime.getRuntime().halt(3);"), "Runtime.halt"),
    "a helper class": (
        appending("Helper.pause();", "static class Helper { static void pause() { new Helper().rest(); }"
                  f" void rest() {{ {UTILS}.sleep(200); }} }}"),
        "Utils.sleep",
    ),
    "a lambda that runs at once": (
        appending(f"java.util.Optional.of(200L).ifPresent(ms -> {UTILS}.sleep(ms));"),
        "Utils.sleep",
    ),
    "a method reference": (
        appending(f"java.util.stream.Stream.of(200L).forEach({UTILS}::sleep);"),
        "Utils.sleep",
    ),
    "a supplier that was made elsewhere": (
        appending("calm.get();", f"private final Supplier<Long> calm = () -> {{ {UTILS}.sleep(9); return 1L; }};"),
        "Utils.sleep",
    ),
    "an anonymous class": (
        appending(f"new Object() {{ void rest() {{ {UTILS}.sleep(200); }} }}.rest();"),
        "Utils.sleep",
    ),
    "an anonymous class that another jar calls": (
        appending("java.util.Arrays.asList(1L).forEach(new java.util.function.Consumer<Long>() {"
                  f" public void accept(Long ms) {{ {UTILS}.sleep(ms); }} }});"),
        "Utils.sleep",
    ),
    "a queue of its own": (
        {CLIENT: (APPEND, "static class Own extends java.util.concurrent.LinkedBlockingQueue<String> { }\n"
                  f"{APPEND}try {{ new Own().take(); }} catch (InterruptedException e) {{ }}\n")},
        "take",
    ),
    "another round of the message queue": (appending("messageQueue.poll(200);"), "BlockingMessageQueue.poll"),
    "a task whose end is waited for": (
        tried(f"{JUC}.Executors.newSingleThreadExecutor().submit(() -> 1).get();"),
        "Future.get",
    ),
    "an override far from the client": (
        {
            "org/apache/kafka/raft/ResignedState.java": (
                "    public int epoch() {\n",  # of EpochState
                f"    public int epoch() {{\n        {UTILS}.sleep(9);\n",
            )
        },
        "Utils.sleep",
    ),
}  # fmt: skip

ELSEWHERE: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "where listeners register": {CLIENT: (REGISTER, f"{REGISTER}{UTILS}.sleep(9);\n")},
    "a shutdown hook": appending(f"Runtime.getRuntime().addShutdownHook(new Thread(() -> {UTILS}.sleep(9)));"),
    "Kafka's own shutdown hook": appending(
        f'org.apache.kafka.common.utils.Exit.addShutdownHook("x", () -> {UTILS}.sleep(9));'
    ),
    "an executor's thread": appending(
        f"pool.submit(() -> {UTILS}.sleep(9));",
        f"private final {JUC}.ExecutorService pool = {JUC}.Executors.newSingleThreadExecutor();",
    ),
    "an executor's thread, by a method reference": appending(
        "pool.execute(this::rest);",
        f"private final {JUC}.ExecutorService pool = {JUC}.Executors.newSingleThreadExecutor();"
        f" private void rest() {{ {UTILS}.sleep(9); }}",
    ),
    "a thread of its own": appending(
        "new Rest().start();",
        f"static class Rest extends Thread {{ public void run() {{ {UTILS}.sleep(9); }} }}",
    ),
    "an anonymous task on a thread": appending(
        f"new Thread(new Runnable() {{ public void run() {{ {UTILS}.sleep(9); }} }}).start();"
    ),
    "a helper that starts threads": appending(
        f"inBackground(() -> {UTILS}.sleep(9));",
        "private static void inBackground(Runnable task) { Thread t = new Thread(task); t.start(); }",
    ),
    "a future of another thread": appending(f"{JUC}.CompletableFuture.runAsync(() -> {UTILS}.sleep(9));"),
}

HARMLESS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "nothing changed": {},
    "the wait for messages moved within its class": {
        QUEUE: (
            "            RaftMessage message = queue.poll(timeoutMs, TimeUnit.MILLISECONDS);",
            "            RaftMessage message = next(timeoutMs);",
        ),
        # the method that it moved into
        QUEUE + " ": (
            "    @Override\n    public void add(",
            "    private RaftMessage next(long timeoutMs) throws InterruptedException {\n"
            "        return queue.poll(timeoutMs, TimeUnit.MILLISECONDS);\n    }\n    @Override\n    public void add(",
        ),
    },
    "the reading of the voters moved to another class": {
        CONFIG: ("address = new InetSocketAddress(host, port);", "address = VoterStrings.address(host, port);"),
        CONFIG + " ": (
            "public class QuorumConfig {",
            "class VoterStrings { static InetSocketAddress address(String host, int port)"
            " { return new InetSocketAddress(host, port); } }\npublic class QuorumConfig {",
        ),
    },
    "the round of the queue moved within its class": {
        CLIENT: (
            "RaftMessage message = messageQueue.poll(",
            "RaftMessage message = nextMessage(",
        ),
        CLIENT + " ": (
            APPEND,
            "    private RaftMessage nextMessage(long ms) { return messageQueue.poll(ms); }\n" + APPEND,
        ),
    },
    "polls and looks that do not wait": appending(
        f"new {JUC}.LinkedBlockingQueue<String>().poll(); new {JUC}.CompletableFuture<String>().getNow(null);"
        ' new java.util.HashMap<String, String>().get(null); java.net.InetSocketAddress.createUnresolved("a", 1);'
        " Thread.currentThread().getName(); time.milliseconds();"
    ),
}


@pytest.fixture(scope="module")
def bytecode(toolbox: Toolbox) -> BytecodeTools:
    return prepare_bytecode(ecj_of(toolbox), toolbox)


@pytest.fixture(scope="module")
def sources(toolbox: Toolbox) -> ZipFile:
    return ZipFile(toolbox.downloads.fetch(read_lock(VERSION).one(Purpose.SOURCES)))


@pytest.fixture(scope="module")
def base(bytecode: BytecodeTools, kafka: Distribution) -> Classes:
    return read_classes(bytecode, kafka.raft_jar)


class Workshop:
    """Compiles variants of single files of the raft module, and returns the module's classes with them."""

    def __init__(self, ecj: Ecj, bytecode: BytecodeTools, kafka: Distribution, sources: ZipFile) -> None:
        self.ecj, self.bytecode, self.kafka, self.sources = ecj, bytecode, kafka, sources

    def variant(self, edits: Mapping[str, tuple[str, str]], folder: Path, base: Classes) -> Classes:
        texts: dict[str, str] = {CLIENT: self.sources.read(CLIENT).decode()}
        for name, (old, new) in edits.items():
            text = texts.setdefault(name.strip(), self.sources.read(name.strip()).decode())
            assert text.count(old) == 1, f"{name} has {text.count(old)} times {old}"
            texts[name.strip()] = text.replace(old, new)
        for name, text in texts.items():
            (folder / "src" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "src" / name).write_text(text)
        jars = (self.kafka.raft_jar, *self.kafka.others)
        made = self.ecj.compile(folder / "src", list(texts), jars, folder / "classes", 8)
        assert made.succeeded, made.output
        write_jar({**resources_of(self.kafka.raft_jar), **classes_in(folder / "classes")}, folder / "variant.jar")
        changed = read_classes(self.bytecode, folder / "variant.jar")
        tops = {name.partition("$")[0] for name in changed}
        return {**{name: each for name, each in base.items() if name.partition("$")[0] not in tops}, **changed}


@pytest.fixture(scope="module")
def workshop(toolbox: Toolbox, bytecode: BytecodeTools, kafka: Distribution, sources: ZipFile) -> Workshop:
    return Workshop(ecj_of(toolbox), bytecode, kafka, sources)


@pytest.mark.parametrize("variant", ON_THE_RAFT_THREAD)
def test_a_call_that_blocks_the_raft_thread_fails_and_is_named_with_the_way_to_it(workshop, base, tmp_path, variant):
    edits, called = ON_THE_RAFT_THREAD[variant]
    found = list(compare_blocking(workshop.variant(edits, tmp_path, base), [CompiledBaseline("base", base)]))
    assert {each.rule for each in found} == {"blocks-or-ends"}, found
    assert any(f"{called} on the raft thread (" in each.detail or f"{called}, " in each.detail for each in found), found


@pytest.mark.parametrize("variant", ELSEWHERE)
def test_a_call_that_blocks_another_thread_is_a_warning(workshop, base, tmp_path, variant):
    found = compare_blocking(workshop.variant(ELSEWHERE[variant], tmp_path, base), [CompiledBaseline("base", base)])
    assert [each.rule for each in found] == ["blocks-elsewhere"]


@pytest.mark.parametrize("variant", HARMLESS)
def test_what_blocks_no_more_than_base_does_is_no_difference(workshop, base, tmp_path, variant):
    found = compare_blocking(workshop.variant(HARMLESS[variant], tmp_path, base), [CompiledBaseline("base", base)])
    assert list(found) == []
