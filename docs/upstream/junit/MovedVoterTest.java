package org.apache.kafka.raft;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.UpdateRaftVoterRequestData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.MemoryRecords;

import org.junit.jupiter.api.Test;

import java.net.InetSocketAddress;
import java.util.Collections;
import java.util.Optional;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** docs/upstream/update-voter-is-starved.md: fails before KAFKA-16538 (4.1.0). */
class MovedVoterTest {
    private static final int EPOCH = 5;
    private final ReplicaKey leader = ReplicaKey.of(0, Uuid.randomUuid());
    private final ReplicaKey local = ReplicaKey.of(1, Uuid.randomUuid());
    private final ReplicaKey other = ReplicaKey.of(2, Uuid.randomUuid());

    @Test
    void aVoterWhoseEndpointChangedSaysSoThoughItFetchesWithoutAPause() throws Exception {
        RaftClientTestContext moved = new RaftClientTestContext.Builder(1, local.directoryId().get())
            .withKip853Rpc(true)
            .withBootstrapSnapshot(Optional.of(VoterSetTest.voterSet(Stream.of(leader, local, other))))
            .withElectedLeader(EPOCH, leader.id())
            .withLocalListeners(elsewhere())
            .build();
        assertTrue(saysWhereItListens(moved, 20 * 3 * moved.fetchTimeoutMs), "no UpdateRaftVoter in twenty periods");
    }

    /** As on a quiet cluster each Fetch waits at the leader for a while, and the next one follows at once. */
    private boolean saysWhereItListens(RaftClientTestContext voter, long millis) throws Exception {
        for (long began = voter.time.milliseconds(); voter.time.milliseconds() < began + millis; ) {
            voter.pollUntilRequest();
            RaftRequest.Outbound request = voter.channel.drainSendQueue().get(0);
            if (request.data() instanceof UpdateRaftVoterRequestData) {
                return true;
            }
            voter.time.sleep(500);
            voter.client.poll();
            voter.deliverResponse(
                request.correlationId(),
                request.destination(),
                voter.fetchResponse(EPOCH, leader.id(), MemoryRecords.EMPTY, 0L, Errors.NONE)
            );
            voter.client.poll();
        }
        return false;
    }

    private static Endpoints elsewhere() {
        return Endpoints.fromInetSocketAddresses(
            Collections.singletonMap(MockNetworkChannel.LISTENER_NAME, InetSocketAddress.createUnresolved("moved", 9999))
        );
    }
}
