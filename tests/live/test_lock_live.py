"""A version is pinned anew: the lock and the library of its log statements are those that are shipped."""

import gzip
import subprocess
import sys

import pytest

from harness.base.paths import data_root

pytestmark = pytest.mark.live

VERSION = "3.9.1"


def test_the_shipped_lock_and_log_statements_are_what_the_version_is_made_of(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", "from harness.cli import main; main()", "lock", VERSION, "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    shipped = data_root() / "builds"
    assert (tmp_path / f"{VERSION}.lock").read_bytes() == (shipped / "locks" / f"{VERSION}.lock").read_bytes()
    made, kept = (
        gzip.decompress((folder / f"{VERSION}.json.gz").read_bytes()) for folder in (tmp_path, shipped / "statements")
    )
    assert made == kept
