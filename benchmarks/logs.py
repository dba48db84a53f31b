"""CPU seconds of the log pipeline by stage, on synthetic logs made of real-looking lines from a seed.

python benchmarks/logs.py [MEGABYTES] [FILES] [SEED]
"""

import random
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil

from harness.logs.events import WHOLE_LOG, Reading
from harness.logs.layout import KAFKA_DEFAULT, compile_layout
from harness.logs.pipeline import read
from harness.logs.spark import session

RAFT = "org.apache.kafka.raft.KafkaRaftClient"
NETWORK = "org.apache.kafka.clients.NetworkClient"
CONTROLLER = "org.apache.kafka.controller.ClusterControlManager"
TRACED = "kafka.server.BrokerServer)\njava.io.IOException: offset {big}\n\tat a.B.c(B.java:{n}"
LISTENER = "org.apache.kafka.image.loader.MetadataLoader@{big}"
REGISTERED = "BrokerEndpoint(name='BROKER', host='127.0.0.1', port={port}, securityProtocol=0)"
STATEMENTS = [
    (30, "DEBUG", "[RaftManager id={n}] Follower high watermark updated to {big}", RAFT),
    (30, "DEBUG", f"[RaftManager id={{n}}] Notifying listener {LISTENER} of batch for baseOffset {{big}}", RAFT),
    (10, "INFO", "[RaftManager id={n}] Node {n} disconnected.", NETWORK),
    (10, "WARN", "[RaftManager id={n}] Connection to node {n} (/127.0.0.1:{port}) could not be established.", NETWORK),
    (5, "INFO", f"[QuorumController id={{n}}] Replayed {REGISTERED} of 3Db5QLSqSZieL3rJBUUegA", CONTROLLER),
    (1, "ERROR", "Failed in {n}ms", TRACED),
]


def log(size: int, rng: random.Random) -> Iterator[str]:
    """Yield events until they have `size` characters."""
    written, clock = 0, 0
    weights = [statement[0] for statement in STATEMENTS]
    while written < size:
        _, level, text, logger = rng.choices(STATEMENTS, weights)[0]
        values = {"n": rng.randrange(10), "big": rng.randrange(10**9), "port": rng.randrange(20000, 30000)}
        clock += rng.randrange(20)
        minute, rest = divmod(clock, 60_000)
        at = f"2026-11-21 {minute // 60 % 24:02}:{minute % 60:02}:{rest // 1000:02},{rest % 1000:03}"
        event = f"[{at}] {level} {text} ({logger})\n".format(**values)
        written += len(event)
        yield event


def cpu() -> dict[str, float]:
    """Return the CPU seconds used so far by this process, by the JVM and by Spark's Python workers."""
    used = {"driver": sum(psutil.Process().cpu_times()[:2]), "jvm": 0.0, "workers": 0.0}
    for child in psutil.Process().children(recursive=True):
        used["jvm" if child.name() == "java" else "workers"] += sum(child.cpu_times()[:4])
    return used


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Print what a stage took."""
    wall, before = time.monotonic(), cpu()
    yield
    used = {who: seconds - before[who] for who, seconds in cpu().items()}
    parts = "  ".join(f"{who} {seconds:4.1f}" for who, seconds in used.items())
    print(f"{name:24} {sum(used.values()):5.1f} CPU s ({parts}) {time.monotonic() - wall:5.1f} s", flush=True)


def main() -> None:
    megabytes, files, seed = (int(value) for value in (sys.argv[1:] + ["72", "36", "1"][len(sys.argv) - 1 :]))
    rng = random.Random(seed)
    reading = Reading(compile_layout(KAFKA_DEFAULT), (WHOLE_LOG,))
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        names = [f"{number}.log" for number in range(files)]
        for name in ["first.log", *names]:
            size = 1000 if name == "first.log" else megabytes * 1_000_000 // files
            (root / name).write_text("".join(log(size, rng)))
        with ExitStack() as stack:
            with stage("session"):
                spark = stack.enter_context(session(root))
            with stage("first job"):
                read(spark, root, {"first.log": reading})
            with stage(f"{megabytes} MB in {files} files"):
                read(spark, root, dict.fromkeys(names, reading))


if __name__ == "__main__":
    main()
