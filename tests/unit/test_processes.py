"""A child process ends with the harness, however the harness ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from harness.cluster.process import spawn

PARENT = """
import sys, threading, time
from pathlib import Path
from harness.cluster.process import spawn
def start():
    sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
    child = spawn(sleep, cwd=Path("."), output=Path(sys.argv[1]), env={})
    print(child.pid, flush=True)
thread = threading.Thread(target=start)
thread.start()
thread.join()
time.sleep(60)
"""


def gone(pid, seconds=5.0):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_child_dies_when_the_harness_is_killed(tmp_path, how):
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path / "out")], stdout=subprocess.PIPE, text=True
    ) as parent:
        child = int(parent.stdout.readline())
        assert psutil.pid_exists(child)
        parent.send_signal(how)
        assert gone(child)


def test_a_child_survives_the_thread_that_asked_for_it(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path / "out")], stdout=subprocess.PIPE, text=True
    ) as parent:
        child = int(parent.stdout.readline())
        assert not gone(child, 0.5)
        parent.kill()


def test_output_is_appended_to_the_file(tmp_path):
    output = tmp_path / "out"
    output.write_text("before\n")
    child = spawn(["/bin/echo", "hello"], cwd=Path(tmp_path), output=output, env=dict(os.environ))
    assert child.wait(10) == 0
    assert output.read_text() == "before\nhello\n"
