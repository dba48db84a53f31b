"""Locks that die with their holder: nothing of a living harness is swept, and everything of a killed one is."""

import errno
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest

from harness.base import locks
from harness.base.errors import HarnessError
from harness.base.locks import MARKER, SCRATCH, owned, scratch, sweep

HOLDER = """
import sys, time
from pathlib import Path
from harness.base.locks import owned, scratch
with owned(Path(sys.argv[1])), scratch(Path(sys.argv[2])) as folder:
    (folder / "file").touch()
    print(folder, flush=True)
    time.sleep(60)
"""


@contextmanager
def other_harness(run_dir, parent):
    """Run another process that holds both; yield it and its scratch folder."""
    command = [sys.executable, "-c", HOLDER, str(run_dir), str(parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def test_a_folder_has_one_owner_at_a_time_and_the_other_sees_who_it_is(tmp_path):
    with other_harness(tmp_path, tmp_path / "tmp") as (process, _):
        with (
            pytest.raises(HarnessError, match=f"is in use by process {process.pid}, running since 20"),
            owned(tmp_path),
        ):
            pass
        process.send_signal(signal.SIGKILL)
        process.wait()
        with owned(tmp_path):
            assert f"process {process.pid}," not in (tmp_path / MARKER).read_text()
    assert not (tmp_path / MARKER).exists()


def test_a_folder_that_cannot_be_locked_stays_and_hinders_nobody(tmp_path, monkeypatch):
    left = tmp_path / f"{SCRATCH}x"
    left.mkdir()
    (left / MARKER).touch()
    for error in (errno.EROFS, errno.EACCES, errno.ENOLCK):
        monkeypatch.setattr(locks, "_lock", lambda _path, error=error: (_ for _ in ()).throw(OSError(error, "no")))
        assert sweep(tmp_path) == []
    assert left.is_dir()


def test_only_what_a_killed_harness_left_is_swept(tmp_path):
    (tmp_path / "somebody elses").mkdir()
    (tmp_path / f"{SCRATCH}link").symlink_to("/")
    with other_harness(tmp_path, tmp_path) as (process, left), scratch(tmp_path) as own:
        assert sweep(tmp_path) == []
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert [str(folder) for folder in sweep(tmp_path)] == [left]
        assert own.is_dir()
    assert sorted(path.name for path in tmp_path.iterdir()) == [MARKER, f"{SCRATCH}link", "somebody elses"]


def test_a_folder_that_cannot_hold_a_lock_is_reported_in_a_sentence(tmp_path):
    with pytest.raises(HarnessError, match="cannot be locked: No such file or directory"), owned(tmp_path / "nowhere"):
        pass


def test_scratch_folders_come_and_go_while_others_sweep(tmp_path):
    ending = threading.Event()
    lost = []

    def sweeping():
        while not ending.is_set():
            sweep(tmp_path)

    def working():
        for _ in range(100):
            with scratch(tmp_path) as folder:
                (folder / "file").touch()
                lost.extend([] if (folder / "file").exists() else [folder])

    sweeper = threading.Thread(target=sweeping)
    workers = [threading.Thread(target=working) for _ in range(3)]
    for thread in (sweeper, *workers):
        thread.start()
    for thread in workers:
        thread.join()
    ending.set()
    sweeper.join()
    assert not lost
    assert list(tmp_path.iterdir()) == []
