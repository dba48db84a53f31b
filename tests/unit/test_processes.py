"""A child process ends with the harness, however the harness ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from harness.base.processes import bare_environment, mortal, run, spawn

PARENT = """
import sys, threading, time
from pathlib import Path
from harness.base.processes import spawn
def start():
    sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
    child = spawn(sleep, cwd=Path("."), output=Path(sys.argv[1]), env={})
    print(child.pid, flush=True)
thread = threading.Thread(target=start)
thread.start()
thread.join()
time.sleep(60)
"""


STARTER = """
import subprocess, sys, time
from pathlib import Path
child = subprocess.Popen(sys.argv[1:])
while not Path(f"/proc/{child.pid}/cmdline").read_text().startswith("/bin/sleep"):
    time.sleep(0.02)
print(child.pid)
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


def test_a_mortal_command_ends_with_whoever_started_it(tmp_path):
    command = [sys.executable, "-c", STARTER, *mortal(["/bin/sleep", "60"])]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    assert gone(int(shown.stdout))


def test_output_is_appended_to_the_file(tmp_path):
    output = tmp_path / "out"
    output.write_text("before\n")
    child = spawn(["/bin/echo", "hello"], cwd=Path(tmp_path), output=output, env=dict(os.environ))
    assert child.wait(10) == 0
    assert output.read_text() == "before\nhello\n"


def test_a_command_is_run_to_its_end_and_its_outputs_are_kept_apart(tmp_path):
    script = "pwd; echo oh >&2; cat; exit 3"  # `cat` ends at once: there is no input
    done = run(["/bin/sh", "-c", script], cwd=tmp_path, env=bare_environment(), timeout=30)
    assert (done.returncode, done.stdout, done.stderr) == (3, f"{tmp_path}\n", "oh\n")


def test_bytes_that_are_no_text_do_not_break_the_reading(tmp_path):
    done = run(["/usr/bin/printf", r"caf\303\251 \377"], env=bare_environment(), timeout=30)
    assert done.stdout == "café \ufffd"


def test_a_program_that_cannot_start_says_so(tmp_path):
    done = run([str(tmp_path / "none")], env={}, timeout=30)
    assert (done.returncode, done.stderr) == (127, f"{tmp_path / 'none'} does not start: No such file or directory\n")


def test_a_command_that_hangs_goes_with_all_that_it_started(tmp_path):
    pid_file = tmp_path / "pid"
    script = f"sleep 60 & echo $! > {pid_file}; wait"
    began = time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired):
        run(["/bin/sh", "-c", script], env=bare_environment(), timeout=1)
    assert time.monotonic() - began < 20  # not the sleep's 60 s
    assert gone(int(pid_file.read_text()))
