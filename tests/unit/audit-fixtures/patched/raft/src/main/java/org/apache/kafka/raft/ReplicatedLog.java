package org.apache.kafka.raft;

public interface ReplicatedLog {
    long appendAsLeader(Records records);

    void appendAsFollower(Records records);

    boolean truncateToLatestSnapshot();

    long truncateToEndOffset(long endOffset);
}
