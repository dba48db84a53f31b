package org.apache.kafka.raft;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.Errors;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;

/** docs/upstream/leader-ends-at-late-acknowledgement.md: fails while LeaderState.addAcknowledgementFrom throws. */
class LateAcknowledgementTest {
    private final ReplicaKey local = ReplicaKey.of(0, Uuid.randomUuid());
    private final ReplicaKey stays = ReplicaKey.of(1, Uuid.randomUuid());
    private final ReplicaKey leaves = ReplicaKey.of(2, Uuid.randomUuid());

    @Test
    void anAnswerToBeginQuorumEpochOfAVoterThatWasRemovedMeanwhileMeansNothing() throws Exception {
        RaftClientTestContext leader = new RaftClientTestContext.Builder(0, local.directoryId().get())
            .withKip853Rpc(true)
            .withBootstrapSnapshot(Optional.of(VoterSetTest.voterSet(Stream.of(local, stays, leaves))))
            .withUnknownLeader(3)
            .build();
        leader.becomeLeader();
        int epoch = leader.currentEpoch();
        fetchToTheEnd(leader, epoch);
        leader.time.sleep(leader.beginQuorumEpochTimeoutMs);
        leader.client.poll();
        RaftRequest.Outbound underWay = beginQuorumEpochTo(leaves, leader.collectBeginEpochRequests(epoch));

        leader.deliverRequest(leader.removeVoterRequest(leaves));
        leader.client.poll();
        leader.client.poll();
        fetchToTheEnd(leader, epoch);
        leader.pollUntilResponse();
        leader.assertSentRemoveVoterResponse(Errors.NONE);

        leader.deliverResponse(underWay.correlationId(), underWay.destination(), leader.beginEpochResponse(epoch, local.id()));
        assertDoesNotThrow(leader.client::poll);
        assertEquals(OptionalInt.of(local.id()), leader.currentLeader());
    }

    /** The voter that stays fetches twice: the leader then knows that it has all, and what it has is committed. */
    private void fetchToTheEnd(RaftClientTestContext leader, int epoch) throws Exception {
        leader.deliverRequest(leader.fetchRequest(epoch, stays, leader.log.endOffset().offset(), epoch, 0));
        leader.pollUntilResponse();
        leader.assertSentFetchPartitionResponse(Errors.NONE, epoch, OptionalInt.of(local.id()));
    }

    private static RaftRequest.Outbound beginQuorumEpochTo(ReplicaKey voter, List<RaftRequest.Outbound> requests) {
        return requests.stream().filter(request -> request.destination().id() == voter.id()).findFirst().get();
    }
}
