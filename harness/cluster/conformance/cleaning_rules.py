"""Rules of the files: what a snapshot stands for is deleted once the log begins behind it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from harness.cluster.conformance.history import History, Life, Violation
from harness.cluster.conformance.observations import LogStartMoved

CLEANED_BELOW_LOG_START = "cleaned_below_log_start"

# The same call that moves the start renames the files (KafkaMetadataLog.deleteBeforeSnapshot); what is renamed is no
# segment and no snapshot any more.
_RENAMED_SECONDS = 5.0


def cleaned_below_log_start(history: History) -> Iterator[Violation]:
    """No segment ends below the start of a node's log, and no snapshot does, once it has been moved.

    Whichever process moved it: a node that starts again has no file back that was renamed. One that ends right at the
    start was perhaps written to when the start moved there: that one stays until the start moves again
    (UnifiedLog.deletableSegments).
    """
    by_node = defaultdict[int, list[Life]](list)
    for life in history.lives():
        by_node[life.node].append(life)
    for files in history.files:
        lives = by_node[files.node]
        ends = [*(life.said[-1].place.at for life in lives[:-1]), files.ended]
        moved = [
            each
            for life, ended in zip(lives, ends, strict=False)
            for each in life.of(LogStartMoved)
            if life.disk == lives[-1].disk and ended - each.place.at > _RENAMED_SECONDS
        ]
        if not moved:
            continue
        start = moved[-1]
        segments = [low for low, high in pairwise(sorted(files.segments)) if high < start.offset]
        snapshots = [end for end in sorted(files.snapshots) if 0 < end < start.offset]
        left = [f"the segment at {low}" for low in segments] + [f"the snapshot up to {end}" for end in snapshots]
        if left:
            story = f"the log of node {files.node} begins at {start.offset}, and {', '.join(left[:3])} is still there"
            yield Violation(CLEANED_BELOW_LOG_START, story, (start.place,))
