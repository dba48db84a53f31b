package org.apache.kafka.raft;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.FetchSnapshotRequestData;
import org.apache.kafka.common.message.FetchSnapshotResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.ObjectSerializationCache;

import org.junit.jupiter.api.Test;

import java.util.Collections;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

/** docs/upstream/fetch-snapshot-is-refused-by-accident.md: both fail on a leader of 3.9.1 to 4.3.1. */
class FetchSnapshotRefusalTest {
    private static final short VERSION = 1;
    private final ReplicaKey local = ReplicaKey.of(0, Uuid.randomUuid());
    private final ReplicaKey other = ReplicaKey.of(1, Uuid.randomUuid());

    @Test
    void aRequestWithoutATopicIsRefused() throws Exception {
        RaftClientTestContext leader = leader();
        FetchSnapshotRequestData request = new FetchSnapshotRequestData()
            .setClusterId(leader.clusterId)
            .setTopics(Collections.emptyList());
        leader.deliverRequest(request, VERSION);
        assertDoesNotThrow(leader.client::poll);
        leader.assertSentFetchSnapshotResponse(Errors.INVALID_REQUEST);
    }

    @Test
    void aRefusalCanBeWritten() throws Exception {
        RaftClientTestContext leader = leader();
        UnaryOperator<FetchSnapshotResponseData.PartitionSnapshot> refusal =
            partition -> partition.setErrorCode(Errors.SNAPSHOT_NOT_FOUND.code());
        FetchSnapshotResponseData response = RaftUtil.singletonFetchSnapshotResponse(
            MockNetworkChannel.LISTENER_NAME, VERSION, leader.metadataPartition, local.id(), Endpoints.empty(), refusal
        );
        assertDoesNotThrow(() -> response.size(new ObjectSerializationCache(), VERSION));
    }

    private RaftClientTestContext leader() throws Exception {
        RaftClientTestContext leader = new RaftClientTestContext.Builder(0, local.directoryId().get())
            .withKip853Rpc(true)
            .withBootstrapSnapshot(Optional.of(VoterSetTest.voterSet(Stream.of(local, other))))
            .withUnknownLeader(3)
            .build();
        leader.becomeLeader();
        return leader;
    }
}
