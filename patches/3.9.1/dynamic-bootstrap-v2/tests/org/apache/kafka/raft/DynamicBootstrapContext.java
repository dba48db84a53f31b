package org.apache.kafka.raft;

import org.apache.kafka.common.Node;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.UnalignedMemoryRecords;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.server.common.Features;
import org.apache.kafka.server.common.KRaftVersion;
import org.apache.kafka.snapshot.RawSnapshotReader;
import org.apache.kafka.snapshot.RecordsSnapshotWriter;

import java.lang.reflect.Field;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.IntFunction;

/**
 * A raft client on upstream's test context whose configured bootstrap servers are all stale, with voters 0, 1 and 2.
 * Which servers it would ask for the leader is seen from outside: from where it sends its fetch requests.
 */
final class DynamicBootstrapContext {
    static final int EPOCH = 5;
    static final int LEADER = 0;
    static final int OBSERVER = 3;
    static final List<InetSocketAddress> STALE = Arrays.asList(address("stale", 1), address("stale", 2));

    private static final String FLAG = "controller.quorum.dynamic.bootstrap.servers.enable";
    private static final Map<Integer, Uuid> DIRECTORIES = new HashMap<>();

    static {
        for (int id = 0; id <= OBSERVER; id++) {
            DIRECTORIES.put(id, Uuid.randomUuid());
        }
    }

    final RaftClientTestContext raft;

    private DynamicBootstrapContext(RaftClientTestContext raft) {
        this.raft = raft;
    }

    /** Starts a follower of voter 0 that is not a voter itself and knows the voters at their old endpoints. */
    static DynamicBootstrapContext observer() throws Exception {
        return new DynamicBootstrapContext(builder(OBSERVER).withElectedLeader(EPOCH, LEADER).build());
    }

    static RaftClientTestContext.Builder builder(int localId) {
        return new RaftClientTestContext.Builder(localId, DIRECTORIES.get(localId))
            .withKip853Rpc(true)
            .withBootstrapSnapshot(Optional.of(voters(DynamicBootstrapContext::oldAddress)))
            .withBootstrapServers(Optional.of(STALE));
    }

    static DynamicBootstrapContext of(RaftClientTestContext raft) {
        return new DynamicBootstrapContext(raft);
    }

    /**
     * Starts the observer with the flag off. Upstream's context calls the constructor that does not know the flag, and
     * initializes the client at once: it is initialized again, with a configuration and a request manager of its own.
     */
    static DynamicBootstrapContext observerWithFlagOff() throws Exception {
        DynamicBootstrapContext observer = observer();
        RaftClientTestContext raft = observer.raft;
        AbstractConfig off = new AbstractConfig(QuorumConfig.CONFIG_DEF, Collections.singletonMap(FLAG, "false"), false);
        field(KafkaRaftClient.class, "quorumConfig").set(raft.client, new QuorumConfig(off));
        field(KafkaRaftClient.class, "requestManager").set(
            raft.client,
            new RequestManager(staleNodes(), raft.retryBackoffMs, raft.requestTimeoutMs(), new Random(1))
        );
        QuorumStateStore store = (QuorumStateStore) field(RaftClientTestContext.class, "quorumStateStore").get(raft);
        raft.client.initialize(Collections.emptyMap(), store, new Metrics());
        return observer;
    }

    private static Field field(Class<?> owner, String name) throws ReflectiveOperationException {
        Field field = owner.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    /** Where a voter listens, as far as the client knows. */
    InetSocketAddress address(int id) {
        Node node = raft.client.voterNode(id, MockNetworkChannel.LISTENER_NAME).get();
        return InetSocketAddress.createUnresolved(node.host(), node.port());
    }

    static InetSocketAddress oldAddress(int id) {
        return address("old", id);
    }

    static InetSocketAddress newAddress(int id) {
        return address("new", id);
    }

    static VoterSet voters(IntFunction<InetSocketAddress> endpoints) {
        return voters(endpoints, id -> MockNetworkChannel.LISTENER_NAME);
    }

    static VoterSet voters(IntFunction<InetSocketAddress> endpoints, IntFunction<ListenerName> listeners) {
        Map<Integer, VoterSet.VoterNode> voters = new HashMap<>();
        for (int id = 0; id < OBSERVER; id++) {
            voters.put(id, VoterSet.VoterNode.of(
                ReplicaKey.of(id, DIRECTORIES.get(id)),
                Endpoints.fromInetSocketAddresses(Collections.singletonMap(listeners.apply(id), endpoints.apply(id))),
                Features.KRAFT_VERSION.supportedVersionRange()
            ));
        }
        return VoterSet.fromMap(voters);
    }

    /** The servers of the configuration, as the client numbers them. */
    static Set<Node> staleNodes() {
        return nodes(node(-2, STALE.get(0)), node(-3, STALE.get(1)));
    }

    static Set<Node> voterNodes(IntFunction<InetSocketAddress> endpoints) {
        return nodes(node(0, endpoints.apply(0)), node(1, endpoints.apply(1)), node(2, endpoints.apply(2)));
    }

    static Set<Node> nodes(Node... nodes) {
        return new HashSet<>(Arrays.asList(nodes));
    }

    static Node node(int id, InetSocketAddress address) {
        return new Node(id, address.getHostString(), address.getPort());
    }

    /** The next fetch is answered with a control batch that holds this voter set. */
    void fetchVoters(VoterSet voters) throws Exception {
        fetchVoters(voters, EPOCH);
    }

    /** The next fetch is answered with a control batch of this epoch that holds this voter set. */
    void fetchVoters(VoterSet voters, int epoch) throws Exception {
        long offset = raft.log.endOffset().offset();
        MemoryRecords records = MemoryRecords.withVotersRecord(
            offset,
            raft.time.milliseconds(),
            epoch,
            ByteBuffer.allocate(1024),
            voters.toVotersRecord((short) 0)
        );
        answerFetch(records);
    }

    /** The next fetch is answered with an ordinary record. */
    void fetchData() throws Exception {
        answerFetch(raft.buildBatch(raft.log.endOffset().offset(), EPOCH, Collections.singletonList("record")));
    }

    private void answerFetch(MemoryRecords records) throws Exception {
        raft.pollUntilRequest();
        RaftRequest.Outbound fetch = raft.assertSentFetchRequest();
        raft.deliverResponse(
            fetch.correlationId(),
            fetch.destination(),
            raft.fetchResponse(EPOCH, LEADER, records, raft.client.highWatermark().orElse(0L), Errors.NONE)
        );
        raft.client.poll();
    }

    /** The next fetch is answered with the id of a snapshot, which the client then downloads: it holds this voter set. */
    void fetchSnapshot(VoterSet voters, int pieces) throws Exception {
        fetchSnapshot(voters, pieces, new OffsetAndEpoch(100L, EPOCH - 1));
    }

    void fetchSnapshot(VoterSet voters, int pieces, OffsetAndEpoch id) throws Exception {
        raft.pollUntilRequest();
        RaftRequest.Outbound fetch = raft.assertSentFetchRequest();
        raft.deliverResponse(
            fetch.correlationId(), fetch.destination(), raft.snapshotFetchResponse(EPOCH, LEADER, id, 200L)
        );
        ByteBuffer content = snapshotOf(voters, id);
        int size = content.remaining();
        for (int piece = 0; piece < pieces; piece++) {
            int from = size * piece / pieces;
            ByteBuffer part = content.duplicate();
            part.position(from).limit(size * (piece + 1) / pieces);
            answerFetchSnapshot(id, size, from, part.slice());
        }
    }

    private void answerFetchSnapshot(OffsetAndEpoch id, int size, int position, ByteBuffer part) throws Exception {
        raft.pollUntilRequest();
        RaftRequest.Outbound request = raft.assertSentFetchSnapshotRequest();
        raft.deliverResponse(
            request.correlationId(),
            request.destination(),
            raft.fetchSnapshotResponse(LEADER, snapshot -> {
                snapshot.currentLeader().setLeaderEpoch(EPOCH).setLeaderId(LEADER);
                snapshot.snapshotId().setEndOffset(id.offset()).setEpoch(id.epoch());
                return snapshot
                    .setSize(size)
                    .setPosition(position)
                    .setUnalignedRecords(MemoryRecords.readableRecords(part));
            })
        );
        raft.client.poll();
    }

    private ByteBuffer snapshotOf(VoterSet voters, OffsetAndEpoch id) {
        MockLog log = new MockLog(raft.metadataPartition, raft.metadataTopicId, new LogContext());
        RecordsSnapshotWriter.Builder builder = new RecordsSnapshotWriter.Builder()
            .setTime(raft.time)
            .setKraftVersion(KRaftVersion.KRAFT_VERSION_1)
            .setVoterSet(Optional.of(voters))
            .setRawSnapshotWriter(log.createNewSnapshotUnchecked(id).get());
        try (RecordsSnapshotWriter<String> writer = builder.build(raft.serde)) {
            writer.freeze();
        }
        RawSnapshotReader reader = log.readSnapshot(id).get();
        return ((UnalignedMemoryRecords) reader.slice(0, Math.toIntExact(reader.sizeInBytes()))).buffer();
    }

    /** The next fetch is answered by another leader, who has the log otherwise after this offset. */
    void truncateTo(long offset) throws Exception {
        raft.pollUntilRequest();
        RaftRequest.Outbound fetch = raft.assertSentFetchRequest();
        raft.deliverResponse(
            fetch.correlationId(),
            fetch.destination(),
            raft.divergingFetchResponse(EPOCH, LEADER, offset, EPOCH, 0L)
        );
        raft.client.poll();
    }

    /** Lets the leader fall silent for longer than the fetch timeout. */
    DynamicBootstrapContext leaderFallsSilent() {
        raft.time.sleep(raft.fetchTimeoutMs + 1L);
        return this;
    }

    /** Returns whom the client asks for the leader: every server refuses, until there is nobody left to ask. */
    Set<Node> askedForTheLeader() throws Exception {
        raft.channel.drainSendQueue();
        Set<Node> asked = new HashSet<>();
        raft.client.poll();
        while (raft.channel.hasSentRequests()) {
            RaftRequest.Outbound fetch = raft.assertSentFetchRequest();
            asked.add(fetch.destination());
            refuse(fetch);
            raft.client.poll();
        }
        return asked;
    }

    /** Answers a fetch with an error, which the client has then heard. */
    void refuse(RaftRequest.Outbound fetch) {
        raft.deliverResponse(
            fetch.correlationId(),
            fetch.destination(),
            RaftUtil.errorResponse(ApiKeys.FETCH, Errors.BROKER_NOT_AVAILABLE)
        );
        raft.client.poll();
    }

    private static InetSocketAddress address(String name, int id) {
        return InetSocketAddress.createUnresolved(name + "-" + id, 9000 + id);
    }
}
