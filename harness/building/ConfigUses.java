import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * What a class makes of the keys that it declares, as a line of JSON: {@code {"used": ..., "getters": {NAME: VALUE...},
 * "reads": [...], "answers": [...], "failed": ...}}.
 *
 * <p>{@code getters} are what the getters of an instance from the defaults return, {@code reads} which of them return
 * something else once one key has another value, {@code answers} what the keys' validators say to a table of texts.
 */
final class ConfigUses {
    private static final int TIMEOUT_SECONDS = 30;
    private static final int MOST_CHARACTERS = 200;
    private static final Set<ConfigDef.Type> STEPPED =
        EnumSet.of(ConfigDef.Type.INT, ConfigDef.Type.LONG, ConfigDef.Type.SHORT);
    // Some validators look names up: those under .invalid never resolve (RFC 6761).
    private static final List<String> TEXTS = Arrays.asList(
        "", "-1", "0", "1",
        "h.invalid:9093", "h-h.invalid:9093", "H_h.invalid:9093", "127.0.0.1:9093", "0.0.0.0:9093", "[::1]:9093",
        "1@h.invalid:9093", "1@h-h.invalid:9093", "1@H_h.invalid:9093", "1@127.0.0.1:9093", "1@0.0.0.0:9093",
        "1@[::1]:9093", "h.invalid:9093,[::1]:9094", "1@h.invalid:9093,2@[::1]:9094",
        "h.invalid", "h.invalid:", ":9093", "h.invalid:p", "h.invalid:99999", "h h.invalid:9093",
        "1@h.invalid", "1@h.invalid:", "1@:9093", "1@h.invalid:p", "1@h.invalid:99999", "v@h.invalid:9093",
        "@h.invalid:9093", "1@2@h.invalid:9093"
    );

    private final String owner;
    private final Map<String, String> getters = new TreeMap<>();
    private final List<String> reads = new ArrayList<>();
    private final List<String> answers = new ArrayList<>();
    private String failed = "";

    private ConfigUses(String owner) {
        this.owner = owner;
    }

    /** The line about a class, of those of its ConfigDefs that are given, the largest first. */
    static String line(String owner, Collection<ConfigDef> declared) throws InterruptedException {
        FutureTask<ConfigUses> asked = new FutureTask<>(() -> new ConfigUses(owner).ask(declared));
        Thread asking = new Thread(asked);
        asking.setDaemon(true);
        asking.start();
        ConfigUses found = new ConfigUses(owner);
        try {
            found = asked.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            found.failed = "no answer within " + TIMEOUT_SECONDS + " s";
        } catch (ExecutionException e) {
            found.failed = named(e.getCause());
        }
        return found.line();
    }

    private ConfigUses ask(Collection<ConfigDef> declared) throws ClassNotFoundException {
        Constructor<?> constructor = constructor(Class.forName(owner));
        for (ConfigDef each : declared) {
            if (constructor != null && getters.isEmpty()) {
                read(constructor, each);
            }
            each.configKeys().values().forEach(this::answer);
        }
        return this;
    }

    private static Constructor<?> constructor(Class<?> type) {
        try {
            return Modifier.isPublic(type.getModifiers()) ? type.getConstructor(AbstractConfig.class) : null;
        } catch (NoSuchMethodException e) {
            return null;
        }
    }

    private void read(Constructor<?> constructor, ConfigDef declared) {
        try {
            Map<String, String> again = values(constructor, declared, Collections.emptyMap());
            getters.putAll(values(constructor, declared, Collections.emptyMap()));
            getters.entrySet().retainAll(again.entrySet()); // what two equal instances tell apart says nothing
            failed = "";
        } catch (Throwable e) {
            failed = named(e);
            return;
        }
        for (ConfigDef.ConfigKey key : new TreeMap<>(declared.configKeys()).values()) {
            for (String value : others(key)) {
                reads.add(read(constructor, declared, key.name, value));
            }
        }
    }

    private String read(Constructor<?> constructor, ConfigDef declared, String key, String value) {
        Map<String, String> changed = new TreeMap<>();
        String why = "";
        try {
            changed.putAll(values(constructor, declared, Collections.singletonMap(key, value)));
            changed.keySet().retainAll(getters.keySet());
            changed.entrySet().removeAll(getters.entrySet());
        } catch (Throwable e) {
            why = named(e);
        }
        return "{" + pair("key", key) + ", " + pair("value", value) + ", \"changed\": " + object(changed)
            + ", " + pair("failed", why) + "}";
    }

    /** Values beside the default, on both sides of it: a key may be at the end of what is valid. */
    private static List<String> others(ConfigDef.ConfigKey key) {
        if (!key.hasDefault() || key.defaultValue == null) {
            return Collections.emptyList();
        }
        String value = String.valueOf(key.defaultValue);
        if (key.type == ConfigDef.Type.BOOLEAN) {
            return Collections.singletonList(String.valueOf(!Boolean.parseBoolean(value)));
        }
        if (!STEPPED.contains(key.type)) {
            return Collections.emptyList();
        }
        BigInteger number = new BigInteger(value);
        return Arrays.asList(number.add(BigInteger.ONE).toString(), number.subtract(BigInteger.ONE).toString());
    }

    private static Map<String, String> values(Constructor<?> constructor, ConfigDef declared, Map<String, String> set)
            throws ReflectiveOperationException {
        Object made = constructor.newInstance(new AbstractConfig(declared, set, false));
        Map<String, String> values = new TreeMap<>();
        for (Method method : made.getClass().getDeclaredMethods()) {
            if (isGetter(method)) {
                values.put(method.getName(), value(method, made));
            }
        }
        return values;
    }

    private static boolean isGetter(Method method) {
        Class<?> type = method.getReturnType();
        boolean told = type.isPrimitive() && type != void.class || type == String.class || type == List.class;
        return told && method.getParameterCount() == 0 && Modifier.isPublic(method.getModifiers())
            && !Modifier.isStatic(method.getModifiers()) && !method.isSynthetic()
            && Arrays.stream(Object.class.getMethods()).noneMatch(each -> each.getName().equals(method.getName()));
    }

    private static String value(Method method, Object made) throws IllegalAccessException {
        try {
            String value = String.valueOf(method.invoke(made));
            return value.substring(0, Math.min(value.length(), MOST_CHARACTERS));
        } catch (InvocationTargetException e) {
            return "an exception";
        }
    }

    private void answer(ConfigDef.ConfigKey key) {
        for (String text : key.validator == null ? Collections.<String>emptyList() : TEXTS) {
            Object value;
            try {
                value = ConfigDef.parseType(key.name, text, key.type);
            } catch (RuntimeException e) {
                continue; // the validator is never asked
            }
            String refused = "";
            try {
                key.validator.ensureValid(key.name, value);
            } catch (Throwable e) {
                refused = named(e);
            }
            answers.add(
                "{" + pair("key", key.name) + ", " + pair("value", text) + ", " + pair("refused", refused) + "}");
        }
    }

    private static String named(Throwable thrown) {
        boolean wrapped = thrown instanceof InvocationTargetException && thrown.getCause() != null;
        return (wrapped ? thrown.getCause() : thrown).getClass().getName();
    }

    private String line() {
        return "{" + pair("used", owner) + ", \"getters\": " + object(getters) + ", \"reads\": " + reads
            + ", \"answers\": " + answers + ", " + pair("failed", failed) + "}";
    }

    private static String object(Map<String, String> values) {
        List<String> pairs = new ArrayList<>();
        values.forEach((name, value) -> pairs.add(pair(name, value)));
        return "{" + String.join(", ", pairs) + "}";
    }

    private static String pair(String name, String value) {
        return ConfigProbe.quoted(name) + ": " + ConfigProbe.quoted(value);
    }
}
