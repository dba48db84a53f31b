import java.lang.reflect.Method;

/**
 * Prints what numbers of the protocol stand for in the Kafka on the class path, a line each: {@code api NUMBER NAME} of
 * a request, {@code metadata.version LEVEL NAME} of a metadata version.
 */
public final class KafkaNames {
    public static void main(String[] args) throws Exception {
        for (Object api : Class.forName("org.apache.kafka.common.protocol.ApiKeys").getEnumConstants()) {
            System.out.println("api " + api.getClass().getField("id").get(api) + " " + api.getClass().getField("name").get(api));
        }
        Class<?> versions = found("org.apache.kafka.server.common.MetadataVersion");
        if (versions != null) {
            Method level = versions.getMethod("featureLevel");
            for (Object version : versions.getEnumConstants()) {
                System.out.println("metadata.version " + level.invoke(version) + " " + version);
            }
        }
    }

    private static Class<?> found(String name) {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException e) {
            return null; // a Kafka before metadata versions
        }
    }
}
