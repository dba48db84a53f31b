"""What blocks a thread or ends the JVM, and what takes work to another thread: tables of the JDK's and Kafka's methods.

A method is matched as `owner.name(descriptor)`, owner with slashes. Locks and files are left out: the raft thread takes
the one and writes the others in its daily work.
"""

from __future__ import annotations

import re

_JUC = "java/util/concurrent"
_KAFKA = "org/apache/kafka"

_BLOCKING = (
    # sleeping, and waiting for another thread
    r"java/lang/Thread\.(?:sleep|join)\(",
    r"java/lang/Object\.wait\(",
    rf"{_JUC}/TimeUnit\.(?:sleep|timedJoin|timedWait)\(",
    rf"{_JUC}/locks/LockSupport\.park\w*\(",
    rf"{_JUC}/locks/\w*Condition\w*\.await\w*\(",
    rf"{_JUC}/locks/[\w$]+\.try\w*Lock\(J",  # with a time-out
    rf"{_JUC}/\w*(?:Queue|Deque)\.(?:take|put|transfer)\w*\(",
    rf"{_JUC}/\w*(?:Queue|Deque|CompletionService)\.(?:poll|offer|tryTransfer)\w*\([^)]*L{_JUC}/TimeUnit;\)",
    rf"{_JUC}/\w*CompletionService\.take\(",
    rf"{_JUC}/(?:CountDownLatch|CyclicBarrier)\.await\(",
    rf"{_JUC}/Phaser\.(?:arriveAndAwait|await)\w+\(",
    rf"{_JUC}/Semaphore\.(?:acquire\w*\(|tryAcquire\([^)]*L{_JUC}/TimeUnit;\))",
    rf"{_JUC}/Exchanger\.exchange\(",
    rf"{_JUC}/\w*(?:Future|Task)\.(?:get|join|invoke|invokeAll|quietlyJoin|quietlyInvoke)\(",
    rf"{_JUC}/\w*(?:Executor|ExecutorService|Pool)\.(?:awaitTermination|awaitQuiescence|invokeAll|invokeAny|invoke|close)\(",
    # names and sockets
    r"java/net/Inet(?:4|6)?Address\.(?:getByName|getAllByName|getLocalHost|getHostName|getCanonicalHostName|isReachable)\(",
    r"java/net/InetSocketAddress\.(?:<init>\(Ljava/lang/String;I\)|getHostName\()",  # back to a name, of a literal one
    r"java/net/(?:\w*Socket)\.(?:<init>\(L|connect\(|accept\(|receive\(|getInputStream\()",
    r"java/net/URL\.(?:openStream|openConnection|getContent)\(",
    r"java/net/\w*URLConnection\.(?:connect|getInputStream|getContent|getResponseCode)\(",
    r"java/net/http/HttpClient\.send\(",
    r"javax/net/\w*SocketFactory\.createSocket\(L",
    r"java/nio/channels/\w*SocketChannel\.(?:open\(L|connect\(|accept\(|read\(|write\()",
    r"java/nio/channels/Selector\.select\(",
    # processes, and the end of this one
    r"java/lang/ProcessBuilder\.start\(",
    r"java/lang/Process\.waitFor\(",
    r"java/lang/Runtime\.(?:exec|exit|halt)\(",
    r"java/lang/System\.exit\(",
    # Kafka's own ways to these
    rf"{_KAFKA}/common/utils/Utils\.sleep\(",
    rf"{_KAFKA}/common/utils/(?:\w*Time|Timer)\.(?:sleep|waitObject|waitForFuture)\(",
    rf"{_KAFKA}/common/utils/Exit\.(?:exit|halt)\(",
    rf"{_KAFKA}/common/utils/ThreadUtils\.shutdown\w+\(",
    rf"{_KAFKA}/common/(?:KafkaFuture|internals/KafkaFutureImpl)\.get\(",
    rf"{_KAFKA}/clients/(?:NetworkClientUtils|ClientUtils)\.(?:awaitReady|sendAndReceive|isReady|parseAndValidateAddresses|resolve)\(",
    rf"{_KAFKA}/clients/\w*Client\.poll\(",
    rf"{_KAFKA}/clients/consumer/\w*Consumer\.(?:poll|commitSync|position|committed|listTopics|close)\(",
    rf"{_KAFKA}/clients/producer/\w*Producer\.(?:flush|close|commitTransaction|initTransactions)\(",
    rf"{_KAFKA}/server/util/\w*Thread\.(?:shutdown|awaitShutdown|pause|join)\(",
    rf"{_KAFKA}/server/util/FutureUtils\.waitWithLogging\(",
    rf"{_KAFKA}/server/util/\w*Shell\w*\.(?:execCommand|run)\(",
)

# Methods that run on another thread what they are given, and constructors and factories of threads.
_HANDS_OVER = (
    r"java/lang/Thread(?:\$Builder\w*)?\.(?:<init>|start|unstarted|startVirtualThread|factory)\(",
    r"java/lang/Runtime\.addShutdownHook\(",
    r"java/util/Timer\.schedule\w*\(",
    rf"{_JUC}/\w*(?:Executor|ExecutorService|CompletionService|Pool)\.(?:execute|submit|schedule\w*|invokeAll|invokeAny)\(",
    rf"{_JUC}/\w*ThreadFactory\.newThread\(",
    rf"{_JUC}/\w*(?:Future|Stage)\.\w+Async\(",
    rf"{_KAFKA}/common/utils/KafkaThread\.(?:<init>|daemon|nonDaemon)\(",
    rf"{_KAFKA}/common/utils/Exit\.addShutdownHook\(",
    rf"{_KAFKA}/server/util/\w*Scheduler\.schedule\w*\(",
    rf"{_KAFKA}/queue/\w*EventQueue\.\w+\(",
)

BLOCKS = re.compile("|".join(_BLOCKING))
HANDS_OVER = re.compile("|".join(_HANDS_OVER))
THREAD = re.compile(r"(?:[\w$]+/)*\w*Thread|java/util/TimerTask")
"""Classes whose subclasses do their work on a thread of their own."""

AT_ONCE = re.compile(r"java/util/(?!concurrent/)|java/lang/Iterable\.")
"""Methods that run what they are given before they return, on the caller's thread: streams, maps, optionals."""

SUPERTYPES = {
    "java/lang/Object": (),
    "java/lang/AutoCloseable": (),
    "java/lang/Cloneable": (),
    "java/lang/Comparable": (),
    "java/lang/Enum": ("java/lang/Comparable",),
    "java/lang/Iterable": (),
    "java/lang/Runnable": (),
    "java/io/Closeable": ("java/lang/AutoCloseable",),
    "java/io/Serializable": (),
    "java/util/Comparator": (),
    "java/util/Iterator": (),
    f"{_JUC}/Callable": (),
}
"""The supertypes of what the jar's classes mostly implement; those of others are not known."""
