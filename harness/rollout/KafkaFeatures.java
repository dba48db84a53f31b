import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Prints which features the Kafka on the class path has, a line each: {@code release NAME}, {@code level NUMBER NAME
 * CHANGES} of a metadata version up to that release, {@code supported FEATURE LOWEST HIGHEST}, {@code first FEATURE
 * LEVEL}.
 */
public final class KafkaFeatures {
    private static final String COMMON = "org.apache.kafka.server.common.";
    private static final String METADATA_VERSION = "metadata.version";

    public static void main(String[] args) throws Exception {
        Class<?> versions = Class.forName(COMMON + "MetadataVersion");
        Object release = versions.getMethod("latestProduction").invoke(null);
        short newest = level(release);
        System.out.println("release " + release);
        for (Object each : versions.getEnumConstants()) {
            if (level(each) > 0 && level(each) <= newest) {
                System.out.println("level " + level(each) + " " + each + " " + call(each, "didMetadataChange"));
            }
        }
        for (Map.Entry<?, ?> each : supported().entrySet()) {
            System.out.println("supported " + each.getKey() + " " + call(each.getValue(), "min") + " " + call(each.getValue(), "max"));
        }
        System.out.println("first " + METADATA_VERSION + " " + newest);
        Class<?> features = found(COMMON + "Feature", COMMON + "Features");
        Method first = method(features, new String[] {"defaultLevel", "defaultValue"}, versions);
        for (Object feature : (List<?>) features.getField("PRODUCTION_FEATURES").get(null)) {
            System.out.println("first " + call(feature, "featureName") + " " + first.invoke(feature, release));
        }
    }

    /** With what nodes start whose configuration does not ask for unstable features. */
    private static Map<?, ?> supported() throws Exception {
        Class<?> features = Class.forName("org.apache.kafka.controller.QuorumFeatures");
        String[] names = {"defaultSupportedFeatureMap", "defaultFeatureMap"};
        return new TreeMap<>((Map<?, ?>) method(features, names, boolean.class).invoke(null, false));
    }

    private static short level(Object version) throws Exception {
        return (Short) call(version, "featureLevel");
    }

    private static Object call(Object on, String name) throws Exception {
        Method method = on.getClass().getMethod(name);
        method.setAccessible(true);
        return method.invoke(on);
    }

    private static Class<?> found(String... names) throws ClassNotFoundException {
        for (String name : names) {
            try {
                return Class.forName(name);
            } catch (ClassNotFoundException e) {
                // called otherwise before 4.0
            }
        }
        throw new ClassNotFoundException(String.join(" or ", names));
    }

    private static Method method(Class<?> owner, String[] names, Class<?>... types) throws NoSuchMethodException {
        for (String name : names) {
            try {
                return owner.getMethod(name, types);
            } catch (NoSuchMethodException e) {
                // called otherwise before 4.0
            }
        }
        throw new NoSuchMethodException(owner.getName() + "." + String.join(" or ", names));
    }
}
