import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Random;

import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/**
 * Runs simulations, methods that jqwik calls properties, seed after seed: a seed gives every property its arguments.
 *
 * <p>jqwik itself draws a hundred tries from one seed and cannot be told to go on, nor to repeat one try. What happens is
 * appended to a feed: {@code BEGIN property seed arguments}, then {@code PASSED milliseconds} or
 * {@code FAILED milliseconds message trace}, the last two in base 64; {@code END} when all is done.
 *
 * <p>{@code Simulations FEED SECONDS CLASS[,CLASS…] FIRST STEP} runs seeds FIRST, FIRST + STEP, … until the time is over;
 * {@code Simulations FEED only CLASS#METHOD SEED} runs one.
 */
public final class Simulations {
    private static final int MOST_FAILURES = 10;
    private static final int MOST_TEXT = 20_000;

    private final PrintStream feed;
    private int failures = 0;

    private Simulations(PrintStream feed) {
        this.feed = feed;
    }

    public static void main(String[] arguments) throws IOException, ReflectiveOperationException {
        try (PrintStream feed = new PrintStream(arguments[0], "UTF-8")) {
            Simulations simulations = new Simulations(feed);
            if (arguments[1].equals("only")) {
                simulations.runOne(arguments[2], Long.parseLong(arguments[3]));
            } else {
                long until = System.nanoTime() + (long) (Double.parseDouble(arguments[1]) * 1e9);
                List<Method> properties = propertiesOf(arguments[2].split(","));
                simulations.runUntil(until, properties, Long.parseLong(arguments[3]), Long.parseLong(arguments[4]));
            }
            simulations.say("END");
        }
        System.exit(0);  // whatever threads a jar has left
    }

    private void runUntil(long until, List<Method> properties, long first, long step)
        throws ReflectiveOperationException {
        for (long seed = first; ; seed += step) {
            for (Method property : properties) {
                if (System.nanoTime() - until >= 0 || failures >= MOST_FAILURES) {
                    return;
                }
                run(property, seed);
            }
        }
    }

    private void runOne(String name, long seed) throws ReflectiveOperationException {
        for (Method property : propertiesOf(name.substring(0, name.indexOf('#')))) {
            if (nameOf(property).equals(name)) {
                run(property, seed);
            }
        }
    }

    private void run(Method property, long seed) throws ReflectiveOperationException {
        Object[] arguments = argumentsOf(property, seed);
        say("BEGIN " + nameOf(property) + " " + seed + " " + Arrays.toString(arguments));
        Object simulation = property.getDeclaringClass().getDeclaredConstructor().newInstance();
        long began = System.nanoTime();
        try {
            property.invoke(simulation, arguments);
            say("PASSED " + millisecondsSince(began));
        } catch (InvocationTargetException failed) {
            failures++;
            Throwable cause = failed.getCause();
            say("FAILED " + millisecondsSince(began) + " " + encoded(message(cause)) + " " + encoded(trace(cause)));
        }
    }

    private static long millisecondsSince(long began) {
        return (System.nanoTime() - began) / 1_000_000;
    }

    private void say(String line) {
        feed.println(line);
        feed.flush();
    }

    private static String message(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root == failure ? failure.toString() : failure + ": " + root;
    }

    private static String trace(Throwable failure) {
        StringWriter text = new StringWriter();
        failure.printStackTrace(new PrintWriter(text, true));
        return text.toString();
    }

    /** Never empty: a field that is missing would be taken for a feed that was cut. */
    private static String encoded(String text) {
        String shown = text.isEmpty() ? " " : text.substring(0, Math.min(text.length(), MOST_TEXT));
        return Base64.getEncoder().encodeToString(shown.getBytes(StandardCharsets.UTF_8));
    }

    private static String nameOf(Method property) {
        return property.getDeclaringClass().getName() + "#" + property.getName();
    }

    private static List<Method> propertiesOf(String... classes) throws ClassNotFoundException {
        List<Method> found = new ArrayList<>();
        for (String name : classes) {
            for (Method method : Class.forName(name).getDeclaredMethods()) {
                if (method.isAnnotationPresent(Property.class)) {
                    method.setAccessible(true);
                    found.add(method);
                }
            }
        }
        found.sort(Comparator.comparing(Simulations::nameOf));
        return found;
    }

    /** The same for the same seed, on every jar: drawn from the seed and the property's name alone. */
    private static Object[] argumentsOf(Method property, long seed) {
        Random random = new Random(seed * 1_000_003L + nameOf(property).hashCode());
        return Arrays.stream(property.getAnnotatedParameterTypes()).map(type -> argumentOf(type, random)).toArray();
    }

    private static Object argumentOf(AnnotatedType type, Random random) {
        IntRange range = type.getAnnotation(IntRange.class);
        if (type.getType() == boolean.class) {
            return random.nextBoolean();
        }
        if (type.getType() != int.class) {
            throw new IllegalArgumentException("a parameter of type " + type.getType() + " cannot be drawn");
        }
        return range == null ? random.nextInt() : range.min() + random.nextInt(range.max() - range.min() + 1);
    }
}
