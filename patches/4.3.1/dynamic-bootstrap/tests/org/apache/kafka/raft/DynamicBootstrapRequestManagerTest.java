package org.apache.kafka.raft;

import org.apache.kafka.common.Node;
import org.apache.kafka.common.utils.MockTime;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What the request manager does with bootstrap servers that are replaced while it runs. */
class DynamicBootstrapRequestManagerTest {
    private static final int REQUEST_TIMEOUT_MS = 30_000;
    private static final int RETRY_BACKOFF_MS = 100;
    // More than enough that a random choice among three servers has hit each of them.
    private static final int MANY = 200;

    private final MockTime time = new MockTime();
    // Configured servers have no known id: the client numbers them from -2 downwards.
    private final Node stale1 = new Node(-2, "stale-1", 9001);
    private final Node stale2 = new Node(-3, "stale-2", 9002);
    private final Node voter1 = new Node(1, "voter-1", 9101);
    private final Node voter2 = new Node(2, "voter-2", 9102);
    private final Node voter3 = new Node(3, "voter-3", 9103);
    private final RequestManager manager = new RequestManager(
        Arrays.asList(stale1, stale2), RETRY_BACKOFF_MS, REQUEST_TIMEOUT_MS, new Random(1)
    );

    @Test
    void newServersReplaceAllOldOnes() {
        assertEquals(nodes(stale1, stale2), readyServers());
        manager.updateBootstrapServers(Arrays.asList(voter1, voter2, voter3));
        assertEquals(nodes(voter1, voter2, voter3), readyServers());
    }

    @Test
    void aLaterUpdateReplacesAnEarlierOne() {
        manager.updateBootstrapServers(Arrays.asList(voter1, voter2));
        manager.updateBootstrapServers(Collections.singletonList(voter3));
        assertEquals(nodes(voter3), readyServers());
    }

    @Test
    void nullIsIgnored() {
        manager.updateBootstrapServers(null);
        assertEquals(nodes(stale1, stale2), readyServers());
    }

    @Test
    void anEmptyCollectionIsIgnored() {
        manager.updateBootstrapServers(Collections.emptySet());
        assertEquals(nodes(stale1, stale2), readyServers());
        assertEquals(0, manager.backoffBeforeAvailableBootstrapServer(time.milliseconds()));
    }

    @Test
    void theListIsACopy() {
        List<Node> handed = new ArrayList<>(Arrays.asList(voter1, voter2));
        manager.updateBootstrapServers(handed);
        handed.clear();
        assertEquals(nodes(voter1, voter2), readyServers());
    }

    @Test
    void theReadyServerIsChosenAmongTheNewOnes() {
        manager.updateBootstrapServers(Arrays.asList(voter1, voter2));
        fail(voter1, 1);
        assertEquals(nodes(voter2), readyServers());
        fail(voter2, 2);
        assertEquals(nodes(), readyServers());
        time.sleep(RETRY_BACKOFF_MS);
        assertEquals(nodes(voter1, voter2), readyServers());
    }

    @Test
    void aReadyNewServerNeedsNoBackoffThoughAllOldOnesFailed() {
        fail(stale1, 1);
        fail(stale2, 2);
        assertEquals(RETRY_BACKOFF_MS, manager.backoffBeforeAvailableBootstrapServer(time.milliseconds()));
        manager.updateBootstrapServers(Collections.singletonList(voter1));
        assertEquals(0, manager.backoffBeforeAvailableBootstrapServer(time.milliseconds()));
    }

    @Test
    void aReadyOldServerDoesNotShortenTheBackoffOfTheNewOnes() {
        manager.updateBootstrapServers(Collections.singletonList(voter1));
        fail(voter1, 1);
        time.sleep(40);
        assertEquals(RETRY_BACKOFF_MS - 40, manager.backoffBeforeAvailableBootstrapServer(time.milliseconds()));
    }

    @Test
    void aRequestToAnOldServerIsStillTheOnlyOneInFlight() {
        manager.onRequestSent(stale1, 7, time.milliseconds());
        manager.updateBootstrapServers(Collections.singletonList(voter1));

        assertTrue(manager.hasAnyInflightRequest(time.milliseconds()));
        assertEquals(Optional.empty(), manager.findReadyBootstrapServer(time.milliseconds()));
        assertEquals(REQUEST_TIMEOUT_MS, manager.backoffBeforeAvailableBootstrapServer(time.milliseconds()));
        assertTrue(manager.isResponseExpected(stale1, 7));

        manager.onResponseResult(stale1, 7, true, time.milliseconds());
        assertEquals(Optional.of(voter1), manager.findReadyBootstrapServer(time.milliseconds()));
    }

    @Test
    void aRequestToAnOldServerThatIsNeverAnsweredEndsByItsTimeout() {
        manager.onRequestSent(stale1, 7, time.milliseconds());
        manager.updateBootstrapServers(Collections.singletonList(voter1));
        time.sleep(REQUEST_TIMEOUT_MS);
        assertEquals(Optional.of(voter1), manager.findReadyBootstrapServer(time.milliseconds()));
    }

    @Test
    void theSameEndpointUnderItsRealIdStartsWithAFreshConnectionState() {
        fail(stale1, 1);
        Node known = new Node(1, stale1.host(), stale1.port());
        manager.updateBootstrapServers(Collections.singletonList(known));
        assertTrue(manager.isBackingOff(stale1, time.milliseconds()));
        assertFalse(manager.isBackingOff(known, time.milliseconds()));
        assertEquals(Optional.of(known), manager.findReadyBootstrapServer(time.milliseconds()));
    }

    @Test
    void aVoterThatMovedKeepsTheBackoffOfItsId() {
        manager.updateBootstrapServers(Collections.singletonList(voter1));
        fail(voter1, 1);
        Node moved = new Node(1, "elsewhere", 9201);
        manager.updateBootstrapServers(Collections.singletonList(moved));
        assertEquals(Optional.empty(), manager.findReadyBootstrapServer(time.milliseconds()));
        time.sleep(RETRY_BACKOFF_MS);
        assertEquals(Optional.of(moved), manager.findReadyBootstrapServer(time.milliseconds()));
    }

    @Test
    void theListMayShrinkWhileAnotherThreadReadsIt() throws InterruptedException {
        List<Collection<Node>> lists = Arrays.asList(
            Collections.singletonList(voter1),
            Arrays.asList(voter1, voter2, voter3)
        );
        AtomicBoolean over = new AtomicBoolean();
        Thread writer = new Thread(() -> {
            for (int i = 0; !over.get(); i++) {
                manager.updateBootstrapServers(lists.get(i % 2));
            }
        });
        writer.start();
        try {
            Set<Node> known = nodes(stale1, stale2, voter1, voter2, voter3);
            for (int i = 0; i < 500_000; i++) {
                assertTrue(known.contains(manager.findReadyBootstrapServer(time.milliseconds()).get()));
                assertEquals(0, manager.backoffBeforeAvailableBootstrapServer(time.milliseconds()));
            }
        } finally {
            over.set(true);
            writer.join();
        }
    }

    private void fail(Node node, long correlationId) {
        manager.onRequestSent(node, correlationId, time.milliseconds());
        manager.onResponseResult(node, correlationId, false, time.milliseconds());
    }

    private Set<Node> readyServers() {
        return IntStream.range(0, MANY)
            .mapToObj(i -> manager.findReadyBootstrapServer(time.milliseconds()))
            .filter(Optional::isPresent)
            .map(Optional::get)
            .collect(Collectors.toSet());
    }

    private static Set<Node> nodes(Node... nodes) {
        return new HashSet<>(Arrays.asList(nodes));
    }
}
