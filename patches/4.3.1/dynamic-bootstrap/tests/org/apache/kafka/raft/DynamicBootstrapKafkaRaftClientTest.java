package org.apache.kafka.raft;

import org.apache.kafka.common.Node;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.MemoryRecords;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;

import java.net.InetSocketAddress;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.stream.Collectors;

import static org.apache.kafka.raft.DynamicBootstrapContext.EPOCH;
import static org.apache.kafka.raft.DynamicBootstrapContext.LEADER;
import static org.apache.kafka.raft.DynamicBootstrapContext.node;
import static org.apache.kafka.raft.DynamicBootstrapContext.nodes;
import static org.apache.kafka.raft.DynamicBootstrapContext.otherVoterNodes;
import static org.apache.kafka.raft.DynamicBootstrapContext.staleNodes;
import static org.apache.kafka.raft.DynamicBootstrapContext.voters;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.startsWith;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;

/** Whom a client asks for the leader once its configured servers are stale and the leader has fallen silent. */
class DynamicBootstrapKafkaRaftClientTest {
    private static final IntFunction<InetSocketAddress> OLD = DynamicBootstrapContext::oldAddress;
    private static final IntFunction<InetSocketAddress> NEW = DynamicBootstrapContext::newAddress;

    @Test
    void anObserverThatHasFetchedNothingAsksTheConfiguredServers() throws Exception {
        DynamicBootstrapContext observer = DynamicBootstrapContext.observer();
        assertEquals(staleNodes(), observer.leaderFallsSilent().askedForTheLeader());
    }

    @Test
    void anObserverAsksTheVotersOfAFetchedVoterSet() throws Exception {
        DynamicBootstrapContext observer = DynamicBootstrapContext.observer();
        observer.fetchVoters(voters(NEW));
        assertEquals(otherVoterNodes(NEW), observer.leaderFallsSilent().askedForTheLeader());
    }

    @Test
    void anObserverAsksTheVotersOfTheLatestVoterSet() throws Exception {
        DynamicBootstrapContext observer = DynamicBootstrapContext.observer();
        observer.fetchVoters(voters(id -> id == 1 ? OLD.apply(1) : NEW.apply(id)));
        observer.fetchVoters(voters(NEW));
        assertEquals(otherVoterNodes(NEW), observer.leaderFallsSilent().askedForTheLeader());
    }

    @Test
    void anyAppendMakesTheKnownVotersTheServers() throws Exception {
        DynamicBootstrapContext observer = DynamicBootstrapContext.observer();
        observer.fetchData();
        assertEquals(otherVoterNodes(OLD), observer.leaderFallsSilent().askedForTheLeader());
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
    void aVoterWithoutAnEndpointForThisListenerIsLeftOut() throws Exception {
        DynamicBootstrapContext observer = DynamicBootstrapContext.observer();
        ListenerName other = ListenerName.normalised("ELSEWHERE");
        observer.fetchVoters(voters(NEW, id -> id == 1 ? other : MockNetworkChannel.LISTENER_NAME));
        Set<Node> others = otherVoterNodes(NEW).stream().filter(node -> node.id() != 1).collect(Collectors.toSet());
        assertEquals(others, observer.leaderFallsSilent().askedForTheLeader());
    }

    @Test
    void theServersStayWhereNoVoterHasAnEndpointForThisListener() throws Exception {
        DynamicBootstrapContext observer = DynamicBootstrapContext.observer();
        observer.fetchVoters(voters(NEW, id -> ListenerName.normalised("ELSEWHERE")));
        assertEquals(staleNodes(), observer.leaderFallsSilent().askedForTheLeader());
    }

    @Test
    void onlyServersThatWereReplacedAreSaidToBe() throws Exception {
        Logger logger = mock(Logger.class);
        DynamicBootstrapContext observer = DynamicBootstrapContext.observer().thatLogsTo(logger);
        observer.fetchVoters(voters(NEW, id -> ListenerName.normalised("ELSEWHERE")));
        verify(logger, never()).info(startsWith("Updated bootstrap servers"), any(Object.class));
        observer.fetchVoters(voters(NEW));
        verify(logger).info(startsWith("Updated bootstrap servers"), any(Object.class));
    }

    @Test
    void withTheFlagOffAnObserverAsksTheConfiguredServersWhateverItFetched() throws Exception {
        DynamicBootstrapContext observer = DynamicBootstrapContext.observer().withFlagOff();
        observer.fetchVoters(voters(NEW));
        assertEquals(staleNodes(), observer.leaderFallsSilent().askedForTheLeader());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void anObserverAsksTheVotersOfADownloadedSnapshot(int pieces) throws Exception {
        DynamicBootstrapContext observer = DynamicBootstrapContext.observer();
        observer.fetchSnapshot(voters(NEW), pieces);
        assertEquals(otherVoterNodes(NEW), observer.leaderFallsSilent().askedForTheLeader());
    }

    @Test
    void withTheFlagOffADownloadedSnapshotLeavesTheConfiguredServers() throws Exception {
        DynamicBootstrapContext observer = DynamicBootstrapContext.observer().withFlagOff();
        observer.fetchSnapshot(voters(NEW), 1);
        assertEquals(staleNodes(), observer.leaderFallsSilent().askedForTheLeader());
    }

    @Test
    void whoHasLedAsksTheOtherVotersWhenTheNextLeaderCannotBeReached() throws Exception {
        Set<Node> asked = followingAnotherAfterLeading(formerLeader()).askedForTheLeader();
        assertEquals(nodes(node(2, OLD.apply(2))), asked);
    }

    @Test
    void withTheFlagOffWhoHasLedAsksTheConfiguredServers() throws Exception {
        assertEquals(staleNodes(), followingAnotherAfterLeading(formerLeader().withFlagOff()).askedForTheLeader());
    }

    private static DynamicBootstrapContext formerLeader() throws Exception {
        return DynamicBootstrapContext.of(DynamicBootstrapContext.builder(LEADER).withUnknownLeader(EPOCH).build());
    }

    /** Voter 0 leads and appends, then voter 1 is elected and refuses its first fetch, so that its connection backs off. */
    private static DynamicBootstrapContext followingAnotherAfterLeading(DynamicBootstrapContext voter) throws Exception {
        RaftClientTestContext raft = voter.raft;
        raft.unattachedToLeader();
        raft.client.poll();
        raft.channel.drainSendQueue();
        raft.deliverRequest(raft.beginEpochRequest(raft.currentEpoch() + 1, 1, voters(OLD).listeners(1)));
        raft.pollUntilRequest();
        voter.refuse(raft.assertSentFetchRequest());
        return voter;
    }
}
