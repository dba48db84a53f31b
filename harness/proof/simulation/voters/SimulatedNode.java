package org.apache.kafka.raft;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.feature.SupportedVersionRange;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.protocol.Readable;
import org.apache.kafka.common.protocol.Writable;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.MockTime;
import org.apache.kafka.raft.internals.BatchMemoryPool;
import org.apache.kafka.server.common.KRaftVersion;
import org.apache.kafka.server.common.serialization.RecordSerde;
import org.apache.kafka.snapshot.RecordsSnapshotWriter;
import org.apache.kafka.snapshot.Snapshots;

import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/** A node: what is on its disk, and while it runs its raft client with a counter as its state machine. */
final class SimulatedNode {
    static final int FIRST_PORT = 9_000;
    static final SupportedVersionRange KRAFT_VERSIONS = new SupportedVersionRange((short) 0, (short) 1);
    private static final ListenerName LISTENER = MockNetworkChannel.LISTENER_NAME;
    private static final QuorumConfig CONFIG = new QuorumConfig(3_000, 50, 1_000, 100, 3_000, 0);
    private static final int FETCH_WAIT_MS = 100;

    final int id;
    private final Uuid directory;
    private final SimulatedNetwork network;
    private final MockTime time;
    private final Random random;
    private final String clusterId;
    private final LogContext logContext;
    private MockQuorumStateStore store = new MockQuorumStateStore();
    private MockLog log;

    private KafkaRaftClient<Integer> client = null;
    private MockNetworkChannel channel = null;
    private MockMessageQueue queue = null;
    private ReplicatedCounter counter = null;

    SimulatedNode(int id, Uuid directory, SimulatedNetwork network, MockTime time, Random random, String clusterId) {
        this.id = id;
        this.directory = directory;
        this.network = network;
        this.time = time;
        this.random = random;
        this.clusterId = clusterId;
        this.logContext = new LogContext("[Node " + id + "] ");
        this.log = emptyLog();
    }

    private MockLog emptyLog() {
        return new MockLog(new TopicPartition("__cluster_metadata", 0), Uuid.METADATA_TOPIC_ID, logContext);
    }

    /** Writes what a formatted voter has on its disk: a snapshot that holds the first voters. */
    void format(VoterSet voters) {
        try (RecordsSnapshotWriter<Integer> writer = new RecordsSnapshotWriter.Builder()
            .setRawSnapshotWriter(log.createNewSnapshotUnchecked(Snapshots.BOOTSTRAP_SNAPSHOT_ID).get())
            .setKraftVersion(KRaftVersion.KRAFT_VERSION_1)
            .setVoterSet(Optional.of(voters))
            .build(new Numbers())) {
            writer.freeze();
        }
    }

    static VoterSet voterSet(Collection<SimulatedNode> nodes) {
        return VoterSet.fromMap(nodes.stream().collect(Collectors.toMap(
            node -> node.id,
            node -> VoterSet.VoterNode.of(node.key(), node.endpoints(), KRAFT_VERSIONS)
        )));
    }

    void start(List<SimulatedNode> all) {
        log.reopen();
        channel = new MockNetworkChannel(network.correlations);
        queue = new MockMessageQueue();
        List<InetSocketAddress> bootstrap = all.stream().map(SimulatedNode::address).collect(Collectors.toList());
        client = new KafkaRaftClient<>(
            OptionalInt.of(id), directory, new Numbers(), channel, queue, log,
            new BatchMemoryPool(2, KafkaRaftClient.MAX_BATCH_SIZE_BYTES), time, new MockExpirationService(time),
            FETCH_WAIT_MS, true, clusterId, bootstrap, endpoints(), KRAFT_VERSIONS, logContext, random, CONFIG
        );
        counter = new ReplicatedCounter(id, client, logContext);
        client.register(counter);
        client.initialize(Collections.emptyMap(), store, new Metrics(time));
    }

    void kill() {
        client = null;
    }

    /** Leaves nothing of what was written; the directory id stays. */
    void loseDisk() {
        store = new MockQuorumStateStore();
        log = emptyLog();
    }

    boolean isRunning() {
        return client != null;
    }

    boolean isLeader() {
        return isRunning() && client.quorum().isLeader();
    }

    int epoch() {
        return client.quorum().epoch();
    }

    MockLog log() {
        return log;
    }

    MockNetworkChannel channel() {
        return channel;
    }

    /** Returns what the node has written of elections, null before it has. */
    ElectionState election() {
        return store.readElectionState().orElse(null);
    }

    boolean knowsHighWatermark() {
        return client.quorum().highWatermark().isPresent();
    }

    long highWatermark() {
        return client.quorum().highWatermark().map(LogOffsetMetadata::offset).orElse(0L);
    }

    boolean takesForVoter(SimulatedNode other) {
        return client.quorum().isVoter(other.key());
    }

    Set<Integer> voterIds(List<SimulatedNode> all) {
        return all.stream().filter(this::takesForVoter).map(node -> node.id).collect(Collectors.toCollection(TreeSet::new));
    }

    void append() {
        if (!client.isShuttingDown() && counter.isWritable()) {
            counter.increment();
        }
    }

    void poll() {
        try {
            do {
                client.poll();
            } while (client.isRunning() && !queue.isEmpty());
        } catch (RuntimeException failure) {
            throw new AssertionError("The raft thread of node " + id + " ends: " + failure, failure);
        }
    }

    CompletableFuture<RaftResponse.Outbound> handle(ApiMessage request) {
        RaftRequest.Inbound inbound = new RaftRequest.Inbound(
            LISTENER, network.correlations.incrementAndGet(), request.highestSupportedVersion(), request,
            time.milliseconds()
        );
        client.handle(inbound);
        return inbound.completion;
    }

    /** Deletes what the newest snapshot holds, as a real log does now and then; returns where the log begins. */
    long deleteBehindSnapshot() {
        log.latestSnapshotId().ifPresent(log::deleteBeforeSnapshot);
        return log.startOffset();
    }

    Map<Long, Integer> committedRecords() {
        Map<Long, Integer> found = new HashMap<>();
        if (!isRunning() || !knowsHighWatermark()) {
            return found;
        }
        for (MockLog.LogBatch batch : log.readBatches(log.startOffset(), OptionalLong.of(highWatermark()))) {
            if (!batch.isControlBatch) {
                batch.entries.forEach(entry -> found.put(entry.offset, entry.record.value().duplicate().getInt()));
            }
        }
        return found;
    }

    ReplicaKey key() {
        return ReplicaKey.of(id, directory);
    }

    InetSocketAddress address() {
        return InetSocketAddress.createUnresolved("localhost", FIRST_PORT + id);
    }

    Endpoints endpoints() {
        return Endpoints.fromInetSocketAddresses(Collections.singletonMap(LISTENER, address()));
    }

    @Override
    public String toString() {
        if (!isRunning()) {
            return id + " is down";
        }
        String role = isLeader() ? "leads" : "follows " + client.quorum().leaderId();
        return id + " " + role + " in epoch " + epoch() + ", high watermark " + highWatermark() + ", end "
            + log.endOffset().offset();
    }

    /** Records that are numbers. */
    private static final class Numbers implements RecordSerde<Integer> {
        @Override
        public int recordSize(Integer number, ObjectSerializationCache cache) {
            return Integer.BYTES;
        }

        @Override
        public void write(Integer number, ObjectSerializationCache cache, Writable out) {
            out.writeInt(number);
        }

        @Override
        public Integer read(Readable in, int size) {
            return in.readInt();
        }
    }
}
