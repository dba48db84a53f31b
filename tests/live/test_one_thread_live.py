"""Who calls RequestManager on live nodes: a jar in which nobody but the raft thread may passes, and notices who does.

The source audit asks the same by the call graph (`one-thread`).
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness.building.patched_jar import patched_jar
from harness.kafka.patching import load_patch, load_series
from harness.kafka.series import series_folder

pytestmark = [pytest.mark.live, pytest.mark.clusters, pytest.mark.whole]

KAFKA = "3.9.1"
SOUND = Path(__file__).parents[1] / "sound"
REFUSES = "RequestManager is the raft thread's alone"
HEAD = """Description: {0}
Author: Kafka patch harness authors
Origin: vendor
Forwarded: not-needed
Applies-To: 3.9.1
Last-Update: 2026-11-26
---
diff --git a/raft/src/main/java/org/apache/kafka/raft/{1}.java b/raft/src/main/java/org/apache/kafka/raft/{1}.java
--- a/raft/src/main/java/org/apache/kafka/raft/{1}.java
+++ b/raft/src/main/java/org/apache/kafka/raft/{1}.java
"""
# The series' own method of RequestManager refuses as well.
REPLACES = """@@ -71,2 +71,3 @@ public class RequestManager {
     public void updateBootstrapServers(Collection<Node> newBootstrapServers) {
+        onlyTheRaftThread();
         if (newBootstrapServers == null || newBootstrapServers.isEmpty()) {
"""
# Brokers and controllers ask this of their client on threads of their own.
ASKS = """@@ -608,3 +608,4 @@ public final class KafkaRaftClient<T> implements RaftClient<T> {
     public LeaderAndEpoch leaderAndEpoch() {
         if (isInitialized()) {
+            requestManager.isBackingOff(Node.noNode(), time.milliseconds());
             return quorum.leaderAndEpoch();
"""


@pytest.fixture
def shown(toolbox, quiet, tmp_path):
    """Return a function that builds the shipped series with patches on top, and returns what it shows in turn2."""

    def show(**more):
        for name, text in more.items():
            (tmp_path / f"{name}.patch").write_text(text)
        own = (load_patch(tmp_path, f"{name}.patch") for name in more)
        refuses = load_patch(SOUND, "only-the-raft-thread.patch")
        patches = (*load_series(series_folder(KAFKA)).patches, refuses, *own)
        jar = patched_jar(KAFKA, patches, tmp_path / "jar", toolbox, quiet.report)
        words = ("--scenario", "turn2", "--arms", "on", "--fresh", "--tests", "none", "--no-coverage", "--out", "run")
        command = [sys.executable, "-c", "from harness.cli import main; main()", "verify", "--jar", str(jar), *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=900, check=False)
        assert (tmp_path / "run" / "verdict.json").exists(), done.stdout + done.stderr
        (run,) = json.loads((tmp_path / "run" / "verdict.json").read_text())["runs"]
        return run["outcome"], "".join(log.read_text() for log in (tmp_path / "run" / "runs").rglob("server.log"))

    return show


def test_on_live_nodes_the_raft_thread_alone_calls_the_request_manager(shown):
    outcome, logs = shown(replaces=HEAD.format("the series' own method refuses too", "RequestManager") + REPLACES)
    assert (outcome, REFUSES in logs) == ("PASSED", False)
    assert "Updated bootstrap servers to: [" in logs


def test_a_call_on_another_thread_is_refused_and_seen(shown):
    """Break it once: without a call from elsewhere nothing would show that a call from elsewhere shows."""
    outcome, logs = shown(asks=HEAD.format("other threads ask the request manager", "KafkaRaftClient") + ASKS)
    assert (outcome != "PASSED", REFUSES in logs) == (True, True)
