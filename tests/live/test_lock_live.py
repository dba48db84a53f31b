"""A version is pinned anew: the lock and the library of its log statements are those that are shipped."""

import gzip
import subprocess
import sys

import pytest

from harness.base.paths import data_root

pytestmark = pytest.mark.live

VERSION = "3.9.1"


def write_lock(what, folder):
    done = subprocess.run(
        [sys.executable, "-c", "from harness.cli import main; main()", "lock", what, "--out", str(folder)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_harnesss_own_tools_are_those_that_are_shipped(tmp_path):
    write_lock("tools", tmp_path)
    assert (tmp_path / "tools.lock").read_bytes() == (data_root() / "builds" / "locks" / "tools.lock").read_bytes()


@pytest.mark.whole
def test_the_shipped_lock_and_log_statements_are_what_the_version_is_made_of(tmp_path):
    write_lock(VERSION, tmp_path)
    shipped = data_root() / "builds"
    assert (tmp_path / f"{VERSION}.lock").read_bytes() == (shipped / "locks" / f"{VERSION}.lock").read_bytes()
    made, kept = (
        gzip.decompress((folder / f"{VERSION}.json.gz").read_bytes()) for folder in (tmp_path, shipped / "statements")
    )
    assert made == kept
