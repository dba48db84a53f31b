"""What the command line prints, and to whom: nobody who stops reading changes the answer, nor does a poor terminal."""

import subprocess
import sys

import pytest

HARNESS = [sys.executable, "-m", "harness"]


@pytest.mark.parametrize("command", [["list"], ["plan", "turn2"]], ids=lambda each: each[0])
def test_a_reader_that_goes_away_leaves_the_exit_code_as_it_is(command):
    """An exit code of 1 would mean HOLD."""
    with subprocess.Popen([*HARNESS, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdout.close()
        assert running.wait(60) == 0
        assert b"Traceback" not in running.stderr.read()


def test_signs_that_an_encoding_lacks_are_printed_in_another_way():
    with subprocess.Popen(
        [*HARNESS, "plan", "turn2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PYTHONIOENCODING": "ascii", "PATH": "", "HOME": "/"},
    ) as running:
        said, errors = running.communicate(timeout=60)
    assert (running.returncode, errors) == (0, b"")
    assert rb"\u201c" in said
