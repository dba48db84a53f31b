"""Frozen records that pass between stages; no I/O. The words are those of docs/words.md."""
