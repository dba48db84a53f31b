import org.apache.kafka.common.config.ConfigDef;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Collectors;

/**
 * Prints what is configurable.
 *
 * <p>{@code CLASS}: what the CONFIG_DEF of a class on the class path declares, as a JSON array. {@code --every JAR...}:
 * a line of JSON for each class of these jars, all of them on the class path, that has a ConfigDef in a static field or
 * from a static method that needs nothing: {@code {"owner": ..., "keys": [...], "failed": ...}}. Of a class that has
 * several with keys of their own, the owner ends in {@code #} and the member's name. {@code --used JAR...}: the same, and for
 * each class that shows all of them a line of {@link ConfigUses}.
 */
public final class ConfigProbe {
    private static final String OF_CONFIG_DEF = "org/apache/kafka/common/config/ConfigDef";
    private static final String DEPRECATED = "Ljava/lang/Deprecated;";

    private final Set<String> deprecated = new HashSet<>();

    public static void main(String[] args) throws Exception {
        if (args[0].equals("--every") || args[0].equals("--used")) {
            new ConfigProbe().printEvery(Arrays.asList(args).subList(1, args.length), args[0].equals("--used"));
            System.exit(0); // a class that was loaded may have started a thread
        }
        ConfigDef declared = (ConfigDef) Class.forName(args[0]).getField("CONFIG_DEF").get(null);
        StringBuilder json = new StringBuilder("[");
        for (ConfigDef.ConfigKey key : new TreeMap<>(declared.configKeys()).values()) {
            json.append(json.length() > 1 ? ",\n " : "").append('{').append(fields(key)).append('}');
        }
        System.out.println(json.append(']'));
    }

    private void printEvery(Iterable<String> jars, boolean used) throws IOException, InterruptedException {
        Set<String> owners = new TreeSet<>();
        for (String jar : jars) {
            scan(jar, owners);
        }
        for (String owner : owners) {
            Map<String, ConfigDef> members = new TreeMap<>();
            String failed = collect(owner, members);
            List<String> apart = apart(members);
            for (String member : apart) {
                System.out.println(line(apart.size() == 1 ? owner : owner + "#" + member, members.get(member), ""));
            }
            if (!failed.isEmpty()) {
                System.out.println(line(owner, new ConfigDef(), failed));
            } else if (used && !apart.isEmpty()) {
                System.out.println(
                    ConfigUses.line(owner, apart.stream().map(members::get).collect(Collectors.toList())));
            }
        }
    }

    /** The members whose keys are not all among those of another one. */
    private static List<String> apart(Map<String, ConfigDef> members) {
        List<String> largest = new ArrayList<>(members.keySet());
        largest.sort(Comparator.comparing(member -> -members.get(member).names().size()));
        List<String> apart = new ArrayList<>();
        for (String member : largest) {
            Set<String> names = members.get(member).names();
            if (!names.isEmpty() && apart.stream().noneMatch(other -> members.get(other).names().containsAll(names))) {
                apart.add(member);
            }
        }
        return apart;
    }

    /** Class files are searched for what they name; only those that name a ConfigDef are loaded. */
    private void scan(String jar, Set<String> owners) throws IOException {
        try (JarFile file = new JarFile(jar)) {
            for (JarEntry entry : Collections.list(file.entries())) {
                String name = entry.getName();
                if (!name.endsWith(".class") || name.startsWith("META-INF/")) {
                    continue;
                }
                String content = new String(bytes(file.getInputStream(entry)), StandardCharsets.ISO_8859_1);
                String owner = name.substring(0, name.length() - ".class".length()).replace('/', '.');
                if (content.contains(OF_CONFIG_DEF)) {
                    owners.add(owner);
                }
                if (content.contains(DEPRECATED) && owner.matches(".*Configs?")) {
                    noteDeprecated(owner);
                }
            }
        }
    }

    /** A key is deprecated by its documentation, or by the constant that holds its name and has no better twin. */
    private void noteDeprecated(String owner) {
        Set<String> marked = new HashSet<>();
        Set<String> plain = new HashSet<>();
        try {
            for (Field field : Class.forName(owner, false, ConfigProbe.class.getClassLoader()).getDeclaredFields()) {
                if (Modifier.isStatic(field.getModifiers()) && field.getType() == String.class) {
                    field.setAccessible(true);
                    (field.isAnnotationPresent(Deprecated.class) ? marked : plain).add((String) field.get(null));
                }
            }
            marked.removeAll(plain);
            deprecated.addAll(marked);
        } catch (Throwable e) {
            return; // its keys are told without this mark, or their own class says that it cannot be loaded
        }
    }

    private static String collect(String owner, Map<String, ConfigDef> members) {
        try {
            Class<?> type = Class.forName(owner, false, ConfigProbe.class.getClassLoader());
            for (Field field : type.getDeclaredFields()) {
                if (ConfigDef.class.isAssignableFrom(field.getType()) && Modifier.isStatic(field.getModifiers())) {
                    field.setAccessible(true);
                    add(field.getName(), (ConfigDef) field.get(null), members);
                }
            }
            for (Method method : type.getDeclaredMethods()) {
                if (ConfigDef.class.isAssignableFrom(method.getReturnType()) && Modifier.isStatic(method.getModifiers())
                        && !method.isSynthetic() && arguments(method) != null) {
                    method.setAccessible(true);
                    add(method.getName() + "()", (ConfigDef) method.invoke(null, arguments(method)), members);
                }
            }
            return "";
        } catch (Throwable e) {
            return String.valueOf(e.getCause() == null ? e : e.getCause());
        }
    }

    /** None, or the one instance that the class of the only parameter has of itself; null for any other method. */
    private static Object[] arguments(Method method) throws IllegalAccessException {
        Class<?>[] wanted = method.getParameterTypes();
        if (wanted.length == 0) {
            return new Object[0];
        }
        for (Field field : wanted.length == 1 ? wanted[0].getDeclaredFields() : new Field[0]) {
            if (field.getType() == wanted[0] && Modifier.isStatic(field.getModifiers()) && !wanted[0].isEnum()) {
                field.setAccessible(true);
                return new Object[] {field.get(null)};
            }
        }
        return null;
    }

    private static void add(String member, ConfigDef declared, Map<String, ConfigDef> members) {
        if (declared != null) {
            members.put(member, declared);
        }
    }

    private String line(String owner, ConfigDef declared, String failed) {
        StringBuilder json = new StringBuilder("{\"owner\": ").append(quoted(owner)).append(", \"keys\": [");
        String between = "";
        for (ConfigDef.ConfigKey key : new TreeMap<>(declared.configKeys()).values()) {
            json.append(between).append('{').append(fields(key))
                .append(", \"required\": ").append(!key.hasDefault())
                .append(", \"internal\": ").append(key.internalConfig)
                .append(", \"deprecated\": ").append(isDeprecated(key)).append('}');
            between = ", ";
        }
        return json.append("], \"failed\": ").append(quoted(failed)).append('}').toString();
    }

    private boolean isDeprecated(ConfigDef.ConfigKey key) {
        String said = key.documentation == null ? "" : key.documentation;
        return deprecated.contains(key.name) || said.matches("(?is)\\W*deprecated\\b.*");
    }

    private static String fields(ConfigDef.ConfigKey key) {
        return "\"name\": " + quoted(key.name)
            + ", \"type\": " + quoted(String.valueOf(key.type))
            + ", \"default\": " + quoted(key.hasDefault() ? String.valueOf(key.defaultValue) : "")
            + ", \"validator\": " + quoted(described(key.validator))
            + ", \"importance\": " + quoted(String.valueOf(key.importance));
    }

    private static byte[] bytes(InputStream in) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] chunk = new byte[8192];
        for (int read = in.read(chunk); read >= 0; read = in.read(chunk)) {
            out.write(chunk, 0, read);
        }
        return out.toByteArray();
    }

    /** A validator's own words, or its class where it has none: hashes and numbers of lambdas differ from run to run. */
    private static String described(ConfigDef.Validator validator) {
        return validator == null ? "" : validator.toString().replaceAll("\\$\\$Lambda.*|@[0-9a-f]+$", "");
    }

    static String quoted(String text) {
        StringBuilder json = new StringBuilder("\"");
        for (char each : text.toCharArray()) {
            if (each == '"' || each == '\\' || each < ' ' || each > '~') {
                json.append(String.format("\\u%04x", (int) each));
            } else {
                json.append(each);
            }
        }
        return json.append('"').toString();
    }
}
