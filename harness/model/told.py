"""What nodes tell in words, beside figures: `told` of a run's result, by subject and by name; compared with base's."""

from __future__ import annotations

import re

REFUSALS = "refusals"  # by what was asked: the error's name, and the words that went with it

_METRICS = " metrics"
_ID = re.compile(r"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{22}(?![A-Za-z0-9_-])")  # 16 bytes in URL-safe base64
_NUMBER = re.compile(r"\d+")


def metrics_of(role: str) -> str:
    """Return the subject of the raft metrics that nodes have in a role: their types by their names."""
    return f"{role}{_METRICS}"


def role_of(subject: str) -> str:
    """Return the role whose metrics a subject is; empty for any other."""
    return subject.removesuffix(_METRICS) if subject.endswith(_METRICS) else ""


def in_words(text: str) -> str:
    """Return a text without what differs in every run: ids of clusters and directories, and numbers."""
    return _NUMBER.sub("<n>", _ID.sub("<id>", text))
