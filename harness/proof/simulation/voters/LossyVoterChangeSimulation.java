package org.apache.kafka.raft;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

import java.util.Random;

/** What the released 3.9.1 does not hold: voters that change while messages are lost, with the answers that end a leader. */
public class LossyVoterChangeSimulation {
    @Property
    void votersComeAndGoWhileMessagesAreLost(
        @ForAll int seed,
        @ForAll @IntRange(min = 1, max = 4) int voters,
        @ForAll @IntRange(min = 1, max = 3) int others,
        @ForAll @IntRange(min = 0, max = 2) int lostPercent
    ) {
        Random random = new Random(seed);
        SimulatedQuorum quorum = new SimulatedQuorum(random, voters, others);
        quorum.network.lostPercent = lostPercent;
        VoterChangeSimulation.comeAndGo(quorum, random);
    }
}
