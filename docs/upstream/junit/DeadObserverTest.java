package org.apache.kafka.raft;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.DescribeQuorumResponseData;
import org.apache.kafka.common.protocol.Errors;

import org.junit.jupiter.api.Test;

import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** docs/upstream/dead-observer-is-current.md: an observer is listed for 300 s after it has died. */
class DeadObserverTest {
    private static final int MINUTE_MS = 60_000;
    private final ReplicaKey local = ReplicaKey.of(0, Uuid.randomUuid());
    private final ReplicaKey voter = ReplicaKey.of(1, Uuid.randomUuid());
    private final ReplicaKey observer = ReplicaKey.of(9, Uuid.randomUuid());

    @Test
    void anObserverThatHasNotFetchedForAMinuteIsNotListed() throws Exception {
        RaftClientTestContext leader = new RaftClientTestContext.Builder(0, local.directoryId().get())
            .withKip853Rpc(true)
            .withBootstrapSnapshot(Optional.of(VoterSetTest.voterSet(Stream.of(local, voter))))
            .withUnknownLeader(3)
            .build();
        leader.becomeLeader();
        int epoch = leader.currentEpoch();
        fetch(leader, voter, epoch);
        fetch(leader, observer, epoch);
        for (int slept = 0; slept < MINUTE_MS; slept += leader.fetchTimeoutMs / 2) {
            leader.time.sleep(leader.fetchTimeoutMs / 2);
            fetch(leader, voter, epoch);
        }
        leader.deliverRequest(leader.describeQuorumRequest());
        leader.pollUntilResponse();
        DescribeQuorumResponseData described = leader.collectDescribeQuorumResponse();
        DescribeQuorumResponseData.PartitionData partition = described.topics().get(0).partitions().get(0);
        assertTrue(partition.observers().isEmpty(), "it lists " + partition.observers());
    }

    private void fetch(RaftClientTestContext leader, ReplicaKey replica, int epoch) throws Exception {
        leader.deliverRequest(leader.fetchRequest(epoch, replica, leader.log.endOffset().offset(), epoch, 0));
        leader.pollUntilResponse();
        leader.assertSentFetchPartitionResponse(Errors.NONE, epoch, OptionalInt.of(local.id()));
    }
}
