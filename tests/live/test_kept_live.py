"""The log diff over real folders of before finds what it found then, but for what is known of stock."""

import shutil
from dataclasses import replace

import pytest
from rich.console import Console

from harness.base.progress import Reporter
from harness.model.findings import Contrast, Finding, Significance
from harness.rundir.directory import RunDirectory
from harness.stages.convert import convert
from harness.stages.diff import diff
from harness.toolbox.toolbox import local_toolbox

pytestmark = pytest.mark.live
QUIET = Reporter(Console(quiet=True))


@pytest.mark.parametrize("name", ["hold-by-runs", "ship"])
def test_the_logs_of_a_kept_folder_differ_as_they_did(kept_folders, tmp_path, name):
    shutil.copytree(kept_folders / name, tmp_path / name)
    convert(tmp_path / name, QUIET)
    before = RunDirectory(tmp_path / name).logs.findings.read()
    now = diff(tmp_path / name, local_toolbox(), QUIET)
    assert [*map(unweighed, now)] == [*map(unweighed, before)]


def unweighed(contrast: Contrast) -> tuple[Contrast, frozenset[Finding]]:
    """Return what differs, without what is known of stock and how it is worded, and so in no order."""
    found = (replace(each, stock=None, significance=Significance.UNKNOWN, detail="") for each in contrast.findings)
    return replace(contrast, findings=()), frozenset(found)
