"""How long upstream's tests of the raft module take on a jar, by scope.

    python benchmarks/junit.py [JAR] [SCOPE]...

Without a jar the released one is tested against itself, which costs what a sound candidate costs.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from harness.building.builders.ecj import ecj_of
from harness.kafka.distribution import distribution_of
from harness.kafka.lock import read_lock
from harness.kafka.release_lines import line_of
from harness.model.proof import TestScope
from harness.proof.junit import TestBench, run_tests
from harness.toolbox.lockfile import Purpose
from harness.toolbox.toolbox import local_toolbox

KAFKA = "3.9.1"
# What a change to the two classes that everything goes through is related to.
CHANGED = frozenset({"org.apache.kafka.raft.KafkaRaftClient", "org.apache.kafka.raft.RequestManager"})


def main() -> None:
    words = sys.argv[1:]
    jar = Path(words.pop(0)) if words and words[0].endswith(".jar") else None
    bench, released = prepare()
    for scope in map(TestScope, words or ["related", "all"]):
        before = os.times()
        with tempfile.TemporaryDirectory() as folder:
            proof = run_tests(bench, jar or released, released, scope, Path(folder) / "junit", lambda *_: None)
        after = os.times()
        cpu = sum(after[2:4]) - sum(before[2:4])
        print(f"{scope:8} {proof.count} tests, {len(proof.failed)} failed: {proof.seconds:.1f} s, {cpu:.1f} CPU s")


def prepare() -> tuple[TestBench, Path]:
    toolbox, lock = local_toolbox(), read_lock(KAFKA)
    downloads, java = toolbox.downloads, toolbox.java()
    kafka = distribution_of(None, KAFKA, toolbox)
    builder = ecj_of(toolbox)
    jars = downloads.fetch_all(lock.of(Purpose.TESTS))
    return TestBench(line_of(KAFKA), java, jars, kafka.others, builder, toolbox.cache, changed=CHANGED), kafka.raft_jar


if __name__ == "__main__":
    main()
