package org.apache.kafka.raft;

import org.apache.kafka.common.Node;
import org.apache.kafka.common.network.ListenerName;

import org.junit.jupiter.api.Test;

import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

/** Who is asked for the leader, given the configuration, the voter set and the leader that is known. */
class BootstrapServersTest {
    private static final ListenerName LISTENER = ListenerName.normalised("CONTROLLER");
    private static final OptionalInt OBSERVER = OptionalInt.of(3);

    private final Node configured1 = new Node(-2, "configured", 9001);
    private final Node configured2 = new Node(-3, "configured", 9002);

    @Test
    void atFirstTheConfiguredServersAreAsked() {
        assertEquals(Arrays.asList(configured1, configured2), observer().asked());
    }

    @Test
    void votersAreAskedBeforeTheConfiguredServersAndBothAre() {
        List<Node> asked = observer().update(voters(node(1, 9101), node(2, 9102)), Optional.empty());
        assertEquals(set(node(1, 9101), node(2, 9102)), new HashSet<>(asked.subList(0, 2)));
        assertEquals(Arrays.asList(configured1, configured2), asked.subList(2, 4));
    }

    @Test
    void votersThatAreGoneAreAskedNoMore() {
        BootstrapServers servers = observer();
        servers.update(voters(node(1, 9101), node(2, 9102)), Optional.empty());
        assertEquals(
            set(node(2, 9102), node(5, 9105), configured1, configured2),
            new HashSet<>(servers.update(voters(node(2, 9102), node(5, 9105)), Optional.empty()))
        );
    }

    @Test
    void anAddressIsAskedOnceAndAConfiguredServerKeepsItsId() {
        Node voter = new Node(1, configured1.host(), configured1.port());
        List<Node> asked = observer().update(voters(voter, node(2, 9102)), Optional.of(voter));
        assertEquals(set(configured1, node(2, 9102)), new HashSet<>(asked.subList(0, 2)));
        assertEquals(Collections.singletonList(configured2), asked.subList(2, asked.size()));
    }

    @Test
    void theListIsTheSameWhereAllVotersAreConfiguredByAddress() {
        BootstrapServers servers = observer();
        Node voter1 = new Node(1, configured1.host(), configured1.port());
        Node voter2 = new Node(2, configured2.host(), configured2.port());
        assertSame(servers.asked(), servers.update(voters(voter1, voter2), Optional.of(voter2)));
    }

    @Test
    void theListIsTheSameWhereNothingChanged() {
        BootstrapServers servers = observer();
        List<Node> before = servers.update(voters(node(1, 9101)), Optional.empty());
        assertSame(before, servers.update(voters(node(1, 9101)), Optional.empty()));
    }

    @Test
    void theListIsTheSameWhoeverOfTheVotersLeads() {
        BootstrapServers servers = observer();
        List<Node> before = servers.update(voters(node(1, 9101), node(2, 9102)), Optional.empty());
        for (Node leader : Arrays.asList(node(1, 9101), node(2, 9102))) {
            assertSame(before, servers.update(voters(node(1, 9101), node(2, 9102)), Optional.of(leader)));
        }
    }

    @Test
    void theListIsTheSameWhereTheVotersAreThoseOfTheConfiguration() {
        for (int local = 0; local < 4; local++) {
            List<Node> all = Arrays.asList(node(0, 9100), node(1, 9101), node(2, 9102));
            BootstrapServers servers = new BootstrapServers(all, OptionalInt.of(local), Endpoints.empty(), LISTENER);
            assertSame(servers.asked(), servers.update(voters(all.toArray(new Node[0])), Optional.of(node(1, 9101))));
        }
    }

    @Test
    void theListIsTheSameWhereNobodyWouldBeLeftToAsk() {
        Node self = new Node(-2, "voter", 9101);
        BootstrapServers servers = new BootstrapServers(Collections.singletonList(self), OptionalInt.of(1), Endpoints.empty(), LISTENER);
        assertEquals(Collections.singletonList(self), servers.update(voters(node(1, 9101)), Optional.empty()));
    }

    @Test
    void aReplicaNeverAsksItself() {
        BootstrapServers servers =
            new BootstrapServers(Arrays.asList(node(1, 9001), node(2, 9002)), OptionalInt.of(1), Endpoints.empty(), LISTENER);
        assertEquals(Collections.singletonList(node(2, 9002)), servers.asked());
        assertEquals(
            set(node(2, 9002), node(5, 9105)),
            new HashSet<>(servers.update(voters(node(1, 9101), node(5, 9105)), Optional.of(node(1, 9101))))
        );
    }

    @Test
    void aReplicaDoesNotAskItselfWhereItListensEither() {
        Endpoints own = Endpoints.fromInetSocketAddresses(
            Collections.singletonMap(
                LISTENER, InetSocketAddress.createUnresolved(configured1.host(), configured1.port())
            )
        );
        BootstrapServers servers =
            new BootstrapServers(Arrays.asList(configured1, configured2), OptionalInt.of(1), own, LISTENER);
        assertEquals(Collections.singletonList(configured2), servers.asked());
        assertEquals(
            set(configured2, node(2, 9102)),
            new HashSet<>(servers.update(voters(node(1, 9101), node(2, 9102)), Optional.empty()))
        );
    }

    @Test
    void theLeaderIsAskedWhereItListensThoughTheVoterSetDoesNotKnowIt() {
        List<Node> asked = observer().update(voters(node(1, 9101)), Optional.of(node(7, 9207)));
        assertEquals(Arrays.asList(node(1, 9101), node(7, 9207), configured1, configured2), asked);
    }

    @Test
    void aVoterThatMovedIsAskedAtItsConfiguredAddressTooUnderAnIdOfItsOwn() {
        BootstrapServers servers = new BootstrapServers(Collections.singletonList(node(1, 9001)), OBSERVER, Endpoints.empty(), LISTENER);
        assertEquals(
            Arrays.asList(node(1, 9101), new Node(-2, "voter", 9001)),
            servers.update(voters(node(1, 9101)), Optional.empty())
        );
    }

    @Test
    void toAVoterWhatIsConfiguredUnderAnIdGoesBeforeTheVoterSet() {
        BootstrapServers servers = new BootstrapServers(
            Arrays.asList(node(1, 9001), node(2, 9002)), OptionalInt.of(1), Endpoints.empty(), LISTENER
        );
        assertEquals(
            Arrays.asList(new Node(-2, "voter", 9102), node(2, 9002)),
            servers.update(voters(node(1, 9101), node(2, 9102)), Optional.empty())
        );
    }

    @Test
    void theLeaderHasItsRealIdAndTheAddressInTheVoterSetAnother() {
        List<Node> asked = observer().update(voters(node(1, 9101)), Optional.of(node(1, 9201)));
        assertEquals(Arrays.asList(new Node(-4, "voter", 9101), node(1, 9201), configured1, configured2), asked);
    }

    @Test
    void anAddressKeepsItsIdAndNoOtherEverGetsIt() {
        BootstrapServers servers = observer();
        Map<Integer, String> addresses = new HashMap<>();
        for (int move = 0; move < 50; move++) {
            VoterSet voters = voters(node(1, 9101 + move % 7), node(2, 9202 + move % 5));
            for (Node node : servers.update(voters, Optional.of(node(1, 9301 + move % 3)))) {
                if (node.id() < 0) {
                    String address = node.host() + ":" + node.port();
                    assertEquals(address, addresses.computeIfAbsent(node.id(), id -> address));
                }
            }
        }
    }

    @Test
    void noTwoServersShareAnId() {
        BootstrapServers servers = new BootstrapServers(
            Arrays.asList(node(0, 9000), node(1, 9001), node(2, 9002)), OBSERVER, Endpoints.empty(), LISTENER
        );
        List<Node> asked = servers.update(voters(node(0, 9100), node(1, 9101), node(2, 9002)), Optional.of(node(0, 9200)));
        assertEquals(6, asked.size());
        assertEquals(6, asked.stream().map(Node::id).collect(Collectors.toSet()).size());
    }

    @Test
    void aVoterWithoutAnEndpointForThisListenerIsLeftOut() {
        VoterSet elsewhere = VoterSet.fromInetSocketAddresses(
            ListenerName.normalised("ELSEWHERE"),
            Collections.singletonMap(1, InetSocketAddress.createUnresolved("voter", 9101))
        );
        assertEquals(Arrays.asList(configured1, configured2), observer().update(elsewhere, Optional.empty()));
    }

    @Test
    void replicasBeginWithDifferentVoters() {
        VoterSet voters = voters(node(10, 9110), node(11, 9111), node(12, 9112));
        Set<Node> first = new HashSet<>();
        for (int local = 0; local < 3; local++) {
            BootstrapServers servers =
                new BootstrapServers(Collections.singletonList(configured1), OptionalInt.of(local), Endpoints.empty(), LISTENER);
            first.add(servers.update(voters, Optional.empty()).get(0));
        }
        assertEquals(3, first.size());
    }

    private BootstrapServers observer() {
        return new BootstrapServers(Arrays.asList(configured1, configured2), OBSERVER, Endpoints.empty(), LISTENER);
    }

    private static VoterSet voters(Node... nodes) {
        Map<Integer, InetSocketAddress> addresses = new HashMap<>();
        for (Node node : nodes) {
            addresses.put(node.id(), InetSocketAddress.createUnresolved(node.host(), node.port()));
        }
        return VoterSet.fromInetSocketAddresses(LISTENER, addresses);
    }

    private static Node node(int id, int port) {
        return new Node(id, "voter", port);
    }

    private static Set<Node> set(Node... nodes) {
        return new HashSet<>(Arrays.asList(nodes));
    }
}
