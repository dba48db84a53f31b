package org.apache.kafka.raft;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;

/**
 * What upstream's simulation of this line leaves out: voters that are added and removed while leaders end and nodes are
 * away, and a disk that is lost while its directory id is kept. The released 3.9.1 holds all of it.
 */
public class VoterChangeSimulation {
    private static final int MOST_SECONDS = 300;
    private static final int CHANGES = 4;
    private static final int MOST_DELAY_MS = 3_000;

    /** Voters are added and removed one after the other, the leader among them, and now and then the leader is killed. */
    @Property
    void votersComeAndGo(
        @ForAll int seed,
        @ForAll @IntRange(min = 1, max = 4) int voters,
        @ForAll @IntRange(min = 1, max = 3) int others
    ) {
        Random random = new Random(seed);
        SimulatedQuorum quorum = new SimulatedQuorum(random, voters, others);
        quorum.network.losesLateAcknowledgements = true;
        comeAndGo(quorum, random);
    }

    /** A node is away while voters change so that old and new ones share no majority, and needs a snapshot afterwards. */
    @Property
    void aNodeThatWasAwayLearnsTheVotersFromASnapshot(
        @ForAll int seed,
        @ForAll @IntRange(min = 3, max = 5) int voters
    ) {
        SimulatedQuorum quorum = new SimulatedQuorum(new Random(seed), voters, 1);
        quorum.network.losesLateAcknowledgements = true;
        start(quorum);
        SimulatedNode away = quorum.nodes.get(voters);
        long end = away.log().endOffset().offset();
        quorum.kill(away);
        while (quorum.voters.size() > 1) {
            quorum.remove(followers(quorum).get(0), MOST_SECONDS);
        }
        quorum.runUntil("a snapshot is past the absent node's log", MOST_SECONDS, () ->
            quorum.leader() != null && quorum.leader().deleteBehindSnapshot() > end
        );
        quorum.start(away);
        progresses(quorum);
        agree(quorum);
    }

    /** A voter comes back without its disk and with the directory id that it had: nobody else has to stand for election. */
    @Property
    void aVoterThatLostItsDiskComesBackWithItsDirectoryId(
        @ForAll int seed,
        @ForAll @IntRange(min = 3, max = 5) int voters,
        @ForAll @IntRange(min = 0, max = 2) int others
    ) {
        Random random = new Random(seed);
        SimulatedQuorum quorum = new SimulatedQuorum(random, voters, others);
        start(quorum);
        quorum.run(random.nextInt(MOST_DELAY_MS));
        SimulatedNode follower = followers(quorum).get(0);
        SimulatedNode leader = quorum.leader();
        int epoch = leader.epoch();
        quorum.kill(follower);
        quorum.loseDisk(follower);
        quorum.run(random.nextInt(MOST_DELAY_MS));
        quorum.start(follower);
        progresses(quorum);
        agree(quorum);
        SimulatedQuorum.check(quorum.leader() == leader && leader.epoch() == epoch, "node " + leader.id + " does not "
            + "lead epoch " + epoch + " any more, only because a follower came back: " + quorum.nodes);
    }

    static void comeAndGo(SimulatedQuorum quorum, Random random) {
        start(quorum);
        for (int change = 0; change < CHANGES; change++) {
            SimulatedNode down = null;
            if (random.nextInt(3) == 0 && quorum.voters.size() >= 3 && quorum.leader() != null) {
                down = quorum.leader();
                quorum.kill(down);
            }
            changeVoters(quorum, random, down);
            if (down != null) {
                quorum.start(down);
            }
            progresses(quorum);
        }
        agree(quorum);
    }

    private static void start(SimulatedQuorum quorum) {
        quorum.nodes.forEach(quorum::start);
        progresses(quorum);
    }

    private static void changeVoters(SimulatedQuorum quorum, Random random, SimulatedNode down) {
        List<SimulatedNode> spare = new ArrayList<>(quorum.nodes);
        spare.removeIf(node -> quorum.voters.contains(node) || !node.isRunning());
        List<SimulatedNode> leaving = new ArrayList<>(quorum.voters);
        leaving.remove(down);
        boolean canLose = quorum.voters.size() > (down == null ? 1 : 3);
        if (!spare.isEmpty() && (!canLose || random.nextBoolean())) {
            quorum.add(spare.get(random.nextInt(spare.size())), MOST_SECONDS);
        } else if (canLose) {
            quorum.remove(leaving.get(random.nextInt(leaving.size())), MOST_SECONDS);
        }
    }

    /** Every voter but the leader, by id. */
    private static List<SimulatedNode> followers(SimulatedQuorum quorum) {
        quorum.runUntil("there is a leader", MOST_SECONDS, () -> quorum.leader() != null);
        List<SimulatedNode> found = new ArrayList<>(quorum.voters);
        found.remove(quorum.leader());
        found.sort(Comparator.comparingInt(node -> node.id));
        return found;
    }

    private static void progresses(SimulatedQuorum quorum) {
        long target = quorum.committed() + 15;
        quorum.runUntil("every node that runs has committed " + target, MOST_SECONDS, () ->
            quorum.nodes.stream().allMatch(node -> !node.isRunning() || node.highWatermark() >= target)
        );
    }

    private static void agree(SimulatedQuorum quorum) {
        quorum.runUntil("all nodes know the same voters", MOST_SECONDS, quorum::nodesAgreeOnVoters);
        quorum.checkCommitted();
    }
}
