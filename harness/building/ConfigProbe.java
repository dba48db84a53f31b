import org.apache.kafka.common.config.ConfigDef;

import java.util.Map;
import java.util.TreeMap;

/** Prints what the CONFIG_DEF of a class on the class path declares, as a JSON array. */
public final class ConfigProbe {
    public static void main(String[] args) throws Exception {
        ConfigDef declared = (ConfigDef) Class.forName(args[0]).getField("CONFIG_DEF").get(null);
        StringBuilder json = new StringBuilder("[");
        for (Map.Entry<String, ConfigDef.ConfigKey> entry : new TreeMap<>(declared.configKeys()).entrySet()) {
            ConfigDef.ConfigKey key = entry.getValue();
            json.append(json.length() > 1 ? ",\n " : "").append("{\"name\": ").append(quoted(key.name))
                .append(", \"type\": ").append(quoted(String.valueOf(key.type)))
                .append(", \"default\": ").append(quoted(key.hasDefault() ? String.valueOf(key.defaultValue) : ""))
                .append(", \"validator\": ").append(quoted(described(key.validator)))
                .append(", \"importance\": ").append(quoted(String.valueOf(key.importance))).append('}');
        }
        System.out.println(json.append(']'));
    }

    /** A validator's own words, or its class where it has none: hashes and numbers of lambdas differ from run to run. */
    private static String described(ConfigDef.Validator validator) {
        return validator == null ? "" : validator.toString().replaceAll("\\$\\$Lambda.*|@[0-9a-f]+$", "");
    }

    private static String quoted(String text) {
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
