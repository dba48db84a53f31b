"""Which line proves which way through Raft: docs/raft-paths.md. Wordings of Kafka 3.9 stand before those of 4.

All are of org.apache.kafka.raft, which nodes of the harness log at DEBUG, but for those of snapshots and connections.
"""

from __future__ import annotations

# QuorumState.durableTransitionTo; states print their names with a bracket, in 3.9 some without “State”.
_BECAME = "] Completed transition to "
UNATTACHED = (f"{_BECAME}Unattached",)
FOLLOWS = (f"{_BECAME}Follower",)
STANDS = (f"{_BECAME}Candidate", f"{_BECAME}Prospective")
LEADS = (f"{_BECAME}Leader",)
RESIGNED = (f"{_BECAME}Resigned",)

# KafkaRaftClient.pollFollowerAsVoter
FETCH_TIMED_OUT = ("Become candidate due to fetch timeout", "Transitioning to Prospective state due to fetch timeout")
# KafkaRaftClient.pollCandidate (3.9)
ELECTION_TIMED_OUT = (
    "Election has timed out, backing off for ",
    "Election was not granted, transitioning to prospective",
)
STANDS_AGAIN = ("Re-elect as candidate after election backoff has completed",)
# KafkaRaftClient.handleVoteResponse
REJECTED = ("Insufficient remaining votes to become ",)

# CandidateState, UnattachedState and LeaderState.canGrantVote; QuorumState.unattachedOrProspectiveCanGrantVote of 4
STANDS_ITSELF = (") since we are already candidate in epoch ", ") since we are in CandidateState in epoch ")
OLDER_LOG = (" is not up to date with us",)
SECOND_CANDIDATE = ("), already have voted for another candidate (",)
# QuorumState.transitionToUnattachedVotedState; KafkaRaftClient.handleVoteRequest, whose statement ends so
VOTED = ("] Voted for candidate ", " is granted (org.apache.kafka.raft.KafkaRaftClient)")

# KafkaRaftClient.handleEndQuorumEpochRequest; 0 for the first of the preferred successors
TOLD_OF_END = ("after receiving EndQuorumEpoch request from leader ",)
STANDS_AT_ONCE = ("Overriding follower fetch timeout to 0 after receiving EndQuorumEpoch request from leader ",)
# KafkaRaftClient.handleFetchRequest, of a long poll that ends because its leader does
FETCH_ENDS_WITH_LEADER = ("Failed to handle fetch from ",)
# LeaderState
NO_MAJORITY_FETCHES = ("Did not receive fetch request from the majority of the voters within ",)
FIRST_HIGH_WATERMARK = ("for the first time for epoch ",)
# KafkaRaftClient.initiateShutdown, GracefulShutdown
SHUTS_DOWN = ("Beginning graceful shutdown",)
SHUTDOWN_TIMED_OUT = ("Graceful shutdown timed out after ",)

# KafkaRaftClient.handleFetchResponse, handleFetchSnapshotResponse
TRUNCATED = ("Truncated to offset ",)
FETCHES_SNAPSHOT = ("Fetching snapshot ",)
BEGINS_AT_SNAPSHOT = ("Fully truncated the log at ",)
# SnapshotGenerator (KIP-630)
SNAPSHOT_BY_SIZE = (" because we have replayed at least ",)
SNAPSHOT_BY_TIME = (" because we have waited at least ",)
# KafkaMetadataLog.maybeClean and UnifiedLog; files go a minute later (file.delete.delay.ms)
LOG_START_MOVED = ("Incremented log start offset to ",)
SEGMENT_DELETED = ("Deleting segments due to log start offset ",)
SNAPSHOT_DELETED = ("Marking snapshot ",)

# KRaftControlRecordStateMachine (KIP-853)
VOTERS_APPLIED = ("] Latest set of voters is ",)
IS_DYNAMIC = ("] Latest kraft.version is KRAFT_VERSION_1 at offset ",)
# RemoveVoterHandler
NOT_AMONG_VOTERS = ("Leader is not in the committed voter set ",)
# KafkaRaftClient.handleBeginQuorumEpochRequest, handleVoteRequest, maybeHandleCommonResponse
MEANT_FOR_ANOTHER_DISK = (") in the BEGIN_QUORUM_EPOCH request that doesn't match the local key (",)
KEY_IS_WRONG = ("Voter key for VOTE or BEGIN_QUORUM_EPOCH request didn't match the receiver's replica key",)

# Selector and SocketServer.Processor
CONNECTION_CLOSED = ("; closing connection", "Closing socket for ")
