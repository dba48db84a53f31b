"""What else changed? Node logs on Spark: events, masked templates, counts, and the differences between arms."""

from harness.logs.diff import diff_run
from harness.logs.folders import diff_folders

__all__ = ["diff_folders", "diff_run"]
