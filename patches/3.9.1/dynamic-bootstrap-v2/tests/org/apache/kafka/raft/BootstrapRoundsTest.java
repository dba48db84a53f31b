package org.apache.kafka.raft;

import org.apache.kafka.common.Node;
import org.apache.kafka.common.utils.MockTime;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** In which order, and how often, bootstrap servers are asked in rounds. */
class BootstrapRoundsTest {
    private static final int REQUEST_TIMEOUT_MS = 2_000;
    private static final int RETRY_BACKOFF_MS = 20;
    private static final int LONGEST_PAUSE_MS = 500;

    private final MockTime time = new MockTime();
    private final Node configured1 = new Node(-2, "configured", 9001);
    private final Node configured2 = new Node(-3, "configured", 9002);
    private final Node voter1 = new Node(1, "voter", 9101);
    private final Node voter2 = new Node(2, "voter", 9102);
    private final Node voter3 = new Node(3, "voter", 9103);
    private final RequestManager manager = manager(RETRY_BACKOFF_MS);
    private long correlationId = 0;

    @Test
    void untilTheyAreAskedInRoundsTheyAreChosenAtRandomAsInTheRelease() {
        RequestManager released = released(RETRY_BACKOFF_MS);
        Set<Node> chosen = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            released.findReadyBootstrapServer(time.milliseconds()).ifPresent(chosen::add);
        }
        assertEquals(new HashSet<>(Arrays.asList(configured1, configured2)), chosen);
    }

    @Test
    void theConfiguredServersAreAskedInRoundsToo() {
        assertEquals(Arrays.asList(configured1, configured2), round());
        assertEquals(RETRY_BACKOFF_MS, pause());
    }

    @Test
    void eachIsAskedOnceInItsOrder() {
        manager.replaceBootstrapServers(Arrays.asList(voter1, voter2, configured1));
        assertEquals(Arrays.asList(voter1, voter2, configured1), round());
    }

    @Test
    void anEmptyListIsIgnored() {
        manager.replaceBootstrapServers(Collections.emptyList());
        assertTrue(manager.findReadyBootstrapServer(time.milliseconds()).isPresent());
        assertEquals(0, manager.backoffBeforeAvailableBootstrapServer(time.milliseconds()));
    }

    @Test
    void theListIsACopy() {
        List<Node> handed = new ArrayList<>(Arrays.asList(voter1, voter2));
        manager.replaceBootstrapServers(handed);
        handed.clear();
        assertEquals(Arrays.asList(voter1, voter2), round());
    }

    @Test
    void anotherListBeginsAtOnceAndWithItsFirst() {
        manager.replaceBootstrapServers(Arrays.asList(voter1, voter2));
        round();
        manager.replaceBootstrapServers(Arrays.asList(voter2, voter3));
        time.sleep(RETRY_BACKOFF_MS);
        assertEquals(Arrays.asList(voter2, voter3), round());
    }

    @Test
    void betweenRoundsThereIsAPauseThatDoublesUpToHalfASecond() {
        manager.replaceBootstrapServers(Arrays.asList(voter1, voter2));
        for (long expected : new long[] {20, 40, 80, 160, 320, LONGEST_PAUSE_MS, LONGEST_PAUSE_MS}) {
            round();
            assertEquals(expected, pause(), 1.0);
            time.sleep(pause());
        }
    }

    @Test
    void whoFindsNobodyReadyIsNeverToldToTryAgainAtOnce() {
        for (int backoffMs : new int[] {0, 1, RETRY_BACKOFF_MS, 3_000}) {
            RequestManager paced = manager(backoffMs);
            paced.replaceBootstrapServers(Arrays.asList(voter1, voter2, voter3));
            for (int i = 0; i < 500; i++) {
                Optional<Node> asked = paced.findReadyBootstrapServer(time.milliseconds());
                if (asked.isPresent()) {
                    fail(paced, asked.get());
                } else {
                    long pause = paced.backoffBeforeAvailableBootstrapServer(time.milliseconds());
                    assertTrue(pause > 0, "no pause with a backoff of " + backoffMs);
                    assertTrue(pause <= Math.max(backoffMs, LONGEST_PAUSE_MS), "a pause of " + pause);
                    time.sleep(pause);
                }
            }
        }
    }

    @Test
    void anAnswerWithoutALeaderDoesNotShortenThePause() {
        manager.replaceBootstrapServers(Collections.singletonList(voter1));
        for (long expected : new long[] {20L, 40L, 80L}) {
            Node asked = manager.findReadyBootstrapServer(time.milliseconds()).get();
            manager.onRequestSent(asked, ++correlationId, time.milliseconds());
            manager.onResponseResult(asked, correlationId, true, time.milliseconds());
            assertEquals(expected, pause());
            time.sleep(expected);
        }
    }

    @Test
    void onceTheLeaderWasFoundThePauseIsShortAgain() {
        manager.replaceBootstrapServers(Arrays.asList(voter1, voter2));
        for (int i = 0; i < 5; i++) {
            round();
            time.sleep(pause());
        }
        manager.leaderFound();
        round();
        assertEquals(RETRY_BACKOFF_MS, pause());
    }

    @Test
    void anotherEpochEndsThePause() {
        manager.replaceBootstrapServers(Arrays.asList(voter1, voter2));
        round();
        manager.resetAll();
        assertEquals(0, manager.backoffBeforeAvailableBootstrapServer(time.milliseconds()));
        assertEquals(Arrays.asList(voter1, voter2), round());
    }

    @Test
    void aServerThatDoesNotAnswerIsNotAskedAgainBeforeAllOthers() {
        manager.replaceBootstrapServers(Arrays.asList(voter1, voter2, voter3));
        for (Node expected : Arrays.asList(voter1, voter2, voter3)) {
            Node asked = manager.findReadyBootstrapServer(time.milliseconds()).get();
            assertEquals(expected, asked);
            manager.onRequestSent(asked, ++correlationId, time.milliseconds());
            assertEquals(Optional.empty(), manager.findReadyBootstrapServer(time.milliseconds()));
            assertEquals(REQUEST_TIMEOUT_MS, pause());
            time.sleep(REQUEST_TIMEOUT_MS);
        }
    }

    @Test
    void aRequestToAnOldServerIsStillTheOnlyOneInFlight() {
        manager.onRequestSent(configured1, 7, time.milliseconds());
        manager.replaceBootstrapServers(Collections.singletonList(voter1));
        assertEquals(Optional.empty(), manager.findReadyBootstrapServer(time.milliseconds()));
        assertTrue(manager.isResponseExpected(configured1, 7));
        manager.onResponseResult(configured1, 7, true, time.milliseconds());
        assertEquals(Optional.of(voter1), manager.findReadyBootstrapServer(time.milliseconds()));
    }

    @Test
    void oneThatBacksOffIsPassedOverInThisRound() {
        manager.replaceBootstrapServers(Arrays.asList(voter1, voter2));
        fail(manager, voter1);
        assertEquals(Collections.singletonList(voter2), round());
    }

    private RequestManager manager(int retryBackoffMs) {
        RequestManager asksInRounds = released(retryBackoffMs);
        asksInRounds.askInRounds();
        return asksInRounds;
    }

    private RequestManager released(int retryBackoffMs) {
        return new RequestManager(
            Arrays.asList(configured1, configured2), retryBackoffMs, REQUEST_TIMEOUT_MS, new Random(1)
        );
    }

    /** Asks, and hears of a failure each time, until there is nobody left to ask. */
    private List<Node> round() {
        List<Node> asked = new ArrayList<>();
        Optional<Node> ready = manager.findReadyBootstrapServer(time.milliseconds());
        while (ready.isPresent()) {
            asked.add(ready.get());
            fail(manager, ready.get());
            ready = manager.findReadyBootstrapServer(time.milliseconds());
        }
        return asked;
    }

    private long pause() {
        return manager.backoffBeforeAvailableBootstrapServer(time.milliseconds());
    }

    private void fail(RequestManager asked, Node node) {
        asked.onRequestSent(node, ++correlationId, time.milliseconds());
        asked.onResponseResult(node, correlationId, false, time.milliseconds());
    }
}
