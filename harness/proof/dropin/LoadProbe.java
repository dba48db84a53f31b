import java.io.BufferedReader;
import java.io.PrintStream;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Loads, verifies and links classes without running any of their code, and looks up what they use.
 *
 * The file that is named has lines with tabs: `class NAME`, or `use KIND OWNER MEMBER DESCRIPTOR`. For each that fails
 * a line is printed: its number in the file, a tab, and why. The last line is `end`.
 */
public final class LoadProbe {
    private static final Map<Class<?>, Set<String>> MEMBERS = new HashMap<>();

    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(System.out, false, "UTF-8");
        try (BufferedReader lines = Files.newBufferedReader(Paths.get(args[0]), StandardCharsets.UTF_8)) {
            int number = 0;
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] words = line.split("\t", -1);
                String problem = words[0].equals("class") ? load(words[1]) : look(words);
                if (!problem.isEmpty()) {
                    out.println(number + "\t" + problem.replace('\n', ' ').replace('\r', ' '));
                }
                number++;
            }
        }
        out.println("end");
        out.flush();
    }

    private static String load(String name) {
        try {
            named(name).getDeclaredMethods(); // links, and so verifies
            named(name).getDeclaredFields();
            named(name).getDeclaredConstructors();
            return "";
        } catch (Throwable error) {
            return error.toString();
        }
    }

    private static String look(String[] words) {
        String owner = words[2].replace('/', '.');
        try {
            boolean found = words[3].isEmpty() || has(named(owner), words[3] + " " + words[4], words[3].equals("<init>"));
            return found || owner.startsWith("java.lang.invoke.") ? "" : "it is not there";
        } catch (ClassNotFoundException error) {
            return "its class is not there";
        } catch (Throwable error) { // a class of another jar may miss what only some of its users need
            return "";
        }
    }

    private static Class<?> named(String name) throws ClassNotFoundException {
        return Class.forName(name, false, ClassLoader.getSystemClassLoader());
    }

    private static boolean has(Class<?> owner, String member, boolean itself) {
        if (owner == null) {
            return false;
        }
        if (membersOf(owner).contains(member)) {
            return true;
        }
        if (itself) {
            return false;
        }
        for (Class<?> each : owner.getInterfaces()) {
            if (has(each, member, false)) {
                return true;
            }
        }
        return has(owner.isInterface() ? Object.class : owner.getSuperclass(), member, false);
    }

    private static Set<String> membersOf(Class<?> owner) {
        return MEMBERS.computeIfAbsent(owner, declaring -> {
            Set<String> found = new HashSet<>();
            for (Method each : declaring.getDeclaredMethods()) {
                found.add(each.getName() + " " + descriptor(each.getReturnType(), each.getParameterTypes()));
            }
            for (Constructor<?> each : declaring.getDeclaredConstructors()) {
                found.add("<init> " + descriptor(void.class, each.getParameterTypes()));
            }
            for (Field each : declaring.getDeclaredFields()) {
                String method = descriptor(each.getType());
                found.add(each.getName() + " " + method.substring(method.indexOf(')') + 1));
            }
            return found;
        });
    }

    private static String descriptor(Class<?> returned, Class<?>... parameters) {
        return MethodType.methodType(returned, parameters).toMethodDescriptorString();
    }
}
