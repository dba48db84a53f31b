"""The run directory: every path in it, and each file as the record that it holds (docs/run-directory.md)."""
