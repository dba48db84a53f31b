package org.apache.kafka.raft;

import org.apache.kafka.common.Node;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.server.common.Features;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.stream.Collectors;

import static org.apache.kafka.raft.DynamicBootstrapContext.EPOCH;
import static org.apache.kafka.raft.DynamicBootstrapContext.LEADER;
import static org.apache.kafka.raft.DynamicBootstrapContext.OBSERVER;
import static org.apache.kafka.raft.DynamicBootstrapContext.node;
import static org.apache.kafka.raft.DynamicBootstrapContext.nodes;
import static org.apache.kafka.raft.DynamicBootstrapContext.staleNodes;
import static org.apache.kafka.raft.DynamicBootstrapContext.voterNodes;
import static org.apache.kafka.raft.DynamicBootstrapContext.voters;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Whom a client asks for the leader once its configured servers are stale and the leader has fallen silent. */
class DynamicBootstrapKafkaRaftClientTest {
    private static final IntFunction<InetSocketAddress> OLD = DynamicBootstrapContext::oldAddress;
    private static final IntFunction<InetSocketAddress> NEW = DynamicBootstrapContext::newAddress;

    @Test
    void anObserverThatHasFetchedNothingAsksTheVotersOnItsDiskAndTheConfiguredServers() throws Exception {
        DynamicBootstrapContext observer = DynamicBootstrapContext.observer();
        assertEquals(withConfigured(voterNodes(OLD)), observer.leaderFallsSilent().askedForTheLeader());
    }

    @Test
    void anObserverThatKnowsNoLeaderAsksTheVotersOnItsDiskAndTheConfiguredServers() throws Exception {
        assertEquals(withConfigured(voterNodes(OLD)), observerWithoutLeader().askedForTheLeader());
    }

    @Test
    void anObserverAsksTheVotersOfTheLatestVoterSetAndTheLeaderWhereItListens() throws Exception {
        DynamicBootstrapContext observer = DynamicBootstrapContext.observer();
        observer.fetchVoters(voters(id -> id == 1 ? OLD.apply(1) : NEW.apply(id)));
        observer.fetchVoters(voters(NEW));
        Set<Node> expected = nodes(node(LEADER, OLD.apply(LEADER)), node(1, NEW.apply(1)), node(2, NEW.apply(2)));
        expected.add(node(-4, NEW.apply(LEADER))); // that the leader moved is not known before it says so
        assertEquals(withConfigured(expected), observer.leaderFallsSilent().askedForTheLeader());
    }

    @Test
    void aNewVoterLeadsTheObserverToTheNewLeader() throws Exception {
        DynamicBootstrapContext observer = DynamicBootstrapContext.observer();
        observer.fetchVoters(voters(NEW));
        observer.leaderFallsSilent();
        observer.raft.pollUntilRequest();
        RaftRequest.Outbound fetch = observer.raft.assertSentFetchRequest();
        observer.raft.deliverResponse(
            fetch.correlationId(),
            fetch.destination(),
            observer.raft.fetchResponse(EPOCH + 1, 2, MemoryRecords.EMPTY, 0L, Errors.FENCED_LEADER_EPOCH)
        );
        observer.raft.client.poll();
        observer.raft.assertElectedLeader(EPOCH + 1, 2);
    }

    @Test
    void theLeaderIsAskedAgainAndFollowedOnWhenItIsBack() throws Exception {
        DynamicBootstrapContext observer = DynamicBootstrapContext.observer();
        observer.fetchData();
        long end = observer.raft.log.endOffset().offset();
        observer.leaderFallsSilent();
        observer.raft.channel.drainSendQueue();
        observer.raft.time.sleep(observer.raft.requestTimeoutMs());
        for (int questions = 0; observer.raft.log.endOffset().offset() == end; questions++) {
            assertTrue(questions < 10, "the leader was not asked");
            observer.raft.pollUntilRequest();
            RaftRequest.Outbound fetch = observer.raft.assertSentFetchRequest();
            if (fetch.destination().equals(node(LEADER, OLD.apply(LEADER)))) {
                MemoryRecords records = observer.raft.buildBatch(end, EPOCH, Collections.singletonList("more"));
                observer.raft.deliverResponse(
                    fetch.correlationId(),
                    fetch.destination(),
                    observer.raft.fetchResponse(EPOCH, LEADER, records, 0L, Errors.NONE)
                );
                observer.raft.client.poll();
            } else {
                observer.refuse(fetch);
            }
        }
    }

    @Test
    void aVoterWithoutAnEndpointForThisListenerIsLeftOut() throws Exception {
        DynamicBootstrapContext observer = DynamicBootstrapContext.observer();
        ListenerName other = ListenerName.normalised("ELSEWHERE");
        observer.fetchVoters(voters(OLD, id -> id == 1 ? other : MockNetworkChannel.LISTENER_NAME));
        Set<Node> others = voterNodes(OLD).stream().filter(node -> node.id() != 1).collect(Collectors.toSet());
        assertEquals(withConfigured(others), observer.leaderFallsSilent().askedForTheLeader());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void anObserverAsksTheVotersOfADownloadedSnapshot(int pieces) throws Exception {
        DynamicBootstrapContext observer = DynamicBootstrapContext.observer();
        observer.fetchSnapshot(voters(NEW), pieces);
        Set<Node> asked = observer.leaderFallsSilent().askedForTheLeader();
        assertTrue(asked.containsAll(nodes(node(1, NEW.apply(1)), node(2, NEW.apply(2)))), asked.toString());
    }

    @Test
    void afterATruncationTheVotersBeforeItAreAsked() throws Exception {
        DynamicBootstrapContext observer = DynamicBootstrapContext.observer();
        observer.fetchData();
        long end = observer.raft.log.endOffset().offset();
        observer.fetchVoters(voters(NEW));
        observer.truncateTo(end);
        assertEquals(end, observer.raft.log.endOffset().offset());
        assertEquals(withConfigured(voterNodes(OLD)), observer.leaderFallsSilent().askedForTheLeader());
    }

    @Test
    void votersThatTakeThePlaceOfTruncatedOnesAreRead() throws Exception {
        DynamicBootstrapContext observer = DynamicBootstrapContext.observer();
        observer.fetchData();
        long end = observer.raft.log.endOffset().offset();
        observer.fetchVoters(voters(NEW));
        observer.truncateTo(end);
        observer.fetchVoters(voters(id -> id == 1 ? NEW.apply(1) : OLD.apply(id)));
        assertEquals(
            withConfigured(nodes(node(0, OLD.apply(0)), node(1, NEW.apply(1)), node(2, OLD.apply(2)))),
            observer.leaderFallsSilent().askedForTheLeader()
        );
    }

    @Test
    void theVotersOfADownloadedSnapshotTakeThePlaceOfThoseInALongerTail() throws Exception {
        DynamicBootstrapContext observer = DynamicBootstrapContext.observer();
        replaceTail(observer, NEW);
        assertEquals(withConfigured(voterNodes(OLD)), observer.leaderFallsSilent().askedForTheLeader());
    }

    @Test
    void votersBehindADownloadedSnapshotAreReadWhereATailHadBeen() throws Exception {
        DynamicBootstrapContext observer = DynamicBootstrapContext.observer();
        replaceTail(observer, OLD);
        observer.fetchVoters(voters(id -> id == 1 ? NEW.apply(1) : OLD.apply(id)));
        assertEquals(
            withConfigured(nodes(node(0, OLD.apply(0)), node(1, NEW.apply(1)), node(2, OLD.apply(2)))),
            observer.leaderFallsSilent().askedForTheLeader()
        );
    }

    /** Two records of an older epoch, which hold these voters, give way to a snapshot of the old ones that ends between them. */
    private static void replaceTail(DynamicBootstrapContext observer, IntFunction<InetSocketAddress> endpoints) throws Exception {
        long end = observer.raft.log.endOffset().offset();
        observer.fetchVoters(voters(endpoints), EPOCH - 1);
        observer.fetchVoters(voters(endpoints), EPOCH - 1);
        observer.fetchSnapshot(voters(OLD), 1, new OffsetAndEpoch(end + 1, EPOCH));
        assertEquals(end + 1, observer.raft.log.endOffset().offset());
    }

    @Test
    void aLostObserverNeverPollsWithoutWaitingForLong() throws Exception {
        assertPausesAfterEachRound(DynamicBootstrapContext.observer(), 5);
        assertPausesAfterEachRound(observerWithoutLeader(), 5);
    }

    @Test
    void soDoesOneWhoseConfigurationIsTheVoterSet() throws Exception {
        assertPausesAfterEachRound(DynamicBootstrapContext.of(rightlyConfigured().withElectedLeader(EPOCH, LEADER).build()), 3);
        assertPausesAfterEachRound(DynamicBootstrapContext.of(rightlyConfigured().withUnknownLeader(EPOCH).build()), 3);
    }

    /** Once its pauses are half a second long, an observer that everybody refuses asks each server twice a second. */
    private static void assertPausesAfterEachRound(DynamicBootstrapContext observer, int servers) {
        observer.leaderFallsSilent().raft.channel.drainSendQueue();
        int questions = 0;
        long start = observer.raft.time.milliseconds();
        while (observer.raft.time.milliseconds() < start + 60_000) {
            observer.raft.client.poll();
            if (observer.raft.channel.hasSentRequests()) {
                observer.refuse(observer.raft.assertSentFetchRequest());
                questions++;
            } else {
                long pause = observer.raft.messageQueue.lastPollTimeoutMs().orElse(0);
                assertTrue(pause > 0, "polls without waiting");
                observer.raft.time.sleep(pause);
            }
        }
        assertTrue(questions < 2 * 60 * servers + 50, questions + " questions");
        assertTrue(questions > 60 * servers, questions + " questions");
    }

    @Test
    void votersAskTheOtherVotersAndTheConfiguredServersButNotThemselves() throws Exception {
        Set<Node> asked = DynamicBootstrapContext
            .of(DynamicBootstrapContext.builder(LEADER).withUnknownLeader(EPOCH).build())
            .askedForTheLeader();
        assertEquals(withConfigured(nodes(node(1, OLD.apply(1)), node(2, OLD.apply(2)))), asked);
    }

    @Test
    void withTheFlagOffAnObserverAsksTheConfiguredServersWhateverItFetched() throws Exception {
        DynamicBootstrapContext observer = DynamicBootstrapContext.observerWithFlagOff();
        observer.fetchVoters(voters(NEW));
        assertEquals(staleNodes(), observer.leaderFallsSilent().askedForTheLeader());
    }

    @Test
    void withTheFlagOffADownloadedSnapshotLeavesTheConfiguredServers() throws Exception {
        DynamicBootstrapContext observer = DynamicBootstrapContext.observerWithFlagOff();
        observer.fetchSnapshot(voters(NEW), 1);
        assertEquals(staleNodes(), observer.leaderFallsSilent().askedForTheLeader());
    }

    @Test
    void withTheFlagOffADownloadedSnapshotIsReadAsInTheRelease() throws Exception {
        DynamicBootstrapContext observer = DynamicBootstrapContext.observerWithFlagOff();
        replaceTail(observer, NEW);
        assertEquals(NEW.apply(1), observer.address(1));
    }

    @Test
    void withTheFlagOffATruncationIsAsInTheRelease() throws Exception {
        DynamicBootstrapContext observer = DynamicBootstrapContext.observerWithFlagOff();
        observer.fetchData();
        long end = observer.raft.log.endOffset().offset();
        observer.fetchVoters(voters(NEW));
        observer.truncateTo(end);
        observer.fetchVoters(voters(id -> id == 1 ? NEW.apply(1) : OLD.apply(id)));
        assertEquals(staleNodes(), observer.leaderFallsSilent().askedForTheLeader());
        assertEquals(OLD.apply(1), observer.address(1));
    }

    @Test
    void aVoterThatMovedSaysSoAsSoonAsTheLeaderHasAnsweredItsFetch() throws Exception {
        RaftClientTestContext raft = movedVoter();
        sleepThroughFetches(raft, 3 * raft.fetchTimeoutMs);
        answer(raft, raft.assertSentFetchRequest());
        raft.pollUntilRequest();
        raft.assertSentUpdateVoterRequest(
            raft.localReplicaKey(), EPOCH, Features.KRAFT_VERSION.supportedVersionRange(), raft.client.quorum().localVoterNodeOrThrow().listeners()
        );
    }

    private static DynamicBootstrapContext observerWithoutLeader() throws Exception {
        return DynamicBootstrapContext.of(DynamicBootstrapContext.builder(OBSERVER).withUnknownLeader(EPOCH).build());
    }

    private static RaftClientTestContext.Builder rightlyConfigured() {
        return DynamicBootstrapContext.builder(OBSERVER)
            .withBootstrapServers(Optional.of(Arrays.asList(OLD.apply(0), OLD.apply(1), OLD.apply(2))));
    }

    private static Set<Node> withConfigured(Set<Node> voters) {
        Set<Node> all = new HashSet<>(voters);
        all.addAll(staleNodes());
        return all;
    }

    /** Starts a voter that follows voter 0 and listens elsewhere than the voter set says. */
    private static RaftClientTestContext movedVoter() throws Exception {
        Endpoints moved = Endpoints.fromInetSocketAddresses(
            Collections.singletonMap(MockNetworkChannel.LISTENER_NAME, NEW.apply(1))
        );
        RaftClientTestContext raft = DynamicBootstrapContext.builder(1)
            .withElectedLeader(EPOCH, LEADER)
            .withLocalListeners(moved)
            .build();
        assertEquals(OptionalInt.of(LEADER), raft.currentLeader());
        return raft;
    }

    /** Answers every fetch but the last: it is under way when the time is over, as on a quiet cluster. */
    private static void sleepThroughFetches(RaftClientTestContext raft, long millis) throws Exception {
        long step = raft.requestTimeoutMs() / 2;
        raft.pollUntilRequest();
        for (long slept = 0; slept < millis; slept += step) {
            answer(raft, raft.assertSentFetchRequest());
            raft.pollUntilRequest();
            raft.time.sleep(step);
            raft.client.poll();
        }
    }

    private static void answer(RaftClientTestContext raft, RaftRequest.Outbound fetch) throws Exception {
        raft.deliverResponse(
            fetch.correlationId(),
            fetch.destination(),
            raft.fetchResponse(EPOCH, LEADER, MemoryRecords.EMPTY, 0L, Errors.NONE)
        );
        raft.client.poll();
    }
}
