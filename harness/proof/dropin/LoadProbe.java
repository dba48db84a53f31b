import java.io.BufferedReader;
import java.io.PrintStream;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Loads, verifies and links classes without running any of their code, and looks up what they use.
 *
 * The file that is named has lines with tabs: `class NAME`, `use USER KIND OWNER MEMBER DESCRIPTOR HOW`, or `whole NAME`. For
 * each that fails a line is printed: its number in the file, a tab, and why; of `whole` it is the abstract methods that
 * the class lacks, between tabs. The last line is `end`.
 */
public final class LoadProbe {
    private static final Map<Class<?>, Map<String, Member>> MEMBERS = new HashMap<>();

    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(System.out, false, "UTF-8");
        try (BufferedReader lines = Files.newBufferedReader(Paths.get(args[0]), StandardCharsets.UTF_8)) {
            int number = 0;
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] words = line.split("\t", -1);
                String problem = words[0].equals("class") ? load(words[1])
                    : words[0].equals("whole") ? lacking(words[1]) : look(words);
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
        Class<?> owner;
        try {
            owner = named(words[3].replace('/', '.'));
        } catch (ClassNotFoundException error) {
            return "its class is not there";
        } catch (Throwable error) {
            return "";
        }
        try {
            Class<?> user = named(words[1]);
            return words[4].isEmpty() ? misused(owner, user, words[2])
                : misused(find(owner, words[4], words[5]), owner, user, words[2], words[6]);
        } catch (Throwable error) { // a class of another jar may miss what only some of its users need
            return "";
        }
    }

    private static String lacking(String name) {
        try {
            Class<?> type = named(name);
            Set<String> lacking = new TreeSet<>();
            for (Class<?> each : kinOf(type)) {
                for (Map.Entry<String, Member> member : membersOf(each).entrySet()) {
                    if (isAbstract(member.getValue()) && !isImplemented(type, member.getKey())) {
                        lacking.add(each.getName() + "." + member.getKey().replace(" ", ""));
                    }
                }
            }
            return String.join("\t", lacking);
        } catch (Throwable error) { // it cannot be loaded here, which is told of the jar's own classes
            return "";
        }
    }

    /** Whether a call of an abstract method finds one with code: of a class, or the only default of its interfaces. */
    private static boolean isImplemented(Class<?> type, String member) {
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            Member found = membersOf(each).get(member);
            if (found != null && !Modifier.isStatic(found.getModifiers())) {
                return !isAbstract(found);
            }
        }
        Set<Class<?>> declaring = kinOf(type);
        declaring.removeIf(each -> !each.isInterface() || !passesOn(membersOf(each).get(member)));
        Set<Class<?>> nearest = new LinkedHashSet<>(declaring);
        nearest.removeIf(each -> declaring.stream().anyMatch(other -> other != each && each.isAssignableFrom(other)));
        return nearest.stream().filter(each -> !isAbstract(membersOf(each).get(member))).count() == 1;
    }

    private static boolean isAbstract(Member member) {
        return Modifier.isAbstract(member.getModifiers());
    }

    /** Whether an interface's member is there for those that implement it. */
    private static boolean passesOn(Member member) {
        return member != null && (member.getModifiers() & (Modifier.PRIVATE | Modifier.STATIC)) == 0;
    }

    /** A class with its superclasses and all their interfaces. */
    private static Set<Class<?>> kinOf(Class<?> type) {
        Set<Class<?>> kin = new LinkedHashSet<>();
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            kin.add(each);
            for (Class<?> inherited : each.getInterfaces()) {
                kin.addAll(kinOf(inherited));
            }
        }
        return kin;
    }

    private static Class<?> named(String name) throws ClassNotFoundException {
        return Class.forName(name, false, ClassLoader.getSystemClassLoader());
    }

    private static String misused(Class<?> owner, Class<?> user, String kind) {
        if (kind.equals("new") && Modifier.isAbstract(owner.getModifiers())) {
            return "it is abstract";
        }
        // The JVM knows no private or protected class: a nested one is of its package or public.
        boolean open = (owner.getModifiers() & (Modifier.PUBLIC | Modifier.PROTECTED)) != 0;
        return open || inOnePackage(owner, user) ? "" : "its class is for its package alone";
    }

    private static String misused(Member member, Class<?> owner, Class<?> user, String kind, String how) {
        if (member == null) {
            return owner.getName().startsWith("java.lang.invoke.") ? "" : "it is not there";
        }
        if (kind.equals("call") && owner.isInterface() != how.endsWith("interface")) {
            return "its owner is " + (owner.isInterface() ? "an interface, not a class" : "a class, not an interface");
        }
        if (Modifier.isStatic(member.getModifiers()) != how.startsWith("static")) {
            return Modifier.isStatic(member.getModifiers()) ? "it is static, not an object's" : "it is an object's, not static";
        }
        if (!isAccessible(member, user)) {
            String access = Modifier.toString(member.getModifiers() & (Modifier.PRIVATE | Modifier.PROTECTED));
            return "it is " + (access.isEmpty() ? "for its package alone" : access);
        }
        boolean elsewhere = member.getDeclaringClass() != user;
        return kind.equals("put") && elsewhere && Modifier.isFinal(member.getModifiers()) ? "it is final"
            : misused(owner, user, kind);
    }

    private static boolean isAccessible(Member member, Class<?> user) {
        Class<?> declaring = member.getDeclaringClass();
        int access = member.getModifiers();
        if (Modifier.isPublic(access)) {
            return true;
        }
        if (Modifier.isPrivate(access)) {
            return declaring == user || areNestmates(declaring, user);
        }
        return inOnePackage(declaring, user) || Modifier.isProtected(access) && declaring.isAssignableFrom(user);
    }

    private static boolean areNestmates(Class<?> one, Class<?> other) {
        try {
            return (boolean) Class.class.getMethod("isNestmateOf", Class.class).invoke(one, other);
        } catch (ReflectiveOperationException error) { // before Java 11 there were none
            return false;
        }
    }

    private static boolean inOnePackage(Class<?> one, Class<?> other) {
        return one.getClassLoader() == other.getClassLoader() && packageOf(one).equals(packageOf(other));
    }

    private static String packageOf(Class<?> type) {
        return type.getName().substring(0, type.getName().lastIndexOf('.') + 1);
    }

    /** The member that is meant, in the order in which the JVM looks; null where there is none. */
    private static Member find(Class<?> owner, String name, String descriptor) {
        String member = name + " " + descriptor;
        if (name.equals("<init>")) {
            return membersOf(owner).get(member);
        }
        return descriptor.startsWith("(") ? method(owner, member) : field(owner, member);
    }

    private static Member method(Class<?> owner, String member) {
        for (Class<?> each = owner; each != null; each = each.getSuperclass()) {
            Member found = membersOf(each).get(member);
            if (found != null) {
                return found;
            }
        }
        Member ofObject = owner.isInterface() ? membersOf(Object.class).get(member) : null;
        return ofObject != null && Modifier.isPublic(ofObject.getModifiers()) ? ofObject : inherited(owner, member);
    }

    private static Member inherited(Class<?> owner, String member) {
        for (Class<?> type = owner; type != null; type = type.getSuperclass()) {
            for (Class<?> each : type.getInterfaces()) {
                Member own = membersOf(each).get(member);
                Member found = passesOn(own) ? own : inherited(each, member);
                if (found != null) {
                    return found;
                }
            }
        }
        return null;
    }

    private static Member field(Class<?> owner, String member) {
        Member found = owner == null ? null : membersOf(owner).get(member);
        if (found != null || owner == null) {
            return found;
        }
        for (Class<?> each : owner.getInterfaces()) {
            Member inherited = field(each, member);
            if (inherited != null) {
                return inherited;
            }
        }
        return field(owner.getSuperclass(), member);
    }

    private static Map<String, Member> membersOf(Class<?> owner) {
        return MEMBERS.computeIfAbsent(owner, declaring -> {
            Map<String, Member> found = new HashMap<>();
            for (Method each : declaring.getDeclaredMethods()) {
                found.put(each.getName() + " " + descriptor(each.getReturnType(), each.getParameterTypes()), each);
            }
            for (Constructor<?> each : declaring.getDeclaredConstructors()) {
                found.put("<init> " + descriptor(void.class, each.getParameterTypes()), each);
            }
            for (Field each : declaring.getDeclaredFields()) {
                String method = descriptor(each.getType());
                found.put(each.getName() + " " + method.substring(method.indexOf(')') + 1), each);
            }
            return found;
        });
    }

    private static String descriptor(Class<?> returned, Class<?>... parameters) {
        return MethodType.methodType(returned, parameters).toMethodDescriptorString();
    }
}
