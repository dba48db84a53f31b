package org.apache.kafka.raft;

import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;

public class QuorumConfig {
    private static final String QUORUM_PREFIX = "controller.quorum.";
    public static final String LINGER_CONFIG = QUORUM_PREFIX + "append.linger.ms";
    public static final int DEFAULT_LINGER = 25;
    public static final String DYNAMIC_CONFIG = QUORUM_PREFIX + "dynamic.bootstrap.servers.enable";
    public static final boolean DEFAULT_DYNAMIC = true;

    public static final ConfigDef CONFIG_DEF = new ConfigDef()
        .define(LINGER_CONFIG, ConfigDef.Type.INT, DEFAULT_LINGER, null, ConfigDef.Importance.MEDIUM, "How long to linger.")
        .define(DYNAMIC_CONFIG, ConfigDef.Type.BOOLEAN, DEFAULT_DYNAMIC, ConfigDef.Importance.LOW, "Whether to follow.");

    private final int[] times;
    private final boolean dynamicBootstrapServersEnabled;

    public QuorumConfig(AbstractConfig config) {
        this(1, 2, 3, 4, 5, config.getInt(LINGER_CONFIG), config.getBoolean(DYNAMIC_CONFIG));
    }

    public QuorumConfig(int request, int retry, int election, int electionBackoff, int fetch, int linger) {
        this(request, retry, election, electionBackoff, fetch, linger, DEFAULT_DYNAMIC);
    }

    public QuorumConfig(int request, int retry, int election, int electionBackoff, int fetch, int linger, boolean dynamic) {
        this.times = new int[]{request, retry, election, electionBackoff, fetch, linger};
        this.dynamicBootstrapServersEnabled = dynamic;
    }

    public boolean dynamicBootstrapServersEnabled() {
        return dynamicBootstrapServersEnabled;
    }
}
