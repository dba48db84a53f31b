package org.apache.kafka.raft;

import org.apache.kafka.common.Node;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Random;

public class RequestManager {
    private volatile List<Node> bootstrapServers;
    private final Random random = new Random();

    public RequestManager(Collection<Node> bootstrapServers) {
        this.bootstrapServers = new ArrayList<>(bootstrapServers);
    }

    public void updateBootstrapServers(Collection<Node> newBootstrapServers) {
        if (newBootstrapServers == null || newBootstrapServers.isEmpty()) {
            return;
        }
        bootstrapServers = new ArrayList<>(newBootstrapServers);
    }

    public Optional<Node> findReadyBootstrapServer(long currentTimeMs) {
        List<Node> servers = bootstrapServers;
        int startIndex = random.nextInt(servers.size());
        for (int i = 0; i < servers.size(); i++) {
            Node candidate = servers.get((startIndex + i) % servers.size());
            if (isReady(candidate, currentTimeMs)) {
                return Optional.of(candidate);
            }
        }
        return Optional.empty();
    }

    public long backoffBeforeAvailableBootstrapServer(long currentTimeMs) {
        List<Node> servers = bootstrapServers;
        for (Node each : servers) {
            if (isReady(each, currentTimeMs)) {
                return 0L;
            }
        }
        return 100L;
    }

    public boolean isReady(Node asked, long timeMs) {
        return asked.id() < timeMs;
    }
}
