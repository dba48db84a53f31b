package org.apache.kafka.raft;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.AddRaftVoterResponseData;
import org.apache.kafka.common.message.RemoveRaftVoterResponseData;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.utils.MockTime;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * A quorum with a voter set in its log (kraft.version 1), in one thread and in virtual time; upstream's doubles of log,
 * network and clock are what it stands on. The same random numbers make the same run. Invariants are checked each
 * millisecond: one leader per epoch, epochs and the high watermark never fall, a majority of voters has what is committed.
 */
final class SimulatedQuorum {
    private static final int PENDING_MS = 5_000;
    private static final int RETRY_MS = 100;
    // Upstream's log in memory returns a batch or two with each fetch: with much more, followers fall behind for ever.
    private static final int APPEND_EVERY_MS = 100;

    final List<SimulatedNode> nodes = new ArrayList<>();
    final Set<SimulatedNode> voters = new LinkedHashSet<>();
    final SimulatedNetwork network;

    private final Random random;
    private final MockTime time = new MockTime();
    private final String clusterId;
    private final Map<Integer, Integer> leaders = new HashMap<>();
    private final Map<Integer, Integer> epochs = new HashMap<>();
    private Set<Integer> votersBefore = new LinkedHashSet<>();
    private long committed = 0;
    private boolean aDiskIsLost = false;

    SimulatedQuorum(Random random, int voters, int others) {
        this.random = random;
        this.clusterId = uuid().toString();
        this.network = new SimulatedNetwork(this, random, time);
        for (int id = 0; id < voters + others; id++) {
            nodes.add(new SimulatedNode(id, uuid(), network, time, random, clusterId));
        }
        this.voters.addAll(nodes.subList(0, voters));
        VoterSet first = SimulatedNode.voterSet(this.voters);
        this.voters.forEach(node -> node.format(first));
    }

    void start(SimulatedNode node) {
        node.start(nodes);
    }

    void kill(SimulatedNode node) {
        node.kill();
    }

    /** Leaves a node that is down nothing of what it wrote: its epoch neither, nor what was committed with its help. */
    void loseDisk(SimulatedNode node) {
        node.loseDisk();
        epochs.remove(node.id);
        aDiskIsLost = true;
    }

    /** Returns the running leader of the newest epoch, null where there is none. */
    SimulatedNode leader() {
        SimulatedNode found = null;
        for (SimulatedNode node : nodes) {
            if (node.isLeader() && (found == null || node.epoch() > found.epoch())) {
                found = node;
            }
        }
        return found;
    }

    long committed() {
        return committed;
    }

    void add(SimulatedNode node, int mostSeconds) {
        change("node " + node.id + " is a voter", mostSeconds, Errors.DUPLICATE_VOTER, () ->
            RaftUtil.addVoterRequest(clusterId, PENDING_MS, node.key(), node.endpoints()));
        voters.add(node);
    }

    void remove(SimulatedNode node, int mostSeconds) {
        network.aVoterLeaves = true;
        change("node " + node.id + " is no voter", mostSeconds, Errors.VOTER_NOT_FOUND, () ->
            RaftUtil.removeVoterRequest(clusterId, node.key()));
        voters.remove(node);
        network.aVoterLeaves = false;
    }

    /** Sends a request to whoever leads until it is answered by success, or by what an earlier one has already done. */
    private void change(String what, int mostSeconds, Errors done, Supplier<ApiMessage> request) {
        Change change = new Change(what, done);
        runUntil(change, mostSeconds, () -> {
            SimulatedNode leader = leader();
            if (leader != null && change.mayBeSent(time.milliseconds())) {
                change.sent(leader.handle(request.get()), time.milliseconds());
            }
            return change.isDone();
        });
    }

    boolean nodesAgreeOnVoters() {
        return nodes.stream().filter(SimulatedNode::isRunning).allMatch(node ->
            nodes.stream().allMatch(other -> node.takesForVoter(other) == voters.contains(other)));
    }

    /** Lets a millisecond pass after another until a condition holds. */
    void runUntil(Object what, int mostSeconds, BooleanSupplier condition) {
        for (int millisecond = 0; millisecond < mostSeconds * 1000; millisecond++) {
            if (condition.getAsBoolean()) {
                return;
            }
            tick();
        }
        throw new AssertionError("After " + mostSeconds + " simulated seconds it is not so that " + what + ": " + nodes);
    }

    /** Lets so many milliseconds pass. */
    void run(int milliseconds) {
        for (int millisecond = 0; millisecond < milliseconds; millisecond++) {
            tick();
        }
    }

    private void tick() {
        time.sleep(1);
        network.deliver();
        for (SimulatedNode node : nodes) {
            if (node.isRunning() && random.nextInt(5) == 0) {
                node.poll();
                network.collect(node);
            }
        }
        if (random.nextInt(APPEND_EVERY_MS) == 0 && leader() != null) {
            leader().append();
        }
        nodes.forEach(this::checkEpoch);
        checkHighWatermark();
    }

    private void checkEpoch(SimulatedNode node) {
        ElectionState state = node.election();
        int before = epochs.getOrDefault(node.id, 0);
        if (state == null) {
            return;
        }
        check(state.epoch() >= before, "the epoch of node " + node.id + " falls from " + before + " to " + state.epoch());
        epochs.put(node.id, state.epoch());
        if (state.hasLeader()) {
            int known = leaders.computeIfAbsent(state.epoch(), epoch -> state.leaderId());
            check(known == state.leaderId(), "epoch " + state.epoch() + " has the leaders " + known + " and "
                + state.leaderId());
        }
    }

    /** Of a leader whose high watermark has risen since the last look; what its voters are may have changed meanwhile. */
    private void checkHighWatermark() {
        SimulatedNode leader = leader();
        if (leader == null || !leader.knowsHighWatermark()) {
            return;
        }
        long now = leader.highWatermark();
        check(now >= committed, "the high watermark falls from " + committed + " to " + now + " on node " + leader.id);
        Set<Integer> current = leader.voterIds(nodes);
        if (now > committed && !aDiskIsLost) {
            check(isReached(now, current) || isReached(now, votersBefore), "no majority of the voters " + current
                + " has offset " + now + ", which node " + leader.id + " has committed: " + nodes);
        }
        committed = now;
        votersBefore = current;
    }

    private boolean isReached(long offset, Set<Integer> ids) {
        return ids.stream().filter(id -> nodes.get(id).log().endOffset().offset() >= offset).count() > ids.size() / 2;
    }

    /** Fails when two nodes have different records at an offset that both have committed. */
    void checkCommitted() {
        Map<Long, Integer> records = new HashMap<>();
        for (SimulatedNode node : nodes) {
            node.committedRecords().forEach((offset, value) -> {
                Integer known = records.putIfAbsent(offset, value);
                check(known == null || known.equals(value), "at offset " + offset + " node " + node.id + " has "
                    + value + ", another " + known);
            });
        }
    }

    static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
    }

    private Uuid uuid() {
        return new Uuid(random.nextLong(), random.nextLong());
    }

    /** One change of the voters under way: the request that was sent last, and its answer. */
    private static final class Change {
        private final String what;
        private final Errors alreadyDone;
        private CompletableFuture<RaftResponse.Outbound> answer = null;
        private long sentMs = 0;

        private Change(String what, Errors alreadyDone) {
            this.what = what;
            this.alreadyDone = alreadyDone;
        }

        boolean mayBeSent(long nowMs) {
            return answer == null || nowMs - sentMs >= PENDING_MS || answer.isDone() && nowMs - sentMs >= RETRY_MS;
        }

        void sent(CompletableFuture<RaftResponse.Outbound> pending, long nowMs) {
            answer = pending;
            sentMs = nowMs;
        }

        boolean isDone() {
            if (answer == null || !answer.isDone()) {
                return false;
            }
            Errors error = Errors.forCode(errorCode(answer.join().data()));
            return error == Errors.NONE || error == alreadyDone;
        }

        @Override
        public String toString() {
            return what + ", last answer " + (answer == null || !answer.isDone() ? "none" : answer.join().data());
        }

        private static short errorCode(ApiMessage response) {
            return response instanceof AddRaftVoterResponseData
                ? ((AddRaftVoterResponseData) response).errorCode()
                : ((RemoveRaftVoterResponseData) response).errorCode();
        }
    }
}
