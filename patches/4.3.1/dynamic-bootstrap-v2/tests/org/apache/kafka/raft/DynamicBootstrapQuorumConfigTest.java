package org.apache.kafka.raft;

import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Collections;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The key that turns dynamic bootstrap servers off. */
class DynamicBootstrapQuorumConfigTest {
    private static final String KEY = "controller.quorum.dynamic.bootstrap.servers.enable";

    @Test
    void theKeyIsDefinedAsABooleanOfLowImportanceThatIsTrueByDefault() {
        ConfigDef.ConfigKey key = QuorumConfig.CONFIG_DEF.configKeys().get(KEY);
        assertNotNull(key, KEY + " is not defined");
        assertEquals(ConfigDef.Type.BOOLEAN, key.type);
        assertEquals(ConfigDef.Importance.LOW, key.importance);
        assertEquals(true, key.defaultValue);
        assertFalse(key.documentation.isEmpty());
    }

    @Test
    void itIsOnWhereTheConfigurationDoesNotNameIt() {
        assertTrue(parsed(Collections.emptyMap()).dynamicBootstrapServersEnabled());
    }

    @ParameterizedTest
    @ValueSource(strings = {"true", "false"})
    void itIsWhatTheConfigurationSays(String value) {
        assertEquals(Boolean.valueOf(value), parsed(Collections.singletonMap(KEY, value)).dynamicBootstrapServersEnabled());
    }

    @Test
    void anythingButABooleanIsRefused() {
        assertThrows(ConfigException.class, () -> parsed(Collections.singletonMap(KEY, "perhaps")));
    }

    /** Looked up by name: code that was compiled against the release calls it, such as upstream's tests. */
    @Test
    void theConstructorOfTheReleaseIsKeptAndMeansTheDefault() throws ReflectiveOperationException {
        QuorumConfig config = QuorumConfig.class
            .getConstructor(AbstractConfig.class)
            .newInstance(new AbstractConfig(QuorumConfig.CONFIG_DEF, Map.of("controller.quorum.fetch.timeout.ms", "5"), false));
        assertTrue(config.dynamicBootstrapServersEnabled());
        assertEquals(5, config.fetchTimeoutMs());
    }

    private static QuorumConfig parsed(Map<String, String> settings) {
        return new QuorumConfig(new AbstractConfig(QuorumConfig.CONFIG_DEF, settings, false));
    }
}
