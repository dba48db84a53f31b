"""What nodes tell in words, beside figures: `told` of a run's result, by subject and by name; compared with base's."""

from __future__ import annotations

REFUSALS = "refusals"  # by what was asked: the error's name, and the words that went with it

_METRICS = " metrics"


def metrics_of(role: str) -> str:
    """Return the subject of the raft metrics that nodes have in a role: their types by their names."""
    return f"{role}{_METRICS}"


def role_of(subject: str) -> str:
    """Return the role whose metrics a subject is; empty for any other."""
    return subject.removesuffix(_METRICS) if subject.endswith(_METRICS) else ""
