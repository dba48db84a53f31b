package org.apache.kafka.raft;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;

import org.junit.jupiter.api.Test;

import java.net.InetSocketAddress;
import java.util.Collections;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** docs/upstream/observers-ask-configured-servers-only.md: fails on every release. */
class LostObserverTest {
    private static final int EPOCH = 5;
    private static final int OBSERVER = 3;
    private final ReplicaKey leader = ReplicaKey.of(0, Uuid.randomUuid());
    private final ReplicaKey other = ReplicaKey.of(1, Uuid.randomUuid());
    private final ReplicaKey third = ReplicaKey.of(2, Uuid.randomUuid());

    @Test
    void anObserverThatKnowsTheVotersAsksThemOnceItsConfiguredServersAreGone() throws Exception {
        VoterSet voters = VoterSetTest.voterSet(Stream.of(leader, other, third));
        RaftClientTestContext observer = new RaftClientTestContext.Builder(OBSERVER, Uuid.randomUuid())
            .withKip853Rpc(true)
            .withBootstrapSnapshot(Optional.of(voters))
            .withBootstrapServers(Optional.of(Collections.singletonList(InetSocketAddress.createUnresolved("gone", 9999))))
            .withElectedLeader(EPOCH, leader.id())
            .build();
        observer.time.sleep(observer.fetchTimeoutMs + 1L);
        Set<Integer> asked = askedInAMinute(observer);
        assertTrue(asked.contains(other.id()) || asked.contains(third.id()), "it asked only " + asked);
    }

    /** Nobody can be reached: every request fails at once. */
    private static Set<Integer> askedInAMinute(RaftClientTestContext observer) {
        Set<Integer> asked = new HashSet<>();
        for (int tenths = 0; tenths < 600; tenths++) {
            observer.client.poll();
            observer.channel.drainSendQueue().forEach(request -> {
                asked.add(request.destination().id());
                observer.deliverResponse(
                    request.correlationId(),
                    request.destination(),
                    RaftUtil.errorResponse(ApiKeys.FETCH, Errors.BROKER_NOT_AVAILABLE)
                );
            });
            observer.time.sleep(100);
        }
        return asked;
    }
}
