package org.apache.kafka.raft;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.Errors;

import org.junit.jupiter.api.Test;

import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * docs/upstream/removed-leader-ends-the-quorum.md: fails while a leader that has appended its own removal, and lost its
 * office before that was committed, neither stands for election nor votes for whoever has less than it.
 */
class RemovedLeaderTest {
    private final ReplicaKey local = ReplicaKey.of(0, Uuid.randomUuid());
    private final ReplicaKey other = ReplicaKey.of(1, Uuid.randomUuid());

    @Test
    void ofTwoVotersOneCanBeElectedWhenARemovalOfTheLeaderWasNotCommitted() throws Exception {
        RaftClientTestContext removed = new RaftClientTestContext.Builder(0, local.directoryId().get())
            .withKip853Rpc(true)
            .withBootstrapSnapshot(Optional.of(VoterSetTest.voterSet(Stream.of(local, other))))
            .withUnknownLeader(3)
            .build();
        removed.becomeLeader();
        int epoch = removed.currentEpoch();
        long committed = removed.log.endOffset().offset();
        removed.deliverRequest(removed.fetchRequest(epoch, other, committed, epoch, 0));
        removed.pollUntilResponse();
        removed.assertSentFetchPartitionResponse(Errors.NONE, epoch, OptionalInt.of(local.id()));

        removed.deliverRequest(removed.removeVoterRequest(local));
        removed.client.poll();
        removed.client.poll();
        assertTrue(removed.log.endOffset().offset() > committed, "the removal was not appended");

        // The other one has heard nothing of its leader for a fetch timeout, and not of the removal
        boolean granted = grantsVote(removed, committed, epoch);
        assertFalse(removed.client.quorum().isLeader());
        assertTrue(granted || stands(removed), "nobody can ever be elected again");
    }

    /** Lets a minute pass, and says whether the node stood for election meanwhile. */
    private static boolean stands(RaftClientTestContext node) {
        boolean stood = false;
        for (int tenths = 0; tenths < 600 && !stood; tenths++) {
            node.time.sleep(100);
            node.client.poll();
            node.channel.drainSendQueue();
            stood = node.client.quorum().isCandidate();
        }
        return stood;
    }

    /** The other voter asks for the vote that it needs: it has all that is committed. */
    private boolean grantsVote(RaftClientTestContext node, long end, int lastEpoch) throws Exception {
        int epoch = node.currentEpoch() + 1;
        node.deliverRequest(node.voteRequest(epoch, other, lastEpoch, end));
        node.pollUntilResponse();
        return node.client.quorum().maybeUnattachedState().flatMap(UnattachedState::votedKey).isPresent();
    }
}
