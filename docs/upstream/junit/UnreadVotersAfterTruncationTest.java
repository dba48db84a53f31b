package org.apache.kafka.raft;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.FetchResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.UnalignedMemoryRecords;
import org.apache.kafka.snapshot.RawSnapshotReader;

import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** docs/upstream/unread-voters-after-truncation.md: fails on 3.9.1 to 4.3.1. */
class UnreadVotersAfterTruncationTest {
    private static final int EPOCH = 5;
    private static final int LEADER = 0;
    private final List<ReplicaKey> replicas = IntStream
        .range(0, 6)
        .mapToObj(id -> ReplicaKey.of(id, Uuid.randomUuid()))
        .collect(Collectors.toList());

    @Test
    void votersThatAreWrittenInPlaceOfTruncatedOnesAreRead() throws Exception {
        RaftClientTestContext observer = observer(voters(0, 1, 2));
        long end = observer.log.endOffset().offset();
        append(observer, EPOCH, voters(0, 1, 2, 4));
        assertTrue(knows(observer, 4));
        answer(observer, observer.divergingFetchResponse(EPOCH, LEADER, end, EPOCH, 0L));
        assertFalse(knows(observer, 4), "the voters before the truncation are those of the bootstrap snapshot");

        append(observer, EPOCH, voters(0, 1, 2, 5));
        assertTrue(knows(observer, 5), "the record at offset " + end + " was not read");
    }

    @Test
    void theVotersOfASnapshotTakeThePlaceOfThoseInALongerTail() throws Exception {
        RaftClientTestContext observer = observer(voters(0, 1, 2));
        long end = observer.log.endOffset().offset();
        append(observer, EPOCH - 1, voters(0, 1, 2, 4));
        append(observer, EPOCH - 1, voters(0, 1, 2, 4));
        OffsetAndEpoch id = new OffsetAndEpoch(end + 1, EPOCH);
        answer(observer, observer.snapshotFetchResponse(EPOCH, LEADER, id, 0L));
        download(observer, id, observer(voters(0, 1, 2, 5)).log.latestSnapshot().get());
        assertEquals(end + 1, observer.log.endOffset().offset());
        assertTrue(knows(observer, 5), "the snapshot was not read");
        assertFalse(knows(observer, 4), "the voters of the log that is gone are believed");
    }

    private RaftClientTestContext observer(VoterSet voters) throws Exception {
        return new RaftClientTestContext.Builder(3, replicas.get(3).directoryId().get())
            .withKip853Rpc(true)
            .withBootstrapSnapshot(Optional.of(voters))
            .withElectedLeader(EPOCH, LEADER)
            .build();
    }

    private static boolean knows(RaftClientTestContext observer, int voter) {
        return observer.client.voterNode(voter, MockNetworkChannel.LISTENER_NAME).isPresent();
    }

    private static void append(RaftClientTestContext observer, int epoch, VoterSet voters) throws Exception {
        MemoryRecords records = MemoryRecords.withVotersRecord(
            observer.log.endOffset().offset(), 0, epoch, ByteBuffer.allocate(1024), voters.toVotersRecord((short) 0)
        );
        answer(observer, observer.fetchResponse(EPOCH, LEADER, records, 0L, Errors.NONE));
    }

    private static void answer(RaftClientTestContext observer, FetchResponseData response) throws Exception {
        observer.pollUntilRequest();
        RaftRequest.Outbound fetch = observer.assertSentFetchRequest();
        observer.deliverResponse(fetch.correlationId(), fetch.destination(), response);
        observer.client.poll();
    }

    private static void download(RaftClientTestContext observer, OffsetAndEpoch id, RawSnapshotReader snapshot) throws Exception {
        int size = Math.toIntExact(snapshot.sizeInBytes());
        ByteBuffer content = ((UnalignedMemoryRecords) snapshot.slice(0, size)).buffer();
        observer.pollUntilRequest();
        RaftRequest.Outbound request = observer.assertSentFetchSnapshotRequest();
        observer.deliverResponse(request.correlationId(), request.destination(), observer.fetchSnapshotResponse(LEADER, answer -> {
            answer.currentLeader().setLeaderEpoch(EPOCH).setLeaderId(LEADER);
            answer.snapshotId().setEndOffset(id.offset()).setEpoch(id.epoch());
            return answer.setSize(size).setPosition(0).setUnalignedRecords(MemoryRecords.readableRecords(content));
        }));
        observer.client.poll();
    }

    private VoterSet voters(int... ids) {
        return VoterSetTest.voterSet(IntStream.of(ids).mapToObj(replicas::get));
    }
}
