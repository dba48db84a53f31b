package org.apache.kafka.raft;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;

import org.junit.jupiter.api.Test;

import java.util.Optional;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** docs/upstream/lost-observer-polls-without-waiting.md: fails since KAFKA-19354 (4.2.0). */
class PollingObserverTest {
    private static final int EPOCH = 5;
    private static final int OBSERVER = 3;
    private static final int TEN_SECONDS_MS = 10_000;

    @Test
    void anObserverWithoutALeaderWaitsBetweenItsQuestions() throws Exception {
        Stream<ReplicaKey> voters = Stream.of(0, 1, 2).map(id -> ReplicaKey.of(id, Uuid.randomUuid()));
        RaftClientTestContext observer = new RaftClientTestContext.Builder(OBSERVER, Uuid.randomUuid())
            .withKip853Rpc(true)
            .withBootstrapSnapshot(Optional.of(VoterSetTest.voterSet(voters)))
            .withElectedLeader(EPOCH, 0)
            .build();
        observer.time.sleep(observer.fetchTimeoutMs + 1L);
        int polls = pollsInTenSeconds(observer);
        assertTrue(polls < TEN_SECONDS_MS / observer.retryBackoffMs * 4, polls + " polls in ten seconds");
    }

    /** Every server refuses each question at once; the thread sleeps as long as it says, at least a millisecond. */
    private static int pollsInTenSeconds(RaftClientTestContext observer) {
        int polls = 0;
        for (long began = observer.time.milliseconds(); observer.time.milliseconds() < began + TEN_SECONDS_MS; polls++) {
            observer.client.poll();
            observer.channel.drainSendQueue().forEach(request -> observer.deliverResponse(
                request.correlationId(),
                request.destination(),
                RaftUtil.errorResponse(ApiKeys.FETCH, Errors.BROKER_NOT_AVAILABLE)
            ));
            observer.time.sleep(Math.max(observer.messageQueue.lastPollTimeoutMs().orElse(0), 1));
        }
        return polls;
    }
}
