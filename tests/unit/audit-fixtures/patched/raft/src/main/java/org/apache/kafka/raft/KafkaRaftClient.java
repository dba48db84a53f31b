package org.apache.kafka.raft;

import org.apache.kafka.common.Node;
import org.apache.kafka.raft.internals.KRaftControlRecordStateMachine;

import org.slf4j.Logger;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** A client in miniature: the places that change the voter set, and the refresh of the bootstrap servers. */
public final class KafkaRaftClient<T> {
    private final Logger logger;
    private final NetworkChannel channel;
    private final QuorumConfig quorumConfig;
    private final QuorumState quorum;
    private final ReplicatedLog log;
    private volatile KRaftControlRecordStateMachine partitionState;
    private volatile RequestManager requestManager;

    KafkaRaftClient(QuorumConfig quorumConfig, ReplicatedLog log, QuorumState quorum, NetworkChannel channel, Logger logger) {
        this.quorumConfig = quorumConfig;
        this.log = log;
        this.quorum = quorum;
        this.channel = channel;
        this.logger = logger;
    }

    public void initialize(List<Node> configured) {
        partitionState = new KRaftControlRecordStateMachine(log);
        partitionState.updateState();
        logger.info("Starting voters are {}", partitionState.lastVoterSet());

        if (requestManager == null) {
            requestManager = new RequestManager(configured);
        }
        if (quorum.isOnlyVoter()) {
            transitionToLeader();
        }
    }

    private void transitionToLeader() {
        quorum.transitionToLeader();
        appendAsLeader(quorum.leaderChange());
    }

    private boolean handleFetchResponse(Response response) {
        if (response.diverges()) {
            long truncationOffset = log.truncateToEndOffset(response.divergence());
            partitionState.truncateNewEntries(truncationOffset);
        } else if (response.hasSnapshot()) {
            logger.info("Fetching the snapshot {}", response.snapshotId());
        } else {
            appendAsFollower(response.records());
        }
        return true;
    }

    private void appendAsFollower(Records records) {
        if (records.sizeInBytes() == 0) {
            return;
        }
        log.appendAsFollower(records);
        partitionState.updateState();
        maybeUpdateBootstrapServers();
        logger.trace("Appended as follower");
    }

    private long appendAsLeader(Records records) {
        long offset = log.appendAsLeader(records);
        partitionState.updateState();
        maybeUpdateBootstrapServers();
        return offset;
    }

    private boolean handleFetchSnapshotResponse(Response response) {
        if (response.errorCode() != 0) {
            return false;
        }
        if (response.position() == response.size()) {
            if (log.truncateToLatestSnapshot()) {
                partitionState.updateState();
                maybeUpdateBootstrapServers();
            } else {
                throw new IllegalStateException("Full truncation expected");
            }
        }
        return true;
    }

    private void maybeUpdateBootstrapServers() {
        if (!quorumConfig.dynamicBootstrapServersEnabled() || requestManager == null) {
            return;
        }
        VoterSet voters = partitionState.lastVoterSet();
        if (voters.voterIds().isEmpty()) {
            return;
        }
        List<Node> voterNodes = voters
            .voterIds()
            .stream()
            .map(voterId -> voters.voterNode(voterId, channel.listenerName()))
            .filter(Optional::isPresent)
            .map(Optional::get)
            .collect(Collectors.toList());
        requestManager.updateBootstrapServers(voterNodes);
        logger.info("Updated bootstrap servers to: {}", voterNodes);
    }
}
