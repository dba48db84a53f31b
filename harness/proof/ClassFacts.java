import org.objectweb.asm.ClassReader;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.FieldNode;
import org.objectweb.asm.tree.IincInsnNode;
import org.objectweb.asm.tree.InnerClassNode;
import org.objectweb.asm.tree.IntInsnNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.LookupSwitchInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.MultiANewArrayInsnNode;
import org.objectweb.asm.tree.TableSwitchInsnNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.TypeInsnNode;
import org.objectweb.asm.tree.VarInsnNode;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Prints what the class files of jars say, a JSON array a line.
 *
 * facts JAR...              every class: what it declares, and what each method does
 * kin JAR...               what every class extends and implements: [jar, entry, class, access, superclass, interfaces]
 * references PACKAGES JAR...  per jar, what its classes use of the packages (`a/b,c/d`)
 * statements JAR...        every log statement with a text of its own: [jar, entry, class, level, text]
 *
 * The first element of a line is the jar's place among the arguments. An entry that is no class gives a line
 * [jar, "!", entry, why] and nothing else.
 */
public final class ClassFacts {
    private static final int MOST_BYTES = 20 << 20;
    private static final int REAL_FLAGS = 0xffff;
    private static final String LOGGER = "org/slf4j/Logger";
    private static final String LAMBDA_MAKER = "java/lang/invoke/LambdaMetafactory";
    private static final List<String> OF_ANY_OBJECT = Arrays.asList("equals(Ljava/lang/Object;)Z", "hashCode()I",
        "toString()Ljava/lang/String;", "getClass()Ljava/lang/Class;");
    // What String.format puts values for.
    private static final Pattern FORMAT = Pattern.compile(
        "%(?:\\d+\\$)?[-#+0,(<]*\\d*(?:\\.\\d+)?(?:[bBhHsScCdoxXeEfgGaA]|[tT][a-zA-Z]|n)");
    private static final List<String> LEVELS = Arrays.asList("trace", "debug", "info", "warn", "error");

    public static void main(String[] args) throws Exception {
        String what = args[0];
        boolean references = what.equals("references");
        int first = references ? 2 : 1;
        PrintStream out = new PrintStream(System.out, false, "UTF-8");
        IntStream jars = IntStream.range(first, args.length);
        (references ? jars.parallel() : jars).forEach(at -> {
            List<String> lines = new ArrayList<>();
            Visitor visitor = references ? referring(at - first, args[1].split(","), lines)
                : what.equals("statements") ? logging(at - first, lines)
                : what.equals("kin") ? related(at - first, lines) : declared(args[at], at - first, lines);
            readJar(args[at], at - first, visitor, lines);
            synchronized (out) {
                lines.forEach(out::println);
            }
        });
        out.flush();
    }

    private interface Visitor {
        boolean wants(byte[] content);

        void visit(String entry, ClassNode node) throws Exception;

        default void end() { }
    }

    private static Visitor declared(String path, int jar, List<String> lines) {
        Accessors accessors = new Accessors(path);
        return new Visitor() {
            public boolean wants(byte[] content) {
                return true;
            }

            public void visit(String entry, ClassNode node) throws Exception {
                lines.add(classOf(jar, entry, node, accessors));
            }
        };
    }

    private static Visitor related(int jar, List<String> lines) {
        return new Visitor() {
            public boolean wants(byte[] content) {
                return true;
            }

            public void visit(String entry, ClassNode node) {
                lines.add("[" + jar + "," + quoted(entry) + "," + quoted(node.name) + "," + (node.access & REAL_FLAGS) + ","
                    + quoted(node.superName == null ? "" : node.superName) + "," + texts(node.interfaces) + "]");
            }
        };
    }

    private static Visitor logging(int jar, List<String> lines) {
        return new Visitor() {
            public boolean wants(byte[] content) {
                return new String(content, StandardCharsets.ISO_8859_1).contains(LOGGER);
            }

            public void visit(String entry, ClassNode node) {
                for (MethodNode method : node.methods) {
                    for (String[] each : statementsOf(method)) {
                        lines.add("[" + jar + "," + quoted(entry) + "," + quoted(node.name) + "," + texts(each, 2) + "]");
                    }
                }
            }
        };
    }

    /** A statement's text is the first one that is loaded after its logger; concatenated, it begins the message. */
    private static List<String[]> statementsOf(MethodNode method) {
        List<String[]> found = new ArrayList<>();
        TreeSet<Integer> loggers = loggersOf(method);
        String text = null;
        for (AbstractInsnNode each : method.instructions) {
            if (isLogger(each, loggers)) {
                text = null;
            } else if (each instanceof LdcInsnNode && ((LdcInsnNode) each).cst instanceof String) {
                text = text == null ? asLogged((String) ((LdcInsnNode) each).cst) : text;
            } else if (each instanceof InvokeDynamicInsnNode && text == null) {
                text = recipeOf((InvokeDynamicInsnNode) each);
            } else if (each instanceof MethodInsnNode && ((MethodInsnNode) each).owner.equals(LOGGER)) {
                String level = ((MethodInsnNode) each).name;
                if (text != null && LEVELS.contains(level)) {
                    found.add(new String[] {level.toUpperCase(Locale.ROOT), text});
                }
                text = null;
            }
        }
        return found;
    }

    /** Whether an instruction loads a logger: a field, a variable, or what a method returns. */
    private static boolean isLogger(AbstractInsnNode each, TreeSet<Integer> variables) {
        String type = "L" + LOGGER + ";";
        return each instanceof FieldInsnNode && ((FieldInsnNode) each).desc.equals(type)
            || each instanceof MethodInsnNode && ((MethodInsnNode) each).desc.endsWith(")" + type)
            || each.getOpcode() == Opcodes.ALOAD && variables.contains(((VarInsnNode) each).var);
    }

    /** The parameters of a method that are loggers, and the variables that its table of them calls so. */
    private static TreeSet<Integer> loggersOf(MethodNode method) {
        TreeSet<Integer> found = new TreeSet<>();
        int place = (method.access & Opcodes.ACC_STATIC) == 0 ? 1 : 0;
        for (Type each : Type.getArgumentTypes(method.desc)) {
            if (each.getDescriptor().equals("L" + LOGGER + ";")) {
                found.add(place);
            }
            place += each.getSize();
        }
        if (method.localVariables != null) {
            method.localVariables.stream().filter(each -> each.desc.equals("L" + LOGGER + ";"))
                .forEach(each -> found.add(each.index));
        }
        return found;
    }

    /** A text for String.format has gaps too. */
    private static String asLogged(String text) {
        return FORMAT.matcher(text).replaceAll("{}").replace("%%", "%");
    }

    private static String recipeOf(InvokeDynamicInsnNode each) {
        boolean concatenates = each.name.equals("makeConcatWithConstants") && each.bsmArgs.length > 0;
        return concatenates ? String.valueOf(each.bsmArgs[0]).replace("\u0001", "{}") : null;
    }

    private static Visitor referring(int jar, String[] packages, List<String> lines) {
        return new Visitor() {
            final TreeSet<String> found = new TreeSet<>();
            final Map<String, String> from = new HashMap<>();

            public boolean wants(byte[] content) {
                // One byte a character: a class file's names of packages are plain ASCII where they matter here.
                String text = new String(content, StandardCharsets.ISO_8859_1);
                for (String each : packages) {
                    if (text.contains(each + "/")) {
                        return true;
                    }
                }
                return false;
            }

            public void visit(String entry, ClassNode node) {
                List<String[]> uses = new ArrayList<>();
                inherit(node, uses);
                for (MethodNode method : node.methods) {
                    uses.addAll(usesOf(method));
                    uses.addAll(lambdasOf(method));
                }
                for (String[] use : uses) {
                    if (inside(use[1], packages)) {
                        String key = texts(use, 4);
                        found.add(key);
                        from.putIfAbsent(key, node.name);
                    }
                }
            }

            public void end() {
                for (String use : found) {
                    lines.add("[" + jar + "," + quoted(from.get(use)) + "," + use + "]");
                }
            }
        };
    }

    private static void inherit(ClassNode node, List<String[]> uses) {
        if (node.superName != null) {
            uses.add(new String[] {"extends", node.superName, "", "", "0"});
        }
        for (String each : node.interfaces) {
            uses.add(new String[] {"implements", each, "", "", "0"});
        }
    }

    /** The interface that each lambda or method reference is made into, with the one method that it implements. */
    private static List<String[]> lambdasOf(MethodNode method) {
        List<String[]> found = new ArrayList<>();
        for (AbstractInsnNode each : method.instructions) {
            InvokeDynamicInsnNode made = each instanceof InvokeDynamicInsnNode ? (InvokeDynamicInsnNode) each : null;
            if (made != null && made.bsm.getOwner().equals(LAMBDA_MAKER)) {
                String type = Type.getReturnType(made.desc).getInternalName();
                found.add(new String[] {"lambda", type, made.name, made.bsmArgs[0].toString(), "0"});
            }
        }
        return found;
    }

    private static boolean inside(String owner, String[] packages) {
        for (String each : packages) {
            if (owner.startsWith(each + "/") && owner.indexOf('/', each.length() + 1) < 0) {
                return true;
            }
        }
        return false;
    }

    private static void readJar(String path, int jar, Visitor visitor, List<String> lines) {
        String reading = path;
        try (ZipFile zip = new ZipFile(path)) {
            for (ZipEntry entry : Collections.list(zip.entries())) {
                reading = entry.getName();
                if (reading.endsWith(".class") && !reading.startsWith("META-INF/")) {
                    byte[] content = contentOf(zip, entry);
                    if (visitor.wants(content)) {
                        ClassNode node = new ClassNode();
                        new ClassReader(content).accept(node, ClassReader.SKIP_FRAMES);
                        visitor.visit(reading, node);
                    }
                }
            }
            visitor.end();
        } catch (Exception | StackOverflowError | OutOfMemoryError error) { // ASM throws whatever a broken file leads to
            lines.clear();
            lines.add("[" + jar + ",\"!\"," + quoted(reading) + "," + quoted(String.valueOf(error)) + "]");
        }
    }

    private static byte[] contentOf(ZipFile zip, ZipEntry entry) throws IOException {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        byte[] block = new byte[1 << 16];
        try (InputStream in = zip.getInputStream(entry)) {
            for (int count = in.read(block); count > 0; count = in.read(block)) {
                content.write(block, 0, count);
                if (content.size() > MOST_BYTES) {
                    throw new IOException("it is larger than a class can be");
                }
            }
        }
        return content.toByteArray();
    }

    private static String classOf(int jar, String entry, ClassNode node, Accessors accessors) throws Exception {
        List<String> fields = new ArrayList<>();
        for (FieldNode each : node.fields) {
            fields.add("[" + quoted(each.name) + "," + quoted(each.desc) + "," + (each.access & REAL_FLAGS) + ","
                + quoted(valueOf(each.value)) + "]");
        }
        List<String> methods = new ArrayList<>();
        Lambdas lambdas = new Lambdas(node, accessors);
        for (MethodNode each : node.methods) {
            methods.add(methodOf(each, lambdas));
        }
        return "[" + jar + "," + quoted(entry) + "," + quoted(node.name) + "," + (node.version & 0xffff) + ","
            + accessOf(node) + "," + quoted(node.superName == null ? "" : node.superName) + ","
            + texts(node.interfaces) + "," + fields + "," + methods + "]";
    }

    /** A nested class's real flags (private, protected, static) stand in its InnerClasses attribute. */
    private static int accessOf(ClassNode node) {
        for (InnerClassNode each : node.innerClasses) {
            if (each.name.equals(node.name)) {
                return each.access & REAL_FLAGS | node.access & Opcodes.ACC_SUPER;
            }
        }
        return node.access & REAL_FLAGS;
    }

    private static String methodOf(MethodNode method, Lambdas lambdas) throws Exception {
        List<String> uses = new ArrayList<>();
        for (String[] each : usesOf(method)) {
            uses.add("[" + texts(each, 4) + "," + each[4] + "," + quoted(each[5]) + "," + quoted(each[6]) + "]");
        }
        return "[" + quoted(method.name) + "," + quoted(method.desc) + "," + (method.access & REAL_FLAGS) + ","
            + texts(method.exceptions) + "," + quoted(digestOf(method, lambdas)) + "," + uses + ","
            + texts(operationsOf(method)) + "]";
    }

    /** What a method computes and with which constants: of its instructions those that no compiler chooses itself. */
    private static List<String> operationsOf(MethodNode method) {
        List<String> found = new ArrayList<>();
        for (AbstractInsnNode each : method.instructions) {
            int code = each.getOpcode();
            Object loaded = each instanceof LdcInsnNode ? ((LdcInsnNode) each).cst : null;
            if (loaded instanceof String || loaded instanceof Number) {
                found.add(valueOf(loaded));
            } else if (code >= Opcodes.ICONST_M1 && code <= Opcodes.ICONST_5) {
                found.add(String.valueOf(code - Opcodes.ICONST_0));
            } else if (code == Opcodes.BIPUSH || code == Opcodes.SIPUSH) {
                found.add(String.valueOf(((IntInsnNode) each).operand));
            } else if (code >= Opcodes.LCONST_0 && code <= Opcodes.DCONST_1) {
                found.add("op " + code);
            } else if (code == Opcodes.IINC) {
                found.add("iinc " + ((IincInsnNode) each).incr);
            } else if (code == Opcodes.INSTANCEOF) {
                found.add("instanceof " + ((TypeInsnNode) each).desc);
            } else if (code >= Opcodes.IADD && code <= Opcodes.IF_ACMPNE || code == Opcodes.MONITORENTER) {
                found.add("op " + code);
            }
        }
        return found;
    }

    private static List<String[]> usesOf(MethodNode method) {
        List<String[]> uses = new ArrayList<>();
        int line = 0;
        for (AbstractInsnNode each : method.instructions) {
            if (each instanceof LineNumberNode) {
                line = ((LineNumberNode) each).line;
            } else if (each instanceof MethodInsnNode) {
                MethodInsnNode call = (MethodInsnNode) each;
                use(uses, "call", call.owner, call.name, call.desc, line,
                    how(each.getOpcode() == Opcodes.INVOKESTATIC, call.itf));
            } else if (each instanceof FieldInsnNode) {
                FieldInsnNode field = (FieldInsnNode) each;
                boolean get = each.getOpcode() == Opcodes.GETFIELD || each.getOpcode() == Opcodes.GETSTATIC;
                boolean isStatic = each.getOpcode() == Opcodes.GETSTATIC || each.getOpcode() == Opcodes.PUTSTATIC;
                use(uses, get ? "get" : "put", field.owner, field.name, field.desc, line, how(isStatic, false));
            } else if (each instanceof TypeInsnNode) {
                String kind = each.getOpcode() == Opcodes.NEW ? "new" : "type";
                use(uses, kind, ((TypeInsnNode) each).desc, "", "", line, "");
            } else if (each instanceof MultiANewArrayInsnNode) {
                use(uses, "type", ((MultiANewArrayInsnNode) each).desc, "", "", line, "");
            } else if (each instanceof LdcInsnNode) {
                useConstant(uses, ((LdcInsnNode) each).cst, line, "java/lang/invoke/MethodHandle");
            } else if (each instanceof InvokeDynamicInsnNode) {
                InvokeDynamicInsnNode made = (InvokeDynamicInsnNode) each;
                Type type = Type.getReturnType(made.desc);
                for (Object argument : made.bsmArgs) {
                    useConstant(uses, argument, line, type.getSort() == Type.OBJECT ? type.getInternalName() : "");
                }
            }
        }
        for (TryCatchBlockNode each : method.tryCatchBlocks) {
            if (each.type != null) {
                use(uses, "type", each.type, "", "", 0, "");
            }
        }
        return uses;
    }

    /** A handle does nothing yet: `made` is the interface of the object that it is made into, as a lambda is. */
    private static void useConstant(List<String[]> uses, Object constant, int line, String made) {
        if (constant instanceof Type && ((Type) constant).getSort() >= Type.ARRAY
            && ((Type) constant).getSort() <= Type.OBJECT) {
            use(uses, "type", ((Type) constant).getInternalName(), "", "", line, "");
        } else if (constant instanceof Handle) {
            Handle handle = (Handle) constant;
            int tag = handle.getTag();
            String kind = tag <= Opcodes.H_GETSTATIC ? "get" : tag <= Opcodes.H_PUTSTATIC ? "put" : "call";
            boolean isStatic = tag == Opcodes.H_GETSTATIC || tag == Opcodes.H_PUTSTATIC || tag == Opcodes.H_INVOKESTATIC;
            if (!handle.getOwner().startsWith("[")) {
                uses.add(new String[] {
                    kind, handle.getOwner(), handle.getName(), handle.getDesc(), String.valueOf(line), made,
                    how(isStatic, handle.isInterface())
                });
            }
        }
    }

    /** An array's use is a use of what it holds; arrays of primitives refer to no class. */
    private static void use(
        List<String[]> uses, String kind, String owner, String name, String desc, int line, String how
    ) {
        String held = owner;
        if (owner.startsWith("[")) {
            String element = owner.substring(owner.lastIndexOf('[') + 1);
            if (!element.startsWith("L") || !name.isEmpty()) { // an array's methods are java.lang.Object's
                return;
            }
            held = element.substring(1, element.length() - 1);
        }
        uses.add(new String[] {kind, held, name, desc, String.valueOf(line), "", how});
    }

    private static String how(boolean isStatic, boolean ofInterface) {
        return (isStatic ? "static" : "instance") + (ofInterface ? " interface" : "");
    }

    /** A class's lambdas by what they do: compilers number them, so that one more gives all later ones other names. */
    private static final class Lambdas {
        private final String owner;
        private final Map<String, MethodNode> bodies = new HashMap<>();
        private final Map<String, String> digests = new HashMap<>();
        private final Accessors accessors;

        Lambdas(ClassNode node, Accessors accessors) {
            owner = node.name;
            this.accessors = accessors;
            for (MethodNode each : node.methods) {
                if ((each.access & Opcodes.ACC_SYNTHETIC) != 0 && each.name.startsWith("lambda$")) {
                    bodies.put(each.name + each.desc, each);
                }
            }
        }

        String nameOf(Object argument) throws Exception {
            Handle handle = argument instanceof Handle ? (Handle) argument : null;
            String key = handle == null ? "" : handle.getName() + handle.getDesc();
            if (handle == null || !handle.getOwner().equals(owner) || !bodies.containsKey(key)) {
                return constant(argument);
            }
            if (!digests.containsKey(key)) {
                digests.put(key, key); // a lambda that leads to itself keeps its name
                digests.put(key, digestOf(bodies.get(key), this));
            }
            return "lambda " + handle.getTag() + " " + handle.getDesc() + " " + digests.get(key);
        }
    }

    /**
     * What classes of one nest do with each other's private members before Java 11, by what that is: javac numbers its
     * `access$000`, so that one more gives all later ones other names, and one that does something else keeps its name.
     */
    private static final class Accessors {
        private static final String PREFIX = "access$";
        private final Map<String, MethodNode> bodies = new HashMap<>();
        private final Map<String, String> digests = new HashMap<>();

        Accessors(String path) {
            readJar(path, 0, new Visitor() {
                public boolean wants(byte[] content) {
                    return new String(content, StandardCharsets.ISO_8859_1).contains(PREFIX);
                }

                public void visit(String entry, ClassNode node) {
                    for (MethodNode each : node.methods) {
                        if ((each.access & Opcodes.ACC_SYNTHETIC) != 0 && each.name.startsWith(PREFIX)) {
                            bodies.put(node.name + "." + each.name + each.desc, each);
                        }
                    }
                }
            }, new ArrayList<>()); // what cannot be read is told when its classes are
        }

        /** Return what a call does if it is one of these; null for any other instruction. */
        String named(AbstractInsnNode each, Lambdas lambdas) throws Exception {
            if (!(each instanceof MethodInsnNode) || !((MethodInsnNode) each).name.startsWith(PREFIX)) {
                return null;
            }
            MethodInsnNode call = (MethodInsnNode) each;
            String key = call.owner + "." + call.name + call.desc;
            if (!bodies.containsKey(key)) {
                return null;
            }
            if (!digests.containsKey(key)) {
                digests.put(key, key); // one that leads to itself keeps its name
                digests.put(key, digestOf(bodies.get(key), lambdas));
            }
            return "accessor " + digests.get(key);
        }
    }

    private static String digestOf(MethodNode method, Lambdas lambdas) throws Exception {
        if (method.instructions.size() == 0) {
            return "";
        }
        Map<LabelNode, Integer> places = new HashMap<>();
        int place = 0;
        for (AbstractInsnNode each : method.instructions) {
            if (each instanceof LabelNode) {
                places.put((LabelNode) each, place);
            } else if (each.getOpcode() >= 0) {
                place++;
            }
        }
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        for (AbstractInsnNode each : method.instructions) {
            if (each.getOpcode() >= 0) {
                String accessor = lambdas.accessors.named(each, lambdas);
                add(digest, accessor != null ? accessor
                    : isOnAnyObject(each) ? "object " + ((MethodInsnNode) each).name
                    : each.getOpcode() + " " + (each instanceof InvokeDynamicInsnNode
                        ? dynamic((InvokeDynamicInsnNode) each, lambdas) : operands(each, places)));
            }
        }
        for (TryCatchBlockNode each : method.tryCatchBlocks) {
            add(digest, "try " + places.get(each.start) + " " + places.get(each.end) + " " + places.get(each.handler)
                + " " + each.type);
        }
        return String.format("%064x", new BigInteger(1, digest.digest()));
    }

    /** Since JDK 18 javac names the type that Object's methods are called on, where that is an interface (JDK-8272564). */
    private static boolean isOnAnyObject(AbstractInsnNode each) {
        boolean looksUp = each.getOpcode() == Opcodes.INVOKEVIRTUAL || each.getOpcode() == Opcodes.INVOKEINTERFACE;
        return looksUp && OF_ANY_OBJECT.contains(((MethodInsnNode) each).name + ((MethodInsnNode) each).desc);
    }

    private static void add(MessageDigest digest, String text) {
        digest.update((text.length() + ":" + text).getBytes(StandardCharsets.UTF_8));
    }

    private static String dynamic(InvokeDynamicInsnNode call, Lambdas lambdas) throws Exception {
        StringBuilder text = new StringBuilder(call.name + " " + call.desc + " " + call.bsm);
        for (Object argument : call.bsmArgs) {
            text.append(' ').append(lambdas.nameOf(argument));
        }
        return text.toString();
    }

    private static String operands(AbstractInsnNode each, Map<LabelNode, Integer> places) {
        if (each instanceof MethodInsnNode) {
            MethodInsnNode call = (MethodInsnNode) each;
            return call.owner + " " + call.name + " " + call.desc + " " + call.itf;
        } else if (each instanceof FieldInsnNode) {
            FieldInsnNode field = (FieldInsnNode) each;
            return field.owner + " " + field.name + " " + field.desc;
        } else if (each instanceof LdcInsnNode) {
            return constant(((LdcInsnNode) each).cst);
        } else if (each instanceof TypeInsnNode) {
            return ((TypeInsnNode) each).desc;
        } else if (each instanceof VarInsnNode) {
            return String.valueOf(((VarInsnNode) each).var);
        } else if (each instanceof IntInsnNode) {
            return String.valueOf(((IntInsnNode) each).operand);
        } else if (each instanceof IincInsnNode) {
            return ((IincInsnNode) each).var + " " + ((IincInsnNode) each).incr;
        } else if (each instanceof JumpInsnNode) {
            return String.valueOf(places.get(((JumpInsnNode) each).label));
        } else if (each instanceof TableSwitchInsnNode) {
            TableSwitchInsnNode table = (TableSwitchInsnNode) each;
            return table.min + " " + table.max + " " + places.get(table.dflt) + " " + targets(table.labels, places);
        } else if (each instanceof LookupSwitchInsnNode) {
            LookupSwitchInsnNode lookup = (LookupSwitchInsnNode) each;
            return lookup.keys + " " + places.get(lookup.dflt) + " " + targets(lookup.labels, places);
        } else if (each instanceof MultiANewArrayInsnNode) {
            return ((MultiANewArrayInsnNode) each).desc + " " + ((MultiANewArrayInsnNode) each).dims;
        }
        return "";
    }

    private static List<Integer> targets(List<LabelNode> labels, Map<LabelNode, Integer> places) {
        List<Integer> found = new ArrayList<>();
        for (LabelNode each : labels) {
            found.add(places.get(each));
        }
        return found;
    }

    private static String valueOf(Object value) {
        return value == null ? "" : value instanceof String ? constant(value) : value.toString();
    }

    private static String constant(Object value) {
        return value instanceof String ? '"' + (String) value + '"' : value.getClass().getSimpleName() + " " + value;
    }

    private static String texts(List<String> values) {
        return "[" + texts(values.toArray(new String[0]), values.size()) + "]";
    }

    private static String texts(String[] values, int count) {
        StringBuilder json = new StringBuilder();
        for (int at = 0; at < count; at++) {
            json.append(at > 0 ? "," : "").append(quoted(values[at]));
        }
        return json.toString();
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
