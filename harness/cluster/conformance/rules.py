"""Every rule, with where Kafka promises it; `violations` asks all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from harness.cluster.conformance import (
    account_rules,
    cleaning_rules,
    commit_rules,
    disk_rules,
    election_rules,
    endpoints,
    leader_rules,
    log_end_rules,
    prevote_rules,
    state_rules,
    voter_rules,
)
from harness.cluster.conformance.history import History, Violation


@dataclass(frozen=True, slots=True)
class Rule:
    """One promise: `judge` yields where a history breaks it; `source` is who makes it."""

    source: str
    judge: Callable[[History], Iterator[Violation]]


RULES = (
    Rule("QuorumState", state_rules.legal_transitions),
    Rule("QuorumState.transitionToCandidate, transitionToLeader", state_rules.only_voters_stand),
    Rule("QuorumState.durableTransitionTo", state_rules.epochs_never_fall),
    Rule("KafkaRaftClient.handleFetchResponse, Raft §5.3", state_rules.only_followers_truncate),
    Rule("QuorumState.canGrantVote, Raft §5.2", election_rules.one_vote_per_epoch),
    Rule("QuorumState.initialize", election_rules.votes_are_remembered),
    Rule("EpochState.canGrantVote", election_rules.vote_is_permitted),
    Rule("KafkaRaftClient.handleVoteRequest, Raft §5.4.1", log_end_rules.candidates_are_up_to_date),
    Rule("FollowerState.canGrantVote, KIP-996", prevote_rules.pre_vote_is_permitted),
    Rule("QuorumState.transitionToLeader, Raft §5.2", election_rules.elected_by_majority),
    Rule("Raft §5.2", election_rules.one_leader_per_epoch),
    Rule("FollowerState.updateHighWatermark", commit_rules.high_watermark_never_falls),
    Rule("LeaderState.maybeUpdateHighWatermark, Raft §5.3", commit_rules.committed_by_majority),
    Rule("LeaderState.maybeUpdateHighWatermark, Raft §5.4.2", commit_rules.own_epoch_committed_first),
    Rule("Raft §5.4.3", commit_rules.leader_completeness),
    Rule(
        "KafkaRaftClient.updateFollowerHighWatermark, Raft §5.4.3", commit_rules.followers_know_what_leaders_committed
    ),
    Rule("KafkaMetadataLog.truncateToEndOffset", commit_rules.no_truncation_of_committed),
    Rule("SnapshotGenerator, KIP-630", commit_rules.snapshots_are_committed),
    Rule("KafkaRaftClient.updateListenersProgress", commit_rules.listeners_hear_committed),
    Rule("LeaderState.timeUntilCheckQuorumExpires, KAFKA-15489", leader_rules.check_quorum),
    Rule("KafkaRaftClient.pollFollowerAsVoter, KAFKA-16538", endpoints.endpoint_is_announced),
    Rule("QuorumController.QuorumMetaLogListener, KIP-631", leader_rules.active_controller_leads),
    Rule("QuorumController.renounce, KIP-631", account_rules.controllers_renounce),
    Rule("KafkaRaftMetrics, KIP-595", account_rules.metrics_are_as_logged),
    Rule("KafkaRaftClient.updateFollowerHighWatermark", account_rules.logs_reach_high_watermarks),
    Rule("QuorumState.durableTransitionTo", account_rules.quorum_state_is_the_last_step),
    Rule("KRaftControlRecordStateMachine, KIP-853", voter_rules.voter_sets_agree),
    Rule("KRaftControlRecordStateMachine, KIP-853", voter_rules.kraft_versions_agree),
    Rule("QuorumState.transitionToLeader, KIP-853", voter_rules.leaders_count_their_voters),
    Rule("KRaftControlRecordStateMachine.updateState, KIP-853", disk_rules.voters_are_those_on_disk),
    Rule("KRaftControlRecordStateMachine.updateState, KIP-853", disk_rules.kraft_version_is_that_on_disk),
    Rule("KafkaMetadataLog.deleteBeforeSnapshot, KIP-630", cleaning_rules.cleaned_below_log_start),
)


def violations(history: History) -> tuple[Violation, ...]:
    """Return what breaks a rule, in the order of the rules."""
    return tuple(found for rule in RULES for found in rule.judge(history))
