package org.apache.kafka.raft.internals;

import org.apache.kafka.raft.ReplicatedLog;

public final class KRaftControlRecordStateMachine {
    private final ReplicatedLog log;
    private VoterSet voters = VoterSet.empty();

    public KRaftControlRecordStateMachine(ReplicatedLog log) {
        this.log = log;
    }

    public void updateState() {
        voters = VoterSet.read(log);
    }

    public void truncateNewEntries(long endOffset) {
        voters = voters.until(endOffset);
    }

    public VoterSet lastVoterSet() {
        return voters;
    }
}
