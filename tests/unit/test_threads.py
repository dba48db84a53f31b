"""Threads of a node that hangs: asked for with SIGQUIT, copied from its output, and never waited for too long."""

import subprocess
import sys

import pytest

from harness.base.waiting import wait_until
from harness.cluster import threads
from harness.cluster.threads import dump_threads

# No shell: dash loses a signal that comes while it starts a child.
SLOW_JVM = """
import signal, time
def dump(*_):
    print("Full thread dump of this", flush=True)
    time.sleep(0.2)
    print('"main" waiting on <0x1>\\nJNI global refs: 3', flush=True)
signal.signal(signal.SIGQUIT, dump)
print("an older line: Full thread dump\\nready", flush=True)
while True:
    signal.pause()
"""
DEAF_JVM = """
import signal
signal.signal(signal.SIGQUIT, signal.SIG_IGN)
print("ready", flush=True)
signal.pause()
"""


@pytest.fixture
def jvm(tmp_path):
    """Return a function that starts a script as the JVM, its output in a file, once it says that it is ready."""
    started = []

    def start(script):
        output = tmp_path / "stdout.log"
        with output.open("ab") as sink:
            started.append(subprocess.Popen([sys.executable, "-IS", "-c", script], stdout=sink, stderr=sink))
        assert wait_until(lambda: b"ready\n" in output.read_bytes(), 30)
        return started[-1].pid, output

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_a_dump_is_whole_and_without_what_was_written_before(jvm, tmp_path):
    kept = dump_threads(*jvm(SLOW_JVM), tmp_path / "threads-1.txt")
    assert kept.read_text() == 'Full thread dump of this\n"main" waiting on <0x1>\nJNI global refs: 3\n'


def test_a_jvm_that_does_not_answer_is_not_waited_for(jvm, tmp_path, monkeypatch):
    monkeypatch.setattr(threads, "_WITHIN_SECONDS", 0.2)
    pid, output = jvm(DEAF_JVM)
    assert dump_threads(pid, output, tmp_path / "threads-1.txt") is None
    assert not (tmp_path / "threads-1.txt").exists()
