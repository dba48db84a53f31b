package org.apache.kafka.raft;

import org.apache.kafka.common.Node;
import org.apache.kafka.common.message.ApiVersionsRequestData;
import org.apache.kafka.common.message.ApiVersionsResponseData;
import org.apache.kafka.common.message.BeginQuorumEpochResponseData;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.utils.MockTime;
import org.apache.kafka.server.common.KRaftVersion;

import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

/** Takes requests and answers from node to node: each takes a few milliseconds, some are lost. */
final class SimulatedNetwork {
    private static final int MOST_DELAY_MS = 5;

    final AtomicInteger correlations = new AtomicInteger();
    /** Of every hundred messages so many are lost. */
    int lostPercent = 0;
    /** Whether a leader is spared the answers to BeginQuorumEpoch of voters that it removes: 3.9.1 ends at them. */
    boolean losesLateAcknowledgements = false;
    /** Whether a voter is being removed. */
    boolean aVoterLeaves = false;
    private final PriorityQueue<Delivery> deliveries = new PriorityQueue<>();
    private final SimulatedQuorum quorum;
    private final Random random;
    private final MockTime time;
    private int sent = 0;

    SimulatedNetwork(SimulatedQuorum quorum, Random random, MockTime time) {
        this.quorum = quorum;
        this.random = random;
        this.time = time;
    }

    /** Takes what a node has to send. */
    void collect(SimulatedNode sender) {
        for (RaftRequest.Outbound request : sender.channel().drainSendQueue()) {
            send(() -> arrive(sender, request));
        }
    }

    /** Hands over what has come to its time. */
    void deliver() {
        while (!deliveries.isEmpty() && deliveries.peek().dueMs <= time.milliseconds()) {
            deliveries.poll().arrival.run();
        }
    }

    private void arrive(SimulatedNode sender, RaftRequest.Outbound request) {
        Node destination = request.destination();
        SimulatedNode receiver = quorum.nodes.get(destination.port() - SimulatedNode.FIRST_PORT);
        MockNetworkChannel asking = sender.channel();  // a sender that was restarted meanwhile has another
        if (!receiver.isRunning()) {
            return;
        }
        if (request.data() instanceof ApiVersionsRequestData) {
            answer(sender, asking, request, destination, versions());
            return;
        }
        receiver.handle(request.data()).whenComplete((response, failure) -> {
            if (response != null) {
                answer(sender, asking, request, destination, response.data());
            }
        });
    }

    private void answer(
        SimulatedNode sender, MockNetworkChannel asking, RaftRequest.Outbound request, Node source, ApiMessage data
    ) {
        send(() -> {
            if (!sender.isRunning() || sender.channel() != asking) {
                return;
            }
            boolean isLost = losesLateAcknowledgements && data instanceof BeginQuorumEpochResponseData
                && (aVoterLeaves || !sender.takesForVoter(quorum.nodes.get(source.port() - SimulatedNode.FIRST_PORT)));
            if (!isLost) {
                asking.mockReceive(new RaftResponse.Inbound(request.correlationId(), data, source));
            }
        });
    }

    /** What a node answers without its raft client. */
    private static ApiMessage versions() {
        ApiVersionsResponseData.SupportedFeatureKey feature = new ApiVersionsResponseData.SupportedFeatureKey()
            .setName(KRaftVersion.FEATURE_NAME)
            .setMinVersion(SimulatedNode.KRAFT_VERSIONS.min())
            .setMaxVersion(SimulatedNode.KRAFT_VERSIONS.max());
        ApiVersionsResponseData response = new ApiVersionsResponseData();
        response.supportedFeatures().add(feature);
        return response;
    }

    private void send(Runnable arrival) {
        if (random.nextInt(100) >= lostPercent) {
            deliveries.add(new Delivery(time.milliseconds() + random.nextInt(MOST_DELAY_MS), sent++, arrival));
        }
    }

    private static final class Delivery implements Comparable<Delivery> {
        private final long dueMs;
        private final int number;
        private final Runnable arrival;

        private Delivery(long dueMs, int number, Runnable arrival) {
            this.dueMs = dueMs;
            this.number = number;
            this.arrival = arrival;
        }

        @Override
        public int compareTo(Delivery other) {
            return dueMs == other.dueMs ? Integer.compare(number, other.number) : Long.compare(dueMs, other.dueMs);
        }
    }
}
