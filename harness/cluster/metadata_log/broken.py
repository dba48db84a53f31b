"""What Raft promises of the metadata log, by the names that outcomes have, and a breach of one."""

from __future__ import annotations

from dataclasses import dataclass

METADATA_LOG_WHOLE = "metadata_log_whole"
METADATA_LOGS_AGREE = "metadata_logs_agree"
COMMITTED_STAYS = "committed_stays"
EPOCH_NEVER_FALLS = "epoch_never_falls"
HIGH_WATERMARK_NEVER_FALLS = "high_watermark_never_falls"
QUORUM_STATE_AGREES = "quorum_state_agrees"
ONE_LEADER_PER_EPOCH = "one_leader_per_epoch"


@dataclass(frozen=True, slots=True)
class Broken:
    """A promise that was not kept: its name, a clause, and whose logs show it around which offset (-1: nowhere)."""

    name: str
    reason: str
    nodes: tuple[int, ...] = ()
    offset: int = -1
